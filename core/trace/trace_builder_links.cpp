// SPDX-License-Identifier: GPL-3.0-or-later
// The second half of TraceBuilder: from record ids to rows, and what is derived from them.
#include "core/trace/labeling.h"
#include "core/trace/op_flops.h"
#include "core/trace/parent_chains.h"
#include "core/trace/trace_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace core {

template <class IdType>
IdType TraceBuilder::resolve(const IdMap &map, std::uint32_t record, std::string_view what)
{
    if (record == kNoRecord)
        return {};
    const std::uint32_t row = map.find(record);
    if (row == kNoRecord) {
        m_report.add("dangling_reference",
                     fmt::format("{} {} is referred to and was not recorded", what, record));
        return {};
    }
    return IdType(row);
}

template <class IdType>
void TraceBuilder::resolveAll(std::vector<IdType> &pool, const IdMap &map, std::string_view what)
{
    for (IdType &id : pool)
        id = resolve<IdType>(map, id.value(), what);
}

void TraceBuilder::resolveReferences()
{
    resolveAll(m_tables.frameIds, m_frames, "frame");
    resolveAll(m_tables.tensorIds, m_tensors, "tensor");
    resolveAll(m_tables.callIds, m_calls, "op");
    resolveAll(m_tables.gradNodeIds, m_gradNodes, "grad node");
    resolveTensors();
    resolveCalls();
    resolveModules();
    resolveBackward();
}

void TraceBuilder::resolveTensors()
{
    for (TensorRow &row : m_tables.tensors) {
        row.call = resolve<CallId>(m_calls, row.call.value(), "op");
        row.gradNode = resolve<GradNodeId>(m_gradNodes, row.gradNode.value(), "grad node");
    }
    for (ParamRow &row : m_tables.params)
        row.tensor = resolve<TensorId>(m_tensors, row.tensor.value(), "tensor");
}

void TraceBuilder::resolveCalls()
{
    for (CallRow &row : m_tables.calls) {
        row.moduleCall = resolve<ModuleCallId>(m_moduleCalls, row.moduleCall.value(), "module call");
        row.stack = resolve<StackId>(m_stacks, row.stack.value(), "stack");
    }
    for (OpRow &row : m_tables.ops)
        row.tensor = resolve<TensorId>(m_tensors, row.tensor.value(), "tensor");
    for (DiagnosticRow &row : m_tables.diagnostics)
        row.call = resolve<CallId>(m_calls, row.call.value(), "op");
    TraceFailure &failure = m_tables.info.failure;
    failure.call = resolve<CallId>(m_calls, failure.call, "op").value();
    failure.stack = resolve<StackId>(m_stacks, failure.stack, "stack").value();
}

void TraceBuilder::resolveModules()
{
    for (ModuleRow &row : m_tables.modules)
        row.parent = resolve<ModuleId>(m_modules, row.parent.value(), "module");
    for (ModuleCallRow &row : m_tables.moduleCalls) {
        row.module = resolve<ModuleId>(m_modules, row.module.value(), "module");
        row.parent = resolve<ModuleCallId>(m_moduleCalls, row.parent.value(), "module call");
        row.stack = resolve<StackId>(m_stacks, row.stack.value(), "stack");
    }
    // A call of a module that was not recorded cannot be shown: give it a module without a name.
    for (ModuleCallRow &row : m_tables.moduleCalls)
        if (!row.module.isValid()) {
            row.module = ModuleId(m_tables.modules.size());
            ModuleRow unnamed;
            unnamed.address = text("");
            unnamed.className = text("");
            m_tables.modules.push_back(unnamed);
        }
    // Parents must lead upwards, and not too far.
    for (const std::size_t i : brokenChains(m_tables.modules))
        m_tables.modules[i].parent = ModuleId();
    for (const std::size_t i : brokenChains(m_tables.moduleCalls)) {
        m_tables.moduleCalls[i].parent = ModuleCallId();
        m_report.add("module_call_cycle",
                     fmt::format("module call {} contains itself, or lies in more than {} others", i,
                                 kDeepestNesting));
    }
}

void TraceBuilder::resolveBackward()
{
    for (GradNodeRow &row : m_tables.gradNodes)
        row.call = resolve<CallId>(m_calls, row.call.value(), "op");
    for (GradEdgeRow &row : m_tables.gradEdges)
        row.node = resolve<GradNodeId>(m_gradNodes, row.node.value(), "grad node");
    for (GradFireRow &row : m_tables.gradFires) {
        row.backward = resolve<BackwardId>(m_backwards, row.backward.value(), "backward pass");
        row.node = resolve<GradNodeId>(m_gradNodes, row.node.value(), "grad node");
    }
    for (GradientRow &row : m_tables.gradients) {
        row.tensor = resolve<TensorId>(m_tensors, row.tensor.value(), "tensor");
        row.backward = resolve<BackwardId>(m_backwards, row.backward.value(), "backward pass");
        row.gradient = resolve<TensorId>(m_tensors, row.gradient.value(), "tensor");
    }
    for (BackwardRow &row : m_tables.backwards)
        row.loss = resolve<TensorId>(m_tensors, row.loss.value(), "tensor");
    m_tables.info.hasBackward = !m_tables.backwards.empty();
}

// Parents of own captures: the rows that made the tensors a call names, in order, each once, never later
// rows.
void TraceBuilder::linkOps()
{
    std::vector<OpId> producers(m_tables.tensors.size());
    for (std::size_t i = 0; i < m_tables.ops.size(); ++i)
        if (const TensorId tensor = m_tables.ops[i].tensor; tensor.isValid())
            producers[tensor.index()] = OpId(i);
    for (std::size_t i = 0; i < m_tables.calls.size(); ++i) {
        const Range rows = m_tables.calls[i].rows;
        const auto begin = static_cast<std::uint32_t>(m_tables.opIds.size());
        for (const RecordId record : m_parents[i]) {
            const auto tensor = resolve<TensorId>(m_tensors, record, "tensor");
            const OpId made = tensor.isValid() ? producers[tensor.index()] : OpId();
            if (!made.isValid() || made.index() >= rows.begin)
                continue;
            const auto known = m_tables.opIds.begin() + begin;
            if (std::find(known, m_tables.opIds.end(), made) == m_tables.opIds.end())
                m_tables.opIds.push_back(made);
        }
        const Range parents{begin, static_cast<std::uint32_t>(m_tables.opIds.size()) - begin};
        for (std::uint32_t row = 0; row < rows.count; ++row)
            m_tables.ops[rows.begin + row].parents = parents;
    }
}

void TraceBuilder::fillChildren()
{
    std::vector<std::uint32_t> counts(m_tables.ops.size() + 1, 0);
    for (const OpRow &row : m_tables.ops)
        for (std::uint32_t i = 0; i < row.parents.count; ++i)
            ++counts[m_tables.opIds[row.parents.begin + i].index() + 1];
    const auto base = static_cast<std::uint32_t>(m_tables.opIds.size());
    for (std::size_t i = 1; i < counts.size(); ++i)
        counts[i] += counts[i - 1];
    for (std::size_t i = 0; i < m_tables.ops.size(); ++i)
        m_tables.ops[i].children = {base + counts[i], counts[i + 1] - counts[i]};
    m_tables.opIds.resize(base + counts.back());
    for (std::size_t child = 0; child < m_tables.ops.size(); ++child) {
        const Range parents = m_tables.ops[child].parents;
        for (std::uint32_t i = 0; i < parents.count; ++i) {
            const std::size_t parent = m_tables.opIds[parents.begin + i].index();
            m_tables.opIds[base + counts[parent]++] = OpId(child);
        }
    }
}

void TraceBuilder::linkImported()
{
    std::unordered_map<std::string_view, std::uint32_t> byLabel;
    for (const PendingRow &pending : m_imported) {
        byLabel.emplace(pending.row.label, pending.op);
        if (pending.row.passCount == 1)
            byLabel.emplace(pending.row.layerLabel, pending.op);
    }
    const auto link = [&](const std::vector<std::string> &labels) {
        Range range{static_cast<std::uint32_t>(m_tables.opIds.size()), 0};
        for (const std::string &label : labels) {
            const auto found = byLabel.find(label);
            if (found == byLabel.end()) {
                m_report.add("dangling_reference",
                             fmt::format("op {} is referred to and was not recorded", label));
                continue;
            }
            m_tables.opIds.emplace_back(found->second);
            ++range.count;
        }
        return range;
    };
    std::unordered_map<std::string_view, ModuleCallId> callsByLabel;
    for (std::size_t i = 0; i < m_tables.moduleCalls.size(); ++i)
        callsByLabel.emplace(m_tables.strings.view(m_tables.moduleCalls[i].label), ModuleCallId(i));
    for (const PendingRow &pending : m_imported) {
        const ImportedRow &from = pending.row;
        OpRow &row = m_tables.ops[pending.op];
        row.label = text(from.label);
        row.layerLabel = text(from.layerLabel);
        row.type = text(from.type);
        row.typeIndex = from.typeIndex;
        row.totalIndex = from.totalIndex;
        row.pass = from.pass;
        row.passCount = from.passCount;
        row.step = from.step;
        row.flopsForward = from.flopsForward.value_or(kUnknown);
        row.flopsBackward = from.flopsBackward.value_or(kUnknown);
        row.macsForward = from.macsForward.value_or(kUnknown);
        row.bytes = from.memory.value_or(kUnknown);
        row.atomicModule = textOrNone(from.atomicModule);
        row.attributesJson = json(from.attributes);
        row.parents = link(from.parents);
        row.children = link(from.children);
        row.outputOf.begin = static_cast<std::uint32_t>(m_tables.moduleCallIds.size());
        for (const std::string &label : from.outputOfModuleCalls)
            if (const auto found = callsByLabel.find(label); found != callsByLabel.end()) {
                m_tables.moduleCallIds.push_back(found->second);
                ++row.outputOf.count;
            }
    }
}

void TraceBuilder::deriveUserFrames()
{
    for (StackRow &stack : m_tables.stacks) {
        FrameId package;
        for (std::uint32_t i = stack.frames.count; i-- > 0;) {
            const FrameId id = m_tables.frameIds[stack.frames.begin + i];
            if (!id.isValid())
                continue;
            const FrameOrigin origin = m_tables.frames[id.index()].origin;
            if (origin == FrameOrigin::user) {
                stack.user = id;
                break;
            }
            if (origin == FrameOrigin::package && !package.isValid())
                package = id;
        }
        if (!stack.user.isValid())
            stack.user = package;
    }
}

void TraceBuilder::deriveModuleLabels()
{
    for (ModuleCallRow &row : m_tables.moduleCalls) {
        const std::string_view address = m_tables.strings.view(m_tables.modules[row.module.index()].address);
        row.label = text(fmt::format("{}:{}", address, row.index));
    }
}

void TraceBuilder::sortBackward()
{
    std::stable_sort(m_tables.gradFires.begin(), m_tables.gradFires.end(), [](const auto &a, const auto &b) {
        return std::pair(a.backward, a.order) < std::pair(b.backward, b.order);
    });
    std::stable_sort(m_tables.gradients.begin(), m_tables.gradients.end(), [](const auto &a, const auto &b) {
        return std::pair(a.backward, a.tensor) < std::pair(b.backward, b.tensor);
    });
}

namespace {

// Shape times item size, unknown when either is or when the product does not fit.
std::int64_t activationBytes(const TraceTables &tables, const TensorRow &tensor)
{
    const auto item = static_cast<std::int64_t>(itemSize(tensor.dtype));
    if (!tensor.shapeKnown || item == 0)
        return kUnknown;
    std::int64_t bytes = item;
    for (std::uint32_t i = 0; i < tensor.shape.count; ++i)
        if (__builtin_mul_overflow(bytes, tables.integers[tensor.shape.begin + i], &bytes) || bytes < 0)
            return kUnknown;
    return bytes;
}

void deriveBytes(TraceTables &tables)
{
    for (OpRow &row : tables.ops)
        if (row.tensor.isValid() && row.bytes == kUnknown) {
            const TensorRow &tensor = tables.tensors[row.tensor.index()];
            row.bytes = tensor.payload.state == PayloadState::meta ? 0 : activationBytes(tables, tensor);
        }
}

// Module calls from the root's down to CALL.
std::vector<ModuleCallId> chainOf(const TraceTables &tables, ModuleCallId call)
{
    std::vector<ModuleCallId> chain;
    for (; call.isValid(); call = tables.moduleCalls[call.index()].parent)
        chain.push_back(call);
    std::reverse(chain.begin(), chain.end());
    return chain;
}

// A .pt2 does not say what its module calls returned: it is what ops outside of them use of what was made in
// them. A tensor that only passed through a module is not seen.
void deriveReturned(TraceTables &tables)
{
    if (tables.info.modelKind != "pt2")
        return;
    std::vector<std::vector<TensorId>> returned(tables.moduleCalls.size());
    for (const OpRow &row : tables.ops) {
        const auto chain = chainOf(tables, tables.calls[row.call.index()].moduleCall);
        std::size_t shared = chain.size(); // module calls that hold the row and all that use it
        for (std::uint32_t k = 0; k < row.children.count; ++k) {
            const OpRow &user = tables.ops[tables.opIds[row.children.begin + k].index()];
            const auto other = chainOf(tables, tables.calls[user.call.index()].moduleCall);
            const auto apart = std::mismatch(chain.begin(), chain.end(), other.begin(), other.end()).first;
            shared = std::min(shared, static_cast<std::size_t>(apart - chain.begin()));
        }
        for (std::size_t i = shared; row.tensor.isValid() && i < chain.size(); ++i)
            returned[chain[i].index()].push_back(row.tensor);
    }
    for (std::size_t i = 0; i < returned.size(); ++i) {
        ModuleCallRow &call = tables.moduleCalls[i];
        if (call.outputs.count > 0 || returned[i].empty())
            continue;
        call.outputs = {static_cast<std::uint32_t>(tables.tensorIds.size()),
                        static_cast<std::uint32_t>(returned[i].size())};
        tables.tensorIds.insert(tables.tensorIds.end(), returned[i].begin(), returned[i].end());
    }
}

// Which module calls returned a row's tensor, and which module call holds that op alone (reports.md section
// 5).
void deriveModuleOutputs(TraceTables &tables)
{
    std::vector<std::vector<ModuleCallId>> byTensor(tables.tensors.size());
    for (std::size_t i = tables.moduleCalls.size(); i-- > 0;) {
        const ModuleCallRow &call = tables.moduleCalls[i];
        if (tables.strings.view(tables.modules[call.module.index()].address).empty())
            continue;
        for (std::uint32_t k = 0; k < call.outputs.count; ++k)
            if (const TensorId id = tables.tensorIds[call.outputs.begin + k]; id.isValid())
                byTensor[id.index()].emplace_back(i);
    }
    std::vector<std::uint32_t> opsIn(tables.moduleCalls.size(), 0);
    for (const OpRow &row : tables.ops)
        for (ModuleCallId at = tables.calls[row.call.index()].moduleCall; at.isValid();
             at = tables.moduleCalls[at.index()].parent)
            ++opsIn[at.index()];
    for (OpRow &row : tables.ops) {
        if (row.tensor.isValid()) {
            const auto &calls = byTensor[row.tensor.index()];
            row.outputOf = {static_cast<std::uint32_t>(tables.moduleCallIds.size()),
                            static_cast<std::uint32_t>(calls.size())};
            tables.moduleCallIds.insert(tables.moduleCallIds.end(), calls.begin(), calls.end());
        }
        const ModuleCallId inner = tables.calls[row.call.index()].moduleCall;
        if (inner.isValid() && opsIn[inner.index()] == 1) {
            const StringId address = tables.modules[tables.moduleCalls[inner.index()].module.index()].address;
            if (!tables.strings.view(address).empty())
                row.atomicModule = address;
        }
    }
}

} // namespace

Status TraceBuilder::derive(const JobContext &job)
{
    constexpr std::size_t kMostRows = std::numeric_limits<std::uint32_t>::max() - 1;
    if (m_tables.ops.size() > kMostRows || m_tables.integers.size() > kMostRows ||
        m_tables.tensorIds.size() > kMostRows)
        return {ErrorCode::limitExceeded,
                fmt::format("the trace has more than {} rows in one table", kMostRows)};
    if (Status status = job.checkpoint("building the trace"); !status)
        return status;
    resolveReferences();
    deriveModuleLabels();
    deriveUserFrames();
    sortBackward();
    const bool own = m_imported.empty();
    if (own) {
        linkOps();
        fillChildren();
        labelOwnCapture(m_tables);
        deriveFlops(m_tables);
        deriveReturned(m_tables);
        deriveModuleOutputs(m_tables);
    } else {
        linkImported();
        deriveMacs(m_tables);
    }
    deriveBytes(m_tables);
    TraceFailure &failure = m_tables.info.failure;
    if (failure.call != kNoRecord && m_tables.calls[failure.call].rows.count > 0)
        failure.label = m_tables.strings.view(m_tables.ops[m_tables.calls[failure.call].rows.begin].label);
    return job.checkpoint("building the trace");
}

} // namespace core
