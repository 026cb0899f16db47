// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/index_schema.h"

#include <array>
#include <type_traits>

namespace core::index_schema {
namespace {

constexpr std::uint8_t kBool = 2;

template <class Enum>
constexpr std::uint8_t words(Enum last)
{
    return static_cast<std::uint8_t>(static_cast<int>(last) + 1);
}

#define COLUMN(ROW, NAME, MEMBER, TYPE, ...)                                                                 \
    Column                                                                                                   \
    {                                                                                                        \
        NAME, Type::TYPE, offsetof(ROW, MEMBER) __VA_OPT__(, ) __VA_ARGS__                                   \
    }
#define TEXT(ROW, NAME, MEMBER) COLUMN(ROW, NAME, MEMBER, id, Table::strings)
#define FLAG(ROW, NAME, MEMBER) COLUMN(ROW, NAME, MEMBER, u8, Table::storages, kBool)
#define WORD(ROW, NAME, MEMBER, LAST) COLUMN(ROW, NAME, MEMBER, u8, Table::storages, words(LAST))

constexpr std::array kCalls = {
    WORD(CallRow, "kind", kind, CallKind::buffer),
    FLAG(CallRow, "in_place", inPlace),
    FLAG(CallRow, "view", view),
    FLAG(CallRow, "rng", consumesRng),
    FLAG(CallRow, "uninitialised", uninitialised),
    FLAG(CallRow, "grad", gradEnabled),
    FLAG(CallRow, "finished", finished),
    TEXT(CallRow, "op", op),
    TEXT(CallRow, "func", func),
    TEXT(CallRow, "autocast", autocast),
    TEXT(CallRow, "control", controlFlow),
    TEXT(CallRow, "node", nodeName),
    TEXT(CallRow, "address", address),
    TEXT(CallRow, "value", valueJson),
    COLUMN(CallRow, "module_call", moduleCall, id, Table::moduleCalls),
    COLUMN(CallRow, "stack", stack, id, Table::stacks),
    COLUMN(CallRow, "args", arguments, range, Table::arguments),
    COLUMN(CallRow, "rows", rows, range, Table::ops),
    COLUMN(CallRow, "value_parents", valueParents, range, Table::callIds),
    COLUMN(CallRow, "grad_nodes", gradNodes, range, Table::gradNodeIds),
    COLUMN(CallRow, "start", startNs, i64),
    COLUMN(CallRow, "duration", durationNs, i64),
    COLUMN(CallRow, "thread", thread, u32),
};

constexpr std::array kOps = {
    WORD(OpRow, "kind", kind, CallKind::buffer),
    COLUMN(OpRow, "call", call, row, Table::calls),
    COLUMN(OpRow, "slot", slot, u32),
    COLUMN(OpRow, "tensor", tensor, id, Table::tensors),
    TEXT(OpRow, "label", label),
    TEXT(OpRow, "layer", layerLabel),
    TEXT(OpRow, "type", type),
    TEXT(OpRow, "atomic_module", atomicModule),
    TEXT(OpRow, "attributes", attributesJson),
    COLUMN(OpRow, "type_index", typeIndex, u32),
    COLUMN(OpRow, "total_index", totalIndex, u32),
    COLUMN(OpRow, "pass", pass, u32),
    COLUMN(OpRow, "passes", passCount, u32),
    COLUMN(OpRow, "step", step, u32),
    COLUMN(OpRow, "parents", parents, range, Table::opIds),
    COLUMN(OpRow, "children", children, range, Table::opIds),
    COLUMN(OpRow, "output_of", outputOf, range, Table::moduleCallIds),
    COLUMN(OpRow, "flops_forward", flopsForward, i64),
    COLUMN(OpRow, "flops_backward", flopsBackward, i64),
    COLUMN(OpRow, "macs_forward", macsForward, i64),
    COLUMN(OpRow, "bytes", bytes, i64),
};

constexpr std::array kTensors = {
    WORD(TensorRow, "role", role, TensorRole::gradient),
    WORD(TensorRow, "dtype", dtype, DType::qint32),
    FLAG(TensorRow, "shape_known", shapeKnown),
    FLAG(TensorRow, "requires_grad", requiresGrad),
    COLUMN(TensorRow, "storage", storage, id, Table::storages),
    TEXT(TensorRow, "device", device),
    TEXT(TensorRow, "address", address),
    COLUMN(TensorRow, "shape", shape, range, Table::integers),
    COLUMN(TensorRow, "strides", strides, range, Table::integers),
    COLUMN(TensorRow, "sample", sample, range, Table::doubles),
    COLUMN(TensorRow, "offset", storageOffset, i64),
    COLUMN(TensorRow, "call", call, id, Table::calls),
    COLUMN(TensorRow, "slot", slot, u32),
    COLUMN(TensorRow, "stats", stats, id, Table::stats),
    WORD(TensorRow, "payload_state", payload.state, PayloadState::unknown),
    FLAG(TensorRow, "payload_contiguous", payload.contiguous),
    TEXT(TensorRow, "payload_entry", payload.entry),
    COLUMN(TensorRow, "payload_offset", payload.offset, u64),
    COLUMN(TensorRow, "payload_bytes", payload.bytes, u64),
    COLUMN(TensorRow, "grad_node", gradNode, id, Table::gradNodes),
    COLUMN(TensorRow, "grad_node_output", gradNodeOutput, u32),
    TEXT(TensorRow, "operands_at_first", operandsAtFirst),
    TEXT(TensorRow, "operands_at_first_nan", operandsAtFirstNan),
};

constexpr std::array kStats = {
    COLUMN(TensorStats, "n", elements, u64),
    COLUMN(TensorStats, "nan", nan, u64),
    COLUMN(TensorStats, "pos_inf", posInf, u64),
    COLUMN(TensorStats, "neg_inf", negInf, u64),
    COLUMN(TensorStats, "zero", zero, u64),
    COLUMN(TensorStats, "subnormal", subnormal, u64),
    COLUMN(TensorStats, "min", min, f64),
    COLUMN(TensorStats, "max", max, f64),
    COLUMN(TensorStats, "abs_min", absMin, f64),
    COLUMN(TensorStats, "abs_max", absMax, f64),
    COLUMN(TensorStats, "mean", mean, f64),
    COLUMN(TensorStats, "std", std, f64),
    COLUMN(TensorStats, "first_nan", firstNan, i64),
    COLUMN(TensorStats, "first_pos_inf", firstPosInf, i64),
    COLUMN(TensorStats, "first_neg_inf", firstNegInf, i64),
};

constexpr std::array kModules = {
    TEXT(ModuleRow, "address", address),
    TEXT(ModuleRow, "class", className),
    TEXT(ModuleRow, "attributes", attributesJson),
    COLUMN(ModuleRow, "parent", parent, id, Table::modules),
    COLUMN(ModuleRow, "aliases", aliases, range, Table::stringIds),
    COLUMN(ModuleRow, "training", training, i8),
};

constexpr std::array kModuleCalls = {
    COLUMN(ModuleCallRow, "module", module, row, Table::modules),
    COLUMN(ModuleCallRow, "index", index, u32),
    COLUMN(ModuleCallRow, "parent", parent, id, Table::moduleCalls),
    COLUMN(ModuleCallRow, "stack", stack, id, Table::stacks),
    TEXT(ModuleCallRow, "method", method),
    TEXT(ModuleCallRow, "label", label),
    COLUMN(ModuleCallRow, "inputs", inputs, range, Table::tensorIds),
    COLUMN(ModuleCallRow, "outputs", outputs, range, Table::tensorIds),
    COLUMN(ModuleCallRow, "duration", durationNs, i64),
};

constexpr std::array kParams = {
    FLAG(ParamRow, "is_buffer", isBuffer),
    FLAG(ParamRow, "trainable", trainable),
    TEXT(ParamRow, "address", address),
    COLUMN(ParamRow, "aliases", aliases, range, Table::stringIds),
    COLUMN(ParamRow, "tensor", tensor, id, Table::tensors),
    TEXT(ParamRow, "attributes", attributesJson),
};

static_assert(sizeof(LineNumber) == sizeof(std::uint32_t));
constexpr std::array kFrames = {
    TEXT(FrameRow, "file", file),
    TEXT(FrameRow, "func", function),
    TEXT(FrameRow, "text", text),
    COLUMN(FrameRow, "line", line, u32),
    WORD(FrameRow, "origin", origin, FrameOrigin::generated),
};

constexpr std::array kStacks = {
    COLUMN(StackRow, "frames", frames, range, Table::frameIds),
    COLUMN(StackRow, "user", user, id, Table::frames),
};

constexpr std::array kSources = {
    TEXT(SourceRow, "file", file),
    TEXT(SourceRow, "entry", entry),
    TEXT(SourceRow, "hash", hash),
};

constexpr std::array kGradNodes = {
    TEXT(GradNodeRow, "class", className),
    TEXT(GradNodeRow, "label", label),
    TEXT(GradNodeRow, "op_label", opLabel),
    TEXT(GradNodeRow, "parameter", parameter),
    TEXT(GradNodeRow, "module", module),
    TEXT(GradNodeRow, "attributes", attributesJson),
    COLUMN(GradNodeRow, "sequence", sequence, i64),
    COLUMN(GradNodeRow, "call", call, id, Table::calls),
    COLUMN(GradNodeRow, "next", next, range, Table::gradEdges),
};

constexpr std::array kGradFires = {
    COLUMN(GradFireRow, "backward", backward, id, Table::backwards),
    COLUMN(GradFireRow, "order", order, u32),
    COLUMN(GradFireRow, "node", node, id, Table::gradNodes),
    COLUMN(GradFireRow, "arriving", arriving, range, Table::tensorIds),
    COLUMN(GradFireRow, "emitted", emitted, range, Table::tensorIds),
    FLAG(GradFireRow, "payloads_recorded", payloadsRecorded),
    COLUMN(GradFireRow, "start", startNs, i64),
    COLUMN(GradFireRow, "duration", durationNs, i64),
};

constexpr std::array kGradients = {
    COLUMN(GradientRow, "tensor", tensor, id, Table::tensors),
    COLUMN(GradientRow, "backward", backward, id, Table::backwards),
    COLUMN(GradientRow, "gradient", gradient, id, Table::tensors),
    TEXT(GradientRow, "note", note),
};

constexpr std::array kBackwards = {
    COLUMN(BackwardRow, "index", index, u32),
    COLUMN(BackwardRow, "loss", loss, id, Table::tensors),
    TEXT(BackwardRow, "loss_rule", lossRule),
    TEXT(BackwardRow, "save_policy", savePolicy),
    TEXT(BackwardRow, "status", status),
    TEXT(BackwardRow, "message", message),
    TEXT(BackwardRow, "attributes", attributesJson),
    COLUMN(BackwardRow, "roots", roots, range, Table::gradNodeIds),
    COLUMN(BackwardRow, "loss_scale", lossScale, f64),
    FLAG(BackwardRow, "has_loss_scale", hasLossScale),
    COLUMN(BackwardRow, "duration", durationNs, i64),
};

constexpr std::array kDiagnostics = {
    TEXT(DiagnosticRow, "token", token),
    TEXT(DiagnosticRow, "message", message),
    COLUMN(DiagnosticRow, "call", call, id, Table::calls),
};

constexpr std::array kNotes = {
    TEXT(NoteRow, "kind", kind),
    TEXT(NoteRow, "target", target),
    TEXT(NoteRow, "text", text),
};

constexpr std::array kArguments = {
    TEXT(ArgumentRow, "name", name),
    TEXT(ArgumentRow, "value", valueJson),
    COLUMN(ArgumentRow, "tensors", tensors, range, Table::tensorIds),
    FLAG(ArgumentRow, "list", isTensorList),
    FLAG(ArgumentRow, "written", isWritten),
};

constexpr std::array kGradEdges = {
    COLUMN(GradEdgeRow, "node", node, id, Table::gradNodes),
    COLUMN(GradEdgeRow, "input", input, u32),
};

#undef COLUMN
#undef TEXT
#undef FLAG
#undef WORD

constexpr std::array kOpIds = {Column{"op", Type::row, 0, Table::ops}};
constexpr std::array kCallIds = {Column{"call", Type::id, 0, Table::calls}};
constexpr std::array kTensorIds = {Column{"tensor", Type::id, 0, Table::tensors}};
constexpr std::array kModuleCallIds = {Column{"module_call", Type::row, 0, Table::moduleCalls}};
constexpr std::array kFrameIds = {Column{"frame", Type::id, 0, Table::frames}};
constexpr std::array kStringIds = {Column{"string", Type::id, 0, Table::strings}};
constexpr std::array kGradNodeIds = {Column{"grad_node", Type::id, 0, Table::gradNodes}};
constexpr std::array kIntegers = {Column{"value", Type::i64, 0}};
constexpr std::array kDoubles = {Column{"value", Type::f64, 0}};

template <auto MEMBER, std::size_t COUNT>
constexpr TableInfo table(std::string_view name, const std::array<Column, COUNT> &columns)
{
    using Rows = std::remove_cvref_t<decltype(std::declval<TraceTables>().*MEMBER)>;
    using Row = typename Rows::value_type;
    static_assert(std::is_trivially_copyable_v<Row> && std::is_standard_layout_v<Row>);
    return {name,
            sizeof(Row),
            columns,
            [](const TraceTables &tables) { return (tables.*MEMBER).size(); },
            [](const TraceTables &tables) {
                return reinterpret_cast<const std::byte *>((tables.*MEMBER).data());
            },
            [](TraceTables &tables, std::size_t rows) {
                (tables.*MEMBER).resize(rows);
                return reinterpret_cast<std::byte *>((tables.*MEMBER).data());
            }};
}

constexpr std::array kAllTables = {
    table<&TraceTables::calls>("calls", kCalls),
    table<&TraceTables::ops>("ops", kOps),
    table<&TraceTables::tensors>("tensors", kTensors),
    table<&TraceTables::stats>("stats", kStats),
    table<&TraceTables::modules>("modules", kModules),
    table<&TraceTables::moduleCalls>("module_calls", kModuleCalls),
    table<&TraceTables::params>("params", kParams),
    table<&TraceTables::frames>("frames", kFrames),
    table<&TraceTables::stacks>("stacks", kStacks),
    table<&TraceTables::sources>("sources", kSources),
    table<&TraceTables::gradNodes>("grad_nodes", kGradNodes),
    table<&TraceTables::gradFires>("grad_fires", kGradFires),
    table<&TraceTables::gradients>("gradients", kGradients),
    table<&TraceTables::backwards>("backwards", kBackwards),
    table<&TraceTables::diagnostics>("diagnostics", kDiagnostics),
    table<&TraceTables::notes>("notes", kNotes),
    table<&TraceTables::arguments>("arguments", kArguments),
    table<&TraceTables::gradEdges>("grad_edges", kGradEdges),
    table<&TraceTables::opIds>("op_ids", kOpIds),
    table<&TraceTables::callIds>("call_ids", kCallIds),
    table<&TraceTables::tensorIds>("tensor_ids", kTensorIds),
    table<&TraceTables::moduleCallIds>("module_call_ids", kModuleCallIds),
    table<&TraceTables::frameIds>("frame_ids", kFrameIds),
    table<&TraceTables::stringIds>("string_ids", kStringIds),
    table<&TraceTables::gradNodeIds>("grad_node_ids", kGradNodeIds),
    table<&TraceTables::integers>("integers", kIntegers),
    table<&TraceTables::doubles>("doubles", kDoubles),
};
static_assert(kAllTables.size() == kTables);

} // namespace

std::span<const TableInfo> tables()
{
    return kAllTables;
}

} // namespace core::index_schema
