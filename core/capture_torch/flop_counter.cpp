// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/flop_counter.h"

#include "core/capture_torch/flop_formulas.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/record_function.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace core {

namespace {

// RecordFunction's callbacks are plain functions: this is the only way to tell them who counts.
thread_local FlopCounter *t_counter = nullptr;

struct CallContext final : at::ObserverContext
{
    bool leaf = false;
    // Of the outermost leaf: the interpreter's stack, which the call shows, is another one when it ends.
    std::vector<c10::IValue> inputs;
    std::size_t returns = 0;
};

std::optional<c10::OperatorHandle> operatorOf(const at::RecordFunction &call)
{
    const auto name = call.operator_name();
    return name ? c10::Dispatcher::singleton().findSchema(*name) : std::nullopt;
}

// The last COUNT of SIZE values: an interpreter shows its whole stack.
std::vector<c10::IValue> lastOf(const c10::IValue *values, std::size_t size, std::size_t count)
{
    return std::vector<c10::IValue>(values + (size - std::min(size, count)), values + size);
}

} // namespace

struct FlopCallbacks
{
    static std::unique_ptr<at::ObserverContext> start(const at::RecordFunction &call)
    {
        auto context = std::make_unique<CallContext>();
        if (t_counter == nullptr)
            return context;
        const std::optional<c10::OperatorHandle> op = operatorOf(call);
        // Composite ops are taken apart above the level that is counted; scopes of the interpreter are no
        // ops.
        const bool whole = op && !op->hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd);
        context->leaf = t_counter->m_inside > 0 || whole;
        if (!context->leaf)
            return context;
        if (++t_counter->m_inside == 1) {
            context->inputs =
                lastOf(call.inputs().data(), call.inputs().size(), op->schema().arguments().size());
            context->returns = op->schema().returns().size();
        }
        return context;
    }

    static void end(const at::RecordFunction &call, at::ObserverContext *context)
    {
        auto *const known = static_cast<CallContext *>(context);
        if (known == nullptr || !known->leaf || t_counter == nullptr)
            return;
        if (--t_counter->m_inside > 0)
            return;
        const std::string name = dottedName(call.name());
        const std::optional<std::int64_t> flops = dispatchFlops(
            name, known->inputs, lastOf(call.outputs().data(), call.outputs().size(), known->returns));
        if (flops)
            t_counter->m_byOp[name] += *flops;
        else
            ++t_counter->m_uncounted[name];
    }

    // "aten::addmm" -> "aten.addmm"
    static std::string dottedName(std::string name)
    {
        if (const std::size_t at = name.find("::"); at != std::string::npos)
            name.replace(at, 2, ".");
        return name;
    }
};

struct FlopCounter::Handle
{
    explicit Handle(FlopCounter *counter)
        : before(std::exchange(t_counter, counter)),
          callback(at::addThreadLocalCallback(
              at::RecordFunctionCallback(&FlopCallbacks::start, &FlopCallbacks::end)
                  .needsInputs(true)
                  .needsOutputs(true)
                  .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION})))
    {
    }
    ~Handle()
    {
        at::removeCallback(callback);
        t_counter = before;
    }

    FlopCounter *before;
    at::CallbackHandle callback;
};

FlopCounter::FlopCounter() : m_handle(std::make_unique<Handle>(this)) {}
FlopCounter::~FlopCounter() = default;

std::int64_t FlopCounter::total() const
{
    std::int64_t sum = 0;
    for (const auto &[name, flops] : m_byOp)
        sum += flops;
    return sum;
}

} // namespace core
