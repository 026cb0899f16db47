// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture/loss_target.h"

#include "core/analysis/report_parts.h"
#include "core/base/near_names.h"
#include "core/base/value.h"

#include <algorithm>
#include <cmath>

namespace core {
namespace {

constexpr std::int64_t kIgnoredIndex = -100; // the default of torch.nn.functional.cross_entropy

Status unfitTarget(std::string text)
{
    return Status(ErrorCode::invalidArgument, std::move(text))
        .withDetail("target_mismatch")
        .withRemedy(
            "give a file that holds such a tensor, or choose another output with --backward sum:PATH");
}

std::string bracketedSizes(const std::vector<std::int64_t> &shape)
{
    std::string text;
    for (const std::int64_t size : shape)
        text += (text.empty() ? "" : ",") + std::to_string(size);
    return '[' + text + ']';
}

// The shape of class indices: OUTPUT's without the dimension of the classes.
std::vector<std::int64_t> indicesShape(const std::vector<std::int64_t> &output)
{
    std::vector<std::int64_t> shape = output;
    shape.erase(shape.begin() + (shape.size() > 1 ? 1 : 0));
    return shape;
}

bool canBroadcast(const std::vector<std::int64_t> &a, const std::vector<std::int64_t> &b)
{
    const std::size_t shared = std::min(a.size(), b.size());
    for (std::size_t i = 1; i <= shared; ++i) {
        const std::int64_t x = a[a.size() - i];
        const std::int64_t y = b[b.size() - i];
        if (x != y && x != 1 && y != 1)
            return false;
    }
    return true;
}

} // namespace

std::string TensorKind::text() const
{
    return std::string(dtypeName(dtype)) + bracketedSizes(shape);
}

Status noSuchOutput(const std::string &path, const std::vector<std::string> &names)
{
    if (names.empty())
        return Status(ErrorCode::invalidArgument, "the model returned no tensor")
            .withDetail("no_such_output");
    Status status =
        Status(ErrorCode::invalidArgument, "the model has no output " + path).withDetail("no_such_output");
    if (names.size() == 1 && names.front().empty())
        return std::move(status).withRemedy("its only tensor output has no name: leave :" + path + " out");
    const std::vector<std::string_view> known(names.begin(), names.end());
    return std::move(status).withRemedy(knownNamesText(path, known, "its tensor outputs are"));
}

Status checkLossScale(double scale)
{
    if (std::isfinite(scale) && scale > 0.0)
        return Status::ok();
    return {ErrorCode::invalidArgument,
            "the loss scale is " + formatDouble(scale) + ", it is a finite number above 0"};
}

Status checkLossTarget(std::string_view rule, const TensorKind &output, const TensorKind &target)
{
    const std::string both =
        target.name + " is " + target.text() + " and " + output.name + " is " + output.text();
    if (rule == "mse")
        return canBroadcast(output.shape, target.shape)
                   ? Status::ok()
                   : unfitTarget(both + ": mse needs a target of the shape " + bracketedSizes(output.shape));
    if (output.shape.empty())
        return unfitTarget(both + ": cross_entropy needs an output with a dimension of classes");
    const std::vector<std::int64_t> indices = indicesShape(output.shape);
    if ((isIntegral(target.dtype) && target.shape == indices) ||
        (isFloating(target.dtype) && target.shape == output.shape))
        return Status::ok();
    return unfitTarget(both + ": cross_entropy needs class indices int64" + bracketedSizes(indices) +
                       ", or probabilities of the shape " + bracketedSizes(output.shape));
}

Status checkClassIndices(std::span<const std::int64_t> targets, std::int64_t classes, const std::string &name)
{
    const auto bad = std::find_if(targets.begin(), targets.end(), [classes](std::int64_t index) {
        return index != kIgnoredIndex && (index < 0 || index >= classes);
    });
    if (bad == targets.end())
        return Status::ok();
    return unfitTarget(name + " holds " + std::to_string(*bad) + " at element " +
                       std::to_string(bad - targets.begin()) + ": class indices are 0 to " +
                       std::to_string(classes - 1) + ", or -100 for what does not count");
}

} // namespace core
