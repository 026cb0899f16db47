// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/trace/trace.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

namespace core {

// NaN and Inf in a tensor, in the words of reports.
enum class NonFiniteKind : std::uint8_t { none, nan, inf, nanAndInf };
std::string_view nonFiniteKindName(NonFiniteKind kind); // "none", "nan", "inf", "nan+inf"
NonFiniteKind nonFiniteKind(const TensorStats &stats);
inline bool hasNan(NonFiniteKind kind)
{
    return kind == NonFiniteKind::nan || kind == NonFiniteKind::nanAndInf;
}
inline bool hasInf(NonFiniteKind kind)
{
    return kind == NonFiniteKind::inf || kind == NonFiniteKind::nanAndInf;
}

// Why a tensor has no statistics; names are the reason tokens of reports.md section 8.
enum class Unavailable : std::uint8_t { no, unsaved, nonTensor, meta, sparse, quantized, unreadable };

// Statistics of a trace's tensors: those the capture recorded, else measured from the saved payload by
// streaming it in pieces, once. Kept as long as the object; share one per trace between reports. Thread safe:
// several reports may prepare and read at the same time.
class TraceStatistics
{
public:
    explicit TraceStatistics(std::shared_ptr<const Trace> trace);

    const Trace &trace() const { return *m_trace; }

    // Measures what is missing of TENSORS with job.threads() threads. cancelled when the job was stopped; a
    // payload that cannot be read is no error here, it becomes Unavailable::unreadable.
    Status prepare(std::span<const TensorId> tensors, const JobContext &job);
    // The same for the outputs of OPS.
    Status prepareOps(std::span<const OpId> ops, const JobContext &job);

    // nullptr when there are none (or prepare() was not asked for this tensor).
    const TensorStats *find(TensorId tensor) const;
    // No when find() has or would have an answer after prepare().
    Unavailable unavailable(TensorId tensor) const;
    NonFiniteKind kind(TensorId tensor) const;

    bool isRecorded(TensorId tensor) const { return m_trace->stats(tensor) != nullptr; }

private:
    enum class State : std::uint8_t { unmeasured, measured, unreadable };
    struct Slot
    {
        TensorStats stats;
        State state = State::unmeasured;
    };

    Status measure(TensorId tensor, const JobContext &job, std::vector<std::byte> &buffer);
    bool needsMeasuring(TensorId tensor) const;

    std::shared_ptr<const Trace> m_trace;
    mutable std::mutex m_mutex;
    std::vector<std::unique_ptr<Slot>> m_slots; // by tensor; guarded by m_mutex, a filled slot never changes
};

} // namespace core
