// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/record_out.h"
#include "core/capture_torch/tensor_saver.h"

#include <deque>
#include <utility>
#include <vector>

namespace core {

// The memory-light way to watch a run for the first NaN or Inf: of every row only a finite check is made; the
// outputs of the last 32 calls (at most 64 MiB; beyond that only their statistics) are held, so that they can
// be measured when it matters. Owned by the recorder; one thread. What it calls must not be recorded.
class Tripwire
{
public:
    static constexpr std::size_t kCalls = 32;
    static constexpr std::size_t kBytes = std::size_t(64) << 20;

    Tripwire(TensorSaver &saver, RecordOut &out) : m_saver(saver), m_out(out) {}

    // True when TENSOR, a new row of the trace, holds NaN or Inf: then RECORD has its statistics. Nothing is
    // looked at once it has tripped.
    bool look(const at::Tensor &tensor, TensorRecord &record);
    // That was what the run is to stop at: RECORD gets the values too.
    void trip(const at::Tensor &tensor, TensorRecord &record);
    bool tripped() const { return m_tripped; }

    // RECORD is an output of the call that just ran.
    void hold(const at::Tensor &tensor, const TensorRecord &record);
    void callEnded();
    // TENSOR is about to be written: what is held of its memory is measured now.
    void beforeWrite(const at::Tensor &tensor);

    // Completes the record ID of TENSOR, an input of an op that made NaN or Inf, by statistics and,
    // WITHVALUES, by values.
    void keep(const at::Tensor &tensor, RecordId id, bool withValues);
    // Completes the records of the last calls by their statistics.
    void finish();

private:
    struct Held
    {
        RecordId id;
        std::size_t call;
        at::Tensor tensor; // undefined once it was measured
        std::optional<TensorStats> stats;
        TensorRecord described;
    };
    void measure(Held &held);

    TensorSaver &m_saver;
    RecordOut &m_out;
    std::deque<Held> m_held; // oldest first
    std::size_t m_heldBytes = 0;
    std::size_t m_calls = 0;
    std::vector<RecordId> m_kept;
    bool m_tripped = false;
};

} // namespace core
