// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/shape_probe.h"

#include "core/trace/op_names.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <regex>

namespace core {
namespace {

// "aten::_convolution" of a 4-d input -> "conv2d"; underscores are dropped as in labels.
std::string typeOf(std::string_view func, const c10::IValue *arguments, std::size_t count)
{
    if ((func == "_convolution" || func == "convolution") && count > 0 && arguments[0].isTensor()) {
        const std::int64_t rank = arguments[0].toTensor().dim();
        return "conv" + std::to_string(std::clamp<std::int64_t>(rank - 2, 1, 3)) + 'd';
    }
    return labelType(func);
}

bool hasTensor(const c10::IValue *arguments, std::size_t count, std::size_t index)
{
    return index < count && arguments[index].isTensor() && arguments[index].toTensor().defined();
}

bool matches(const std::string &text, const char *pattern, bool ignoreCase = true)
{
    const auto flags = ignoreCase ? std::regex::ECMAScript | std::regex::icase : std::regex::ECMAScript;
    return std::regex_search(text, std::regex(pattern, flags));
}

} // namespace

std::optional<ProbeWatcher::Clock::time_point> ProbeWatcher::deadlineIn(double seconds)
{
    if (seconds <= 0.0)
        return std::nullopt;
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

void ProbeWatcher::moduleCallStarted(const ModuleCallInfo &call)
{
    if (!call.path.empty())
        m_calls[call.id] = call.path + ':' + std::to_string(call.number);
    const std::string type = call.type.substr(call.type.rfind('.') + 1);
    const bool sequence =
        type == "LSTM" || type == "GRU" || type == "RNN" || type == "TransformerEncoderLayer";
    if (sequence && !m_constraint && !m_sequenceLayer)
        m_sequenceLayer.emplace(call.path, type);
    if (type == "GroupNorm" && !call.path.empty() && !m_normLayer)
        m_normLayer.emplace(call.path, type);
}

void ProbeWatcher::nodeStarts(const NodeInfo &node, std::optional<std::uint32_t> moduleCall)
{
    m_node = &node;
    m_moduleCall = moduleCall;
}

void ProbeWatcher::opStarts(const c10::OperatorHandle &op, std::vector<c10::IValue> &stack, const OpMode &)
{
    if (m_job.isCancelled() || (m_deadline && Clock::now() > *m_deadline))
        throw StopRun();
    const std::size_t count = op.schema().arguments().size();
    const c10::IValue *const arguments = stack.data() + (stack.size() - count);
    std::string_view func = op.schema().name();
    func.remove_prefix(std::min(func.size(), func.find("::") + 2));
    m_type = typeOf(func, arguments, count);
    ++m_total;
    ++m_typeCounts[m_type];
    m_features.reset();
    m_adaptivePool = m_adaptivePool || (func.starts_with("adaptive_") && func.find("pool") != func.npos);
    look(func, arguments, count);
    noteInputs(arguments, count);
}

// An op that looks up rows has its table first.
void ProbeWatcher::noteInputs(const c10::IValue *arguments, std::size_t count)
{
    m_given.clear();
    if (m_inputs == nullptr)
        return;
    const bool looksUp = m_type == "embedding" || m_type == "index" || m_type == "indexselect" ||
                         m_type == "embeddingbag" || m_type == "take";
    const std::int64_t rows = looksUp && hasTensor(arguments, count, 0) && arguments[0].toTensor().dim() > 0
                                  ? arguments[0].toTensor().size(0)
                                  : 0;
    const auto note = [&](const at::Tensor &tensor) {
        for (const auto &[name, input] : *m_inputs)
            if (tensor.defined() && tensor.has_storage() && input.has_storage() && tensor.is_alias_of(input))
                m_given.emplace(name, rows);
    };
    for (std::size_t i = 0; i < count; ++i) {
        if (arguments[i].isTensor())
            note(arguments[i].toTensor());
        else if (arguments[i].isList())
            for (const c10::IValue &item : arguments[i].toListRef())
                if (item.isTensor())
                    note(item.toTensor());
    }
}

void ProbeWatcher::look(std::string_view func, const c10::IValue *arguments, std::size_t count)
{
    using Kind = InputConstraint::Kind;
    const auto tensor = [&](std::size_t i) -> const at::Tensor & { return arguments[i].toTensor(); };
    if (func == "linear" && hasTensor(arguments, count, 1) && tensor(0).dim() > 0 && tensor(1).dim() == 2) {
        m_features = {tensor(0).size(-1), tensor(1).size(1)};
        constrain(Kind::linear, tensor(0), tensor(1).size(1));
    } else if (func == "addmm" && hasTensor(arguments, count, 2) && tensor(1).dim() == 2 &&
               tensor(2).dim() == 2) {
        m_features = {tensor(1).size(1), tensor(2).size(0)};
        constrain(Kind::linear, tensor(1), tensor(2).size(0));
    } else if ((func == "matmul" || func == "mm" || func == "bmm") && hasTensor(arguments, count, 1) &&
               tensor(0).dim() > 0 && tensor(1).dim() > 0) {
        const std::int64_t rows = tensor(1).dim() == 1 ? tensor(1).size(0) : tensor(1).size(-2);
        m_features = {tensor(0).size(-1), rows};
        constrain(Kind::matmul, tensor(0), rows);
    } else if (func == "embedding" && hasTensor(arguments, count, 1) && tensor(0).dim() == 2) {
        constrain(Kind::embedding, tensor(1), tensor(0).size(0));
    } else if ((func == "conv1d" || func == "conv2d" || func == "conv3d" || func == "_convolution" ||
                func == "convolution") &&
               hasTensor(arguments, count, 1) && tensor(1).dim() >= 3) {
        const bool transposed = count > 6 && arguments[6].isBool() && arguments[6].toBool();
        if (!transposed)
            constrain(Kind::conv, tensor(0), tensor(1).size(1));
    }
}

void ProbeWatcher::constrain(InputConstraint::Kind kind, const at::Tensor &input, std::int64_t needed)
{
    if (m_constraint)
        return;
    InputConstraint constraint;
    constraint.kind = kind;
    constraint.label = m_type + '_' + std::to_string(m_typeCounts[m_type]) + '_' + std::to_string(m_total);
    constraint.inputShape = input.sizes().vec();
    constraint.needed = needed;
    if (m_moduleCall)
        if (const auto call = m_calls.find(*m_moduleCall); call != m_calls.end())
            constraint.moduleCall = call->second;
    m_constraint = std::move(constraint);
}

void ProbeWatcher::opEnded(const c10::OperatorHandle &, std::vector<c10::IValue> &)
{
    m_features.reset();
    m_given.clear();
}

void ProbeWatcher::opFailed(const c10::OperatorHandle &) noexcept
{
    if (!m_failed)
        m_failed = m_features;
    if (m_refused.empty())
        m_refused = m_given;
}

void ProbeWatcher::finish(ProbeResult &result) const
{
    result.constraint = m_constraint;
    result.ranAdaptivePool = m_adaptivePool;
    result.layer = m_sequenceLayer;
    if (!result.layer && !m_constraint)
        result.layer = m_normLayer;
    if (result.ok)
        return;
    result.refused = m_refused;
    auto sizes = m_failed;
    if (!sizes)
        sizes = linearSizes(result.message);
    if (sizes && sizes->first != sizes->second) {
        result.got = sizes->first;
        result.target = sizes->second;
    }
}

std::optional<std::pair<std::int64_t, std::int64_t>> linearSizes(const std::string &message)
{
    static const std::regex kProduct(
        R"(mat1 and mat2 shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\))");
    // Attention whose keys have a width of their own looks at its weights before it multiplies.
    static const std::regex kKeys(
        R"(expecting (?:key|value) weights shape of \(\d+, (\d+)\), but got \[\d+, (\d+)\])");
    std::smatch found;
    if (!std::regex_search(message, found, kProduct) && !std::regex_search(message, found, kKeys))
        return std::nullopt;
    return std::pair<std::int64_t, std::int64_t>(std::stoll(found[1]), std::stoll(found[2]));
}

std::optional<std::pair<std::int64_t, std::int64_t>> channelSizes(const std::string &message)
{
    static const std::regex kPattern(
        R"(expected input\[[^\]]*\] to have (\d+) channels, but got (\d+) channels)");
    std::smatch found;
    if (!std::regex_search(message, found, kPattern))
        return std::nullopt;
    return std::pair<std::int64_t, std::int64_t>(std::stoll(found[1]), std::stoll(found[2]));
}

std::optional<std::int64_t> wantedChannels(const std::string &message, std::int64_t channels)
{
    if (const auto sizes = channelSizes(message)) {
        const auto [expected, got] = *sizes;
        if (got <= 0 || expected == got || channels * expected % got != 0 || channels * expected < got)
            return std::nullopt;
        return channels * expected / got;
    }
    static const std::regex kPattern(
        R"(size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension 1\b)");
    std::smatch found;
    if (!std::regex_search(message, found, kPattern))
        return std::nullopt;
    const std::int64_t a = std::stoll(found[1]), b = std::stoll(found[2]);
    if (a != channels && b != channels)
        return std::nullopt;
    return a == channels ? b : a;
}

bool isInflated(const std::vector<std::int64_t> &shape, const std::optional<InputConstraint> &constraint)
{
    if (!constraint || constraint->inputShape.size() <= shape.size())
        return false;
    const auto wide = [](const std::vector<std::int64_t> &sizes) {
        return std::count_if(sizes.begin(), sizes.end(), [](std::int64_t size) { return size != 1; });
    };
    return wide(constraint->inputShape) > wide(shape);
}

std::optional<at::ScalarType> suggestedDtype(const std::string &message)
{
    if (matches(message, "uint8"))
        return at::kByte;
    if (matches(message, "used as indices"))
        return at::kLong;
    if (matches(message, "mask|bool|boolean"))
        return at::kBool;
    if (matches(message, "complex|ComplexFloat|ComplexDouble"))
        return at::kComplexFloat;
    if (matches(message, "Long|Int|integer|indices"))
        return at::kLong;
    return std::nullopt;
}

bool isDeviceMessage(const std::string &message)
{
    return matches(message, "expected device|same device|two devices|is not on the expected device|"
                            "Input type \\(.*\\) and weight type \\(.*\\)");
}

bool isRankMessage(const std::string &message)
{
    return matches(message, R"(Expected \d-dimensional input for \d-dimensional weight)") ||
           matches(message, R"(Expected \dD \(unbatched\) or \dD \(batched\) input)");
}

bool isSkippable(const std::string &message)
{
    if (isDeviceMessage(message))
        return false;
    return matches(message, "kernel size|calculated padded input size") ||
           matches(message, "size of tensor|shape|shapes|Expected|expected|dimension|mat1 and mat2", false) ||
           channelSizes(message).has_value();
}

} // namespace core
