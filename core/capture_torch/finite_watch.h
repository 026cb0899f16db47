// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/op_facts.h"
#include "core/capture_torch/tensor_tracker.h"

#include <limits>
#include <optional>
#include <span>
#include <unordered_map>

namespace core {

// Tells as a model runs whether results hold NaN or Inf, and looks at as few of them as it can: it remembers
// which memory was seen to be finite, and how large its elements can be, so that what only chooses, moves or
// scales such values needs no look. Owned by the tripwire; one thread. What it calls must not be recorded.
class FiniteWatch
{
public:
    // What is known of an op's results before it runs.
    struct Forecast
    {
        double bound = std::numeric_limits<double>::infinity(); // of the first result's magnitude
        double headroom = 1.0; // how many times larger what the kernel has on the way can be
        // Results of this type are finite (Undefined: of any floating type): the op only chooses, moves or
        // squashes finite values of that very type. Others may overflow when they become it.
        std::optional<c10::ScalarType> keeps;

        // Whether the first result is finite whatever it is, in DTYPE.
        bool isBoundedIn(DType dtype) const;
    };
    // ARGUMENTS are those of the op, in schema order.
    Forecast forecast(const OpFacts &facts, std::span<const c10::IValue> arguments) const;

    // False when TENSOR holds NaN or Inf; true for what cannot hold them or cannot be looked at.
    bool isFinite(const at::Tensor &tensor);
    // The same for a result of an op that just ran. FIRST: it is the first one.
    bool isFinite(const at::Tensor &tensor, const Forecast &forecast, bool first);
    // The memory of TENSOR was written: what was known of it is not so any more.
    void written(const at::Tensor &tensor);

private:
    // Memory that is finite.
    struct Known
    {
        explicit Known(const at::Tensor &tensor) : pin(tensor.storage().getWeakStorageImpl()) {}

        c10::weak_intrusive_ptr<c10::StorageImpl> pin; // keeps the address from being given to another
        ByteRange range;                               // empty: not known any more
        c10::ScalarType type = c10::ScalarType::Undefined;
        double bound = 0.0; // no element is larger in magnitude
    };
    const Known *find(const at::Tensor &tensor) const;
    double boundOf(const c10::IValue &value) const;
    double bound(BoundRule rule, std::span<const c10::IValue> arguments) const;
    std::optional<c10::ScalarType> kept(const OpFacts &facts, std::span<const c10::IValue> arguments) const;
    void know(const at::Tensor &tensor, double bound);

    std::unordered_map<c10::StorageImpl *, Known> m_known;
};

} // namespace core
