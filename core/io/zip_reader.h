// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/byte_source.h"
#include "core/base/job_context.h"
#include "core/base/load_report.h"
#include "core/base/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace core {

// One file inside an archive, as its directory (or, after a recovery, its local header) states it. Sizes and
// offsets were checked against the archive's bounds.
struct ZipEntry
{
    std::string_view name; // relative, '/' between parts, without ".."; lives as long as the archive
    std::uint64_t headerOffset = 0;
    std::uint64_t limitOffset = 0; // where the next entry, the directory or the scanned part begins
    std::uint64_t compressedSize = 0;
    std::uint64_t size = 0;
    std::uint32_t crc = 0;
    std::uint16_t method = 0; // 0 stored, 8 deflated
    std::uint16_t flags = 0;
    bool isLink = false; // a symbolic link: listed, never read

    bool isStored() const { return method == 0; }
    bool isDirectory() const { return !name.empty() && name.back() == '/'; }
};

struct ZipOptions
{
    std::uint64_t entries = 4'000'000;
    std::uint64_t directoryBytes = std::uint64_t(1) << 30U;
    std::uint64_t inflatedBytes = std::uint64_t(4) << 30U;  // all deflated entries together
    std::uint64_t ratio = 200;                              // a deflated entry against its compressed size
    std::uint64_t ratioFreeBytes = std::uint64_t(1) << 20U; // entries up to this size may be denser
    bool recover = false; // scan the local headers forward when the directory is missing or damaged
};

// A ZIP or ZIP64 archive. Opening reads the directory in one piece and no entry; the entries are checked to
// lie in the file, not to overlap, to have safe and distinct names, not to be encrypted and not to expand
// beyond the limits. The local header of an entry is checked against the directory when the entry is used.
// Immutable and thread safe. Errors carry a token in detail(): zip_no_end_record, bad_directory, bad_header,
// entry_out_of_bounds, overlapping_entries, duplicate_entry, unsafe_entry_name, encrypted,
// decompression_limit, crc_mismatch, link_entry, unsupported_method.
class ZipArchive
{
public:
    // REPORT gets notes: zip_recovered, truncated (with recover), link_entry.
    static Result<std::shared_ptr<const ZipArchive>> open(std::shared_ptr<const ByteSource> source,
                                                          LoadReport &report, const ZipOptions &options = {});

    const std::vector<ZipEntry> &entries() const { return m_entries; } // in directory (or file) order
    const ZipEntry *find(std::string_view name) const;                 // nullptr when there is none
    const std::string &fileName() const { return m_source->name(); }
    const std::shared_ptr<const ByteSource> &byteSource() const { return m_source; }

    bool isRecovered() const { return m_recovered; } // no directory: made from the local headers
    // Where the directory begins, or for a recovered archive the first byte that is no whole entry.
    std::uint64_t endOfEntries() const { return m_endOfEntries; }

    // Where the entry's data begin in the file, after checking its local header. One small read.
    Result<std::uint64_t> dataOffset(const ZipEntry &entry) const;
    // The entry's bytes: a slice of the file for a stored entry (CRC not checked), memory for a deflated one
    // (CRC checked).
    Result<std::shared_ptr<const ByteSource>> open(const ZipEntry &entry) const;
    // All bytes with the CRC checked; limitExceeded above MAXIMUM.
    Result<std::vector<std::byte>> read(const ZipEntry &entry, std::uint64_t maximum) const;
    // Reads the entry once and checks its CRC.
    Status verify(const ZipEntry &entry, const JobContext &context) const;

private:
    explicit ZipArchive(std::shared_ptr<const ByteSource> source) : m_source(std::move(source)) {}

    Status readDirectory(const ZipOptions &options);
    Status parseDirectory(std::uint64_t count);
    Status scan(LoadReport &report, const ZipOptions &options);
    Status checkEntries(LoadReport &report, const ZipOptions &options);
    Status checkOverlaps();
    Status indexNames();

    std::shared_ptr<const ByteSource> m_source;
    std::vector<std::byte> m_names; // the directory's bytes, or the names of scanned entries
    std::vector<ZipEntry> m_entries;
    std::vector<std::uint32_t> m_table; // open addressing over names; entry number + 1
    std::uint64_t m_endOfEntries = 0;
    bool m_recovered = false;
};

// A name that stays inside the folder it is unpacked to: relative, no "..", no control characters, no
// backslash, no drive letter.
bool isSafeRelativePath(std::string_view name);

} // namespace core
