// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/finite_watch.h"
#include "core/capture_torch/op_facts.h"
#include "core/capture_torch/record_out.h"
#include "core/capture_torch/tensor_saver.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <deque>
#include <memory>
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

// The memory-light way to watch a run for the first NaN or Inf: of every row only a finite check is made. So
// that the outputs of the last 32 calls can be measured when it matters, it is remembered how to make them
// again: the op and what it read, down to memory that somebody holds. Outputs that no op can make again, that
// are large, or that lie too deep in such a chain are held (at most 64 MiB; beyond that only their
// statistics). Nothing else keeps memory from being used again, which costs the run its caches. Owned by the
// recorder; one thread. What it calls must not be recorded.
class Tripwire
{
    struct Call;

public:
    static constexpr std::size_t kCalls = 32;
    static constexpr std::size_t kBytes = std::size_t(64) << 20;

    // An output that nobody holds: that of CALL at SLOT.
    struct Remade
    {
        std::shared_ptr<Call> call;
        std::size_t slot = 0;
    };
    // How to make the outputs of a call again. Without op: it draws random numbers, writes what is not
    // remade, or gives no plain tensors.
    struct Recipe
    {
        struct Operand
        {
            std::size_t argument;
            std::size_t item; // of a list
            Remade from;
        };

        std::optional<c10::OperatorHandle> op;
        std::vector<c10::IValue> inputs;    // by argument; put in when the call has ended
        std::vector<Operand> operands;      // those of the inputs that are remade
        std::optional<std::size_t> written; // the argument that it overwrites and gives back, one of them
        std::size_t bytes = 0;              // of the other inputs that a call made
    };

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
    // The recorded tensor ID, when it is not held but can be made again.
    std::optional<Remade> remade(RecordId id) const;
    // INPUTS: by argument.
    void callEnded(Recipe recipe, std::vector<c10::IValue> inputs);
    // TENSOR is about to be written: what is held of its memory is measured now, or left to the recipe of its
    // call; recipes that read it are used up.
    void beforeWrite(const at::Tensor &tensor);

    // Completes the record ID of TENSOR, an input of an op that made NaN or Inf, by statistics and,
    // WITHVALUES, by values.
    void keep(const at::Tensor &tensor, RecordId id, bool withValues);
    // Completes the records of the last calls by their statistics.
    void finish();

private:
    // What the calls hold together, and which of them live: some outlast the last 32, as others build on
    // them.
    struct Pool
    {
        std::size_t bytes = 0;
        std::vector<Call *> living;
    };
    struct Call : std::enable_shared_from_this<Call>
    {
        Call(std::size_t callNumber, Recipe made, Pool &all);
        ~Call();
        Call(const Call &) = delete;
        Call &operator=(const Call &) = delete;

        // Results VALUES of what can run no more, or none.
        void end(std::vector<c10::IValue> results);
        bool canRun() const { return recipe.op.has_value() || !values.empty(); }
        bool reads(const at::Tensor &tensor) const;
        bool shares(const c10::StorageImpl *storage) const;

        std::size_t number;
        std::size_t depth = 0;                          // ops to run before it can run
        Recipe recipe;                                  // its bytes count as held
        std::vector<const c10::StorageImpl *> storages; // that the recipe's inputs keep alive
        std::vector<c10::IValue> values;
        Pool &pool;
    };
    struct Held
    {
        RecordId id;
        std::size_t call;
        std::optional<std::size_t> slot;
        at::Tensor tensor; // undefined when it is measured, or left to the recipe of the call
        const c10::StorageImpl *storage = nullptr;
        ByteRange range; // of that storage
        std::shared_ptr<Call> remadeBy;
        DType dtype = DType::unknown;
        std::vector<std::int64_t> shape;
        std::optional<TensorStats> stats;
    };
    class Rerun;

    std::shared_ptr<Call> callOf(const Held &held) const;
    void leaveToRecipe(Held &held, std::shared_ptr<Call> call);
    bool isWorthRemaking(const Call &call) const;
    void measure(Held &held);
    // Of those in HELD that are left to recipes.
    void remake(std::span<Held *const> held);
    // Runs CALL now and keeps what it gives: memory that it reads is about to be written.
    static void runNow(Call &call);

    TensorSaver &m_saver;
    RecordOut &m_out;
    FiniteWatch m_watch;
    Pool m_pool;
    std::deque<Held> m_held;                   // oldest first
    std::deque<std::shared_ptr<Call>> m_calls; // the last of all calls, oldest first
    std::size_t m_callCount = 0;
    std::vector<RecordId> m_kept;
    bool m_tripped = false;
};

} // namespace core
