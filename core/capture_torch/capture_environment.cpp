// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/capture_environment.h"

#include "core/capture_torch/capture_task.h"
#include "core/io/model_hash.h"
#include "core/ipc/messages.h"

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
