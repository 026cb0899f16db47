// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/shape_companions.h"

#include "core/capture_torch/op_facts.h"
#include "core/capture_torch/torch_dtype.h"

#include <ATen/core/List.h>

#include <algorithm>
#include <cctype>
#include <numeric>

namespace core {
namespace {

std::string lowered(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
}

bool has(const std::string &name, std::initializer_list<std::string_view> parts)
{
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

bool isInteger(DType dtype)
{
    return !isFloating(dtype) && !isComplex(dtype) && dtype != DType::boolean;
}

GuessedInput number(const ScriptArgument &argument, std::size_t alternative)
{
    GuessedInput input;
    input.name = argument.name;
    const std::string name = lowered(argument.name);
    const bool rate = name == "sr" || name == "fs" || has(name, {"rate", "sample", "freq"});
    if (argument.type == "int") {
        const std::int64_t value = rate ? (alternative % 2 == 0 ? 16000 : 8000) : 1;
        input.value = value;
        input.spec = std::to_string(value);
    } else if (argument.type == "float") {
        input.value = 1.0;
        input.spec = "1.0";
    } else if (argument.type == "bool") {
        input.value = false;
        input.spec = "false";
    } else if (argument.type == "str") {
        input.value = std::string();
        input.spec = "\"\"";
    } else {
        input.spec = "none";
    }
    return input;
}

// Batch and positions of a sequence of tokens or of features.
std::vector<std::int64_t> positionsOf(const GuessedInput &primary)
{
    std::vector<std::int64_t> shape = primary.shape;
    if (shape.size() > 2)
        shape.resize(2);
    return shape;
}

void byName(const std::string &name, const GuessedInput &primary, const ShapeFacts &facts,
            GuessedInput &input)
{
    const auto set = [&](std::vector<std::int64_t> shape, DType dtype, std::string recipe, double low = 0.0) {
        input.shape = std::move(shape);
        input.dtype = dtype;
        input.range = {std::move(recipe), low, low};
    };
    const std::int64_t length = primary.shape.size() > 1 ? primary.shape[1] : 1;
    const std::int64_t batch = primary.shape.empty() ? 1 : primary.shape[0];
    if (has(name, {"pad"})) // true where nothing is: nowhere
        set(positionsOf(primary), DType::boolean, "zeros");
    else if (has(name, {"mask"}))
        set(positionsOf(primary), isInteger(primary.dtype) ? DType::int64 : DType::boolean, "ones");
    else if (has(name, {"length", "lens", "_len"}))
        set({batch}, DType::int64, "full", static_cast<double>(length));
    else if (has(name, {"sparse", "categor"})) // an index into each of the tables
        set({batch, std::count_if(facts.layers.begin(), facts.layers.end(),
                                  [](const LayerFact &layer) { return layer.kind == LayerKind::embedding; })},
            DType::int64, "zeros");
    else if (has(name, {"edge_index"}))
        set({2, 8}, DType::int64, "zeros");
    else if (has(name, {"token_type", "segment"}))
        set(positionsOf(primary), DType::int64, "zeros");
    else if (has(name, {"position"}) && batch == 1)
        set(positionsOf(primary), DType::int64, "arange");
    else if (isTimeStep(name))
        set({batch}, DType::float32, "ones");
    else if (has(name, {"offset"}))
        set({1}, DType::int64, "zeros");
    else if (has(name, {"label", "target", "index", "idx"}))
        set({batch}, DType::int64, "zeros");
}

// What a model of pictures and words takes beside its first input, when that is of the other kind: an image
// for its first convolution, tokens for its first table.
bool asModality(const std::string &name, const GuessedInput &primary, const ShapeFacts &facts,
                GuessedInput &input)
{
    constexpr std::int64_t kSide = 224, kTokens = 16;
    const std::int64_t batch = primary.shape.empty() ? 1 : primary.shape[0];
    const LayerFact *const conv = firstLayer(facts, LayerKind::conv, 2);
    const LayerFact *const table = firstLayer(facts, LayerKind::embedding, 0);
    if (conv != nullptr && primary.shape.size() != 4 && has(name, {"image", "pixel", "img", "picture"})) {
        const std::int64_t side = positionSide(facts, conv->stride, conv->outputs).value_or(kSide);
        input.shape = {batch, conv->features, side, side};
        input.dtype = fromScalarType(facts.floating);
        input.range = {};
        return true;
    }
    if (table != nullptr && !isInteger(primary.dtype) && !has(name, {"context"}) &&
        has(name, {"ids", "token", "text", "caption"})) {
        input.shape = {batch, std::min(kTokens, positionLimit(facts).value_or(kTokens))};
        input.dtype = DType::int64;
        input.range = {"randint", 0.0, static_cast<double>(table->vocabulary)};
        return true;
    }
    return false;
}

// The state that a recurrent layer or cell is given: (layers and directions, batch, hidden) or (batch,
// hidden).
bool asState(const std::string &name, const GuessedInput &primary, const ShapeFacts &facts,
             GuessedInput &input)
{
    const bool named = name == "h" || name == "c" || name == "hc" || name == "hx" || name == "cx" ||
                       has(name, {"hidden", "state", "h0", "h_0", "c0", "c_0", "memory_cell"});
    const auto layer = std::find_if(facts.layers.begin(), facts.layers.end(),
                                    [](const LayerFact &fact) { return fact.hidden > 0; });
    if (!named || layer == facts.layers.end())
        return false;
    const bool batchLast = layer->kind == LayerKind::recurrent && !layer->batchFirst;
    const std::size_t at = batchLast ? 1 : 0;
    const std::int64_t batch = at < primary.shape.size() ? primary.shape[at] : 1;
    input.shape = {batch, layer->hidden};
    if (layer->kind == LayerKind::recurrent)
        input.shape.insert(input.shape.begin(), layer->states);
    input.dtype = fromScalarType(facts.floating);
    input.range = {};
    return true;
}

// As a row of a batch, or as rows of tokens; the likelier one first.
std::vector<std::vector<std::int64_t>> formsOf(const std::string &name, std::int64_t batch)
{
    constexpr std::int64_t kRows = 16;
    std::vector<std::vector<std::int64_t>> forms = {{batch, 1}, {batch, kRows, 1}};
    if (has(lowered(name), {"state", "context", "embed", "token", "cond", "memory", "text"}))
        std::swap(forms[0], forms[1]);
    return forms;
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
    if (alternative == 0 && has(name, {"length", "lens", "_len"})) {
        const std::int64_t positions = primary.shape.size() > 1 ? primary.shape[1] : 1;
        const std::size_t batch = primary.shape.empty() ? 1 : static_cast<std::size_t>(primary.shape[0]);
        return std::vector<std::int64_t>(length == 0 ? batch : length, positions);
    }
    const bool fits = length == 0 || length == sizes.size();
    if (fits && (alternative == 2 || (alternative == 0 && has(name, {"size", "shape", "hw"}))))
        return sizes;
    if (alternative == 3 || (alternative == 0 && has(name, {"perm", "order"})))
        return places;
    if (alternative == 0 && has(name, {"dim", "axis", "axes"}))
        return std::vector<std::int64_t>(items, primary.shape.empty() ? 0 : -1);
    return std::vector<std::int64_t>(alternative == 4 && length == 0 ? 2 : items, 1);
}

// A list of numbers or texts.
bool isPlainList(const std::string &type)
{
    return type == "List[int]" || type == "List[float]" || type == "List[bool]" || type == "List[str]";
}

// LENGTH: how many items it has, 0: not known. ALTERNATIVE 0 goes by the argument's name, others are the
// sides of an image, the places of the dimensions, ones.
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

} // namespace

bool isTimeStep(const std::string &name)
{
    return has(lowered(name), {"timestep"}) || name == "t";
}

bool hasTimeStep(const std::vector<ScriptArgument> &arguments)
{
    return std::any_of(arguments.begin(), arguments.end(),
                       [](const ScriptArgument &argument) { return isTimeStep(argument.name); });
}

void preferLatents(const std::vector<ScriptArgument> &arguments, GuessOptions &options)
{
    constexpr std::int64_t kLatentSide = 64;
    if (options.preferredSizes == GuessOptions().preferredSizes && hasTimeStep(arguments))
        options.preferredSizes.insert(options.preferredSizes.begin(), kLatentSide);
}

std::vector<std::string> unnamedCompanions(const ShapeFacts &facts, const GuessedInput &primary)
{
    std::vector<std::string> names;
    for (const ScriptArgument &argument : facts.arguments) {
        if (argument.hasDefault || argument.type != "Tensor" || argument.name == primary.name)
            continue;
        const GuessedInput named = companionInput(argument, primary, facts, {}, 0);
        if (named.shape == primary.shape && named.dtype == primary.dtype &&
            named.range.recipe == primary.range.recipe)
            names.push_back(argument.name);
    }
    return names;
}

void applyForms(const CompanionForms &forms, GuessedInput &input)
{
    const auto own = forms.find(input.name);
    if (own == forms.end())
        return;
    input.shape = own->second.shape;
    input.dtype = own->second.dtype;
    input.range = own->second.range;
}

bool searchWidths(const std::vector<std::string> &names, const CompanionForm &single, CompanionForms &forms,
                  const std::function<const ProbeResult &()> &probe)
{
    for (const std::string &name : names) {
        bool settled = false;
        for (const std::vector<std::int64_t> &form : formsOf(name, single.shape.front())) {
            forms[name] = single;
            forms[name].shape = form;
            const ProbeResult first = probe();
            if (first.ok)
                return true;
            const std::int64_t wanted =
                first.got && first.target ? form.back() + *first.target - *first.got : 0;
            if (wanted > form.back()) {
                forms[name].shape.back() = wanted;
                const ProbeResult second = probe();
                if (second.ok)
                    return true;
                // A layer that goes on wanting the same is another input's.
                settled = !second.got || second.got != first.got || second.target != first.target;
            }
            if (settled)
                break;
            forms.erase(name);
        }
    }
    return false;
}

bool searchIndices(const GuessedInput &primary, ProbeResult last, CompanionForms &forms,
                   const std::function<const ProbeResult &()> &probe)
{
    const std::int64_t batch = primary.shape.empty() ? 1 : primary.shape.front();
    CompanionForms found;
    bool fresh = true;
    while (fresh && suggestedDtype(last.message) == at::kLong) {
        fresh = false;
        for (const auto &[name, rows] : last.refused) {
            if ((name == primary.name && !isFloating(primary.dtype)) || forms.count(name) > 0)
                continue;
            CompanionForm form{{batch}, DType::int64, {"ones", 1.0, 1.0}};
            if (rows > 0)
                form.range = {"randint", 0.0, static_cast<double>(rows)};
            found[name] = forms[name] = std::move(form);
            fresh = true;
        }
        if (fresh)
            last = probe();
        if (last.ok)
            return true;
    }
    constexpr std::int64_t kRow = 16;
    for (const auto &[name, form] : found) {
        forms[name].shape = {batch, kRow};
        if (probe().ok)
            return true;
        forms[name] = form;
    }
    return false;
}

std::size_t companionAlternatives(std::size_t priors)
{
    return 2 + std::min<std::size_t>(priors, 6);
}

GuessedInput companionInput(const ScriptArgument &argument, const GuessedInput &primary,
                            const ShapeFacts &facts, const std::vector<ShapePrior> &priors,
                            std::size_t alternative)
{
    if (isPlainList(argument.type)) {
        const auto length = facts.listLengths.find(argument.name);
        return plainList(argument, primary, length == facts.listLengths.end() ? 0 : length->second,
                         alternative);
    }
    if (argument.type.find("Tensor") == std::string::npos)
        return number(argument, alternative);
    GuessedInput input = primary;
    input.name = argument.name;
    if (alternative == 0) {
        const std::string name = lowered(argument.name);
        if (!asState(name, primary, facts, input) && !asModality(name, primary, facts, input))
            byName(name, primary, facts, input);
    } else if (alternative >= 2 && alternative - 2 < priors.size()) {
        const ShapePrior &prior = priors[alternative - 2];
        input.shape = prior.shape;
        input.dtype = prior.dtype;
        input.range = prior.range;
    }
    return input;
}

} // namespace core
