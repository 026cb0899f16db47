// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/dtype.h"
#include "core/base/ids.h"
#include "core/base/source_location.h"
#include "core/base/string_pool.h"
#include "core/trace/records.h"
#include "core/trace/tensor_stats.h"
#include "core/trace/trace_info.h"

#include <cstdint>
#include <vector>

// The rows of a Trace: small fixed-width records that refer to each other by typed ids and into pools by
// ranges, so that a trace of 10^6 ops is a few arrays. Text is in the string pool. Filled by TraceBuilder
// only.
namespace core {

// COUNT items of a pool from BEGIN.
struct Range
{
    std::uint32_t begin = 0;
    std::uint32_t count = 0;
};

// Unknown counts (FLOPs, durations, bytes) are kUnknown, never 0.
inline constexpr std::int64_t kUnknown = -1;

struct ArgumentRow
{
    StringId name;
    StringId valueJson; // JSON text of a non-tensor argument; none for tensors
    Range tensors;      // pool tensorIds
    bool isTensorList = false;
    bool isWritten = false;
};

struct CallRow
{
    CallKind kind = CallKind::compute;
    bool inPlace = false;
    bool view = false;
    bool consumesRng = false;
    bool uninitialised = false;
    bool gradEnabled = false;
    bool finished = true;
    StringId op;
    StringId func;
    StringId autocast;
    StringId controlFlow;
    StringId nodeName;
    StringId address;
    StringId valueJson; // value of a symbolic or Python-number node; none otherwise
    ModuleCallId moduleCall;
    StackId stack;
    Range arguments;    // pool arguments
    Range rows;         // OpIds rows.begin .. : one per output, or one row without tensor
    Range valueParents; // pool callIds
    Range gradNodes;    // pool gradNodeIds
    std::int64_t startNs = kUnknown;
    std::int64_t durationNs = kUnknown;
    std::uint32_t thread = 0;
};

// One row of every op table: one output tensor of one call (or a call without one).
struct OpRow
{
    CallKind kind = CallKind::compute;
    CallId call;
    std::uint32_t slot = 0;
    TensorId tensor;         // none: no tensor result
    StringId label;          // "linear_1_1:2", always with the pass
    StringId layerLabel;     // "linear_1_1"
    StringId type;           // "linear"
    StringId atomicModule;   // address of the innermost module call when this is its only op; none otherwise
    StringId attributesJson; // imported extras; none otherwise
    std::uint32_t typeIndex = 0;
    std::uint32_t totalIndex = 0;
    std::uint32_t pass = 1;
    std::uint32_t passCount = 1;
    std::uint32_t step = 0; // execution step, reports.md section 3
    Range parents;          // pool opIds
    Range children;         // pool opIds
    Range outputOf;         // pool moduleCallIds: module calls that returned this tensor
    std::int64_t flopsForward = kUnknown;
    std::int64_t flopsBackward = kUnknown;
    std::int64_t macsForward = kUnknown;
    std::int64_t bytes = kUnknown; // activation memory: shape times item size
};

struct PayloadRow
{
    PayloadState state = PayloadState::unknown;
    bool contiguous = true;
    StringId entry;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

struct TensorRow
{
    TensorRole role = TensorRole::output;
    DType dtype = DType::unknown;
    bool shapeKnown = true;
    bool requiresGrad = false;
    StorageId storage;
    StringId device;
    StringId address;
    Range shape;   // pool integers
    Range strides; // pool integers; empty: contiguous
    Range sample;  // pool doubles
    std::int64_t storageOffset = 0;
    CallId call;
    std::uint32_t slot = 0;
    std::uint32_t stats = 0xffffffffU; // index into stats; none: not measured
    PayloadRow payload;
    GradNodeId gradNode;
    std::uint32_t gradNodeOutput = 0;
    StringId operandsAtFirst;    // JSON {"at": flat index, "values": [..]}; none
    StringId operandsAtFirstNan; // the same at the first NaN when that is another element; none
};

struct ModuleRow
{
    StringId address; // "" for the root
    StringId className;
    StringId attributesJson;
    ModuleId parent;
    Range aliases;             // pool stringIds
    std::int8_t training = -1; // -1: not known
};

struct ModuleCallRow
{
    ModuleId module;
    std::uint32_t index = 1;
    ModuleCallId parent;
    StackId stack;
    StringId method;
    StringId label; // "ff.wo:1"; the root is ":1"
    Range inputs;   // pool tensorIds
    Range outputs;  // pool tensorIds
    std::int64_t durationNs = kUnknown;
};

struct ParamRow
{
    bool isBuffer = false;
    bool trainable = false;
    StringId address;
    Range aliases; // pool stringIds
    TensorId tensor;
    StringId attributesJson;
};

struct FrameRow
{
    StringId file;
    StringId function;
    StringId text;
    LineNumber line;
    FrameOrigin origin = FrameOrigin::user;
};

struct StackRow
{
    Range frames; // pool frameIds, outermost first
    FrameId user; // the innermost user frame (own-traces.md section 2); none
};

struct SourceRow
{
    StringId file;
    StringId entry;
    StringId hash;
};

struct GradEdgeRow
{
    GradNodeId node;
    std::uint32_t input = 0;
};

struct GradNodeRow
{
    StringId className;
    StringId label;
    StringId opLabel;
    StringId parameter;
    StringId module;
    StringId attributesJson;
    std::int64_t sequence = -1;
    CallId call;
    Range next; // pool gradEdges
};

struct GradFireRow
{
    BackwardId backward;
    std::uint32_t order = 0;
    GradNodeId node;
    Range arriving; // pool tensorIds
    Range emitted;  // pool tensorIds
    bool payloadsRecorded = true;
    std::int64_t startNs = kUnknown;
    std::int64_t durationNs = kUnknown;
};

struct GradientRow
{
    TensorId tensor;
    BackwardId backward;
    TensorId gradient; // none: recorded that none arrived
    StringId note;
};

struct BackwardRow
{
    std::uint32_t index = 1;
    TensorId loss;
    StringId lossRule;
    StringId savePolicy;
    StringId status;
    StringId message;
    StringId attributesJson;
    Range roots; // pool gradNodeIds
    double lossScale = 0.0;
    bool hasLossScale = false;
    std::int64_t durationNs = kUnknown;
};

struct DiagnosticRow
{
    StringId token;
    StringId message;
    CallId call;
};

struct NoteRow
{
    StringId kind;
    StringId target;
    StringId text;
};

} // namespace core
