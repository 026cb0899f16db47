// SPDX-License-Identifier: GPL-3.0-or-later
// Traces of any format as JSON lines and as native files.
#include "core/io/draft_file.h"
#include "core/io/native_info.h"
#include "core/io/native_tools.h"
#include "core/io/native_writer.h"
#include "core/io/record_json.h"
#include "core/trace/record_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace core {
namespace {

constexpr std::uint64_t kMostSource = std::uint64_t(64) << 20U;

// Prints each record it is given as one line.
class LinePrinter final : public RecordSink
{
public:
    explicit LinePrinter(const LineSink &line) : m_line(line) {}

    Status add(FrameRecord record) override { return print(record); }
    Status add(StackRecord record) override { return print(record); }
    Status add(SourceRecord record) override { return print(record); }
    Status add(ModuleRecord record) override { return print(record); }
    Status add(ModuleCallRecord record) override { return print(record); }
    Status add(TensorRecord record) override { return print(record); }
    Status add(CallRecord record) override { return print(record); }
    Status add(ParamRecord record) override { return print(record); }
    Status add(GradNodeRecord record) override { return print(record); }
    Status add(GradFireRecord record) override { return print(record); }
    Status add(GradientRecord record) override { return print(record); }
    Status add(BackwardRecord record) override { return print(record); }
    Status add(DiagnosticRecord record) override { return print(record); }
    Status add(NoteRecord record) override { return print(record); }

private:
    template <class Record>
    Status print(const Record &record)
    {
        m_text.clear();
        printRecord(m_text, record);
        return m_line(m_text.view().substr(0, m_text.view().size() - 1));
    }

    const LineSink &m_line;
    JsonText m_text;
};

Value withKind(std::string_view kind, const Value &value)
{
    Value out = Value::object({{"t", kind}});
    for (const auto &[key, member] : value.toObject())
        out.set(key, member);
    return out;
}

// The last FOLDERS folders of PATH and its name.
std::string shortName(const std::string &path, std::size_t folders = 0)
{
    std::size_t slash = path.find_last_of("/\\");
    for (; folders > 0 && slash != std::string::npos && slash > 0; --folders)
        slash = path.find_last_of("/\\", slash - 1);
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

// Names of source files without the folders that all can do without: two that end alike keep as many as tell
// them apart.
std::map<std::string, std::string, std::less<>> shortNames(const Trace &trace)
{
    std::set<std::string> paths;
    for (const FrameRow &frame : trace.tables().frames)
        paths.emplace(trace.string(frame.file));
    for (const SourceRow &source : trace.sources())
        paths.emplace(trace.string(source.file));
    std::map<std::string, std::string, std::less<>> names;
    for (const std::string &path : paths) {
        std::size_t folders = 0;
        const auto isShared = [&](const std::string &other) {
            return other != path && shortName(other, folders) == shortName(path, folders);
        };
        while (shortName(path, folders) != path && std::any_of(paths.begin(), paths.end(), isShared))
            ++folders;
        names.emplace(path, shortName(path, folders));
    }
    return names;
}

// Every path in what was asked for.
void shortenPaths(Value &value)
{
    if (value.isString() && value.toString().find('/') != std::string::npos)
        value = shortName(value.toString());
    else if (value.isList())
        for (Value &item : value.asList())
            shortenPaths(item);
    else if (value.isObject())
        for (auto &[key, member] : value.asObject())
            shortenPaths(member);
}

// Copies payloads and edits records on their way into a writer.
class Copier
{
public:
    Copier(const Trace &trace, NativeWriter &writer, const CopyOptions &options, const JobContext &job)
        : m_trace(trace), m_writer(writer), m_options(options), m_job(job)
    {
    }

    Status run()
    {
        if (m_options.shortPaths)
            m_shortNames = shortNames(m_trace);
        ReplayEdits edits;
        edits.tensor = [this](TensorRecord &record) { return editTensor(record); };
        edits.source = [this](SourceRecord &record) { return editSource(record); };
        edits.frame = [this](FrameRecord &record) {
            if (m_options.withoutSources)
                record.text.clear();
            shorten(record.file);
            return true;
        };
        if (Status status = replayRecords(m_trace.tables(), m_writer, m_job, edits); !status)
            return status;
        return m_error;
    }

    // One sentence for all values that could not be read, one for all source texts.
    std::vector<std::string> leftOut() const
    {
        std::vector<std::string> sentences;
        for (const auto &[what, lost] :
             {std::pair("values of tensors", &m_lostValues), std::pair("source texts", &m_lostSources)})
            if (lost->count > 0)
                sentences.push_back(fmt::format("{1}: {0} left out that cannot be read; the first: {2}",
                                                lost->count, what, lost->first));
        return sentences;
    }

private:
    struct Lost
    {
        std::size_t count = 0;
        std::string first; // why
        void add(const Status &reason)
        {
            if (count++ == 0)
                first = reason.message();
        }
    };

    bool isRemoved(const TensorRecord &record) const
    {
        if (record.role == TensorRole::input)
            return m_options.withoutInputs;
        const bool isParameter = record.role == TensorRole::parameter || record.role == TensorRole::buffer;
        return isParameter && m_options.withoutParameters;
    }
    bool editTensor(TensorRecord &record)
    {
        const bool isRemovedRole = isRemoved(record);
        if (isRemovedRole)
            record.sample.clear();
        if (record.payload.state != PayloadState::saved)
            return true;
        if (isRemovedRole || m_options.withoutPayloads) {
            record.payload = {PayloadState::dropped, "", 0, 0, true};
            return true;
        }
        copyPayload(record);
        return true;
    }
    void copyPayload(TensorRecord &record)
    {
        const PayloadRecord from = record.payload;
        auto &known = m_payloads[{from.entry, from.offset, from.bytes}];
        if (known.state == PayloadState::unknown)
            known = writePayload(record);
        record.payload = known;
        record.payload.contiguous = from.contiguous;
    }
    PayloadRecord writePayload(const TensorRecord &record);
    Status checkEntry(const std::string &entry);
    bool editSource(SourceRecord &record);
    void shorten(std::string &file) const
    {
        if (const auto name = m_shortNames.find(file); name != m_shortNames.end())
            file = name->second;
    }

    const Trace &m_trace;
    NativeWriter &m_writer;
    const CopyOptions &m_options;
    const JobContext &m_job;
    std::map<std::tuple<std::string, std::uint64_t, std::uint64_t>, PayloadRecord> m_payloads;
    std::map<std::string, Status> m_checked;                      // entries of the source, by name
    std::map<std::string, std::string, std::less<>> m_shortNames; // empty: paths stay
    Lost m_lostValues;
    Lost m_lostSources;
    Status m_error;
};

// A copy gets checksums of its own: damage that only those of the source tell of must not become good data.
Status Copier::checkEntry(const std::string &entry)
{
    const auto [known, isNew] = m_checked.try_emplace(entry);
    if (isNew)
        known->second = m_trace.store().verify(entry, m_job);
    return known->second;
}

// What cannot be read from the source is told of in the copy; an error of the copy's file ends the work.
PayloadRecord Copier::writePayload(const TensorRecord &record)
{
    const PayloadRecord lost{PayloadState::dropped, "", 0, 0, true};
    if (!m_error)
        return lost;
    const PayloadRecord &from = record.payload;
    const std::uint64_t item = std::max<std::uint64_t>(itemSize(record.dtype), 1);
    const std::int64_t extent = static_cast<std::int64_t>(from.bytes / item);
    const bool fits = from.bytes % item == 0 && record.dtype != DType::unknown;
    const auto bytes = static_cast<std::int64_t>(from.bytes);
    const std::span<const std::int64_t> flat = std::span(fits ? &extent : &bytes, 1);
    Status readError = checkEntry(from.entry);
    if (readError.code() == ErrorCode::cancelled) {
        m_error = readError;
        return lost;
    }
    const auto read = [&](std::uint64_t offset, std::span<std::byte> out) {
        if (Status status = m_job.checkpoint("copying payloads"); !status)
            return status;
        if (readError)
            readError = m_trace.store().read(from.entry, from.offset + offset, out);
        return readError;
    };
    const DType dtype = fits ? record.dtype : DType::uint8;
    std::int64_t elements = 1;
    bool isWhole = from.contiguous && fits;
    for (const std::int64_t each : record.shape)
        isWhole = isWhole && !__builtin_mul_overflow(elements, each, &elements);
    isWhole = isWhole && elements == extent;
    auto written = m_writer.writePayloadFrom(
        dtype, isWhole ? std::span<const std::int64_t>(record.shape) : flat, from.bytes, read);
    if (written)
        return *written;
    if (readError)
        m_error = written.status();
    else
        m_error = m_writer.add(DiagnosticRecord{"missing_payload", readError.message(), kNoRecord});
    m_lostValues.add(readError ? written.status() : readError);
    return lost;
}

bool Copier::editSource(SourceRecord &record)
{
    const std::string entry = std::move(record.entry);
    record.entry.clear();
    shorten(record.file);
    if (entry.empty() || m_options.withoutSources)
        return true;
    const auto text = m_trace.store().text(entry, kMostSource);
    if (!text) {
        m_lostSources.add(text.status());
        return true;
    }
    const auto written = m_writer.writeSource(record.file, *text);
    if (!written && m_error)
        m_error = written.status();
    return !written.isOk();
}

TraceInfo copiedInfo(const Trace &trace, const CopyOptions &options)
{
    TraceInfo info = trace.info();
    Value removed = Value::list();
    const auto note = [&removed](bool isRemoved, std::string_view what) {
        if (isRemoved)
            removed.append(what);
    };
    note(options.withoutPayloads, "payloads");
    note(options.withoutParameters, "parameters");
    note(options.withoutSources, "sources");
    note(options.withoutInputs, "inputs");
    note(options.shortPaths, "paths");
    if (options.withoutInputs)
        for (const std::string_view key : {"inputs", "inputs_tree", "prepared_inputs", "effective_inputs"})
            if (info.request.find(key) != nullptr)
                info.request.set(key, Value());
    if (options.shortPaths) {
        info.modelPath = shortName(info.modelPath);
        shortenPaths(info.request);
    }
    if (!removed.toList().empty())
        info.attributes.set("removed", std::move(removed));
    return info;
}

} // namespace

Status dumpTrace(const Trace &trace, const LineSink &line, const JobContext &job)
{
    const Value manifest = manifestValue(trace.info());
    if (Status status = line(toJson(withKind("manifest", manifest))); !status)
        return status;
    LinePrinter printer(line);
    if (Status status = replayRecords(trace.tables(), printer, job); !status)
        return status;
    return line(toJson(withKind("final", finalValue(trace.info(), manifest, Value()))));
}

Result<std::vector<std::string>> writeTrace(const Trace &trace, const std::filesystem::path &path,
                                            const CopyOptions &options, const JobContext &job)
{
    auto name = DraftName::take(path);
    if (!name)
        return name.status();
    const TraceInfo info = copiedInfo(trace, options);
    name->handOverLock();
    auto writer = NativeWriter::create(name->draft(), info);
    if (!writer)
        return name->named(writer.status());
    Copier copier(trace, **writer, options, job);
    Status status = copier.run();
    if (status)
        status = (*writer)->close(info);
    if (!status)
        return name->named(status);
    status = name->commit();
    return status ? Result(copier.leftOut()) : status;
}

} // namespace core
