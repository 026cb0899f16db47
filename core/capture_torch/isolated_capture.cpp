// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/isolated_capture.h"

#include "core/capture_torch/capture_environment.h"

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>

#include <mutex>

namespace core {

PreservedRngState::PreservedRngState()
{
    const auto keep = [this](at::Generator generator) {
        const std::scoped_lock lock(generator.mutex());
        m_states.emplace_back(generator, generator.get_state());
    };
    keep(at::globalContext().defaultGenerator(c10::kCPU));
    if (!at::hasCUDA())
        return;
    const at::CUDAHooksInterface &cuda = at::detail::getCUDAHooks();
    for (c10::DeviceIndex device = 0; device < cuda.deviceCount(); ++device)
        if (cuda.hasPrimaryContext(device))
            keep(at::globalContext().defaultGenerator(c10::Device(c10::kCUDA, device)));
}

PreservedRngState::~PreservedRngState()
{
    for (auto &[generator, state] : m_states) {
        const std::scoped_lock lock(generator.mutex());
        generator.set_state(state);
    }
}

CaptureOutcome isolatedCapture(const RunnableModel &model, const CaptureRequest &request,
                               const TaskContext &context, const IsolatedRun &run)
{
    const PreservedRngState preserved;
    const Result<std::unique_ptr<RunnableModel>> copy = model.copy();
    if (!copy)
        return failedOutcome(copy.error());
    if (run.prepare)
        if (Status prepared = run.prepare(**copy); !prepared)
            return failedOutcome(std::move(prepared));
    CaptureRequest own = request;
    if (effectiveSeed(own) != run.seed)
        own.seed = run.seed; // else the trace records what was asked
    own.outputPath = run.outputPath;
    own.backward.reset();
    const LoadReport nothingNew;
    return ModelCapture(own, context, **copy, nothingNew).run(run.variant);
}

} // namespace core
