// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/dtype.h"
#include "core/base/value.h"
#include "core/trace/place_records.h"
#include "core/trace/tensor_stats.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// The records a trace is made of, as the capture writes them, as the readers of every format deliver them,
// and as TraceBuilder takes them. Ids are numbers unique in their kind, given by whoever makes the record;
// kNoRecord is none. A record may refer to records that come later in the stream; TraceBuilder checks all
// references at the end.
namespace core {

// Why a tensor's values are not in the file.
enum class PayloadState : std::uint8_t {
    saved,
    notSaved, // the save policy left it out
    tooLarge, // larger than the policy's bytes a tensor; statistics and a sample may be there
    meta,     // no data by nature
    sparse,
    quantized,
    uninitialised, // memory nobody has written yet: neither values nor statistics mean anything
    undefined,     // the output slot held no tensor
    unsupported,   // a layout or type the source could not store
    dropped,       // it was to be saved and is not there (lost, unreadable, left out by Save a copy)
    unknown,       // the source does not say
};

// Where values are: BYTES at OFFSET in the data of archive entry ENTRY (a .npy's data begin after its header;
// a safetensors blob's OFFSET counts from the data section). CONTIGUOUS: the elements in row-major order;
// else the bytes are the storage, and element [i...] is at (storageOffset + sum(i * stride)) * itemSize.
struct PayloadRecord
{
    PayloadState state = PayloadState::unknown;
    std::string entry;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    bool contiguous = true;
};

enum class TensorRole : std::uint8_t { output, input, parameter, buffer, constant, gradient };

// What went into an op where its output first was bad: the call's positional arguments in order, a tensor as
// its element there (broadcast; null where it cannot be or was not kept), a number as it is. AT is the flat
// row-major index in the output.
struct OperandsAt
{
    std::int64_t at = -1;
    std::vector<Value> values;
};

// One version of one tensor. A write in place makes a new version of the same storage.
struct TensorRecord
{
    RecordId id = kNoRecord;
    RecordId storage = kNoRecord; // tensors with the same storage share memory; kNoRecord: not known
    TensorRole role = TensorRole::output;
    DType dtype = DType::unknown;
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides; // in elements; empty: contiguous (or not known)
    std::int64_t storageOffset = 0;    // in elements
    bool shapeKnown = true;
    bool requiresGrad = false;
    std::string device = "cpu";
    std::string address;       // of an input, parameter, buffer or constant
    RecordId call = kNoRecord; // that made this version
    std::uint32_t slot = 0;    // which of its outputs
    PayloadRecord payload;
    std::optional<TensorStats> stats; // of all elements; absent: not measured
    RecordId gradNode = kNoRecord;    // its grad_fn
    std::uint32_t gradNodeOutput = 0;
    std::vector<double> sample; // the first (at most 16) elements in row-major order, whatever the policy
    // Of an output that the call made bad: at the first element that is not finite, and at the first NaN when
    // that is another one.
    std::optional<OperandsAt> operandsAtFirst;
    std::optional<OperandsAt> operandsAtFirstNan;
};

struct ArgumentRecord
{
    std::string name;
    std::vector<RecordId> tensors; // in order; kNoRecord for None inside a list
    bool isTensorList = false;
    bool isWritten = false;
    Value value; // for an argument that is no tensor
};

enum class CallKind : std::uint8_t { compute, input, output, buffer };

// What only a source that labels its own ops knows (TorchLens bundles): one per output tensor, read and never
// derived.
struct ImportedRow
{
    std::string label;      // "linear_1_1:2"
    std::string layerLabel; // "linear_1_1"
    std::string type;
    std::string rawLabel;
    std::uint32_t typeIndex = 0;
    std::uint32_t totalIndex = 0;
    std::uint32_t pass = 1;
    std::uint32_t passCount = 1;
    std::uint32_t step = 0;
    std::vector<std::string> parents;  // labels
    std::vector<std::string> children; // labels
    std::optional<std::int64_t> flopsForward;
    std::optional<std::int64_t> flopsBackward;
    std::optional<std::int64_t> macsForward;
    std::optional<std::int64_t> memory;           // activation bytes
    std::string atomicModule;                     // address without call number; empty: none
    std::vector<std::string> outputOfModuleCalls; // "a.b:1"
    Value attributes;                             // further fields, object or null
};

// One call as the user wrote it, or a pseudo row: an input (at the start), an output (at the end), a buffer
// read or a buffer version written. A call without a tensor result has no outputs.
struct CallRecord
{
    RecordId id = kNoRecord; // in execution order
    CallKind kind = CallKind::compute;
    std::string
        op; // own captures: "aten.add.Tensor"; imported: the recorded function name; pseudo rows: "none"
    std::string func; // "add"
    RecordId moduleCall = kNoRecord;
    RecordId stack = kNoRecord;
    std::vector<ArgumentRecord> arguments; // in schema order
    std::vector<RecordId> outputs;         // tensors by slot; kNoRecord: undefined
    std::vector<RecordId> parents; // tensors whose makers this call depends on, in order, without repetition
    std::vector<RecordId> valueParents; // calls whose Python number came in here (through .item() and back)
    std::int64_t startNs = -1;          // from the start of the run
    std::int64_t durationNs = -1;
    std::uint32_t thread = 0;
    bool inPlace = false;
    bool view = false;
    bool consumesRng = false;
    bool uninitialised = false;
    bool gradEnabled = false;
    bool finished = true;       // false: the op was running when the run ended
    std::string autocast;       // dtype name when autocast was on, else empty
    std::string controlFlow;    // "while_loop_1/body[3]", empty at the top level
    std::string nodeName;       // of a .pt2 graph node
    std::string address;        // of an input, buffer or output row ("x", "bn.running_mean", "logits")
    std::optional<Value> value; // of a symbolic or Python-number node
    std::optional<std::int64_t> flopsForward; // when the maker knows; else the rules of op_flops.h
    std::vector<RecordId> gradNodes;
    std::vector<ImportedRow> imported; // empty for own captures, else one per output
};

struct ParamRecord
{
    RecordId id = kNoRecord;
    bool isBuffer = false;
    std::string address;
    std::vector<std::string> aliases; // further addresses of the same tensor (tied)
    RecordId tensor = kNoRecord;      // its first version
    bool trainable = false;
    Value attributes;
};

struct GradEdge
{
    RecordId node = kNoRecord;
    std::uint32_t input = 0;
};

struct GradNodeRecord
{
    RecordId id = kNoRecord;
    std::string className; // "AddmmBackward0"
    std::string label;     // imported: its label, else empty
    std::int64_t sequence = -1;
    RecordId call = kNoRecord;  // forward op
    std::string opLabel;        // imported: the forward op's label as recorded
    std::string parameter;      // AccumulateGrad: the leaf's address
    std::string module;         // address, when recorded apart from the op's
    std::vector<GradEdge> next; // towards the leaves
    Value attributes;
};

struct GradFireRecord
{
    RecordId id = kNoRecord;
    RecordId backward = kNoRecord;
    std::uint32_t order = 0; // measured, from 0
    RecordId node = kNoRecord;
    std::vector<RecordId> arriving; // gradient tensors; kNoRecord: undefined or not recorded
    std::vector<RecordId> emitted;
    bool payloadsRecorded = true; // false: the source kept none of this fire's gradients
    std::int64_t startNs = -1;
    std::int64_t durationNs = -1;
};

// The gradient of one forward tensor (or of a parameter or input) in one backward pass. Imported bundles also
// keep the tensor's own last gradient, which belongs to no pass: BACKWARD is kNoRecord then.
struct GradientRecord
{
    RecordId tensor = kNoRecord; // the forward tensor
    RecordId backward = kNoRecord;
    RecordId gradient = kNoRecord; // the tensor record of the gradient; kNoRecord: recorded that none arrived
    std::string note;              // "overwritten in place"
};

struct BackwardRecord
{
    RecordId id = kNoRecord;
    std::uint32_t index = 1; // 1-based
    RecordId loss = kNoRecord;
    std::string lossRule; // "sum", "mean", "output", ...
    std::vector<RecordId> roots;
    std::optional<double> lossScale;
    std::string savePolicy;
    std::string status = "finished";
    std::int64_t durationNs = -1;
    std::string message; // for a pass that failed
    Value attributes;
};

struct DiagnosticRecord
{
    std::string token;
    std::string message;
    RecordId call = kNoRecord;
};

struct NoteRecord
{
    std::string kind; // "bookmark", "note"
    std::string target;
    std::string text;
};

} // namespace core
