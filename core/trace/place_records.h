// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/value.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// The records that say where something ran: frames, stacks, source files, modules and their calls. Part of
// core/trace/records.h, which says what all records have in common.
namespace core {

using RecordId = std::uint32_t;
inline constexpr RecordId kNoRecord = 0xffffffffU;

// One line of one function: a stack is a list of these. LINE is 1-based, 0 unknown. LIBRARY: torch, the
// standard library, installed packages or generated code, as opposed to the user's own files.
enum class FrameOrigin : std::uint8_t { user, package, torch, standardLibrary, generated };
struct FrameRecord
{
    RecordId id = kNoRecord;
    std::string file;
    std::uint32_t line = 0;
    std::string function;
    std::string text; // the source line without leading blanks; empty when not known
    FrameOrigin origin = FrameOrigin::user;
};

struct StackRecord
{
    RecordId id = kNoRecord;
    std::vector<RecordId> frames; // outermost first
};

struct SourceRecord
{
    RecordId id = kNoRecord;
    std::string file;  // as frames name it
    std::string entry; // archive entry of its text; empty: not in the file
    std::string hash;  // XXH3-128 of the text in hex; empty: not known
};

struct ModuleRecord
{
    RecordId id = kNoRecord;
    std::string address; // dotted path, "" for the root
    std::string className;
    RecordId parent = kNoRecord;
    std::optional<bool> training;
    std::vector<std::string> aliases; // further addresses of the same module
    Value attributes;                 // what the source says beyond this; object or null
};

// Recorded when the call starts; a second record with the same id completes it (outputs, duration).
struct ModuleCallRecord
{
    RecordId id = kNoRecord;
    RecordId module = kNoRecord;
    std::uint32_t index = 1;       // 1-based call number of that module
    RecordId parent = kNoRecord;   // enclosing module call
    RecordId stack = kNoRecord;    // where it was called
    std::vector<RecordId> inputs;  // tensors
    std::vector<RecordId> outputs; // tensors
    std::int64_t durationNs = -1;
    std::string method; // "forward" or the helper method's name
};

} // namespace core
