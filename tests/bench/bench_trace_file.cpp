// SPDX-License-Identifier: GPL-3.0-or-later
// Writes and opens native traces of many small ops. usage: bench_trace_file FOLDER
#include "core/io/native_reader.h"
#include "core/io/native_writer.h"
#include "tests/bench/stopwatch.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

using namespace core;

namespace {

using bench::Clock;
using bench::secondsSince;

TensorRecord tensorOf(RecordId id)
{
    TensorRecord tensor;
    tensor.id = id;
    tensor.storage = id;
    tensor.dtype = DType::float32;
    tensor.shape = {8, 64, 256};
    tensor.call = id;
    tensor.payload.state = PayloadState::notSaved;
    TensorStats stats;
    stats.elements = 131072;
    stats.zero = id % 7;
    stats.min = -1.0 / (id + 3);
    stats.max = 1.0 / (id + 2);
    stats.absMin = 1e-9 * id;
    stats.absMax = stats.max;
    stats.mean = 0.001 * id;
    stats.std = 0.37 + 1e-7 * id;
    tensor.stats = stats;
    return tensor;
}

CallRecord callOf(RecordId id)
{
    CallRecord call;
    call.id = id;
    call.kind = id == 0 ? CallKind::input : CallKind::compute;
    call.op = id == 0       ? "none"
              : id % 3 == 0 ? "aten.linear.default"
              : id % 3 == 1 ? "aten.relu.default"
                            : "aten.add.Tensor";
    call.func = id == 0 ? "none" : id % 3 == 0 ? "linear" : id % 3 == 1 ? "relu" : "add";
    call.moduleCall = 0;
    call.stack = id % 100;
    call.outputs = {id};
    if (id > 0) {
        call.arguments = {{"self", {id - 1}, false, false, {}},
                          {"other", {id / 2}, false, false, {}},
                          {"alpha", {}, false, false, Value(1)}};
        call.parents = {id - 1, id / 2};
    }
    call.startNs = id * 1000LL;
    call.durationNs = 700 + id % 100;
    call.gradEnabled = true;
    return call;
}

bool write(const std::string &path, std::uint32_t ops)
{
    auto writer = NativeWriter::create(path, {});
    if (!writer)
        return false;
    NativeWriter &out = **writer;
    bool good = true;
    for (std::uint32_t i = 0; i < 100; ++i) {
        good &= out.add(FrameRecord{i, "model.py", i + 1, "forward", "x = self.layer(x)", FrameOrigin::user})
                    .isOk();
        good &= out.add(StackRecord{i, {0, i}}).isOk();
    }
    ModuleRecord root;
    root.id = 0;
    root.className = "Net";
    good &= out.add(std::move(root)).isOk();
    ModuleCallRecord rootCall;
    rootCall.id = 0;
    rootCall.module = 0;
    good &= out.add(std::move(rootCall)).isOk();
    for (std::uint32_t i = 0; i < ops; ++i) {
        out.markRunning("aten.add.Tensor", i, 0);
        good &= out.add(tensorOf(i)).isOk();
        good &= out.add(callOf(i)).isOk();
    }
    TraceInfo info;
    info.status = TraceStatus::finished;
    return good && out.close(info).isOk();
}

bool open(const std::string &path, std::uint32_t ops)
{
    JobContext job;
    const auto trace = openNative(path, job);
    return trace && (*trace)->calls().size() == ops && (*trace)->loadReport().isClean();
}

bool openByRecords(const std::string &path, std::uint32_t ops)
{
    const JobContext job({}, {}, 2);
    auto source = openFile(path);
    auto parts = source ? openNativeParts(*source) : Result<NativeParts>(source.status());
    if (!parts)
        return false;
    const auto tables = tablesFromRecords(*parts, job);
    return tables && tables->calls.size() == ops;
}

// Prints the median of five and says whether it is within LIMIT seconds.
template <class Action>
bool measure(const char *what, double limit, Action action)
{
    std::vector<double> times;
    for (int i = 0; i < 5; ++i) {
        const auto start = Clock::now();
        if (!action()) {
            std::printf("%-40s failed\n", what);
            return false;
        }
        times.push_back(secondsSince(start));
    }
    std::sort(times.begin(), times.end());
    std::printf("%-40s %7.3f s (best %.3f), limit %.2f\n", what, times[2], times[0], limit);
    return times[2] <= limit;
}

} // namespace

int main(int argc, char **argv)
{
    const std::string folder = argc > 1 ? argv[1] : std::filesystem::temp_directory_path().string();
    const std::string small = folder + "/bench-20000.opscope";
    const std::string large = folder + "/bench-100000.opscope";
    bool good = measure("20,000 ops written", 0.25, [&] { return write(small, 20'000); });
    good &= measure("20,000 ops opened", 0.10, [&] { return open(small, 20'000); });
    good &= measure("100,000 ops written", 1.25, [&] { return write(large, 100'000); });
    good &= measure("100,000 ops opened", 0.40, [&] { return open(large, 100'000); });
    good &= measure("100,000 ops opened by records", 2.0, [&] { return openByRecords(large, 100'000); });
    std::printf("files: %ju and %ju bytes\n", std::uintmax_t(std::filesystem::file_size(small)),
                std::uintmax_t(std::filesystem::file_size(large)));
    std::filesystem::remove(small);
    std::filesystem::remove(large);
    return good ? 0 : 1;
}
