// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/trace/records.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace core {

// What a journal held when its writer died.
struct JournalContent
{
    struct Part
    {
        bool isPack = false;      // small payloads; else lines of records
        std::uint32_t number = 0; // of the entry it was to become
        std::vector<std::byte> bytes;
    };
    struct Running
    {
        std::string op;
        RecordId call = kNoRecord;
        RecordId stack = kNoRecord;
        bool ended = false; // and no other had begun
    };
    std::vector<Part> parts;        // that may not be in the file yet
    std::optional<Running> running; // the op that was announced last
};

// Memory in which the native writer keeps what is not in the file yet: a fixed number of slots, each a
// segment of record lines or a pack of small payloads in the making. When it is shared with the parent
// process, the parent finds all of it after the writer was killed (completeCrashed() in native_tools.h puts
// it into the file). The parent creates it and hands the descriptor to the worker; while the worker lives it
// reads nothing but running().
class TraceJournal
{
public:
    static constexpr std::size_t kSlots = 16;
    static constexpr std::size_t kSlotBytes = std::size_t(256) << 10U;

    // Shared memory that cannot be resized by the other process.
    static Result<std::unique_ptr<TraceJournal>> create();
    // The journal behind DESCRIPTOR, which stays the caller's. protocol when it is none of this version.
    static Result<std::unique_ptr<TraceJournal>> attach(int descriptor);
    // Memory of this process alone, for a writer that nobody watches.
    static Result<std::unique_ptr<TraceJournal>> createPrivate();

    ~TraceJournal();
    TraceJournal(const TraceJournal &) = delete;
    TraceJournal &operator=(const TraceJournal &) = delete;

    int descriptor() const { return m_descriptor; } // -1 when private

    // For the writer, one thread at a time. SLOT is below kSlots.
    std::span<std::byte> memory(std::size_t slot);
    void open(std::size_t slot, bool isPack, std::uint32_t number);
    void commit(std::size_t slot, std::size_t bytes); // that many from the start are whole
    void free(std::size_t slot);
    void setRunning(std::string_view op, RecordId call, RecordId stack); // "": none runs any more
    void setEnded();                                                     // the op that was set has

    // For the parent, by reading the descriptor: whatever the dead process left in the memory is checked.
    Result<JournalContent> content() const;
    // Of that only the op that was announced last, also while the worker runs: its name may then be torn and
    // is for showing only. None before the first op and when the memory cannot be read.
    std::optional<JournalContent::Running> running() const;

private:
    TraceJournal(std::byte *memory, int descriptor, bool ownsDescriptor)
        : m_memory(memory), m_descriptor(descriptor), m_ownsDescriptor(ownsDescriptor)
    {
    }

    std::byte *m_memory;
    int m_descriptor;
    bool m_ownsDescriptor;
};

} // namespace core
