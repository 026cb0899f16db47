// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/trace_statistics.h"

#include "core/analysis/tensor_stats.h"
#include "core/analysis/visit_elements.h"

#include <algorithm>
#include <new>
#include <thread>

namespace core {

std::string_view nonFiniteKindName(NonFiniteKind kind)
{
    switch (kind) {
    case NonFiniteKind::nan:
        return "nan";
    case NonFiniteKind::inf:
        return "inf";
    case NonFiniteKind::nanAndInf:
        return "nan+inf";
    case NonFiniteKind::none:
        break;
    }
    return "none";
}

NonFiniteKind nonFiniteKind(const TensorStats &stats)
{
    const bool nan = stats.nan > 0;
    const bool inf = stats.posInf + stats.negInf > 0;
    if (nan)
        return inf ? NonFiniteKind::nanAndInf : NonFiniteKind::nan;
    return inf ? NonFiniteKind::inf : NonFiniteKind::none;
}

TraceStatistics::TraceStatistics(std::shared_ptr<const Trace> trace)
    : m_trace(std::move(trace)), m_slots(m_trace->tensors().size())
{
}

Unavailable TraceStatistics::unavailable(TensorId tensor) const
{
    if (!tensor.isValid())
        return Unavailable::nonTensor;
    if (isRecorded(tensor))
        return Unavailable::no;
    const TensorRow &row = m_trace->tensor(tensor);
    switch (row.payload.state) {
    case PayloadState::saved:
        break;
    case PayloadState::meta:
        return Unavailable::meta;
    case PayloadState::sparse:
        return Unavailable::sparse;
    case PayloadState::quantized:
        return Unavailable::quantized;
    case PayloadState::undefined:
    case PayloadState::uninitialised: // memory without values yet: nothing can hide in it
        return Unavailable::nonTensor;
    default:
        return Unavailable::unsaved;
    }
    if (isQuantized(row.dtype))
        return Unavailable::quantized;
    const std::scoped_lock lock(m_mutex);
    const auto &slot = m_slots[tensor.index()];
    return slot && slot->state == State::unreadable ? Unavailable::unreadable : Unavailable::no;
}

const TensorStats *TraceStatistics::find(TensorId tensor) const
{
    if (!tensor.isValid())
        return nullptr;
    if (const TensorStats *recorded = m_trace->stats(tensor))
        return recorded;
    const std::scoped_lock lock(m_mutex);
    const auto &slot = m_slots[tensor.index()];
    return slot && slot->state == State::measured ? &slot->stats : nullptr;
}

NonFiniteKind TraceStatistics::kind(TensorId tensor) const
{
    const TensorStats *stats = find(tensor);
    return stats == nullptr ? NonFiniteKind::none : nonFiniteKind(*stats);
}

bool TraceStatistics::needsMeasuring(TensorId tensor) const
{
    if (unavailable(tensor) != Unavailable::no || isRecorded(tensor))
        return false;
    const std::scoped_lock lock(m_mutex);
    return m_slots[tensor.index()] == nullptr;
}

Status TraceStatistics::measure(TensorId tensor, const JobContext &job, std::vector<std::byte> &buffer)
{
    StatsAccumulator accumulator(m_trace->tensor(tensor).dtype);
    const Status status = visitElements(*m_trace, tensor, job, buffer,
                                        [&](const std::byte *data, std::size_t count, std::uint64_t first) {
                                            accumulator.add(data, count, first);
                                            return true;
                                        });
    if (status.code() == ErrorCode::cancelled)
        return status;
    auto slot = std::make_unique<Slot>();
    slot->stats = accumulator.result();
    slot->state = status ? State::measured : State::unreadable;
    const std::scoped_lock lock(m_mutex);
    if (!m_slots[tensor.index()])
        m_slots[tensor.index()] = std::move(slot);
    return Status::ok();
}

Status TraceStatistics::prepare(std::span<const TensorId> tensors, const JobContext &job)
{
    std::vector<TensorId> missing;
    for (const TensorId tensor : tensors)
        if (tensor.isValid() && needsMeasuring(tensor))
            missing.push_back(tensor);
    std::sort(missing.begin(), missing.end());
    missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
    std::atomic<std::size_t> next = 0;
    std::vector<Status> outcomes(std::min<std::size_t>(std::max(1U, job.threads()), missing.size()));
    // Nothing may be thrown from a thread.
    const auto measureOne = [&](TensorId tensor, std::vector<std::byte> &buffer) {
        try {
            return measure(tensor, job, buffer);
        } catch (const std::bad_alloc &) {
            return Status(ErrorCode::limitExceeded, "there is not enough memory to measure the saved values")
                .withDetail("out_of_memory");
        }
    };
    const auto work = [&](std::size_t worker) {
        std::vector<std::byte> buffer;
        for (std::size_t i = next++; i < missing.size() && outcomes[worker]; i = next++) {
            outcomes[worker] = measureOne(missing[i], buffer);
            if (worker == 0)
                job.report("measuring tensors", i, missing.size());
        }
    };
    {
        std::vector<std::jthread> pool;
        for (std::size_t worker = 1; worker < outcomes.size(); ++worker)
            pool.emplace_back(work, worker);
        if (!outcomes.empty())
            work(0);
    }
    for (const Status &outcome : outcomes)
        if (!outcome)
            return outcome;
    return Status::ok();
}

Status TraceStatistics::prepareOps(std::span<const OpId> ops, const JobContext &job)
{
    std::vector<TensorId> tensors;
    tensors.reserve(ops.size());
    for (const OpId op : ops)
        tensors.push_back(m_trace->op(op).tensor);
    return prepare(tensors, job);
}

} // namespace core
