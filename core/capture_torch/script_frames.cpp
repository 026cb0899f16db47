// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/script_frames.h"

#include <torch/csrc/jit/frontend/source_range.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>
#include <string_view>

namespace core {

namespace {

// "FILE(LINE): FUNCTION", a line of the stack that tracing stores as source text.
std::optional<RunFrame> tracedFrame(std::string_view line)
{
    const std::size_t close = line.find("): ");
    if (close == std::string_view::npos)
        return std::nullopt;
    const std::size_t open = line.rfind('(', close);
    if (open == std::string_view::npos || open + 1 >= close)
        return std::nullopt;
    RunFrame frame;
    const char *const end = line.data() + close;
    const auto [stop, error] = std::from_chars(line.data() + open + 1, end, frame.line);
    if (error != std::errc() || stop != end)
        return std::nullopt;
    frame.file = line.substr(0, open);
    frame.function = line.substr(close + 3);
    return frame;
}

std::string withoutEnd(std::string line)
{
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r'))
        line.pop_back();
    return line;
}

// Only where the first line is one, since texts of scripted functions are long and there is one a node.
std::vector<RunFrame> tracedStack(const torch::jit::Source &source)
{
    std::vector<RunFrame> frames;
    if (source.num_lines() == 0 || !tracedFrame(withoutEnd(source.get_line(0).str())))
        return frames;
    const std::string text = source.text_str().str();
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::optional<RunFrame> frame = tracedFrame(line);
        if (!frame)
            return {};
        // From here outwards it is the script that traced, not the model.
        if (frame->file.ends_with("torch/jit/_trace.py"))
            break;
        frames.push_back(std::move(*frame));
    }
    std::reverse(frames.begin(), frames.end());
    return frames;
}

bool hasFile(const torch::jit::SourceRange &range)
{
    return range.source()->filename() && !range.source()->filename()->empty();
}

// What was recorded for one position of the file's own code.
std::optional<torch::jit::SourceRange> recordedAt(const torch::jit::SourceRange &range, std::size_t position)
{
    auto found = torch::jit::SourceRange(range.source(), position, position).findSourceRangeThatGenerated();
    if (!found || !found->source())
        return std::nullopt;
    return found;
}

std::string lineText(const torch::jit::SourceRange &range)
{
    const auto &source = range.source();
    std::string line = source->get_line(source->lineno_for_offset(range.start())).str();
    const std::size_t first = line.find_first_not_of(" \t");
    const std::size_t last = line.find_last_not_of(" \t\r\n");
    return first == std::string::npos ? std::string() : line.substr(first, last - first + 1);
}

} // namespace

torch::jit::SourceRange originalRange(const torch::jit::SourceRange &range)
{
    if (!range.source())
        return range;
    const auto first = recordedAt(range, range.start());
    if (!first)
        return range;
    if (hasFile(*first))
        return *first;
    // The code of a call starts with the name of the function, which has no place; what follows its last
    // argument is the call's own again.
    const auto last = recordedAt(range, range.end());
    return last && hasFile(*last) ? *last : *first;
}

ScriptPlace scriptPlace(const torch::jit::SourceRange &range, const std::string &function)
{
    ScriptPlace place;
    const torch::jit::SourceRange own = originalRange(range);
    if (!own.source())
        return place;
    place.frames = tracedStack(*own.source());
    place.traced = !place.frames.empty();
    if (place.traced)
        return place;
    const auto position = own.file_line_col();
    if (!position || std::get<0>(*position).empty())
        return place;
    RunFrame frame;
    frame.file = std::get<0>(*position);
    frame.line = static_cast<std::uint32_t>(std::get<1>(*position));
    frame.function = function;
    frame.source = lineText(own);
    place.frames.push_back(std::move(frame));
    return place;
}

std::vector<RunFrame> interpreterFrames()
{
    std::vector<RunFrame> frames;
    const std::vector<torch::jit::StackEntry> entries = torch::jit::currentCallstack(); // innermost first
    for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
        ScriptPlace place = scriptPlace(entry->range, entry->filename);
        frames.insert(frames.end(), std::make_move_iterator(place.frames.begin()),
                      std::make_move_iterator(place.frames.end()));
    }
    return frames;
}

std::optional<SourcePiece> sourcePiece(const torch::jit::SourceRange &range)
{
    const torch::jit::SourceRange own = originalRange(range);
    if (!own.source() || !hasFile(own))
        return std::nullopt;
    if (!tracedStack(*own.source()).empty())
        return std::nullopt;
    return SourcePiece{*own.source()->filename(),
                       static_cast<std::uint32_t>(own.source()->starting_line_no()),
                       own.source()->text_str().str()};
}

const void *sourceIdentity(const torch::jit::SourceRange &range)
{
    return originalRange(range).source().get();
}

namespace {

using torch::jit::Node;
using torch::jit::SourceRange;
using ScriptValue = torch::jit::Value;

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

// The line of the nearest node that has one, in the direction of STEP.
std::optional<Line> nearestLine(Node *node, Node *&(Node::*step)())
{
    constexpr int kFarthest = 64; // a statement is made of fewer nodes; long blocks are not walked for each
    Node *const end = node->owningBlock()->return_node();
    int steps = 0;
    for (Node *other = (node->*step)(); other != end && steps < kFarthest; other = (other->*step)()) {
        if (!tellsPlace(other))
            continue;
        if (auto line = lineOf(other->sourceRange()))
            return line;
        ++steps;
    }
    return std::nullopt;
}

Bounds boundsOf(Node *node)
{
    Bounds bounds{nearestLine(node, &Node::prev), nearestLine(node, &Node::next)};
    if (Node *const owner = node->owningBlock()->owningNode(); owner != nullptr && !bounds.before)
        bounds.before = lineOf(owner->sourceRange());
    return bounds;
}

// A constant written in the same expression and used nowhere else.
std::optional<Line> fromConstants(const Node *node, const Bounds &bounds)
{
    for (const ScriptValue *input : node->inputs())
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
    const ScriptValue *const result = node->output();
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

bool hasPlaces(const torch::jit::Block &block)
{
    const Node *const owner = block.owningNode();
    return (owner != nullptr && lineOf(owner->sourceRange())) ||
           std::any_of(block.nodes().begin(), block.nodes().end(), [](const Node *node) {
               return tellsPlace(node) && lineOf(node->sourceRange()).has_value();
           });
}

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
