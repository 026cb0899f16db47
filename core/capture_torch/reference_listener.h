// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/dispatch_tap.h"
#include "core/capture_torch/op_recorder.h"
#include "core/trace/trace.h"

#include <c10/core/ScalarType.h>

#include <memory>
#include <utility>

namespace core {

// Stands between the dispatcher and a recorder and turns a run into one of another precision: every dtype
// that an op is asked for, and every floating tensor that still arrives in another one, becomes TYPE before
// the op runs. Integers, booleans and quantized tensors stay. The model's own state and inputs are converted
// by RunnableModel::convertFloating(). Lives as long as one run; also sets LibTorch's default dtype as long.
//
// An op that does not run in TYPE (no kernel; bits that mean nothing in it) runs in the dtypes it had in
// NATIVE, the same run without any of this (may be null: float32 then); its results go on in TYPE, and the
// trace gets a diagnostic of the token kOwnDtypeToken that says why.
class ReferenceListener final : public OpListener
{
public:
    ReferenceListener(OpRecorder &next, c10::ScalarType type, std::shared_ptr<const Trace> native);
    ~ReferenceListener() override;
    ReferenceListener(const ReferenceListener &) = delete;
    ReferenceListener &operator=(const ReferenceListener &) = delete;

    void opStarts(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack,
                  const OpMode &mode) override;
    bool triesAgain(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack,
                    const std::exception &error) override;
    void opEnded(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack) override;
    void opFailed(const c10::OperatorHandle &op) noexcept override;

private:
    c10::ScalarType ownType(std::size_t argument, std::size_t item, const at::Tensor &tensor) const;
    at::Tensor inOwnType(const at::Tensor &tensor, std::size_t argument, std::size_t item, bool written);
    bool putOwnArguments(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack);
    void takeOwnResults(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack);

    OpRecorder &m_next;
    c10::ScalarType m_type;
    c10::ScalarType m_defaultBefore;
    std::shared_ptr<const Trace> m_native;
    std::vector<c10::IValue> m_given; // the running op's arguments as they came
    bool m_own = false;               // it runs in its own dtypes
    c10::ScalarType m_ownType;        // one of them, for the message
    std::string m_why;
    // Of an op in its own dtypes: what it is to write, and the copy that it writes in its place.
    std::vector<std::pair<at::Tensor, at::Tensor>> m_written;
};

// The type that TYPE becomes in a run in REFERENCE: REFERENCE for real floating types, its complex type for
// complex ones, TYPE itself for all others.
c10::ScalarType referenceType(c10::ScalarType type, c10::ScalarType reference);

} // namespace core
