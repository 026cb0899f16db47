// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/script_places.h"

#include <torch/csrc/jit/ir/ir.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace core {

namespace {

using torch::jit::Node;
using torch::jit::SourceRange;
using torch::jit::Value;

// A line of the user's file.
struct Line
{
    std::string file;
    std::size_t number = 0;
    SourceRange range;
};

std::optional<Line> lineOf(const SourceRange &range)
{
    const SourceRange own = originalRange(range);
    const auto position = own.source() ? own.file_line_col() : std::nullopt;
    if (!position)
        return std::nullopt;
    const auto &[file, line, column] = *position;
    if (file.empty() || file.front() == '<')
        return std::nullopt;
    return Line{file, line, own};
}

// The lines between which a statement stands: those of the nodes before and after it.
struct Bounds
{
    std::optional<Line> before;
    std::optional<Line> after;

    bool contain(const Line &line) const
    {
        const bool early = before && (before->file != line.file || line.number < before->number);
        const bool late = after && (after->file != line.file || line.number > after->number);
        return !early && !late;
    }
};

// Constants stand where the first of those that use them does.
bool tellsPlace(const Node *node)
{
    return node->kind() != c10::prim::Constant;
}

Bounds boundsOf(Node *node)
{
    Bounds bounds;
    Node *const end = node->owningBlock()->return_node();
    for (Node *other = node->prev(); other != end && !bounds.before; other = other->prev())
        if (tellsPlace(other))
            bounds.before = lineOf(other->sourceRange());
    for (Node *other = node->next(); other != end && !bounds.after; other = other->next())
        if (tellsPlace(other))
            bounds.after = lineOf(other->sourceRange());
    if (Node *const owner = node->owningBlock()->owningNode(); owner != nullptr && !bounds.before)
        bounds.before = lineOf(owner->sourceRange());
    return bounds;
}

// A constant written in the same expression and used nowhere else.
std::optional<Line> fromConstants(const Node *node, const Bounds &bounds)
{
    for (const Value *input : node->inputs())
        if (input->node()->kind() == c10::prim::Constant && input->uses().size() == 1)
            if (auto line = lineOf(input->node()->sourceRange()); line && bounds.contain(*line))
                return line;
    return std::nullopt;
}

// "y0" of the file's code may be "y" of the user's, given again.
std::string_view withoutDigits(std::string_view name)
{
    while (!name.empty() && name.back() >= '0' && name.back() <= '9')
        name.remove_suffix(1);
    return name;
}

// Is TEXT a statement "NAME = ..", "NAME: T = .." or "NAME /= .."?
bool assigns(std::string_view text, std::string_view name)
{
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
    if (name.empty() || !text.starts_with(name))
        return false;
    text.remove_prefix(name.size());
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || text.substr(equals).starts_with("=="))
        return false;
    const std::string_view between = text.substr(0, equals);
    const std::size_t colon = between.find_first_not_of(' ');
    return colon == std::string_view::npos || between[colon] == ':' ||
           between.find_first_not_of(" +-*/%@&|^<>") == std::string_view::npos;
}

// The only line between the bounds that gives something to NAME ("return": that returns).
std::optional<Line> fromText(std::string_view name, const Bounds &bounds)
{
    const auto &known = bounds.before ? bounds.before : bounds.after;
    if (!known || name.empty())
        return std::nullopt;
    const auto &source = known->range.source();
    const std::size_t first = source->starting_line_no();
    const std::size_t from = bounds.before ? bounds.before->number : first;
    const std::size_t to = bounds.after ? bounds.after->number : first + source->num_lines() - 1;
    std::optional<Line> found;
    for (std::size_t number = std::max(from, first); number <= to && number < first + source->num_lines();
         ++number) {
        const std::string text = source->get_line(number - first).str();
        const std::size_t start = text.find_first_not_of(" \t");
        const bool fits = name == "return"
                              ? start != std::string::npos && text.compare(start, 7, "return ") == 0
                              : assigns(text, name) || assigns(text, withoutDigits(name));
        if (!fits)
            continue;
        if (found)
            return std::nullopt;
        const std::size_t offset = source->offset_for_line(number - first) + start;
        found = Line{known->file, number, SourceRange(source, offset, offset)};
    }
    return found;
}

std::optional<Line> statementOf(Node *node, int depth)
{
    constexpr int kMostSteps = 8;
    const Bounds bounds = boundsOf(node);
    if (auto line = fromConstants(node, bounds))
        return line;
    if (node->outputs().size() != 1 || depth > kMostSteps)
        return std::nullopt;
    const Value *const result = node->output();
    if (result->hasDebugName())
        if (auto line = fromText(result->debugNameBase(), bounds))
            return line;
    if (!result->hasDebugName() && result->uses().size() == 1) {
        Node *const user = result->uses()[0].user;
        if (user->kind() == c10::prim::Return)
            return fromText("return", bounds);
        // Without a name it is part of the expression that takes it.
        if (user->owningBlock() == node->owningBlock()) {
            if (auto line = lineOf(user->sourceRange()))
                return bounds.contain(*line) ? line : std::nullopt;
            return statementOf(user, depth + 1);
        }
    }
    const bool sameLine = bounds.before && bounds.after && bounds.before->file == bounds.after->file &&
                          bounds.before->number == bounds.after->number;
    return sameLine ? bounds.before : std::nullopt;
}

} // namespace

ScriptPlace placeOf(Node *node, const std::string &function)
{
    ScriptPlace own = scriptPlace(node->sourceRange(), function);
    const bool known = own.traced || (!own.frames.empty() && own.frames.back().file.front() != '<');
    if (known)
        return own;
    const std::optional<Line> line = statementOf(node, 0);
    ScriptPlace found = line ? scriptPlace(line->range, function) : own;
    return found.traced ? own : found; // tracing names the place of every op itself
}

} // namespace core
