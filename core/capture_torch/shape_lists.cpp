// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/shape_lists.h"

#include "core/capture_torch/op_facts.h"
#include "core/capture_torch/script_model.h"

#include <ATen/core/List.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

#include <algorithm>
#include <numeric>

namespace core {
namespace {

constexpr std::size_t kMostItems = 64;

// What the uses of LIST ask for; 0: nothing.
std::size_t itemsLookedUp(const torch::jit::Value &list)
{
    std::size_t items = 0;
    for (const torch::jit::Use &use : list.uses()) {
        const torch::jit::Node &node = *use.user;
        if (node.kind() == c10::prim::ListUnpack)
            items = std::max(items, node.outputs().size());
        if (node.kind() != c10::aten::__getitem__ || use.offset != 0)
            continue;
        const auto place = torch::jit::toIValue(node.input(1));
        if (place && place->isInt())
            items = std::max(
                items, static_cast<std::size_t>(place->toInt() < 0 ? -place->toInt() : place->toInt() + 1));
    }
    return std::min(items, kMostItems);
}

bool hasPart(const std::string &name, std::initializer_list<std::string_view> parts)
{
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

// Height and width of an image; the positions of a sequence.
std::vector<std::int64_t> innerSizes(const GuessedInput &primary)
{
    const std::size_t outer = std::min<std::size_t>(primary.shape.size(), primary.shape.size() > 2 ? 2 : 1);
    return {primary.shape.begin() + static_cast<std::ptrdiff_t>(outer), primary.shape.end()};
}

std::vector<std::int64_t> wholeNumbers(const std::string &name, const GuessedInput &primary,
                                       std::size_t length, std::size_t alternative)
{
    const std::size_t items = std::max<std::size_t>(length, 1);
    std::vector<std::int64_t> places(primary.shape.size());
    std::iota(places.begin(), places.end(), 0);
    const std::vector<std::int64_t> sizes = innerSizes(primary);
    if (alternative == 0 && hasPart(name, {"length", "lens", "_len"})) {
        const std::int64_t positions = primary.shape.size() > 1 ? primary.shape[1] : 1;
        const std::size_t batch = primary.shape.empty() ? 1 : static_cast<std::size_t>(primary.shape[0]);
        return std::vector<std::int64_t>(length == 0 ? batch : length, positions);
    }
    const bool fits = length == 0 || length == sizes.size();
    if (fits && (alternative == 2 || (alternative == 0 && hasPart(name, {"size", "shape", "hw"}))))
        return sizes;
    if (alternative == 3 || (alternative == 0 && hasPart(name, {"perm", "order"})))
        return places;
    if (alternative == 0 && hasPart(name, {"dim", "axis", "axes"}))
        return std::vector<std::int64_t>(items, primary.shape.empty() ? 0 : -1);
    return std::vector<std::int64_t>(alternative == 4 && length == 0 ? 2 : items, 1);
}

} // namespace

std::map<std::string, std::size_t> listLengths(const ScriptModel &model)
{
    std::map<std::string, std::size_t> lengths;
    const torch::jit::Method forward = model.module().get_method("forward");
    const torch::jit::GraphFunction *const function = torch::jit::tryToGraphFunction(forward.function());
    if (function == nullptr)
        return lengths;
    const auto &arguments = forward.function().getSchema().arguments();
    const auto inputs = function->graph()->inputs();
    for (std::size_t i = 1; i < arguments.size() && i < inputs.size(); ++i)
        if (const std::size_t items = itemsLookedUp(*inputs[i]);
            items > 0 && arguments[i].type()->kind() == c10::TypeKind::ListType)
            lengths[arguments[i].name()] = items;
    return lengths;
}

bool isPlainList(const std::string &type)
{
    return type == "List[int]" || type == "List[float]" || type == "List[bool]" || type == "List[str]";
}

GuessedInput plainList(const ScriptArgument &argument, const GuessedInput &primary, std::size_t length,
                       std::size_t alternative)
{
    GuessedInput input;
    input.name = argument.name;
    const std::size_t items = std::max<std::size_t>(length, 1);
    if (argument.type == "List[int]")
        input.value = c10::List<std::int64_t>(wholeNumbers(argument.name, primary, length, alternative));
    else if (argument.type == "List[float]")
        input.value = c10::List<double>(std::vector<double>(items, 1.0));
    else if (argument.type == "List[bool]")
        input.value = c10::List<bool>(std::initializer_list<bool>{false});
    else
        input.value = c10::List<std::string>(std::vector<std::string>(items));
    if (argument.type == "List[bool]")
        while (input.value.toListRef().size() < items)
            input.value.toBoolList().push_back(false);
    input.spec = toJson(ivalueToValue(input.value));
    return input;
}

} // namespace core
