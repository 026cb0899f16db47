// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/nonfinite_scan.h"

#include "core/analysis/mask_fill.h"
#include "core/trace/op_names.h"

#include <algorithm>
#include <unordered_set>

namespace core {
namespace {

class Walk
{
public:
    explicit Walk(const TraceStatistics &statistics) : m_statistics(statistics), m_trace(statistics.trace())
    {
        m_scan.byDesign.assign(m_trace.tensors().size(), false);
    }

    NonFiniteScan run()
    {
        collectSources();
        for (std::size_t i = 0; i < m_trace.calls().size(); ++i)
            if (m_trace.call(CallId(i)).kind == CallKind::compute)
                visit(CallId(i));
            else if (isWrittenBuffer(m_trace, CallId(i)))
                inheritDesign(CallId(i));
        collectReached();
        return std::move(m_scan);
    }

private:
    struct Inputs
    {
        NonFiniteKind kind = NonFiniteKind::none;
        bool known = true;    // every tensor that went in was looked at
        bool byDesign = true; // of those that are bad
    };

    // What was bad before the first op: a buffer's row that shows a version written in the run is not that,
    // and the row that shows one for the first time says again what its record says.
    void collectSources()
    {
        std::unordered_set<StringId> known;
        for (std::size_t i = 0; i < m_trace.tensors().size(); ++i) {
            const TensorId tensor(i);
            const TensorRow &row = m_trace.tensor(tensor);
            if (row.role == TensorRole::output || row.role == TensorRole::gradient)
                continue;
            if (row.call.isValid() && m_trace.call(row.call).kind == CallKind::compute)
                continue;
            const NonFiniteKind kind = m_statistics.kind(tensor);
            if (kind == NonFiniteKind::none)
                continue;
            const TensorStats &counts = *m_statistics.find(tensor);
            const bool mask =
                m_isOwn && counts.nan == 0 && counts.posInf == 0 && row.role != TensorRole::parameter;
            design(tensor, mask);
            if (isWrittenBuffer(m_trace, row.call) ||
                (m_isOwn && row.address.isValid() && !known.insert(row.address).second))
                continue;
            m_scan.sources.push_back(
                {tensor, row.role, std::string(m_trace.string(row.address)), kind, counts, mask});
        }
    }

    void addInput(Inputs &inputs, TensorId tensor) const
    {
        if (!tensor.isValid())
            return;
        const TensorStats *stats = m_statistics.find(tensor);
        if (stats == nullptr) {
            inputs.known =
                inputs.known && m_trace.tensor(tensor).payload.state == PayloadState::uninitialised;
            return;
        }
        const NonFiniteKind kind = nonFiniteKind(*stats);
        if (kind == NonFiniteKind::none)
            return;
        const bool nan = hasNan(kind) || hasNan(inputs.kind);
        const bool inf = hasInf(kind) || hasInf(inputs.kind);
        inputs.kind = nan ? (inf ? NonFiniteKind::nanAndInf : NonFiniteKind::nan) : NonFiniteKind::inf;
        inputs.byDesign = inputs.byDesign && m_scan.byDesign[tensor.index()];
    }

    Inputs inputsOf(CallId id) const
    {
        Inputs inputs;
        const auto arguments = m_trace.arguments(id);
        for (const ArgumentRow &argument : arguments)
            for (const TensorId tensor : m_trace.tensorIds(argument.tensors))
                addInput(inputs, tensor);
        const Range rows = m_trace.call(id).rows;
        if (arguments.empty() && rows.count > 0)
            for (const OpId parent : m_trace.parents(OpId(rows.begin)))
                addInput(inputs, m_trace.op(parent).tensor);
        return inputs;
    }

    bool hasNegativeInfinityArgument(CallId id) const
    {
        for (const ArgumentRow &argument : m_trace.arguments(id)) {
            const std::string_view text = m_trace.string(argument.valueJson);
            if (text.find("-Infinity") != std::string_view::npos ||
                text.find("-inf") != std::string_view::npos)
                return true;
        }
        return false;
    }

    NonFiniteEntry entryOf(OpId op, TensorId tensor, NonFiniteKind kind, bool nanFirst) const
    {
        NonFiniteEntry entry;
        entry.call = m_trace.op(op).call;
        entry.op = op;
        entry.tensor = tensor;
        entry.slot = m_trace.op(op).slot;
        entry.kind = kind;
        entry.counts = *m_statistics.find(tensor);
        entry.byDesign = m_scan.byDesign[tensor.index()];
        entry.firstIndex = entry.counts.firstNan;
        if (!nanFirst)
            for (const std::int64_t first : {entry.counts.firstPosInf, entry.counts.firstNegInf})
                if (first >= 0 && (entry.firstIndex < 0 || first < entry.firstIndex))
                    entry.firstIndex = first;
        return entry;
    }

    void visit(CallId id)
    {
        const CallRow &call = m_trace.call(id);
        const Inputs inputs = inputsOf(id);
        const std::string_view func = m_trace.string(call.func);
        bool anyTensor = false;
        bool anyBad = false;
        bool anyUnknown = false;
        OpId firstRow;
        for (std::uint32_t i = 0; i < call.rows.count; ++i) {
            const OpId op(call.rows.begin + i);
            const TensorId tensor = m_trace.op(op).tensor;
            if (!tensor.isValid())
                continue;
            if (!anyTensor)
                firstRow = op;
            anyTensor = true;
            const TensorStats *stats = m_statistics.find(tensor);
            anyUnknown = anyUnknown || stats == nullptr;
            const NonFiniteKind kind = stats == nullptr ? NonFiniteKind::none : nonFiniteKind(*stats);
            if (kind == NonFiniteKind::none)
                continue;
            const bool birth = inputs.kind == NonFiniteKind::none && inputs.known && !anyBad;
            markDesign(tensor, *stats, inputs, id, func);
            badRow(op, tensor, kind, inputs, birth);
            anyBad = true;
        }
        anyBad = visitHiddenWrites(id, inputs, anyBad) || anyBad;
        if (anyTensor && !anyBad && !anyUnknown && inputs.kind != NonFiniteKind::none &&
            !isScalarBookkeeping(func)) {
            NonFiniteEntry sink;
            sink.call = id;
            sink.op = firstRow;
            sink.kind = inputs.kind;
            sink.byDesign = inputs.byDesign;
            m_scan.sinks.push_back(sink);
        }
    }

    // What the call wrote without a row of its own: the rows of buffers that come right behind it. True when
    // one of them is bad.
    bool visitHiddenWrites(CallId id, const Inputs &inputs, bool anyBad)
    {
        bool bad = false;
        for (std::size_t i = id.index() + 1;
             i < m_trace.calls().size() && m_trace.call(CallId(i)).kind == CallKind::buffer; ++i) {
            const Range rows = m_trace.call(CallId(i)).rows;
            const OpId writer = rows.count > 0 ? hiddenWriter(m_trace, OpId(rows.begin)) : OpId();
            if (!writer.isValid() || m_trace.op(writer).call != id)
                continue;
            const TensorId tensor = m_trace.op(OpId(rows.begin)).tensor;
            const NonFiniteKind kind = m_statistics.kind(tensor);
            if (kind == NonFiniteKind::none)
                continue;
            const bool came = inputs.kind != NonFiniteKind::none;
            design(tensor, came && inputs.byDesign && !hasNan(kind));
            badRow(writer, tensor, kind, inputs, !came && inputs.known && !anyBad && !bad);
            bad = true;
        }
        return bad;
    }

    // A buffer that was written holds what its maker made: a mask where that was one.
    void inheritDesign(CallId id)
    {
        const Range rows = m_trace.call(id).rows;
        if (rows.count == 0)
            return;
        const TensorId written = m_trace.op(OpId(rows.begin)).tensor;
        for (const OpId parent : m_trace.parents(OpId(rows.begin)))
            if (const TensorId made = m_trace.op(parent).tensor;
                made.isValid() && m_statistics.kind(made) != NonFiniteKind::none)
                design(written, m_scan.byDesign[made.index()]);
    }

    void markDesign(TensorId tensor, const TensorStats &stats, const Inputs &inputs, CallId id,
                    std::string_view func)
    {
        if (inputs.kind != NonFiniteKind::none) {
            design(tensor, inputs.byDesign && stats.nan == 0);
            return;
        }
        const bool onlyNegative = stats.nan == 0 && stats.posInf == 0;
        design(tensor, m_isOwn && onlyNegative && isFloating(m_trace.tensor(tensor).dtype) &&
                           fillsConstants(func) && (func == "tensor" || hasNegativeInfinityArgument(id)));
    }

    void design(TensorId tensor, bool isByDesign)
    {
        m_scan.byDesign[tensor.index()] = isByDesign;
        m_anyByDesign = m_anyByDesign || isByDesign;
    }

    void badRow(OpId op, TensorId tensor, NonFiniteKind kind, const Inputs &inputs, bool birth)
    {
        ++m_scan.badOutputs;
        if (birth)
            m_scan.births.push_back(entryOf(op, tensor, kind, false));
        if (hasInf(kind) && !m_scan.firstInf)
            m_scan.firstInf = entryOf(op, tensor, kind, false);
        if (!hasNan(kind))
            return;
        if (!m_scan.firstNan)
            m_scan.firstNan = entryOf(op, tensor, kind, true);
        if (!hasNan(inputs.kind) && inputs.known && !m_scan.nanBirth)
            m_scan.nanBirth = entryOf(op, tensor, kind, true);
    }

    void collectReached()
    {
        if (!m_anyByDesign)
            return;
        std::unordered_set<TensorId> losses;
        for (const BackwardRow &row : m_trace.backwards())
            losses.insert(row.loss);
        for (const OpId op : m_trace.orderedOps()) {
            const OpRow &row = m_trace.op(op);
            if (!row.tensor.isValid() || (row.kind != CallKind::output && !losses.contains(row.tensor)))
                continue;
            const NonFiniteKind kind = m_statistics.kind(row.tensor);
            // An output row shares its producer's tensor or has its own record of the same values.
            bool designed = m_scan.byDesign[row.tensor.index()];
            for (const OpId parent : m_trace.parents(op))
                if (const TensorId made = m_trace.op(parent).tensor;
                    made.isValid() && row.kind == CallKind::output)
                    designed = designed || m_scan.byDesign[made.index()];
            if (kind != NonFiniteKind::none && designed)
                m_scan.reached.push_back(entryOf(op, row.tensor, kind, false));
        }
    }

    const TraceStatistics &m_statistics;
    const Trace &m_trace;
    // Imported traces keep the page's rule: there nothing is by design.
    bool m_isOwn = m_trace.info().source == TraceSource::own;
    bool m_anyByDesign = false;
    NonFiniteScan m_scan;
};

} // namespace

bool isWrittenBuffer(const Trace &trace, CallId call)
{
    return call.isValid() && trace.info().source == TraceSource::own &&
           trace.call(call).kind == CallKind::buffer && trace.string(trace.call(call).func) != "none";
}

OpId hiddenWriter(const Trace &trace, OpId buffer)
{
    if (trace.op(buffer).kind != CallKind::buffer || !isWrittenBuffer(trace, trace.op(buffer).call))
        return {};
    for (const OpId parent : trace.parents(buffer))
        if (const TensorId made = trace.op(parent).tensor;
            trace.op(parent).kind == CallKind::compute && made.isValid() &&
            trace.tensor(made).storage != trace.tensor(trace.op(buffer).tensor).storage)
            return parent;
    return {};
}

const NonFiniteEntry *NonFiniteScan::headline() const
{
    if (nanBirth)
        return &*nanBirth;
    for (const NonFiniteEntry &birth : births)
        if (!birth.byDesign)
            return &birth;
    if (!reached.empty())
        return &reached.front();
    if (firstNan && !firstNan->byDesign)
        return &*firstNan;
    return firstInf && !firstInf->byDesign ? &*firstInf : nullptr;
}

std::size_t NonFiniteScan::byDesignBirths() const
{
    return static_cast<std::size_t>(std::count_if(
        births.begin(), births.end(), [](const NonFiniteEntry &birth) { return birth.byDesign; }));
}

bool NonFiniteScan::hasFinding() const
{
    return headline() != nullptr ||
           std::any_of(sources.begin(), sources.end(),
                       [](const NonFiniteSource &source) { return !source.byDesign; });
}

std::string NonFiniteScan::verdict() const
{
    if (nanBirth || byDesignBirths() < births.size() || !reached.empty())
        return "origin";
    for (const NonFiniteSource &source : sources)
        if (!source.byDesign)
            return badOutputs > 0 ? "propagated_from_source" : "source_healed";
    return "clean";
}

Result<NonFiniteScan> scanNonFinite(TraceStatistics &statistics, const JobContext &job)
{
    const Trace &trace = statistics.trace();
    std::vector<TensorId> tensors; // without recorded statistics
    for (std::size_t i = 0; i < trace.tensors().size(); ++i)
        if (trace.tensor(TensorId(i)).role != TensorRole::gradient && !statistics.isRecorded(TensorId(i)))
            tensors.emplace_back(i);
    if (Status status = statistics.prepare(tensors, job); !status)
        return status;
    return Walk(statistics).run();
}

std::vector<std::int64_t> unravelled(std::int64_t flat, std::span<const std::int64_t> shape)
{
    std::vector<std::int64_t> index(shape.size(), 0);
    for (std::size_t d = shape.size(); d-- > 0;) {
        if (shape[d] <= 0)
            return {};
        index[d] = flat % shape[d];
        flat /= shape[d];
    }
    return index;
}

} // namespace core
