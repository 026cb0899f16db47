// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <exception>
#include <memory>
#include <string_view>
#include <vector>

namespace c10 {
class OperatorHandle;
struct IValue;
} // namespace c10

namespace core {

// What an op ran under, as it was before the tap switched anything off for itself.
struct OpMode
{
    bool gradEnabled = false;
    std::string_view autocast; // dtype name when autocast is on, else empty
};

// Whoever wants to see each op of a run. Called on the thread that runs the op; recorded ops do not nest.
// Inside these functions ops may be called: they are not seen, leave no autograd history and are not cast.
class OpListener
{
public:
    virtual ~OpListener() = default;

    // The op's arguments are the last items of STACK, in schema order, and may be changed here. May throw
    // StopRun.
    virtual void opStarts(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack,
                          const OpMode &mode) = 0;
    // The op threw ERROR and its arguments are gone from STACK. True when others were put there, of the same
    // number, for a second and last try.
    virtual bool triesAgain(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack,
                            const std::exception &error);
    // Its results are the last items of STACK, in schema order.
    virtual void opEnded(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack) = 0;
    // The op threw; the exception goes on its way afterwards.
    virtual void opFailed(const c10::OperatorHandle &op) noexcept = 0;
};

// While it lives, every op that this thread calls (a TorchScript interpreter, the .pt2 executor, the autograd
// engine) at the level the user wrote it goes past LISTENER. One a thread at a time; the listener stays the
// caller's.
class TapScope
{
public:
    explicit TapScope(OpListener &listener);
    ~TapScope();
    TapScope(const TapScope &) = delete;
    TapScope &operator=(const TapScope &) = delete;

private:
    struct Guards;
    std::unique_ptr<Guards> m_guards;
};

} // namespace core
