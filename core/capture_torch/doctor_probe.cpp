// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/doctor_probe.h"

#include "core/capture_torch/dispatch_tap.h"
#include "core/io/sha256.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/softmax.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/profiler_kineto.h>
#include <torch/version.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>

namespace core {
namespace {

struct PostHook final : torch::autograd::FunctionPostHook
{
    explicit PostHook(int &count) : m_count(count) {}
    torch::autograd::variable_list operator()(const torch::autograd::variable_list &outputs,
                                              const torch::autograd::variable_list &) override
    {
        ++m_count;
        return outputs;
    }
    int &m_count;
};

struct PreHook final : torch::autograd::FunctionPreHook
{
    explicit PreHook(int &count) : m_count(count) {}
    torch::autograd::variable_list operator()(const torch::autograd::variable_list &gradients) override
    {
        ++m_count;
        return gradients;
    }
    int &m_count;
};

// Whether both kinds of autograd hooks fire in a backward pass of one multiplication.
std::pair<bool, bool> hooksFire()
{
    int before = 0;
    int after = 0;
    const at::AutoGradMode grad(true);
    const at::Tensor leaf = at::ones({2}).set_requires_grad(true);
    const at::Tensor loss = (leaf * 2.0).sum();
    const auto node = loss.grad_fn();
    node->add_pre_hook(std::make_unique<PreHook>(before));
    node->add_post_hook(std::make_unique<PostHook>(after));
    loss.backward();
    return {before == 1, after == 1};
}

// Names of what comes past the tap that captures use.
class NameListener final : public OpListener
{
public:
    std::set<std::string> names;
    std::size_t failed = 0;

    void opStarts(const c10::OperatorHandle &op, std::vector<c10::IValue> &, const OpMode &) override
    {
        names.insert(op.schema().name());
    }
    void opEnded(const c10::OperatorHandle &, std::vector<c10::IValue> &) override {}
    void opFailed(const c10::OperatorHandle &) noexcept override { ++failed; }
};

void runThreeOps()
{
    const at::Tensor a = at::ones({2, 2});
    (void)at::softmax(at::matmul(a, a), -1);
}

// The interception of captures: every op at the level it was called, none of those inside.
Value interception()
{
    NameListener listener;
    {
        const TapScope tapped(listener);
        runThreeOps();
    }
    Value missed = Value::list();
    int checked = 0;
    for (const char *name : {"aten::ones", "aten::matmul", "aten::softmax"}) {
        ++checked;
        if (!listener.names.contains(name))
            missed.append(name);
    }
    const auto count = static_cast<std::int64_t>(missed.toList().size());
    return Value::object({{"checked", checked}, {"missed", count}, {"examples", std::move(missed)}});
}

// Whether RecordFunction would call an observer for the ops of this thread.
bool recordFunctionWorks()
{
    const auto start = [](const at::RecordFunction &) -> std::unique_ptr<at::ObserverContext> {
        return nullptr;
    };
    const auto handle =
        at::addThreadLocalCallback(at::RecordFunctionCallback(start).scopes({at::RecordScope::FUNCTION}));
    const bool heard = at::getStepCallbacksUnlessEmpty(at::RecordScope::FUNCTION).has_value();
    at::removeCallback(handle);
    return heard;
}

bool canMake(c10::ScalarType type)
{
    try {
        return at::full({2}, 2.0, at::kFloat).to(type).to(at::kFloat).sum().item<float>() == 4.0F;
    } catch (const std::exception &) {
        return false;
    }
}

bool autocastWorks()
{
    const bool before = at::autocast::is_autocast_enabled(at::kCPU);
    at::autocast::set_autocast_enabled(at::kCPU, true);
    const at::Tensor a = at::ones({2, 2});
    const bool narrow = at::matmul(a, a).scalar_type() == at::autocast::get_autocast_dtype(at::kCPU);
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCPU, before);
    return narrow;
}

// What the in-memory profiler says of one multiplication: events of ops, and of the memory they take.
// Nothing when it cannot be asked.
std::pair<Value, Value> profilerSees()
{
    namespace profiler = torch::profiler::impl;
    try {
        const profiler::ProfilerConfig config(profiler::ProfilerState::KINETO, false, true);
        const std::set<profiler::ActivityType> activities = {profiler::ActivityType::CPU};
        torch::autograd::profiler::prepareProfiler(config, activities);
        torch::autograd::profiler::enableProfiler(config, activities);
        (void)(at::ones({8}) * 2.0);
        const auto result = torch::autograd::profiler::disableProfiler();
        const auto &events = result->events();
        const bool memory =
            std::any_of(events.begin(), events.end(), [](const auto &event) { return event.nBytes() != 0; });
        return {!events.empty(), memory};
    } catch (const std::exception &) {
        return {};
    }
}

bool determinismCanBeSet()
{
    auto &context = at::globalContext();
    const bool before = context.deterministicAlgorithms();
    const bool warns = context.deterministicAlgorithmsWarnOnly();
    context.setDeterministicAlgorithms(!before, true);
    const bool changed = context.deterministicAlgorithms() != before;
    context.setDeterministicAlgorithms(before, warns);
    return changed;
}

// Of the weight of a linear layer 2 -> 1.
std::string linearFingerprint()
{
    const at::Tensor weight = at::arange(2, at::kFloat).reshape({1, 2}).contiguous();
    const auto *bytes = static_cast<const std::byte *>(weight.const_data_ptr());
    Sha256 digest;
    digest.add(std::span(bytes, weight.nbytes()));
    return digest.hexDigest();
}

Value flags(const Value &seen)
{
    const auto [pre, post] = hooksFire();
    const auto [events, memory] = profilerSees();
    const auto &context = at::globalContext();
    return Value::object({{"HAS_RECORD_FUNCTION", recordFunctionWorks()},
                          {"HAS_DISPATCH_MODE", seen.at("missed").toInt() == 0},
                          {"HAS_NODE_POST_HOOK", post},
                          {"HAS_NODE_PRE_HOOK", pre},
                          {"HAS_CUDA", at::hasCUDA()},
                          {"HAS_CUDNN", context.hasCuDNN()},
                          {"HAS_KINETO_INMEMORY_EVENTS", events},
                          {"HAS_FP8_DTYPES", canMake(at::kFloat8_e4m3fn) && canMake(at::kFloat8_e5m2)},
                          {"HAS_MEMORY_PROFILE", memory},
                          {"HAS_AUTOCAST_CPU", autocastWorks()},
                          {"HAS_DETERMINISTIC_ALGORITHMS", determinismCanBeSet()},
                          {"HAS_MKLDNN", context.hasMKLDNN()},
                          {"HAS_DYNAMO_COMPILE_COUNTERS", false},
                          {"HAS_DYNAMO_EXPLAIN", false},
                          {"HAS_FLOP_COUNTER", true},
                          {"HAS_STACKTRACE_SYMBOLS", false}});
}

// The lines of the build settings that name libraries and instruction sets.
std::string buildText()
{
    std::string text;
    const std::string config = at::show_config();
    for (std::size_t at = 0; at < config.size();) {
        std::size_t end = config.find('\n', at);
        end = end == std::string::npos ? config.size() : end;
        std::string_view line(config.data() + at, end - at);
        line.remove_prefix(std::min(line.find_first_not_of(" -"), line.size()));
        if (!line.empty() && !line.starts_with("Build settings") && !line.starts_with("PyTorch built with"))
            text += (text.empty() ? "" : "; ") + std::string(line);
        at = end + 1;
    }
    return text;
}

} // namespace

Value probeTorch()
{
    Value seen = interception();
    auto &context = at::globalContext();
    const auto devices = static_cast<std::int64_t>(at::hasCUDA() ? at::getNumGPUs() : 0);
    return Value::object(
        {{"torch_version", TORCH_VERSION},
         {"cpu_capability", at::get_cpu_capability()},
         {"threads",
          Value::object({{"intra_op", at::get_num_threads()}, {"inter_op", at::get_num_interop_threads()}})},
         {"determinism",
          Value::object({{"deterministic_algorithms", context.deterministicAlgorithms()},
                         {"warn_only", context.deterministicAlgorithmsWarnOnly()},
                         {"fill_uninitialized_memory", context.deterministicFillUninitializedMemory()},
                         {"cudnn_deterministic", context.deterministicCuDNN()},
                         {"cudnn_benchmark", context.benchmarkCuDNN()}})},
         {"cuda", Value::object({{"available", at::hasCUDA()}, {"devices", devices}})},
         {"build", buildText()},
         {"flags", flags(seen)},
         {"interception", std::move(seen)},
         {"fingerprint", linearFingerprint()}});
}

CaptureOutcome runDoctor(const CaptureRequest &request)
{
    CaptureOutcome outcome;
    try {
        outcome.summary = Value::object({{"torch", probeTorch()}});
        if (request.modelPath.empty())
            return outcome;
        Result<Value> model = probeModel(request);
        if (model)
            outcome.summary.set("model", std::move(*model));
        else
            outcome.summary.set("model_error", Value::object({{"message", model.error().message()},
                                                              {"detail", model.error().detail()},
                                                              {"remedy", model.error().remedy()}}));
    } catch (const std::exception &error) {
        outcome.error = Status(ErrorCode::internal, std::string("doctor: ") + error.what());
    }
    return outcome;
}

} // namespace core
