// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/record_out.h"
#include "core/capture_torch/run_observer.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace core {

// Writes the surroundings of calls into the trace, each thing once: frames, call stacks, source texts,
// modules. Owned by the recorder; one thread.
class ContextRecorder
{
public:
    explicit ContextRecorder(RecordOut &out) : m_out(out) {}

    // The record of a node's call stack; kNoRecord when the file recorded no frame. NODE's address is its
    // key.
    RecordId stackOf(const NodeInfo &node);
    RecordId stackOf(const std::vector<RunFrame> &frames);

    // The record of the module at PATH; modules on the way to it that were not declared are recorded without
    // class.
    RecordId module(const std::string &path, const std::string &type = {});
    void declare(const ModuleInfo &module);

    // TEXT begins with line FIRSTLINE of FILE: part of what the model file itself has of its sources.
    void sourceText(const std::string &file, std::uint32_t firstLine, const std::string &text);
    // Writes one text a file that frames name: the file on disk where it is there and says the same at the
    // recorded lines, else the lines that are known, each at its place.
    void writeSources();

private:
    // What makes a frame one of its own. The texts lie elsewhere.
    struct Place
    {
        std::string_view file;
        std::uint32_t line;
        std::string_view function;
        bool operator==(const Place &) const = default;
    };
    struct PlaceHash
    {
        std::size_t operator()(const Place &place) const;
    };

    RecordId frame(const RunFrame &frame);

    RecordOut &m_out;
    std::unordered_map<const NodeInfo *, RecordId> m_nodeStacks; // of nodes without a number
    std::vector<std::optional<RecordId>> m_numberedStacks;
    std::map<std::vector<RecordId>, RecordId> m_stacks;
    std::unordered_map<Place, RecordId, PlaceHash> m_frames;
    std::deque<std::pair<std::string, std::string>> m_placeTexts; // file and function of m_frames
    std::unordered_map<std::string, RecordId> m_modules;
    std::set<std::string> m_torchFiles; // of torch's module classes, without a folder: "linear.py"
    std::map<std::string, std::map<std::uint32_t, std::string>> m_lines; // file -> line -> text
};

} // namespace core
