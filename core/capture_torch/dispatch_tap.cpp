// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/dispatch_tap.h"

#include "core/capture_torch/quiet_scope.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/GradMode.h>
#include <torch/library.h>

namespace core {

namespace {

// The dispatcher's fallback is a plain function: this is the only way to tell it who listens.
thread_local OpListener *t_listener = nullptr;

std::string_view autocastName()
{
    if (!at::autocast::is_autocast_enabled(at::kCPU))
        return {};
    switch (at::autocast::get_autocast_dtype(at::kCPU)) {
    case c10::ScalarType::BFloat16:
        return "bfloat16";
    case c10::ScalarType::Half:
        return "float16";
    default:
        return "float32";
    }
}

// A try with other arguments after ERROR. LEVEL: the items of the stack below the arguments.
bool ranOtherwise(OpListener &listener, const c10::OperatorHandle &op, c10::DispatchKeySet keys,
                  torch::jit::Stack &stack, std::size_t level, const std::exception &error)
{
    stack.resize(level);
    try {
        {
            const QuietScope quiet;
            if (!listener.triesAgain(op, stack, error))
                return false;
        }
        op.redispatchBoxed(keys, &stack);
        return true;
    } catch (...) {
        return false; // the first error is the one to tell
    }
}

void tap(const c10::OperatorHandle &op, c10::DispatchKeySet keys, torch::jit::Stack *stack)
{
    const c10::impl::ExcludeDispatchKeyGuard noNesting(kTapKey);
    const c10::DispatchKeySet below = keys & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, kTapKey);
    OpListener *const listener = t_listener;
    if (listener == nullptr) {
        op.redispatchBoxed(below, stack);
        return;
    }
    const std::size_t level = stack->size() - op.schema().arguments().size();
    const OpMode mode{c10::GradMode::is_enabled(), autocastName()};
    {
        const QuietScope quiet;
        listener->opStarts(op, *stack, mode);
    }
    try {
        op.redispatchBoxed(below, stack);
    } catch (const std::exception &error) {
        if (!ranOtherwise(*listener, op, below, *stack, level, error)) {
            listener->opFailed(op);
            throw;
        }
    } catch (...) {
        listener->opFailed(op);
        throw;
    }
    const QuietScope quiet;
    listener->opEnded(op, *stack);
}

} // namespace

bool OpListener::triesAgain(const c10::OperatorHandle &, std::vector<c10::IValue> &, const std::exception &)
{
    return false;
}

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericMode, library)
{
    library.fallback(torch::CppFunction::makeFromBoxedFunction<&tap>());
}

struct TapScope::Guards
{
    explicit Guards(OpListener *listener) : before(std::exchange(t_listener, listener)) {}
    ~Guards() { t_listener = before; }

    OpListener *before;
    c10::impl::IncludeDispatchKeyGuard include{kTapKey};
};

TapScope::TapScope(OpListener &listener) : m_guards(std::make_unique<Guards>(&listener)) {}
TapScope::~TapScope() = default;

} // namespace core
