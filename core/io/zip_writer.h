// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/base/result.h"
#include "core/io/draft_file.h"
#include "core/io/file_room.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace core {

// Compressed bytes ready for ZipWriter::addDeflated; made on any thread.
struct DeflatedBytes
{
    std::vector<std::byte> bytes; // the raw deflate stream, or the plain bytes when stored
    std::uint64_t size = 0;       // expanded
    std::uint32_t crc = 0;
    bool stored = false; // compression gained nothing, or so much that readers would refuse it as a bomb
};
Result<DeflatedBytes> deflateBytes(std::span<const std::byte> bytes, int level = 6);

// A ZIP64 archive written as a log: every entry is whole as soon as its call returns, with final sizes and
// CRC in its local header, so that a forward scan finds all of them when the process dies. The directory is
// written by close(). Data go to the kernel at once; nothing is buffered. Owned and called by one thread. A
// call that fails takes back what it wrote: the entries before it stay good and writing may go on. An error
// for want of room (disk full) has the detail no_room.
class ZipWriter
{
public:
    static constexpr std::uint32_t kDefaultAlignment = 64;

    // Creates the file; one that is there stays as it is until the new one has its first entry.
    static Result<std::unique_ptr<ZipWriter>> create(const std::filesystem::path &path);
    // Goes on after the last whole entry of an existing archive whose writer died: a partial entry or an old
    // directory is cut off.
    static Result<std::unique_ptr<ZipWriter>> resume(const std::filesystem::path &path);

    ~ZipWriter();
    ZipWriter(const ZipWriter &) = delete;
    ZipWriter &operator=(const ZipWriter &) = delete;

    // An entry that is the concatenation of PARTS, not compressed; its data begin at a multiple of ALIGNMENT
    // (1: no extra field). Names: relative, distinct (the caller's duty; the reader refuses the file
    // otherwise).
    Status addStored(std::string_view name, std::span<const std::span<const std::byte>> parts,
                     std::uint32_t alignment = kDefaultAlignment);
    Status addStored(std::string_view name, std::span<const std::byte> bytes,
                     std::uint32_t alignment = kDefaultAlignment);
    Status addStored(std::string_view name, std::string_view text,
                     std::uint32_t alignment = kDefaultAlignment);
    Status addDeflated(std::string_view name, const DeflatedBytes &deflated);
    Status addDeflated(std::string_view name, std::span<const std::byte> bytes, int level = 6);

    // A stored entry of SIZE bytes given in pieces: begin, append until SIZE bytes are there, finish. Its
    // local header is written by finish(); a process that dies before loses only this entry. No other entry
    // may be added in between. abandon() takes it back.
    Status beginStored(std::string_view name, std::uint64_t size,
                       std::uint32_t alignment = kDefaultAlignment);
    Status append(std::span<const std::byte> bytes);
    Status finish();
    Status abandon();

    // From now on an entry that does not leave room for BYTES more and for the directory fails as on a full
    // disk, and the room is held for this file; 0, as at first: no room is kept, what comes may take it.
    void keepRoom(std::uint64_t bytes) { m_room = bytes; }
    // Takes the last whole entry back.
    Status dropLast();

    // Writes the directory; no entry can be added afterwards. Also done by nobody else: a writer that is
    // destroyed without close() leaves a file without a directory.
    Status close();
    // Waits until all data are on the device.
    Status sync();

    // Whether the file stands under its name.
    bool hasName() const { return m_draft == nullptr; }
    std::uint64_t size() const { return m_offset; } // bytes written so far
    std::size_t entryCount() const { return m_entries.size(); }

    // Where the data of the last finished entry begin in the file.
    std::uint64_t lastDataOffset() const { return m_lastDataOffset; }

private:
    struct Entry
    {
        std::string name;
        std::uint64_t headerOffset = 0;
        std::uint64_t compressedSize = 0;
        std::uint64_t size = 0;
        std::uint32_t crc = 0;
        std::uint16_t method = 0;
    };
    struct Open
    {
        Entry entry;
        std::uint32_t alignment = 1;
        std::uint64_t headerLength = 0;
        std::uint64_t appended = 0;
    };

    ZipWriter(std::string name, int descriptor) : m_name(std::move(name)), m_descriptor(descriptor) {}

    Status addEntry(Entry entry, std::span<const std::span<const std::byte>> parts, std::uint32_t alignment);
    Status writeAt(std::uint64_t offset, std::span<const std::span<const std::byte>> parts);
    Status cutBack(Status reason);
    Status checkIdle() const;
    Status takeName();
    // That ENTRY and the room after it fit, when its data end at END.
    Status checkRoom(const Entry &entry, std::uint64_t end);
    Status cannotWriteAt(std::uint64_t offset, int error) const;
    void addToDirectory(Entry entry);

    std::string m_name;
    int m_descriptor;
    std::unique_ptr<DraftName> m_draft; // while the file has another name
    int m_replaced = -1;                // the file that is there, so that nobody else replaces it
    std::uint64_t m_offset = 0;
    std::uint64_t m_lastDataOffset = 0;
    std::vector<Entry> m_entries;
    std::unique_ptr<Open> m_open;
    FileRoom m_fileRoom;
    std::uint64_t m_room = 0;
    std::uint64_t m_directoryBytes = 0; // of the entries so far, at most
    bool m_closed = false;
};

} // namespace core
