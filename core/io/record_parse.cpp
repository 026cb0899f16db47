// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/record_parse.h"

#include "core/io/record_fields.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

namespace core {
namespace {

using namespace record_fields;

#define FIELD(RECORD, KEY, MEMBER)                                                                           \
    Field<RECORD>                                                                                            \
    {                                                                                                        \
        KEY, [](RECORD &record, Element from) { return read(from, record.MEMBER); }                          \
    }
#define ID_FIELD(RECORD, KEY, MEMBER)                                                                        \
    Field<RECORD>                                                                                            \
    {                                                                                                        \
        KEY, [](RECORD &record, Element from) { return readId(from, record.MEMBER); }                        \
    }
#define IDS_FIELD(RECORD, KEY, MEMBER)                                                                       \
    Field<RECORD>                                                                                            \
    {                                                                                                        \
        KEY, [](RECORD &record, Element from) { return readIds(from, record.MEMBER); }                       \
    }

constexpr std::array kFrameFields = {
    FIELD(FrameRecord, "id", id),     FIELD(FrameRecord, "file", file),
    FIELD(FrameRecord, "line", line), FIELD(FrameRecord, "func", function),
    FIELD(FrameRecord, "text", text), FIELD(FrameRecord, "origin", origin),
};

constexpr std::array kStackFields = {
    FIELD(StackRecord, "id", id),
    IDS_FIELD(StackRecord, "frames", frames),
};

constexpr std::array kSourceFields = {
    FIELD(SourceRecord, "id", id),
    FIELD(SourceRecord, "file", file),
    FIELD(SourceRecord, "entry", entry),
    FIELD(SourceRecord, "hash", hash),
};

constexpr std::array kModuleFields = {
    FIELD(ModuleRecord, "id", id),
    FIELD(ModuleRecord, "address", address),
    FIELD(ModuleRecord, "class", className),
    ID_FIELD(ModuleRecord, "parent", parent),
    FIELD(ModuleRecord, "training", training),
    FIELD(ModuleRecord, "aliases", aliases),
    FIELD(ModuleRecord, "attributes", attributes),
};

constexpr std::array kModuleCallFields = {
    FIELD(ModuleCallRecord, "id", id),
    ID_FIELD(ModuleCallRecord, "module", module),
    FIELD(ModuleCallRecord, "index", index),
    ID_FIELD(ModuleCallRecord, "parent", parent),
    ID_FIELD(ModuleCallRecord, "stack", stack),
    IDS_FIELD(ModuleCallRecord, "inputs", inputs),
    IDS_FIELD(ModuleCallRecord, "outputs", outputs),
    FIELD(ModuleCallRecord, "duration", durationNs),
    FIELD(ModuleCallRecord, "method", method),
};

constexpr std::array kTensorFields = {
    FIELD(TensorRecord, "id", id),
    ID_FIELD(TensorRecord, "storage", storage),
    FIELD(TensorRecord, "role", role),
    FIELD(TensorRecord, "dtype", dtype),
    Field<TensorRecord>{"shape",
                        [](TensorRecord &record, Element from) {
                            record.shapeKnown = true;
                            return read(from, record.shape) && isPossibleShape(record.shape);
                        }},
    FIELD(TensorRecord, "strides", strides),
    FIELD(TensorRecord, "offset", storageOffset),
    FIELD(TensorRecord, "requires_grad", requiresGrad),
    FIELD(TensorRecord, "device", device),
    FIELD(TensorRecord, "address", address),
    ID_FIELD(TensorRecord, "op", call),
    FIELD(TensorRecord, "slot", slot),
    FIELD(TensorRecord, "payload", payload),
    FIELD(TensorRecord, "stats", stats),
    ID_FIELD(TensorRecord, "grad_node", gradNode),
    FIELD(TensorRecord, "grad_node_output", gradNodeOutput),
    FIELD(TensorRecord, "sample", sample),
    FIELD(TensorRecord, "operands_at_first", operandsAtFirst),
    FIELD(TensorRecord, "operands_at_first_nan", operandsAtFirstNan),
};

constexpr std::array kCallFields = {
    FIELD(CallRecord, "id", id),
    FIELD(CallRecord, "kind", kind),
    FIELD(CallRecord, "op", op),
    FIELD(CallRecord, "func", func),
    ID_FIELD(CallRecord, "module_call", moduleCall),
    ID_FIELD(CallRecord, "stack", stack),
    FIELD(CallRecord, "args", arguments),
    IDS_FIELD(CallRecord, "outputs", outputs),
    IDS_FIELD(CallRecord, "parents", parents),
    IDS_FIELD(CallRecord, "value_parents", valueParents),
    FIELD(CallRecord, "start", startNs),
    FIELD(CallRecord, "duration", durationNs),
    FIELD(CallRecord, "thread", thread),
    FIELD(CallRecord, "in_place", inPlace),
    FIELD(CallRecord, "view", view),
    FIELD(CallRecord, "rng", consumesRng),
    FIELD(CallRecord, "uninitialised", uninitialised),
    FIELD(CallRecord, "grad", gradEnabled),
    FIELD(CallRecord, "finished", finished),
    FIELD(CallRecord, "autocast", autocast),
    FIELD(CallRecord, "control", controlFlow),
    FIELD(CallRecord, "node", nodeName),
    FIELD(CallRecord, "address", address),
    FIELD(CallRecord, "value", value),
    FIELD(CallRecord, "flops", flopsForward),
    IDS_FIELD(CallRecord, "grad_nodes", gradNodes),
    FIELD(CallRecord, "imported", imported),
};

constexpr std::array kParamFields = {
    FIELD(ParamRecord, "id", id),
    FIELD(ParamRecord, "address", address),
    FIELD(ParamRecord, "aliases", aliases),
    ID_FIELD(ParamRecord, "tensor", tensor),
    FIELD(ParamRecord, "trainable", trainable),
    FIELD(ParamRecord, "attributes", attributes),
};

constexpr std::array kGradNodeFields = {
    FIELD(GradNodeRecord, "id", id),
    FIELD(GradNodeRecord, "class", className),
    FIELD(GradNodeRecord, "label", label),
    FIELD(GradNodeRecord, "sequence", sequence),
    ID_FIELD(GradNodeRecord, "op", call),
    FIELD(GradNodeRecord, "op_label", opLabel),
    FIELD(GradNodeRecord, "parameter", parameter),
    FIELD(GradNodeRecord, "module", module),
    FIELD(GradNodeRecord, "next", next),
    FIELD(GradNodeRecord, "attributes", attributes),
};

constexpr std::array kGradFireFields = {
    FIELD(GradFireRecord, "id", id),
    ID_FIELD(GradFireRecord, "backward", backward),
    FIELD(GradFireRecord, "order", order),
    ID_FIELD(GradFireRecord, "node", node),
    IDS_FIELD(GradFireRecord, "arriving", arriving),
    IDS_FIELD(GradFireRecord, "emitted", emitted),
    FIELD(GradFireRecord, "payloads_recorded", payloadsRecorded),
    FIELD(GradFireRecord, "start", startNs),
    FIELD(GradFireRecord, "duration", durationNs),
};

constexpr std::array kGradientFields = {
    ID_FIELD(GradientRecord, "tensor", tensor),
    ID_FIELD(GradientRecord, "backward", backward),
    ID_FIELD(GradientRecord, "gradient", gradient),
    FIELD(GradientRecord, "note", note),
};

constexpr std::array kBackwardFields = {
    FIELD(BackwardRecord, "id", id),
    FIELD(BackwardRecord, "index", index),
    ID_FIELD(BackwardRecord, "loss", loss),
    FIELD(BackwardRecord, "loss_rule", lossRule),
    IDS_FIELD(BackwardRecord, "roots", roots),
    FIELD(BackwardRecord, "loss_scale", lossScale),
    FIELD(BackwardRecord, "save_policy", savePolicy),
    FIELD(BackwardRecord, "status", status),
    FIELD(BackwardRecord, "duration", durationNs),
    FIELD(BackwardRecord, "message", message),
    FIELD(BackwardRecord, "attributes", attributes),
};

constexpr std::array kDiagnosticFields = {
    FIELD(DiagnosticRecord, "token", token),
    FIELD(DiagnosticRecord, "message", message),
    ID_FIELD(DiagnosticRecord, "op", call),
};

constexpr std::array kNoteFields = {
    FIELD(NoteRecord, "kind", kind),
    FIELD(NoteRecord, "target", target),
    FIELD(NoteRecord, "text", text),
};

#undef FIELD
#undef ID_FIELD
#undef IDS_FIELD

using Records = std::vector<AnyRecord>;

template <class Record>
bool readRecord(simdjson::dom::object from, std::span<const Field<Record>> fields, Record record, Records &to,
                std::string_view &badKey)
{
    if (!readFields(from, fields, record, badKey))
        return false;
    to.emplace_back(std::move(record));
    return true;
}

TensorRecord emptyTensor()
{
    TensorRecord record;
    record.shapeKnown = false; // until a shape is read
    return record;
}

ParamRecord emptyParam(bool isBuffer)
{
    ParamRecord record;
    record.isBuffer = isBuffer;
    return record;
}

struct Kind
{
    std::string_view word;
    bool (*read)(simdjson::dom::object from, Records &to, std::string_view &badKey);
};

#define KIND(WORD, RECORD, FIELDS, EMPTY)                                                                    \
    Kind                                                                                                     \
    {                                                                                                        \
        WORD, [](simdjson::dom::object from, Records &to, std::string_view &badKey) {                        \
            return readRecord<RECORD>(from, FIELDS, EMPTY, to, badKey);                                      \
        }                                                                                                    \
    }

constexpr std::array kKinds = {
    KIND("op", CallRecord, kCallFields, {}),
    KIND("tensor", TensorRecord, kTensorFields, emptyTensor()),
    KIND("frame", FrameRecord, kFrameFields, {}),
    KIND("stack", StackRecord, kStackFields, {}),
    KIND("grad_node", GradNodeRecord, kGradNodeFields, {}),
    KIND("grad_fire", GradFireRecord, kGradFireFields, {}),
    KIND("gradient", GradientRecord, kGradientFields, {}),
    KIND("module_call", ModuleCallRecord, kModuleCallFields, {}),
    KIND("module", ModuleRecord, kModuleFields, {}),
    KIND("param", ParamRecord, kParamFields, emptyParam(false)),
    KIND("buffer", ParamRecord, kParamFields, emptyParam(true)),
    KIND("source", SourceRecord, kSourceFields, {}),
    KIND("backward", BackwardRecord, kBackwardFields, {}),
    KIND("diagnostic", DiagnosticRecord, kDiagnosticFields, {}),
    KIND("note", NoteRecord, kNoteFields, {}),
};

#undef KIND

constexpr std::size_t kDeepestRecord = 64;

} // namespace

struct RecordParser::Impl
{
    simdjson::dom::parser parser;
    std::vector<char> text; // a segment with the padding that simdjson wants

    // ok also for a line that is left out (MESSAGE says why).
    Status line(std::string_view line, Records &records, std::string &message)
    {
        simdjson::dom::object object;
        const auto error = parser.parse(line.data(), line.size(), false).get(object);
        if (error != simdjson::SUCCESS) {
            message = simdjson::error_message(error);
            return Status::ok();
        }
        std::string_view word;
        if (object["t"].get(word) != simdjson::SUCCESS) {
            message = "no member t with a text";
            return Status::ok();
        }
        if (word.starts_with('!'))
            return Status(ErrorCode::unsupportedVersion,
                          fmt::format("records of kind {} are needed to understand the file", word))
                .withDetail("incompatible_record");
        for (const Kind &kind : kKinds)
            if (kind.word == word) {
                std::string_view badKey;
                if (!kind.read(object, records, badKey))
                    message = fmt::format("member {} of a record of kind {} does not fit", badKey, word);
                break;
            }
        return Status::ok();
    }
};

RecordParser::RecordParser() : m_impl(std::make_unique<Impl>()) {}
RecordParser::~RecordParser() = default;

Status RecordParser::parse(std::string_view lines, std::string_view name, std::vector<AnyRecord> &records,
                           LoadReport &report)
{
    std::vector<char> &text = m_impl->text;
    text.resize(lines.size() + simdjson::SIMDJSON_PADDING);
    if (!lines.empty())
        std::memcpy(text.data(), lines.data(), lines.size());
    std::memset(text.data() + lines.size(), ' ', simdjson::SIMDJSON_PADDING);
    if (lines.size() >= simdjson::SIMDJSON_MAXSIZE_BYTES ||
        (m_impl->parser.capacity() < lines.size() &&
         m_impl->parser.allocate(lines.size(), kDeepestRecord) != simdjson::SUCCESS))
        return {ErrorCode::limitExceeded, fmt::format("{}: {} bytes of records", name, lines.size())};
    std::size_t number = 0;
    for (std::size_t at = 0; at < lines.size();) {
        ++number;
        const std::size_t end = std::min(lines.find('\n', at), lines.size());
        if (end > at) {
            std::string message;
            if (Status status = m_impl->line({text.data() + at, end - at}, records, message); !status)
                return status.prefixed(name);
            if (!message.empty())
                report.add("bad_record", fmt::format("{} line {}: {}", name, number, message));
        }
        at = end + 1;
    }
    return Status::ok();
}

} // namespace core
