// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/convert_trace.h"

#include "core/io/draft_file.h"
#include "core/io/json_text.h"
#include "core/io/native_tools.h"
#include "core/io/sqlite_export.h"
#include "core/trace/tensor_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace core {
namespace {

constexpr std::size_t kCheckEvery = 1024;

Status writeJson(const Trace &trace, DraftFile &file, const JobContext &job)
{
    bool isFirst = true;
    const auto line = [&](std::string_view text) {
        Status status = file.write(isFirst ? "[\n" : ",\n");
        isFirst = false;
        return status ? file.write(text) : status;
    };
    if (Status status = dumpTrace(trace, line, job); !status)
        return status;
    return file.write("\n]\n");
}

// A field as RFC 4180 has it.
std::string csvField(std::string_view text)
{
    if (text.find_first_of(",\"\r\n") == std::string_view::npos)
        return std::string(text);
    std::string out = "\"";
    for (const char c : text)
        out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + '"';
}

std::string countField(std::int64_t value)
{
    return value == kUnknown ? std::string() : std::to_string(value);
}

std::string csvRow(const Trace &trace, OpId id)
{
    const OpRow &row = trace.op(id);
    const CallRow &call = trace.call(row.call);
    std::string shape;
    std::string dtype;
    if (row.tensor.isValid()) {
        for (const std::int64_t extent : trace.shape(row.tensor))
            shape += (shape.empty() ? "" : " ") + std::to_string(extent);
        dtype = dtypeName(trace.tensor(row.tensor).dtype);
    }
    std::string parents;
    for (const OpId parent : trace.parents(id))
        parents += (parents.empty() ? "" : " ") + std::string(trace.label(parent));
    const TensorStats *stats = trace.stats(row.tensor);
    const auto statistic = [stats](auto member) {
        return stats ? fmt::format("{}", stats->*member) : std::string();
    };
    const std::array fields = {std::string(trace.label(id)),
                               std::string(trace.string(call.op)),
                               std::to_string(row.call.value()),
                               std::to_string(row.slot),
                               std::to_string(row.step),
                               std::string(trace.moduleCallLabel(id)),
                               std::move(shape),
                               std::move(dtype),
                               std::move(parents),
                               countField(call.durationNs),
                               countField(row.flopsForward),
                               countField(row.bytes),
                               statistic(&TensorStats::nan),
                               statistic(&TensorStats::posInf),
                               statistic(&TensorStats::negInf),
                               trace.sourceLine(id).value_or("")};
    std::string out = csvField(fields.front());
    for (const std::string &field : std::span(fields).subspan(1))
        out += ',' + csvField(field);
    return out + "\n";
}

Status writeCsv(const Trace &trace, DraftFile &file, const JobContext &job)
{
    Status status =
        file.write("label,op,call,output,step,module_call,shape,dtype,parents,duration_ns,flops_forward,"
                   "bytes,nan,pos_inf,neg_inf,source_line\n");
    for (std::size_t i = 0; status && i < trace.ops().size(); ++i) {
        if (i % kCheckEvery == 0)
            status = job.checkpoint("writing the table");
        if (status)
            status = file.write(csvRow(trace, OpId(i)));
    }
    return status;
}

void printEvent(JsonText &out, const Trace &trace, const CallRow &call)
{
    const OpId row(call.rows.begin);
    out.clear();
    out.open('{');
    out.member("name", trace.string(call.func));
    out.member("cat", "op");
    out.member("ph", "X");
    out.key("ts");
    out.real(static_cast<double>(call.startNs) / 1000.0);
    out.key("dur");
    out.real(static_cast<double>(call.durationNs) / 1000.0);
    out.member("pid", 0U);
    out.member("tid", call.thread);
    out.key("args");
    out.open('{');
    out.member("op", trace.string(call.op));
    if (call.rows.count > 0) {
        out.member("label", trace.label(row));
        out.member("module", trace.moduleCallLabel(row));
        out.member("source", trace.sourceLine(row).value_or(""));
    }
    out.close('}');
    out.close('}');
}

Status writeChromeTrace(const Trace &trace, DraftFile &file, const JobContext &job)
{
    JsonText event;
    bool isFirst = true;
    Status status = file.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
    for (std::size_t i = 0; status && i < trace.calls().size(); ++i) {
        const CallRow &call = trace.calls()[i];
        if (i % kCheckEvery == 0)
            status = job.checkpoint("writing events");
        if (!status || call.kind != CallKind::compute || call.startNs < 0 || call.durationNs < 0)
            continue;
        printEvent(event, trace, call);
        status = isFirst ? Status::ok() : file.write(",\n");
        isFirst = false;
        if (status)
            status = file.write(event.view());
    }
    if (status && isFirst)
        return {ErrorCode::unsupported, "no op of this trace has a time"};
    return status ? file.write("\n]}\n") : status;
}

// The word of the safetensors format for a type; empty when it has none.
std::string_view safetensorsWord(DType dtype)
{
    switch (dtype) {
    case DType::boolean:
        return "BOOL";
    case DType::uint8:
        return "U8";
    case DType::int8:
        return "I8";
    case DType::uint16:
        return "U16";
    case DType::int16:
        return "I16";
    case DType::uint32:
        return "U32";
    case DType::int32:
        return "I32";
    case DType::uint64:
        return "U64";
    case DType::int64:
        return "I64";
    case DType::float8_e4m3fn:
        return "F8_E4M3";
    case DType::float8_e5m2:
        return "F8_E5M2";
    case DType::float8_e8m0fnu:
        return "F8_E8M0";
    case DType::float16:
        return "F16";
    case DType::bfloat16:
        return "BF16";
    case DType::float32:
        return "F32";
    case DType::float64:
        return "F64";
    case DType::complex64:
        return "C64";
    default:
        return {};
    }
}

struct NamedTensor
{
    std::string name;
    TensorId tensor;
    std::uint64_t bytes = 0;
};

// What a safetensors file of a trace holds: saved tensors that have a name and a type the format knows, each
// name once. The others are counted by the reason.
class NamedTensors
{
public:
    explicit NamedTensors(const Trace &trace) : m_trace(trace)
    {
        for (const ParamRow &row : trace.params())
            add(std::string(trace.string(row.address)), row.tensor);
        for (std::size_t i = 0; i < trace.ops().size(); ++i)
            add(std::string(trace.label(OpId(i))), trace.ops()[i].tensor);
    }

    std::vector<NamedTensor> tensors;

    std::vector<std::string> leftOut() const
    {
        std::vector<std::string> sentences;
        for (const auto &[reason, names] : m_leftOut) {
            constexpr std::size_t kShown = 5;
            std::string text =
                fmt::format("{} {} {}: ", names.size(), names.size() == 1 ? "tensor" : "tensors", reason);
            for (std::size_t i = 0; i < std::min(kShown, names.size()); ++i)
                text += (i == 0 ? "" : ", ") + names[i];
            sentences.push_back(text + (names.size() > kShown ? ", ..." : ""));
        }
        return sentences;
    }

private:
    void add(std::string name, TensorId id)
    {
        if (!id.isValid() || name.empty() || m_trace.tensor(id).payload.state != PayloadState::saved)
            return;
        const DType dtype = m_trace.tensor(id).dtype;
        if (safetensorsWord(dtype).empty()) {
            m_leftOut[fmt::format("left out, safetensors has no word for {}", dtypeName(dtype))].push_back(
                std::move(name));
            return;
        }
        const auto reader = TensorReader::open(m_trace, id);
        if (!reader)
            m_leftOut["left out, the values cannot be read (" + reader.error().message() + ")"].push_back(
                std::move(name));
        else if (m_names.insert(name).second)
            tensors.push_back({std::move(name), id, reader->elementCount() * reader->itemBytes()});
        else
            m_leftOut["left out, the name stands for another one"].push_back(std::move(name));
    }

    const Trace &m_trace;
    std::set<std::string> m_names;
    std::map<std::string, std::vector<std::string>> m_leftOut; // names by reason
};

std::string safetensorsHeader(const Trace &trace, const std::vector<NamedTensor> &tensors)
{
    JsonText text;
    std::uint64_t at = 0;
    text.open('{');
    for (const NamedTensor &each : tensors) {
        text.key(jsonQuoted(each.name).substr(1, jsonQuoted(each.name).size() - 2));
        text.open('{');
        text.member("dtype", safetensorsWord(trace.tensor(each.tensor).dtype));
        text.key("shape");
        text.open('[');
        for (const std::int64_t extent : trace.shape(each.tensor))
            text.integer(extent);
        text.close(']');
        text.key("data_offsets");
        text.open('[');
        text.unsignedInteger(at);
        text.unsignedInteger(at += each.bytes);
        text.close(']');
        text.close('}');
    }
    text.close('}');
    std::string header(text.view());
    header.resize((header.size() + 7) / 8 * 8, ' ');
    const std::uint64_t length = header.size();
    std::string out(sizeof length, '\0');
    std::memcpy(out.data(), &length, sizeof length);
    return out + header;
}

Status writeSafetensors(const Trace &trace, DraftFile &file, const JobContext &job,
                        std::vector<std::string> &leftOut)
{
    constexpr std::uint64_t kPieceElements = std::uint64_t(1) << 18U;
    const NamedTensors named(trace);
    const std::vector<NamedTensor> &tensors = named.tensors;
    leftOut = named.leftOut();
    if (tensors.empty())
        return {ErrorCode::unsupported,
                leftOut.empty() ? "no values are saved in this trace"
                                : "none of the saved values fits into safetensors: " + leftOut.front()};
    Status status = file.write(safetensorsHeader(trace, tensors));
    std::vector<std::byte> piece;
    for (const NamedTensor &each : tensors) {
        const auto reader = TensorReader::open(trace, each.tensor);
        if (!reader)
            return reader.status();
        if (status)
            status = trace.store().verify(trace.string(trace.tensor(each.tensor).payload.entry), job);
        for (std::uint64_t at = 0; status && at < reader->elementCount(); at += kPieceElements) {
            piece.resize(std::min(kPieceElements, reader->elementCount() - at) * reader->itemBytes());
            status = job.checkpoint("writing values");
            if (status)
                status = reader->read(at, piece);
            if (status)
                status = file.write(piece);
        }
    }
    return status;
}

} // namespace

std::optional<ConvertTarget> convertTargetFromName(std::string_view name)
{
    constexpr std::array kNames = {"opscope", "json", "csv", "safetensors", "sqlite", "chrome-trace"};
    for (std::size_t i = 0; i < kNames.size(); ++i)
        if (name == kNames[i])
            return static_cast<ConvertTarget>(i);
    return std::nullopt;
}

Result<std::vector<std::string>> convertTrace(const Trace &trace, const std::filesystem::path &path,
                                              ConvertTarget target, const JobContext &job)
{
    std::vector<std::string> leftOut;
    if (target == ConvertTarget::opscope)
        return writeTrace(trace, path, {}, job);
    if (target == ConvertTarget::sqlite) {
        if (const Status status = writeSqlite(trace, path, job); !status)
            return status;
        return leftOut;
    }
    auto file = DraftFile::create(path);
    if (!file)
        return file.status();
    Status status;
    switch (target) {
    case ConvertTarget::json:
        status = writeJson(trace, **file, job);
        break;
    case ConvertTarget::csv:
        status = writeCsv(trace, **file, job);
        break;
    case ConvertTarget::safetensors:
        status = writeSafetensors(trace, **file, job, leftOut);
        break;
    case ConvertTarget::chromeTrace:
    case ConvertTarget::opscope:
    case ConvertTarget::sqlite:
        status = writeChromeTrace(trace, **file, job);
        break;
    }
    if (status)
        status = (*file)->commit();
    if (!status)
        return status;
    return leftOut;
}

} // namespace core
