// SPDX-License-Identifier: GPL-3.0-or-later
// What a capture costs: ratios of captured forwards to plain ones, medians of alternating runs in one
// process, on one thread, with a warm heap. usage: bench_capture [--runs N] MODEL[=STATS,DISK]... ; the
// limits are those of the two ratios (statistics, lineage and source without payloads; everything written to
// disk). Exit code 1 beyond a limit.
#include "core/capture_torch/autograd_recorder.h"
#include "core/capture_torch/capture_environment.h"
#include "core/capture_torch/capture_task.h"
#include "core/io/native_writer.h"
#include "tests/bench/stopwatch.h"

#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <functional>

namespace {

using namespace core;
using bench::Clock;
using bench::median;
using bench::secondsSince;

struct Limits
{
    std::string path;
    double stats = 0.0; // 0: none
    double disk = 0.0;
};

Limits parseModel(std::string_view text)
{
    Limits limits;
    const std::size_t equals = text.find('=');
    limits.path = text.substr(0, equals);
    if (equals != std::string_view::npos) {
        const std::string numbers(text.substr(equals + 1));
        std::sscanf(numbers.c_str(), "%lf,%lf", &limits.stats, &limits.disk);
    }
    return limits;
}

class Bench
{
public:
    Bench(const std::string &path, bool gradients)
    {
        m_request.modelPath = path;
        m_request.gradEnabled = gradients;
        m_request.outputPath = std::filesystem::temp_directory_path() / "bench_capture.opscope";
        m_request.inputs = {{"", "f32[1,3,224,224]=randn"}};
    }

    Status open()
    {
        LoadReport report;
        Result<std::unique_ptr<RunnableModel>> model = RunnableModel::open(m_request, report);
        if (!model)
            return model.error();
        m_model = std::move(*model);
        return m_model->buildInputs(m_request);
    }

    double plain()
    {
        const c10::AutoGradMode mode(m_request.gradEnabled);
        const Clock::time_point start = Clock::now();
        if (!m_model->run(m_request, nullptr, JobContext()))
            return -1.0;
        return secondsSince(start);
    }

    // The forward alone without payloads; with payloads until the file is closed.
    double captured(SavePolicy::Mode save)
    {
        m_request.save.mode = save;
        auto writer = NativeWriter::create(m_request.outputPath, captureInfo(m_request));
        if (!writer)
            return -1.0;
        RecorderOptions options;
        options.save = m_request.save;
        OpRecorder recorder(**writer, options);
        AutogradRecorder autograd(recorder, false);
        if (m_request.gradEnabled)
            recorder.setGradListener(&autograd);
        const c10::AutoGradMode mode(m_request.gradEnabled);
        Result<ModelOutputs> outputs = ModelOutputs();
        {
            const TapScope tapped(recorder);
            outputs = m_model->run(m_request, &recorder, JobContext());
        }
        if (!outputs)
            return -1.0;
        recorder.finish();
        const double forward = static_cast<double>(recorder.summary().durationNs) * 1e-9;
        m_calls = recorder.summary().calls;
        if (save == SavePolicy::Mode::none) {
            (void)(*writer)->close(captureInfo(m_request));
            return forward;
        }
        (void)(*writer)->close(captureInfo(m_request));
        return static_cast<double>(recorder.sinceBegin()) * 1e-9;
    }

    std::uint64_t calls() const { return m_calls; }

private:
    CaptureRequest m_request;
    std::unique_ptr<RunnableModel> m_model;
    std::uint64_t m_calls = 0;
};

bool measure(const Limits &limits, int runs, bool gradients)
{
    Bench bench(limits.path, gradients);
    if (Status opened = bench.open(); !opened) {
        std::printf("%s: %s\n", limits.path.c_str(), opened.message().c_str());
        return false;
    }
    std::vector<double> plain;
    std::vector<double> stats;
    std::vector<double> disk;
    for (int i = -2; i < runs; ++i) {
        const double a = bench.plain();
        const double b = bench.captured(SavePolicy::Mode::none);
        const double c = bench.captured(SavePolicy::Mode::all);
        const double d = bench.plain();
        if (a < 0 || b < 0 || c < 0 || d < 0) {
            std::printf("%s: a run failed\n", limits.path.c_str());
            return false;
        }
        if (i < 0)
            continue; // warming up
        // Each with the plain run beside it: a neighbour on the machine slows both.
        plain.push_back(a);
        plain.push_back(d);
        stats.push_back(b / a);
        disk.push_back(c / d);
    }
    const double base = median(plain);
    const double statsRatio = median(stats);
    const double diskRatio = median(disk);
    const bool good = (limits.stats == 0.0 || statsRatio <= limits.stats) &&
                      (limits.disk == 0.0 || diskRatio <= limits.disk);
    std::printf(
        "%-40s ops %5llu plain %8.2f ms  statistics %5.2f (limit %.2f)  disk %5.2f (limit %.2f)  %s\n",
        std::filesystem::path(limits.path).filename().c_str(), static_cast<unsigned long long>(bench.calls()),
        base * 1e3, statsRatio, limits.stats, diskRatio, limits.disk, good ? "ok" : "BEYOND");
    return good;
}

} // namespace

int main(int count, char **arguments)
{
    tuneHeap();
    at::set_num_threads(1);
    int runs = 21;
    bool gradients = false;
    bool good = true;
    for (int i = 1; i < count; ++i) {
        const std::string_view argument = arguments[i];
        if (argument == "--runs" && i + 1 < count) {
            runs = std::max(1, std::atoi(arguments[++i]));
            continue;
        }
        if (argument == "--grad") {
            gradients = true;
            continue;
        }
        good = measure(parseModel(argument), runs, gradients) && good;
    }
    return good ? 0 : 1;
}
