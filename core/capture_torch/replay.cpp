// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/replay.h"

#include "core/capture_torch/op_facts.h"
#include "core/capture_torch/replay_values.h"
#include "core/capture_torch/runnable_model.h"
#include "core/capture_torch/silent_observer.h"
#include "core/io/native_reader.h"
#include "core/trace/trace.h"

#include <ATen/Parallel.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace core {

namespace {

constexpr std::size_t kListedMismatches = 100;

// "aten.add.Tensor" -> {"aten::add", "Tensor"}
std::optional<c10::OperatorHandle> findOp(std::string_view name)
{
    const std::size_t first = name.find('.');
    const std::size_t last = name.rfind('.');
    if (first == std::string_view::npos || first == last)
        return std::nullopt;
    const std::string op =
        std::string(name.substr(0, first)) + "::" + std::string(name.substr(first + 1, last - first - 1));
    const std::string_view overload = name.substr(last + 1);
    return c10::Dispatcher::singleton().findSchema(
        {op, overload == "default" ? std::string() : std::string(overload)});
}

// Collects what a model declares, runs nothing of it.
class StateCollector final : public SilentObserver
{
public:
    std::map<std::string, at::Tensor> tensors;

    void namedTensor(TensorRole, const std::vector<std::string> &names, const at::Tensor &tensor) override
    {
        for (const std::string &name : names)
            tensors.emplace(name, tensor);
    }
    void moduleCallStarted(const ModuleCallInfo &) override { throw StopRun(); }
    void nodeStarts(const NodeInfo &, std::optional<std::uint32_t>) override { throw StopRun(); }
};

class AutocastScope
{
public:
    explicit AutocastScope(std::string_view dtype)
        : m_enabled(at::autocast::is_autocast_enabled(at::kCPU)),
          m_dtype(at::autocast::get_autocast_dtype(at::kCPU))
    {
        at::autocast::set_autocast_enabled(at::kCPU, !dtype.empty());
        if (!dtype.empty())
            at::autocast::set_autocast_dtype(at::kCPU, dtype == "float16" ? at::kHalf : at::kBFloat16);
    }
    ~AutocastScope()
    {
        at::autocast::set_autocast_enabled(at::kCPU, m_enabled);
        at::autocast::set_autocast_dtype(at::kCPU, m_dtype);
        at::autocast::clear_cache();
    }
    AutocastScope(const AutocastScope &) = delete;
    AutocastScope &operator=(const AutocastScope &) = delete;

private:
    bool m_enabled;
    at::ScalarType m_dtype;
};

class Replay
{
public:
    Replay(const Trace &trace, std::map<std::string, at::Tensor> state)
        : m_trace(trace), m_state(std::move(state))
    {
    }

    void run(const TaskContext &context)
    {
        for (std::size_t i = 0; i < m_trace.calls().size() && !context.stop.stop_requested(); ++i) {
            const CallRow &call = m_trace.calls()[i];
            if (call.kind != CallKind::compute || !call.finished)
                continue;
            ++m_ops;
            const std::string reason = replay(CallId(i));
            if (!reason.empty())
                ++m_skipped[reason];
            if (context.progress && i % 64 == 0)
                context.progress({"replaying", std::string(m_trace.string(call.op)), i, 0, {}});
        }
    }

    Value result() const
    {
        Value skipped = Value::object();
        for (const auto &[reason, count] : m_skipped)
            skipped.set(reason, count);
        const double rate =
            m_replayed == 0 ? NAN : static_cast<double>(m_equal) / static_cast<double>(m_replayed);
        return Value::object({{"ops", m_ops},
                              {"replayed", m_replayed},
                              {"equal", m_equal},
                              {"rate", m_replayed == 0 ? Value() : Value(rate)},
                              {"mismatches", Value(m_mismatches)},
                              {"skipped", skipped}});
    }

private:
    // The reason why the op could not be replayed; empty when it was.
    std::string replay(CallId id)
    {
        const CallRow &call = m_trace.call(id);
        if (call.consumesRng)
            return "random";
        const std::optional<c10::OperatorHandle> op = findOp(m_trace.string(call.op));
        if (!op)
            return call.uninitialised ? "uninitialised" : "no_op";
        const OpFacts facts = readOpFacts(*op);
        // Also where TorchScript filled the memory itself: torch.tensor(...) is an aten.empty to the
        // dispatcher.
        if (call.uninitialised || facts.uninitialised)
            return "uninitialised";
        std::vector<c10::IValue> stack;
        const c10::AutoGradMode grad(call.gradEnabled);
        if (std::string reason = arguments(id, *op, facts, stack); !reason.empty())
            return reason;
        const std::vector<c10::IValue> given = stack;
        try {
            const AutocastScope autocast(m_trace.string(call.autocast));
            op->callBoxed(&stack);
        } catch (const std::exception &) {
            return "op_failed";
        }
        return compare(id, facts, stack, given);
    }

    std::string arguments(CallId id, const c10::OperatorHandle &op, const OpFacts &facts,
                          std::vector<c10::IValue> &stack)
    {
        const auto recorded = m_trace.arguments(id);
        if (recorded.size() != facts.arguments.size())
            return "arguments_differ";
        for (std::size_t i = 0; i < recorded.size(); ++i) {
            const ArgumentRow &argument = recorded[i];
            if (argument.tensors.count == 0 && !argument.isTensorList) {
                auto value = valueToIValue(m_trace.string(argument.valueJson), op.schema().arguments()[i],
                                           facts.arguments[i].code);
                if (!value)
                    return "argument_value";
                stack.push_back(std::move(*value));
                continue;
            }
            std::vector<std::optional<at::Tensor>> tensors;
            for (const TensorId tensor : m_trace.tensorIds(argument.tensors)) {
                if (!tensor.isValid()) {
                    tensors.emplace_back();
                    continue;
                }
                Result<at::Tensor> made =
                    recordedTensor(m_trace, tensor, facts.arguments[i].written, m_state);
                if (!made)
                    return "no_payload";
                tensors.emplace_back(std::move(*made));
            }
            stack.push_back(argument.isTensorList ? tensorListValue(op.schema().arguments()[i], tensors)
                                                  : c10::IValue(*tensors.front()));
        }
        return {};
    }

    std::string compare(CallId id, const OpFacts &facts, const std::vector<c10::IValue> &results,
                        const std::vector<c10::IValue> &given)
    {
        std::vector<at::Tensor> made;
        for (const c10::IValue &value : results)
            flatten(value, made);
        for (std::size_t i = 0; i < given.size(); ++i)
            if (facts.arguments[i].written)
                flatten(given[i], made);
        const Range rows = m_trace.call(id).rows;
        bool compared = false;
        bool equal = true;
        for (std::uint32_t k = 0; k < rows.count; ++k) {
            const OpRow &row = m_trace.ops()[rows.begin + k];
            if (!row.tensor.isValid() || row.slot >= made.size())
                continue;
            const Result<at::Tensor> recorded = recordedTensor(m_trace, row.tensor, false, {});
            if (!recorded)
                continue;
            compared = true;
            if (!sameBits(*recorded, made[row.slot])) {
                equal = false;
                mismatch(OpId(rows.begin + k), *recorded, made[row.slot]);
            }
        }
        if (!compared)
            return rows.count == 0 || !m_trace.ops()[rows.begin].tensor.isValid() ? "no_tensor"
                                                                                  : "no_payload";
        ++m_replayed;
        m_equal += equal ? 1 : 0;
        return {};
    }

    static void flatten(const c10::IValue &value, std::vector<at::Tensor> &out)
    {
        if (value.isTensor())
            out.push_back(value.toTensor());
        else if (value.isList())
            for (const c10::IValue &item : value.toListRef())
                flatten(item, out);
    }

    void mismatch(OpId id, const at::Tensor &recorded, const at::Tensor &made)
    {
        if (m_mismatches.size() == kListedMismatches)
            return;
        const OpRow &row = m_trace.op(id);
        m_mismatches.push_back(Value::object({{"op", m_trace.string(m_trace.call(row.call).op)},
                                              {"label", m_trace.label(id)},
                                              {"output", row.slot},
                                              {"elements", recorded.numel()},
                                              {"max_difference", maximumDifference(recorded, made)}}));
    }

    const Trace &m_trace;
    std::map<std::string, at::Tensor> m_state;
    std::uint64_t m_ops = 0;
    std::uint64_t m_replayed = 0;
    std::uint64_t m_equal = 0;
    Value::List m_mismatches;
    std::map<std::string, std::uint64_t> m_skipped;
};

Result<std::map<std::string, at::Tensor>> modelState(const CaptureRequest &request)
{
    LoadReport report;
    Result<std::unique_ptr<RunnableModel>> model = RunnableModel::open(request, report);
    if (!model)
        return model.error();
    StateCollector collector;
    (*model)->declareState(collector);
    return std::move(collector.tensors);
}

} // namespace

CaptureOutcome runReplay(const CaptureRequest &request, const TaskContext &context)
{
    CaptureOutcome outcome;
    try {
        JobContext job(context.stop);
        const Result<std::shared_ptr<const Trace>> trace =
            openNative(request.options.at("trace").toString(), job);
        if (!trace) {
            outcome.error = trace.error();
            return outcome;
        }
        const std::int64_t threads = (*trace)->info().environment.at("threads").toInt(1);
        at::set_num_threads(static_cast<int>(std::clamp<std::int64_t>(threads, 1, 1024)));
        Result<std::map<std::string, at::Tensor>> state = modelState(request);
        if (!state) {
            outcome.error = state.error();
            return outcome;
        }
        Replay replay(**trace, *std::move(state));
        replay.run(context);
        outcome.summary = replay.result();
        if (context.stop.stop_requested())
            outcome.error = {ErrorCode::cancelled, "cancelled while replaying"};
    } catch (const std::exception &error) {
        outcome.error = {ErrorCode::internal, std::string("replay: ") + error.what()};
    }
    return outcome;
}

} // namespace core
