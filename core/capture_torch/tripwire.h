// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/finite_watch.h"
#include "core/capture_torch/op_facts.h"
#include "core/capture_torch/record_out.h"
#include "core/capture_torch/tensor_saver.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace core {

// Of the tensors in VALUES.
std::size_t bytesOf(const std::vector<c10::IValue> &values);

// Whether an op gives RESULTS once more from the same operands, if it draws no random numbers and nothing is
// cast on the way: it writes nothing, shares no memory, and gives plain tensors.
bool canRunAgain(const OpFacts &facts, std::span<const c10::IValue> results);

// The memory-light way to watch a run for the first NaN or Inf: of every row only a finite check is made; the
// outputs of the last 32 calls (at most 64 MiB; beyond that only their statistics) are held, so that they can
// be measured when it matters. An output that a later op overwrites (relu_) is not measured for that: the op
// that made it can run again on what it read. Owned by the recorder; one thread. What it calls must not be
// recorded.
class Tripwire
{
public:
    // How to make the outputs of a call again. Empty: the op writes, draws random numbers, or gives no plain
    // tensors.
    struct Recipe
    {
        std::optional<c10::OperatorHandle> op;
        std::vector<c10::IValue> inputs; // by argument
    };

    static constexpr std::size_t kCalls = 32;
    static constexpr std::size_t kBytes = std::size_t(64) << 20;

    Tripwire(TensorSaver &saver, RecordOut &out) : m_saver(saver), m_out(out) {}

    // Who tells what is finite. It must hear of every op, before and behind it.
    FiniteWatch &watch() { return m_watch; }
    // True when TENSOR, a new row of the trace, holds NaN or Inf: then RECORD has its statistics. Nothing is
    // looked at once it has tripped. FORECAST: of the op that made it; FIRST: it is its first result.
    bool look(const at::Tensor &tensor, TensorRecord &record, const FiniteWatch::Forecast &forecast = {},
              bool first = false);
    // That was what the run is to stop at: RECORD gets the values too.
    void trip(const at::Tensor &tensor, TensorRecord &record);
    bool tripped() const { return m_tripped; }

    // RECORD is a row of the call that just ran; SLOT: its place among the op's results, if it is one.
    void hold(const at::Tensor &tensor, const TensorRecord &record, std::optional<std::size_t> slot);
    void callEnded(Recipe recipe);
    // TENSOR is about to be written: what is held of its memory is measured now, or left to the recipe of its
    // call; recipes that read it are used up.
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
        std::optional<std::size_t> slot;
        at::Tensor tensor; // undefined once it was measured or overwritten
        const c10::StorageImpl *storage = nullptr;
        ByteRange range;       // of that storage
        bool isRemade = false; // overwritten: the recipe of the call makes it again
        DType dtype = DType::unknown;
        std::vector<std::int64_t> shape;
        std::optional<TensorStats> stats;
    };
    struct Call
    {
        std::size_t number;
        Recipe recipe;
        std::optional<std::size_t> bytes; // of the tensors it read, while an output of it is to be remade
    };
    void measure(Held &held);
    Call *callOf(const Held &held);
    // Runs the call again and measures what of its outputs was overwritten.
    void remake(Call &call);
    void forget(Call &call);

    TensorSaver &m_saver;
    RecordOut &m_out;
    FiniteWatch m_watch;
    std::deque<Held> m_held;  // oldest first
    std::deque<Call> m_calls; // the last of all calls, oldest first
    std::size_t m_heldBytes = 0;
    std::size_t m_callCount = 0;
    std::vector<RecordId> m_kept;
    bool m_tripped = false;
};

} // namespace core
