// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/script_frames.h"

#include <torch/csrc/jit/frontend/source_range.h>
#include <torch/csrc/jit/runtime/interpreter.h>

#include <algorithm>
#include <charconv>
#include <sstream>

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
    if (!own.source() || !own.source()->filename() || own.source()->filename()->empty())
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

} // namespace core
