// SPDX-License-Identifier: GPL-3.0-or-later
// What the live diagnostics cost: the ratio of find_nan's watched forward to the plain one, and of a captured
// forward and backward pass (statistics of every value and gradient, no payloads) to the plain pair. Medians
// of alternating runs in one process, on one thread, with a warm heap. usage: bench_live [--runs N]
// [--forward] MODEL[=FINITE,BACKWARD]... ; the limits are those of the two ratios, --forward measures
// find_nan alone. Exit code 1 beyond a limit.
#include "core/capture_torch/autograd_recorder.h"
#include "core/capture_torch/capture_environment.h"
#include "core/capture_torch/capture_task.h"
#include "core/capture_torch/record_queue.h"
#include "core/io/native_writer.h"
#include "tests/bench/stopwatch.h"

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace {

using namespace core;
using bench::Clock;
using bench::median;
using bench::secondsSince;

class Bench
{
public:
    explicit Bench(const std::string &path)
    {
        m_request.modelPath = path;
        m_request.outputPath = std::filesystem::temp_directory_path() / "bench_live.opscope";
        m_request.inputs = {{"", "f32[1,3,224,224]=randn"}};
        m_request.save.mode = SavePolicy::Mode::none;
        m_request.backward = BackwardRequest{"sum", {}, {}, 1, {}, {}};
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

    double plain(bool backward)
    {
        m_request.gradEnabled = backward;
        clearGradients();
        const c10::AutoGradMode mode(backward);
        const Clock::time_point start = Clock::now();
        const auto outputs = m_model->run(m_request, nullptr, JobContext());
        if (!outputs)
            return -1.0;
        if (backward)
            outputs->front().second.toTensor().sum().backward();
        return secondsSince(start);
    }

    double tripwire()
    {
        m_request.gradEnabled = false;
        RecorderOptions options;
        options.tripwire = true;
        return recorded(options, false);
    }

    double captured()
    {
        m_request.gradEnabled = true;
        RecorderOptions options;
        options.save = m_request.save;
        return recorded(options, true);
    }

private:
    // The time from the first op to the end of the run (and of the backward pass).
    double recorded(const RecorderOptions &options, bool backward)
    {
        clearGradients();
        NativeWriterOptions output;
        output.indexesLines = options.tripwire;
        auto writer = NativeWriter::create(m_request.outputPath, captureInfo(m_request), output);
        if (!writer)
            return -1.0;
        OpRecorder recorder(**writer, options);
        AutogradRecorder autograd(recorder, backward);
        if (backward)
            recorder.setGradListener(&autograd);
        const c10::AutoGradMode mode(backward);
        Result<ModelOutputs> outputs = ModelOutputs();
        {
            RecordQueue queue(recorder); // as ModelCapture does
            const TapScope tapped(options.tripwire ? static_cast<OpListener &>(queue) : recorder);
            outputs = m_model->run(
                m_request, options.tripwire ? static_cast<RunObserver *>(&queue) : &recorder, JobContext());
        }
        if (!outputs || recorder.summary().tripped)
            return -1.0;
        double seconds = static_cast<double>(recorder.summary().durationNs) * 1e-9;
        if (backward) {
            if (!autograd.backward(*m_request.backward, *outputs, m_model->parameters(), {}))
                return -1.0;
            seconds = static_cast<double>(recorder.sinceBegin()) * 1e-9;
        }
        recorder.finish();
        (void)(*writer)->close(captureInfo(m_request));
        return seconds;
    }

    void clearGradients()
    {
        for (auto &[name, tensor] : m_model->parameters())
            const_cast<at::Tensor &>(tensor).mutable_grad().reset();
    }

    CaptureRequest m_request;
    std::unique_ptr<RunnableModel> m_model;
};

bool report(const std::string &path, const char *what, double plain, double ratio, double limit)
{
    const bool good = limit == 0.0 || ratio <= limit;
    std::printf("%-28s %-9s plain %8.2f ms  ratio %5.3f (limit %.2f)  %s\n",
                std::filesystem::path(path).filename().c_str(), what, plain * 1e3, ratio, limit,
                good ? "ok" : "BEYOND");
    return good;
}

struct Plan
{
    int runs = 11;
    bool forwardOnly = false;
};

bool measure(std::string_view text, const Plan &plan)
{
    const std::string path(text.substr(0, text.find('=')));
    double finiteLimit = 0.0;
    double backwardLimit = 0.0;
    if (path.size() < text.size())
        std::sscanf(std::string(text.substr(path.size() + 1)).c_str(), "%lf,%lf", &finiteLimit,
                    &backwardLimit);
    Bench bench(path);
    if (Status opened = bench.open(); !opened) {
        std::printf("%s: %s\n", path.c_str(), opened.message().c_str());
        return false;
    }
    std::vector<double> forward;
    std::vector<double> finite; // ratios
    std::vector<double> both;
    std::vector<double> captured;
    for (int i = -2; i < plan.runs; ++i) {
        std::vector<double> times = {bench.plain(false), bench.tripwire(), bench.tripwire(),
                                     bench.plain(false)};
        if (!plan.forwardOnly)
            for (const double time :
                 {bench.plain(true), bench.captured(), bench.captured(), bench.plain(true)})
                times.push_back(time);
        if (std::any_of(times.begin(), times.end(), [](double time) { return time < 0.0; })) {
            std::printf("%s: a run failed\n", path.c_str());
            return false;
        }
        if (i < 0)
            continue; // warming up
        // Each with the plain run beside it: a neighbour on the machine slows both.
        forward.insert(forward.end(), {times[0], times[3]});
        finite.insert(finite.end(), {times[1] / times[0], times[2] / times[3]});
        if (plan.forwardOnly)
            continue;
        both.insert(both.end(), {times[4], times[7]});
        captured.insert(captured.end(), {times[5] / times[4], times[6] / times[7]});
    }
    const bool good = report(path, "find_nan", median(forward), median(finite), finiteLimit);
    return (plan.forwardOnly || report(path, "backward", median(both), median(captured), backwardLimit)) &&
           good;
}

} // namespace

int main(int count, char **arguments)
{
    tuneHeap();
    at::set_num_threads(1);
    Plan plan;
    bool good = true;
    for (int i = 1; i < count; ++i) {
        const std::string_view argument = arguments[i];
        if (argument == "--runs" && i + 1 < count) {
            plan.runs = std::max(1, std::atoi(arguments[++i]));
        } else if (argument == "--forward") {
            plan.forwardOnly = true;
        } else {
            good = measure(argument, plan) && good;
        }
    }
    return good ? 0 : 1;
}
