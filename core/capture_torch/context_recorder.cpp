// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/context_recorder.h"

#include "core/capture_torch/frame_origin.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

namespace core {

namespace {

constexpr std::uintmax_t kLargestSource = std::uintmax_t(4) << 20;
constexpr std::uint32_t kLastLine =
    200000; // a recorded line number is not trusted with more memory than this

// "torch.nn.modules.linear.Linear" -> "linear.py"; "" for a class that is not torch's.
std::string torchFileOf(std::string_view type)
{
    constexpr std::string_view kPrefix = "torch.nn.modules.";
    const std::size_t dot = type.rfind('.');
    return type.starts_with(kPrefix) && dot > kPrefix.size()
               ? std::string(type.substr(kPrefix.size(), dot - kPrefix.size())) + ".py"
               : std::string();
}

std::string_view trimmed(std::string_view text)
{
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::vector<std::string> splitLines(const std::string &text)
{
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

// Does the text on disk say at every recorded line what was recorded? A file of which no line was recorded is
// not known to be the one that ran.
bool agrees(const std::string &text, const std::map<std::uint32_t, std::string> &known)
{
    const std::vector<std::string> lines = splitLines(text);
    bool compared = false;
    for (const auto &[line, recorded] : known) {
        if (trimmed(recorded).empty())
            continue;
        if (line == 0 || line > lines.size() || trimmed(lines[line - 1]) != trimmed(recorded))
            return false;
        compared = true;
    }
    return compared;
}

// A model file names what it likes: only Python source is taken into a trace that may be passed on.
std::string readDisk(const std::string &file)
{
    std::error_code error;
    const std::filesystem::path path(file);
    if (!path.is_absolute() || path.extension() != ".py" || !std::filesystem::is_regular_file(path, error) ||
        std::filesystem::file_size(path, error) > kLargestSource || error)
        return {};
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

std::string composed(const std::map<std::uint32_t, std::string> &known)
{
    std::string text;
    std::uint32_t at = 1;
    for (const auto &[line, content] : known) {
        if (line == 0 || line > kLastLine)
            continue;
        for (; at < line; ++at)
            text += '\n';
        text += content;
        text += '\n';
        ++at;
    }
    return text;
}

} // namespace

std::size_t ContextRecorder::PlaceHash::operator()(const Place &place) const
{
    // Folders are alike: the end of a path tells files apart.
    const std::size_t size = place.file.size();
    const std::string_view end = place.file.substr(size - std::min(size, std::size_t(24)));
    const std::hash<std::string_view> hash;
    return (hash(end) * 31 + hash(place.function)) * 31 + place.line;
}

RecordId ContextRecorder::frame(const RunFrame &frame)
{
    const auto known = m_frames.find(Place{frame.file, frame.line, frame.function});
    if (known != m_frames.end())
        return known->second;
    FrameRecord record;
    record.id = static_cast<RecordId>(m_frames.size());
    m_placeTexts.push_back({frame.file, frame.function});
    const auto &[file, function] = m_placeTexts.back();
    m_frames.emplace(Place{file, frame.line, function}, record.id);
    record.file = frame.file;
    record.line = frame.line;
    record.function = frame.function;
    record.text = trimmed(frame.source);
    // A file name without its folder is torch's where a module class of torch is from a file of that name.
    record.origin = m_torchFiles.contains(frame.file) ? FrameOrigin::torch : frameOrigin(frame.file);
    if (record.origin != FrameOrigin::generated) {
        std::string &line = m_lines[frame.file][frame.line];
        if (line.empty())
            line = frame.source;
    }
    const RecordId id = record.id;
    m_out.add(std::move(record));
    return id;
}

RecordId ContextRecorder::stackOf(const std::vector<RunFrame> &frames)
{
    if (frames.empty())
        return kNoRecord;
    std::vector<RecordId> ids;
    ids.reserve(frames.size());
    for (const RunFrame &item : frames)
        ids.push_back(frame(item));
    const auto [entry, fresh] = m_stacks.try_emplace(ids, static_cast<RecordId>(m_stacks.size()));
    if (fresh)
        m_out.add(StackRecord{entry->second, std::move(ids)});
    if (!fresh || m_out.status().isOk())
        return entry->second;
    m_stacks.erase(entry); // it is not in the trace: the place of a failure must not name it
    return kNoRecord;
}

RecordId ContextRecorder::stackOf(const NodeInfo &node)
{
    if (node.stackNumber == 0) {
        const auto [known, fresh] = m_nodeStacks.try_emplace(&node, kNoRecord);
        if (fresh)
            known->second = stackOf(node.frames);
        return known->second;
    }
    const std::size_t at = node.stackNumber - 1;
    if (at >= m_numberedStacks.size())
        m_numberedStacks.resize(at + 1);
    if (!m_numberedStacks[at])
        m_numberedStacks[at] = stackOf(node.frames);
    return *m_numberedStacks[at];
}

RecordId ContextRecorder::module(const std::string &path, const std::string &type)
{
    if (const auto known = m_modules.find(path); known != m_modules.end())
        return known->second;
    ModuleInfo info;
    info.path = path;
    info.type = type;
    declare(info);
    return m_modules.at(path);
}

void ContextRecorder::declare(const ModuleInfo &module)
{
    if (m_modules.contains(module.path))
        return;
    ModuleRecord record;
    if (!module.path.empty()) {
        const std::size_t dot = module.path.rfind('.');
        record.parent = this->module(dot == std::string::npos ? std::string() : module.path.substr(0, dot));
    }
    record.id = static_cast<RecordId>(m_modules.size());
    record.address = module.path;
    record.className = module.type;
    record.training = module.training;
    record.aliases = module.aliases;
    m_modules.emplace(module.path, record.id);
    if (const std::string file = torchFileOf(module.type); !file.empty())
        m_torchFiles.insert(file);
    m_out.add(std::move(record));
}

void ContextRecorder::sourceText(const std::string &file, std::uint32_t firstLine, const std::string &text)
{
    auto &lines = m_lines[file];
    for (const std::string &line : splitLines(text))
        lines[firstLine++] = line;
}

void ContextRecorder::writeSources()
{
    for (const auto &[file, known] : m_lines) {
        if (file.empty())
            continue;
        std::string text = readDisk(file);
        if (text.empty() || !agrees(text, known))
            text = composed(known);
        if (text.empty())
            continue;
        if (const Result<SourceRecord> written = m_out.sink().writeSource(file, text); !written)
            m_out.note(written.error());
    }
    m_lines.clear();
}

} // namespace core
