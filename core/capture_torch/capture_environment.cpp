// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/capture_environment.h"

#include "core/capture_torch/capture_task.h"
#include "core/io/model_hash.h"
#include "core/ipc/messages.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <torch/headeronly/version.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <malloc.h>

namespace core {

namespace {

std::string utcNow()
{
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts = {};
    gmtime_r(&now, &parts);
    char text[32];
    const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return {text, length};
}

Value environment()
{
    const at::Context &context = at::globalContext();
    return Value::object({{"libtorch", TORCH_VERSION},
                          {"threads", at::get_num_threads()},
                          {"interop_threads", at::get_num_interop_threads()},
                          {"cpu_capability", at::get_cpu_capability()},
                          {"deterministic_algorithms", context.deterministicAlgorithms()},
                          {"openmp", at::hasOpenMP()},
                          {"mkldnn", at::hasMKLDNN()},
                          {"device", "cpu"}});
}

} // namespace

std::uint64_t effectiveSeed(const CaptureRequest &request)
{
    return request.seed.value_or(0);
}

void seedGenerators(const CaptureRequest &request)
{
    at::manual_seed(effectiveSeed(request));
}

// The position in its table and whether a second normal sample waits.
std::uint64_t generatorState()
{
    const at::Generator &generator = at::globalContext().defaultGenerator(c10::kCPU);
    auto *cpu = generator.get<at::CPUGeneratorImpl>();
    const auto data = cpu->engine().data();
    std::uint64_t state = data.seed_ * 0x9e3779b97f4a7c15ULL;
    state ^= static_cast<std::uint64_t>(data.next_) << 32 | static_cast<std::uint32_t>(data.left_);
    state ^= static_cast<std::uint64_t>(data.state_[0]) << 7;
    const auto bit = [](bool set) { return set ? 1ULL : 0ULL; };
    return state * 4 + bit(cpu->next_float_normal_sample().has_value()) * 2 +
           bit(cpu->next_double_normal_sample().has_value());
}

TraceInfo captureInfo(const CaptureRequest &request)
{
    TraceInfo info;
    info.source = TraceSource::own;
    info.producer = std::string(buildId());
    info.createdUtc = utcNow();
    info.modelPath = request.modelPath;
    info.modelName = std::filesystem::path(request.modelPath).filename().string();
    if (const auto hash = modelHash(request.modelPath, JobContext()); hash)
        info.modelHash = *hash;
    info.request = toValue(request);
    info.request.set("effective_seed", std::to_string(effectiveSeed(request)));
    info.environment = environment();
    return info;
}

void tuneHeap()
{
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, -1);
    mallopt(M_TOP_PAD, 64 << 20);
}

} // namespace core
