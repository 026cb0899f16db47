// SPDX-License-Identifier: GPL-3.0-or-later
// Speed, growth and memory of the reports. usage: bench_reports FOLDER [VIT_TRACE]
// FOLDER needs 11 GB for a moment. VIT_TRACE: an own or imported trace of vit_b_16, read warm.
#include "core/analysis/report_registry.h"
#include "core/analysis/tensor_stats.h"
#include "core/io/native_reader.h"
#include "core/io/native_writer.h"
#include "core/io/trace_registry.h"
#include "tests/bench/stopwatch.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace core;

namespace {

using bench::Clock;
using bench::secondsSince;
constexpr std::size_t kPiece = std::size_t(1) << 20;
constexpr std::uint64_t kTensorBytes = std::uint64_t(32) << 20;

CallRecord chained(RecordId id)
{
    CallRecord call;
    call.id = id;
    call.kind = id == 0 ? CallKind::input : CallKind::compute;
    call.op = id == 0 ? "none" : "aten.relu.default";
    call.func = id == 0 ? "none" : "relu";
    call.moduleCall = 0;
    call.outputs = {id};
    if (id > 0) {
        call.arguments = {{"self", {id - 1}, false, false, {}}};
        call.parents = {id - 1};
    }
    call.durationNs = 1000;
    return call;
}

TensorRecord tensorOf(RecordId id, std::vector<std::int64_t> shape)
{
    TensorRecord tensor;
    tensor.id = id;
    tensor.storage = id;
    tensor.dtype = DType::float32;
    tensor.shape = std::move(shape);
    tensor.call = id;
    return tensor;
}

bool addRoot(NativeWriter &out)
{
    ModuleRecord root;
    root.className = "Net";
    ModuleCallRecord call;
    return out.add(std::move(root)).isOk() && out.add(std::move(call)).isOk();
}

bool closeTrace(NativeWriter &out)
{
    TraceInfo info;
    info.status = TraceStatus::finished;
    return out.close(info).isOk();
}

// A chain of tensors of TENSOR BYTES without statistics, BYTES in all.
bool writePayloads(const std::string &path, std::uint64_t bytes, std::uint64_t tensorBytes)
{
    auto writer = NativeWriter::create(path, {});
    if (!writer || !addRoot(**writer))
        return false;
    std::vector<float> values(kPiece / sizeof(float));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = std::sin(static_cast<float>(i));
    const auto fill = [&](std::uint64_t, std::span<std::byte> out) {
        std::memcpy(out.data(), values.data(), std::min(out.size(), kPiece));
        return Status::ok();
    };
    for (RecordId id = 0; id < bytes / tensorBytes; ++id) {
        const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(tensorBytes / 4096), 1024};
        auto payload = (*writer)->writePayloadFrom(DType::float32, shape, tensorBytes, fill);
        if (!payload)
            return false;
        TensorRecord tensor = tensorOf(id, shape);
        tensor.payload = *payload;
        if (!(*writer)->add(std::move(tensor)) || !(*writer)->add(chained(id)))
            return false;
    }
    return closeTrace(**writer);
}

// A chain of OPS small ops with recorded statistics and no values.
bool writeManyOps(const std::string &path, std::uint32_t ops)
{
    auto writer = NativeWriter::create(path, {});
    if (!writer || !addRoot(**writer))
        return false;
    for (RecordId id = 0; id < ops; ++id) {
        TensorRecord tensor = tensorOf(id, {8, 64});
        tensor.payload.state = PayloadState::notSaved;
        TensorStats stats;
        stats.elements = 512;
        stats.min = -1.0;
        stats.max = stats.absMax = 1.0 + 1e-6 * id;
        stats.nan = id > ops / 2 ? 1 : 0;
        stats.firstNan = stats.nan > 0 ? 0 : -1;
        tensor.stats = stats;
        if (!(*writer)->add(std::move(tensor)) || !(*writer)->add(chained(id)))
            return false;
    }
    return closeTrace(**writer);
}

std::shared_ptr<const Trace> openOne(const std::string &path)
{
    JobContext job;
    auto trace = openTrace(path, job);
    return trace ? *trace : nullptr;
}

// Seconds of one report with statistics of its own; negative when it failed.
double reportSeconds(std::string_view name, const std::shared_ptr<const Trace> &a,
                     const std::shared_ptr<const Trace> &b = nullptr, unsigned threads = 1)
{
    const ReportDefinition &definition = *findReport(name);
    ReportRequest request;
    request.trace = definition.subject == ReportSubject::nothing ? nullptr : a;
    request.other = b;
    request.options = Value::object();
    if (name == "lineage")
        request.options.set("op_or_label", -1);
    const auto start = Clock::now();
    const auto report = runReport(definition, std::move(request), JobContext({}, {}, threads));
    return report ? secondsSince(start) : -1.0;
}

double best(int times, const auto &action)
{
    double shortest = HUGE_VAL;
    for (int i = 0; i < times; ++i)
        shortest = std::min(shortest, action());
    return shortest;
}

// A plain read of the whole file with a check that every value is finite, on one core.
double plainReadSeconds(const std::string &path)
{
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    std::vector<std::byte> buffer(kPiece);
    bool finite = true;
    const auto start = Clock::now();
    for (ssize_t got = 1; got > 0;) {
        got = ::read(file, buffer.data(), buffer.size());
        finite &= got <= 0 || allFinite(DType::float32, buffer.data(), static_cast<std::size_t>(got) / 4);
    }
    const double seconds = secondsSince(start);
    ::close(file);
    return finite ? seconds : seconds + 1e-9;
}

bool within(const char *what, double value, double limit, const char *unit)
{
    std::printf("%-52s %9.3f %s, limit %.3f%s\n", what, value, unit, limit, value <= limit ? "" : "  BEYOND");
    return value >= 0.0 && value <= limit;
}

bool payloadRates(const std::string &folder)
{
    const std::string a = folder + "/a.opscope";
    const std::string b = folder + "/b.opscope";
    constexpr std::uint64_t kBytes = std::uint64_t(2) << 30;
    if (!writePayloads(a, kBytes, kTensorBytes) || !writePayloads(b, kBytes, kTensorBytes))
        return false;
    (void)plainReadSeconds(b);
    const double plain = best(3, [&] { return plainReadSeconds(a); });
    std::printf("%-52s %9.3f s, %.2f GB/s\n", "plain read of 2 GB with a finite check", plain, 2.147 / plain);
    const auto traceA = openOne(a);
    const auto traceB = openOne(b);
    bool good = traceA != nullptr && traceB != nullptr;
    if (!good)
        return false;
    good &= within("audit of 2 GB, one core, against half the rate",
                   best(3, [&] { return reportSeconds("audit", traceA); }), 2.0 * plain, "s");
    good &= within("compare of two of 2 GB, against a third of the rate",
                   best(3, [&] { return reportSeconds("compare", traceA, traceB); }), 2.0 * 3.0 * plain, "s");
    std::filesystem::remove(a);
    std::filesystem::remove(b);
    return good;
}

// Values of the size that vit_b_16 makes (150 MB), measured anew each time.
bool vitTimes(const std::string &folder, const std::string &given)
{
    std::string path = given;
    if (path.empty()) {
        path = folder + "/vit.opscope";
        constexpr std::uint64_t kTensor = std::uint64_t(1) << 19;
        if (!writePayloads(path, 300 * kTensor, kTensor))
            return false;
    }
    const auto trace = openOne(path);
    if (trace == nullptr)
        return false;
    const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
    bool good = true;
    for (const char *name : {"audit", "dtype_range", "find_nan"}) {
        const double seconds = best(5, [&] { return reportSeconds(name, trace, nullptr, threads); });
        const std::string what =
            std::string(name) + " of 150 MB, warm, " + std::to_string(threads) + " threads";
        good &= within(what.c_str(), seconds * 1e3, 40.0, "ms");
    }
    if (given.empty())
        std::filesystem::remove(path);
    return good;
}

// No worse than n log n: ten times the ops take at most 12.5 times as long, with room for the clock and the
// caches.
bool growth(const std::string &folder)
{
    std::vector<std::shared_ptr<const Trace>> traces;
    for (const std::uint32_t ops : {1000U, 10000U, 100000U}) {
        const std::string path = folder + "/ops.opscope";
        if (!writeManyOps(path, ops))
            return false;
        traces.push_back(openOne(path));
        if (traces.back() == nullptr)
            return false;
    }
    std::printf("\n%-24s %12s %12s %12s\n", "report, ms", "10^3 ops", "10^4 ops", "10^5 ops");
    bool good = true;
    for (const ReportDefinition &definition : reportDefinitions()) {
        const bool pair =
            definition.subject == ReportSubject::twoTraces || definition.subject == ReportSubject::twoTensors;
        std::vector<double> ms;
        for (const auto &trace : traces)
            ms.push_back(
                1e3 * best(9, [&] { return reportSeconds(definition.name, trace, pair ? trace : nullptr); }));
        const bool steep = ms[2] > 20.0 && ms[2] > 12.5 * 1.6 * std::max(ms[1], 0.5);
        std::printf("%-24s %12.2f %12.2f %12.2f%s\n", std::string(definition.name).c_str(), ms[0], ms[1],
                    ms[2], steep ? "  STEEPER THAN n log n" : "");
        good &= !steep;
    }
    std::filesystem::remove(folder + "/ops.opscope");
    return good;
}

double peakMiB()
{
    rusage usage = {};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

bool memory(const std::string &folder)
{
    const std::string path = folder + "/big.opscope";
    if (!writePayloads(path, std::uint64_t(6) << 30, std::uint64_t(1) << 30))
        return false;
    const auto trace = openOne(path);
    const double seconds = trace == nullptr ? -1.0 : reportSeconds("audit", trace, nullptr, 2);
    std::filesystem::remove(path);
    std::printf("\naudit of 6 GiB in tensors of 1 GiB: %.1f s\n", seconds);
    return seconds >= 0.0 && within("peak memory of this process", peakMiB(), 1024.0, "MiB");
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2) {
        std::fprintf(stderr, "usage: bench_reports FOLDER [VIT_TRACE]\n");
        return 2;
    }
    const std::string folder = argv[1];
    bool good = payloadRates(folder);
    good &= vitTimes(folder, argc > 2 ? argv[2] : "");
    good &= growth(folder);
    good &= memory(folder);
    return good ? 0 : 1;
}
