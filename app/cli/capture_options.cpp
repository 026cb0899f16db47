// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/capture_options.h"

#include <cmath>
#include <limits>

namespace app {
namespace {

using core::CaptureRequest;
using core::ErrorCode;
using core::Result;
using core::Status;

Status usage(std::string message)
{
    return Status(ErrorCode::invalidArgument, std::move(message));
}

// "8G", "512M", "65536"; binary units.
Result<std::uint64_t> parseBytes(std::string_view name, std::string_view text)
{
    std::uint64_t unit = 1;
    std::string digits(text);
    if (!text.empty()) {
        const std::size_t power = std::string_view("KMG").find(text.back());
        if (power != std::string_view::npos) {
            unit = std::uint64_t(1) << (10 * (power + 1));
            digits.pop_back();
        }
    }
    const Result<core::Value> value = parseOptionValue(name, digits);
    const std::int64_t count = value && value->isInt() ? value->toInt() : -1;
    if (count < 0 || static_cast<std::uint64_t>(count) > std::numeric_limits<std::uint64_t>::max() / unit)
        return usage("option --" + std::string(name) + " is \"" + std::string(text) +
                     "\", it takes a number of bytes such as 65536, 512M or 8G");
    return static_cast<std::uint64_t>(count) * unit;
}

Result<double> parseSeconds(std::string_view name, std::string_view text)
{
    const Result<core::Value> value = parseOptionValue(name, text);
    if (!value || !value->isNumber() || !(value->toDouble() > 0.0) || std::isinf(value->toDouble()))
        return usage("option --" + std::string(name) + " is \"" + std::string(text) +
                     "\", it takes a number of seconds above 0");
    return value->toDouble();
}

Status readCounts(const Arguments &arguments, CaptureRequest &request)
{
    const Result<std::optional<std::int64_t>> seed = arguments.integer("seed", 0);
    constexpr std::int64_t kMostThreads = 4096;
    constexpr std::int64_t kMostRuns = 1'000'000;
    const Result<std::optional<std::int64_t>> threads = arguments.integer("threads", 1, kMostThreads);
    const Result<std::optional<std::int64_t>> warmup = arguments.integer("warmup", 0, kMostRuns);
    const Result<std::optional<std::int64_t>> repeat = arguments.integer("repeat", 0, kMostRuns);
    for (const auto *count : {&seed, &threads, &warmup, &repeat})
        if (!*count)
            return count->error();
    if (*seed)
        request.seed = static_cast<std::uint64_t>(**seed);
    request.threads = static_cast<std::uint32_t>(threads->value_or(1));
    request.warmup = static_cast<std::uint32_t>(warmup->value_or(0));
    request.repeat = static_cast<std::uint32_t>(repeat->value_or(0));
    return Status::ok();
}

Status readLimits(const Arguments &arguments, CaptureRequest &request)
{
    if (arguments.has("time-limit")) {
        const Result<double> seconds = parseSeconds("time-limit", arguments.text("time-limit"));
        if (!seconds)
            return seconds.error();
        request.timeLimitSeconds = *seconds;
    }
    if (arguments.has("memory-limit")) {
        const Result<std::uint64_t> bytes = parseBytes("memory-limit", arguments.text("memory-limit"));
        if (!bytes)
            return bytes.error();
        request.memoryLimitBytes = *bytes;
    }
    return Status::ok();
}

Status readInputs(const Arguments &arguments, CaptureRequest &request)
{
    request.inputsTree = arguments.text("inputs");
    for (const std::string &text : arguments.texts("input"))
        request.inputs.push_back({"", text});
    if (!request.inputsTree.empty() && !request.inputs.empty())
        return usage("--input and --inputs are given together; the tree names all inputs");
    return Status::ok();
}

} // namespace

Result<CaptureRequest> runRequest(const Arguments &arguments, std::size_t operand)
{
    CaptureRequest request;
    request.modelPath = arguments.operand(operand);
    request.train = arguments.has("train");
    request.gradEnabled = !arguments.has("no-grad");
    for (Status (*read)(const Arguments &, CaptureRequest &) : {readCounts, readLimits, readInputs})
        if (Status status = read(arguments, request); !status)
            return status;
    return request;
}

Result<core::BackwardRequest> parseBackward(std::string_view text)
{
    const std::size_t colon = text.find(':');
    const std::string rule(text.substr(0, colon));
    const std::string rest(colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1));
    core::BackwardRequest backward;
    backward.rule = rule;
    if (rule == "sum" || rule == "mean" || rule == "output") {
        backward.path = rest;
        return backward;
    }
    if (rule != "cross_entropy" && rule != "mse")
        return usage("option --backward is \"" + std::string(text) +
                     "\", it takes sum, mean, output, cross_entropy:FILE or mse:FILE");
    if (rest.empty())
        return usage("option --backward " + rule + " needs the file of its target: " + rule + ":FILE");
    backward.target = rest;
    return backward;
}

} // namespace app
