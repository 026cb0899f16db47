// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace core {
namespace {

class EmptyStore final : public TensorStore
{
public:
    Status read(std::string_view entry, std::uint64_t, std::span<std::byte>) const override
    {
        return absent(entry);
    }
    std::span<const std::byte> view(std::string_view, std::uint64_t, std::uint64_t) const override
    {
        return {};
    }
    Result<std::string> text(std::string_view entry, std::uint64_t) const override { return absent(entry); }

private:
    static Status absent(std::string_view entry)
    {
        return {ErrorCode::notFound, fmt::format("entry {} is not in this trace", entry)};
    }
};

template <class T>
std::span<const T> slice(const std::vector<T> &pool, Range range)
{
    return std::span<const T>(pool).subspan(range.begin, range.count);
}

std::vector<OpId> orderOps(const TraceTables &tables)
{
    std::vector<OpId> order;
    order.reserve(tables.ops.size());
    for (std::size_t i = 0; i < tables.ops.size(); ++i)
        order.emplace_back(i);
    const auto key = [&tables](OpId id) {
        const OpRow &row = tables.ops[id.index()];
        return std::tuple(row.step, row.kind == CallKind::input, row.kind == CallKind::output);
    };
    std::stable_sort(order.begin(), order.end(), [&](OpId a, OpId b) {
        const auto ka = key(a);
        const auto kb = key(b);
        if (ka != kb)
            return ka < kb;
        // Steps of compute ops are unique per call; only rows without a step of their own are told apart by
        // text.
        const OpRow &ra = tables.ops[a.index()];
        const OpRow &rb = tables.ops[b.index()];
        if (ra.call == rb.call)
            return ra.slot < rb.slot;
        return tables.strings.view(ra.layerLabel) < tables.strings.view(rb.layerLabel);
    });
    return order;
}

std::string baseName(std::string_view path)
{
    const std::size_t slash = path.find_last_of("/\\");
    return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

} // namespace

std::shared_ptr<const TensorStore> emptyTensorStore()
{
    return std::make_shared<EmptyStore>();
}

std::string_view traceStatusName(TraceStatus status)
{
    switch (status) {
    case TraceStatus::finished:
        return "finished";
    case TraceStatus::stoppedAtNonFinite:
        return "stopped_at_nonfinite";
    case TraceStatus::cancelled:
        return "cancelled";
    case TraceStatus::failed:
        return "failed";
    case TraceStatus::crashed:
        return "crashed";
    case TraceStatus::unknown:
        break;
    }
    return "unknown";
}

std::string_view captureStatusWord(TraceStatus status)
{
    switch (status) {
    case TraceStatus::finished:
        return "complete";
    case TraceStatus::stoppedAtNonFinite:
        return "aborted_nonfinite";
    case TraceStatus::cancelled:
        return "halted";
    case TraceStatus::failed:
    case TraceStatus::crashed:
        return "failed";
    case TraceStatus::unknown:
        break;
    }
    return "unknown";
}

Trace::Trace(TraceTables tables, std::shared_ptr<const TensorStore> store, LoadReport report)
    : m_tables(std::move(tables)), m_store(std::move(store)), m_report(std::move(report))
{
    m_ordered = orderOps(m_tables);
    m_firstCompute = m_ordered.size();
    for (std::size_t i = 0; i < m_ordered.size(); ++i)
        if (op(m_ordered[i]).step > 0) {
            m_firstCompute = i;
            break;
        }
    m_byLabel.reserve(m_tables.ops.size() * 2);
    for (std::size_t i = 0; i < m_tables.ops.size(); ++i) {
        const OpRow &row = m_tables.ops[i];
        m_byLabel.emplace_back(string(row.label), OpId(i));
        if (row.passCount == 1)
            m_byLabel.emplace_back(string(row.layerLabel), OpId(i));
    }
    std::stable_sort(m_byLabel.begin(), m_byLabel.end(),
                     [](const auto &a, const auto &b) { return a.first < b.first; });
}

std::string_view Trace::subject() const
{
    const TraceInfo &facts = info();
    return facts.subject.empty() ? facts.modelName : facts.subject;
}

std::string_view Trace::publicLabel(OpId id) const
{
    const OpRow &row = op(id);
    return string(row.passCount == 1 ? row.layerLabel : row.label);
}

std::span<const FrameId> Trace::frames(StackId id) const
{
    if (!id.isValid())
        return {};
    return slice(m_tables.frameIds, stack(id).frames);
}

const TensorStats *Trace::stats(TensorId id) const
{
    if (!id.isValid())
        return nullptr;
    const std::uint32_t index = tensor(id).stats;
    return index < m_tables.stats.size() ? &m_tables.stats[index] : nullptr;
}

std::string_view Trace::moduleAddress(OpId id) const
{
    const ModuleCallId innermost = callOf(id).moduleCall;
    if (!innermost.isValid())
        return {};
    const std::string_view address = string(module(moduleCall(innermost).module).address);
    return info().source == TraceSource::torchLens && address == "self" ? std::string_view() : address;
}

std::string_view Trace::moduleCallLabel(OpId id) const
{
    return moduleAddress(id).empty() ? std::string_view() : string(moduleCall(callOf(id).moduleCall).label);
}

std::vector<ModuleCallId> Trace::moduleChain(OpId id) const
{
    std::vector<ModuleCallId> chain;
    for (ModuleCallId at = callOf(id).moduleCall; at.isValid(); at = moduleCall(at).parent) {
        const std::string_view address = string(module(moduleCall(at).module).address);
        if (!address.empty() && !(info().source == TraceSource::torchLens && address == "self"))
            chain.push_back(at);
        if (chain.size() > m_tables.moduleCalls.size())
            break;
    }
    std::reverse(chain.begin(), chain.end());
    return chain;
}

FrameId Trace::sourceFrame(StackId id) const
{
    if (!id.isValid())
        return {};
    if (info().source != TraceSource::torchLens)
        return stack(id).user;
    const auto list = frames(id);
    return list.empty() ? FrameId() : list.front();
}

std::optional<std::string> Trace::sourceLine(OpId id) const
{
    const FrameId at = sourceFrame(callOf(id).stack);
    if (!at.isValid())
        return std::nullopt;
    const FrameRow &row = frame(at);
    const std::string_view file = string(row.file);
    const std::string name = info().source == TraceSource::torchLens ? baseName(file) : std::string(file);
    return fmt::format("{}:{}", name, row.line.oneBased());
}

OpId Trace::producer(TensorId id) const
{
    if (!id.isValid())
        return {};
    const TensorRow &row = tensor(id);
    if (!row.call.isValid() || row.role == TensorRole::gradient)
        return {};
    const Range rows = call(row.call).rows;
    for (std::uint32_t i = 0; i < rows.count; ++i)
        if (m_tables.ops[rows.begin + i].tensor == id)
            return OpId(rows.begin + i);
    return {};
}

OpId Trace::findLabel(std::string_view text) const
{
    const auto found =
        std::lower_bound(m_byLabel.begin(), m_byLabel.end(), text,
                         [](const auto &entry, std::string_view value) { return entry.first < value; });
    return found != m_byLabel.end() && found->first == text ? found->second : OpId();
}

const GradientRow *Trace::gradient(TensorId tensorId, BackwardId backward) const
{
    const auto rows = gradients();
    const auto key = [](const GradientRow &row) { return std::pair(row.backward, row.tensor); };
    const auto found =
        std::lower_bound(rows.begin(), rows.end(), std::pair(backward, tensorId),
                         [&key](const GradientRow &row, const auto &value) { return key(row) < value; });
    return found != rows.end() && key(*found) == std::pair(backward, tensorId) ? &*found : nullptr;
}

std::span<const CallRow> Trace::calls() const
{
    return m_tables.calls;
}

std::span<const OpRow> Trace::ops() const
{
    return m_tables.ops;
}

std::span<const TensorRow> Trace::tensors() const
{
    return m_tables.tensors;
}

std::span<const ModuleRow> Trace::modules() const
{
    return m_tables.modules;
}

std::span<const ModuleCallRow> Trace::moduleCalls() const
{
    return m_tables.moduleCalls;
}

std::span<const ParamRow> Trace::params() const
{
    return m_tables.params;
}

std::span<const SourceRow> Trace::sources() const
{
    return m_tables.sources;
}

std::span<const GradNodeRow> Trace::gradNodes() const
{
    return m_tables.gradNodes;
}

std::span<const GradFireRow> Trace::gradFires() const
{
    return m_tables.gradFires;
}

std::span<const GradientRow> Trace::gradients() const
{
    return m_tables.gradients;
}

std::span<const BackwardRow> Trace::backwards() const
{
    return m_tables.backwards;
}

std::span<const DiagnosticRow> Trace::diagnostics() const
{
    return m_tables.diagnostics;
}

std::span<const OpId> Trace::parents(OpId id) const
{
    return slice(m_tables.opIds, op(id).parents);
}

std::span<const OpId> Trace::children(OpId id) const
{
    return slice(m_tables.opIds, op(id).children);
}

std::span<const ArgumentRow> Trace::arguments(CallId id) const
{
    return slice(m_tables.arguments, call(id).arguments);
}

std::span<const TensorId> Trace::tensorIds(Range range) const
{
    return slice(m_tables.tensorIds, range);
}

std::span<const CallId> Trace::callIds(Range range) const
{
    return slice(m_tables.callIds, range);
}

std::span<const ModuleCallId> Trace::moduleCallIds(Range range) const
{
    return slice(m_tables.moduleCallIds, range);
}

std::span<const StringId> Trace::stringIds(Range range) const
{
    return slice(m_tables.stringIds, range);
}

std::span<const GradNodeId> Trace::gradNodeIds(Range range) const
{
    return slice(m_tables.gradNodeIds, range);
}

std::span<const GradEdgeRow> Trace::nextEdges(GradNodeId id) const
{
    return slice(m_tables.gradEdges, gradNode(id).next);
}

std::span<const std::int64_t> Trace::shape(TensorId id) const
{
    return slice(m_tables.integers, tensor(id).shape);
}

std::span<const std::int64_t> Trace::strides(TensorId id) const
{
    return slice(m_tables.integers, tensor(id).strides);
}

std::span<const double> Trace::sample(TensorId id) const
{
    return slice(m_tables.doubles, tensor(id).sample);
}

std::span<const OpId> Trace::orderedOps() const
{
    return m_ordered;
}

std::span<const OpId> Trace::computeOps() const
{
    return std::span(m_ordered).subspan(m_firstCompute);
}

} // namespace core
