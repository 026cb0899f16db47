// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/dispatch_tap.h"

#include <c10/core/ScalarType.h>

namespace core {

// Stands between the dispatcher and a recorder and turns a run into one of another precision: every dtype
// that an op is asked for, and every floating tensor that still arrives in another one, becomes TYPE before
// the op runs. Integers, booleans and quantized tensors stay. The model's own state and inputs are converted
// by RunnableModel::convertFloating(). Lives as long as one run; also sets LibTorch's default dtype as long.
class ReferenceListener final : public OpListener
{
public:
    ReferenceListener(OpListener &next, c10::ScalarType type);
    ~ReferenceListener() override;
    ReferenceListener(const ReferenceListener &) = delete;
    ReferenceListener &operator=(const ReferenceListener &) = delete;

    void opStarts(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack,
                  const OpMode &mode) override;
    void opEnded(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack) override;
    void opFailed(const c10::OperatorHandle &op) noexcept override;

private:
    OpListener &m_next;
    c10::ScalarType m_type;
    c10::ScalarType m_defaultBefore;
};

// The type that TYPE becomes in a run in REFERENCE: REFERENCE for real floating types, its complex type for
// complex ones, TYPE itself for all others.
c10::ScalarType referenceType(c10::ScalarType type, c10::ScalarType reference);

} // namespace core
