// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/pt2_metadata.h"

#include "core/capture_torch/frame_origin.h"
#include "core/trace/frame_text.h"

#include <charconv>

namespace core::pt2 {

namespace {

std::string_view nextLine(std::string_view &text)
{
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    return line;
}

std::string_view withoutIndent(std::string_view line)
{
    const auto first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos)
        return {};
    return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

bool isCaretLine(std::string_view line)
{
    return !line.empty() && line.find_first_not_of("^~ ") == std::string_view::npos;
}

// File "a.py", line 3, in f
bool parseFrameLine(std::string_view line, RunFrame &frame)
{
    constexpr std::string_view kFile = "File \"";
    constexpr std::string_view kLine = "\", line ";
    if (!line.starts_with(kFile))
        return false;
    const auto end = line.find(kLine, kFile.size());
    if (end == std::string_view::npos)
        return false;
    frame.file = std::string(line.substr(kFile.size(), end - kFile.size()));
    std::string_view rest = line.substr(end + kLine.size());
    const auto number = std::from_chars(rest.data(), rest.data() + rest.size(), frame.line);
    if (number.ec != std::errc())
        return false;
    rest.remove_prefix(static_cast<std::size_t>(number.ptr - rest.data()));
    constexpr std::string_view kIn = ", in ";
    if (rest.starts_with(kIn))
        frame.function = std::string(rest.substr(kIn.size()));
    return true;
}

// "L['self'].layers[0].a" of 2.1 and 2.3 is "layers.0.a".
std::string plainPath(std::string_view path)
{
    constexpr std::string_view kSelf = "L['self']";
    if (!path.starts_with(kSelf))
        return std::string(path);
    std::string plain;
    for (const char c : path.substr(kSelf.size())) {
        if (c == '[')
            plain += '.';
        else if (c != ']' && c != '\'' && c != '"')
            plain += c;
    }
    return plain.starts_with('.') ? plain.substr(1) : plain;
}

std::string_view withoutInstance(std::string_view type)
{
    return type.substr(0, type.find('@'));
}

bool parseLevel(std::string_view item, ModuleLevel &level)
{
    constexpr std::string_view kNoModule = "_empty_nn_module_stack_from_metadata_hook";
    if (item.empty() || item.starts_with(kNoModule))
        return false;
    auto comma = item.find(',');
    if (const auto colon = item.find(":("); colon != std::string_view::npos && colon < comma) {
        level.callKey = std::string(item.substr(0, colon));
        item = item.substr(colon + 2);
        if (item.ends_with(')'))
            item.remove_suffix(1);
        comma = item.find(',');
    } else {
        if (comma == std::string_view::npos)
            return false;
        level.callKey = std::string(item.substr(0, comma));
        item = item.substr(comma + 1);
        comma = item.find(',');
    }
    level.path = plainPath(item.substr(0, comma));
    if (comma != std::string_view::npos)
        level.type = std::string(withoutInstance(item.substr(comma + 1)));
    return true;
}

} // namespace

std::vector<RunFrame> parseStackTrace(std::string_view text)
{
    std::vector<RunFrame> frames;
    bool sourceIsNext = false;
    while (!text.empty()) {
        const std::string_view line = withoutIndent(nextLine(text));
        RunFrame frame;
        if (parseFrameLine(line, frame)) {
            frames.push_back(std::move(frame));
            sourceIsNext = true;
        } else if (sourceIsNext && !isCaretLine(line)) {
            frames.back().source = std::string(line);
            sourceIsNext = false;
        }
    }
    return frames;
}

std::vector<ModuleLevel> parseModuleStack(std::string_view text)
{
    std::vector<ModuleLevel> levels;
    while (!text.empty()) {
        const auto end = text.find(';');
        ModuleLevel level;
        if (parseLevel(text.substr(0, end), level))
            levels.push_back(std::move(level));
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
    return levels;
}

std::string userPlace(const std::vector<RunFrame> &frames)
{
    const RunFrame *frame = userFrame(frames);
    return frame == nullptr ? std::string() : frameText(frame->file, frame->line, frame->function);
}

} // namespace core::pt2
