// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture/capture_request.h"

#include <fmt/format.h>

#include <charconv>

namespace core {
namespace {

Status refuse(std::string_view member, std::string_view what)
{
    return {ErrorCode::invalidArgument, fmt::format("capture request: {} {}", member, what)};
}

// "64M" -> bytes; nothing when it is no such number.
std::optional<std::uint64_t> parseBytes(std::string_view text)
{
    std::uint64_t factor = 1;
    if (!text.empty()) {
        const char unit = text.back();
        factor = unit == 'K' ? 1ULL << 10 : unit == 'M' ? 1ULL << 20 : unit == 'G' ? 1ULL << 30 : 1;
        if (factor > 1)
            text.remove_suffix(1);
    }
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number > (~0ULL) / factor)
        return std::nullopt;
    return number * factor;
}

Status applyPart(SavePolicy &policy, std::string_view part)
{
    const auto take = [&part](std::string_view prefix) { return part.substr(prefix.size()); };
    if (part == "all") {
        policy = {SavePolicy::Mode::all, {}, {}, policy.maxBytesPerTensor};
    } else if (part == "none") {
        policy = {SavePolicy::Mode::none, {}, {}, policy.maxBytesPerTensor};
    } else if (part.starts_with("module:") && part.size() > 7) {
        policy.mode = SavePolicy::Mode::chosen;
        policy.modules.emplace_back(take("module:"));
    } else if (part.starts_with("op:") && part.size() > 3) {
        policy.mode = SavePolicy::Mode::chosen;
        policy.ops.emplace_back(take("op:"));
    } else if (part.starts_with("max:")) {
        const auto bytes = parseBytes(take("max:"));
        if (!bytes)
            return {ErrorCode::invalidArgument,
                    fmt::format("save policy: {} is not a number of bytes", take("max:"))};
        policy.maxBytesPerTensor = *bytes;
    } else {
        return {
            ErrorCode::invalidArgument,
            fmt::format("save policy: {} is none of all, none, module:PATTERN, op:NAME, max:BYTES", part)};
    }
    return Status::ok();
}

Value stringList(const std::vector<std::string> &items)
{
    Value list = Value::list();
    for (const std::string &item : items)
        list.append(item);
    return list;
}

std::vector<std::string> strings(const Value &list)
{
    std::vector<std::string> out;
    for (const Value &item : list.toList())
        out.push_back(item.toString());
    return out;
}

Value backwardValue(const BackwardRequest &backward)
{
    Value value = Value::object({{"rule", backward.rule},
                                 {"path", backward.path},
                                 {"target", backward.target},
                                 {"passes", backward.passes},
                                 {"input_gradients", stringList(backward.inputGradients)}});
    value.set("loss_scale", backward.lossScale ? Value(*backward.lossScale) : Value());
    return value;
}

BackwardRequest backwardFromValue(const Value &value)
{
    BackwardRequest backward;
    backward.rule = value.at("rule").toString();
    backward.path = value.at("path").toString();
    backward.target = value.at("target").toString();
    backward.passes = static_cast<std::uint32_t>(value.at("passes").toInt(1));
    if (value.at("loss_scale").isNumber())
        backward.lossScale = value.at("loss_scale").toDouble();
    backward.inputGradients = strings(value.at("input_gradients"));
    return backward;
}

} // namespace

Result<SavePolicy> parseSavePolicy(std::string_view text)
{
    SavePolicy policy;
    std::size_t at = 0;
    while (at <= text.size()) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        if (Status status = applyPart(policy, text.substr(at, comma - at)); !status)
            return status;
        at = comma + 1;
    }
    return policy;
}

std::string savePolicyText(const SavePolicy &policy)
{
    std::string text;
    if (policy.mode != SavePolicy::Mode::chosen)
        text = policy.mode == SavePolicy::Mode::all ? "all" : "none";
    for (const std::string &module : policy.modules)
        text += (text.empty() ? "module:" : ",module:") + module;
    for (const std::string &op : policy.ops)
        text += (text.empty() ? "op:" : ",op:") + op;
    return fmt::format("{},max:{}", text, policy.maxBytesPerTensor);
}

Value toValue(const CaptureRequest &request)
{
    Value inputs = Value::list();
    for (const InputText &input : request.inputs)
        inputs.append(Value::object({{"name", input.name}, {"text", input.text}}));
    Value value = Value::object({{"model", request.modelPath},
                                 {"output", request.outputPath},
                                 {"inputs", inputs},
                                 {"inputs_tree", request.inputsTree},
                                 {"train", request.train},
                                 {"grad", request.gradEnabled},
                                 {"save", savePolicyText(request.save)},
                                 {"save_sources", request.saveSources},
                                 {"threads", request.threads},
                                 {"warmup", request.warmup},
                                 {"repeat", request.repeat},
                                 {"memory_limit", request.memoryLimitBytes},
                                 {"time_limit", request.timeLimitSeconds},
                                 {"task", request.task},
                                 {"options", request.options},
                                 {"prepared_inputs", request.preparedInputs}});
    // A seed may use all 64 bits, JSON numbers here only 63: it travels as text.
    value.set("seed", request.seed ? Value(std::to_string(*request.seed)) : Value());
    value.set("backward", request.backward ? backwardValue(*request.backward) : Value());
    return value;
}

Result<CaptureRequest> captureRequestFromValue(const Value &value)
{
    if (!value.isObject())
        return refuse("root", "is not an object");
    CaptureRequest request;
    request.modelPath = value.at("model").toString();
    request.outputPath = value.at("output").toString();
    if (request.modelPath.empty() && value.at("task").toString() != "doctor") // which also checks without one
        return refuse("model", "is missing");
    for (const Value &input : value.at("inputs").toList())
        request.inputs.push_back({input.at("name").toString(), input.at("text").toString()});
    request.inputsTree = value.at("inputs_tree").toString();
    if (const std::string &seed = value.at("seed").toString(); !seed.empty()) {
        std::uint64_t number = 0;
        if (std::from_chars(seed.data(), seed.data() + seed.size(), number).ec != std::errc())
            return refuse("seed", "is not a number: " + seed);
        request.seed = number;
    }
    request.train = value.at("train").toBool();
    request.gradEnabled = value.at("grad").toBool(true);
    auto policy = parseSavePolicy(value.at("save").isString() ? value.at("save").toString() : "all");
    if (!policy)
        return policy.status();
    request.save = *std::move(policy);
    request.saveSources = value.at("save_sources").toBool(true);
    request.threads = static_cast<std::uint32_t>(value.at("threads").toInt(1));
    request.warmup = static_cast<std::uint32_t>(value.at("warmup").toInt(0));
    request.repeat = static_cast<std::uint32_t>(value.at("repeat").toInt(0));
    request.memoryLimitBytes = static_cast<std::uint64_t>(value.at("memory_limit").toInt(0));
    request.timeLimitSeconds = value.at("time_limit").toDouble(0.0);
    if (value.at("backward").isObject())
        request.backward = backwardFromValue(value.at("backward"));
    if (value.at("task").isString())
        request.task = value.at("task").toString();
    request.options = value.at("options");
    if (value.at("prepared_inputs").isList())
        request.preparedInputs = value.at("prepared_inputs");
    return request;
}

} // namespace core
