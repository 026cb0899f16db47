// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/zip_writer.h"

#include "core/io/inflate.h"
#include "core/io/little_endian.h"
#include "core/io/zip_format.h"
#include "core/io/zip_reader.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>

namespace core {
namespace {

constexpr std::uint16_t kVersionPlain = 20;
constexpr std::uint16_t kVersionZip64 = 45;
constexpr std::uint16_t kDosDate = 0x0021; // 1980-01-01: the same content gives the same file
constexpr std::uint64_t kBombRatio = 190;
constexpr std::uint64_t kBombFreeBytes = std::uint64_t(1) << 20U;
constexpr std::uint64_t kMostZip64Bytes = 4 + 3 * 8; // of an entry in the directory
constexpr std::uint64_t kMostEndBytes = zip::kZip64EndSize + zip::kZip64LocatorSize + zip::kEndSize;

using Parts = std::span<const std::span<const std::byte>>;

bool isBig(std::uint64_t value)
{
    return value >= zip::kMax32;
}

std::uint32_t clipped(std::uint64_t value)
{
    return isBig(value) ? zip::kMax32 : static_cast<std::uint32_t>(value);
}

// Of an entry in the directory.
std::uint64_t mostDirectoryBytes(std::string_view name)
{
    return zip::kCentralSize + name.size() + kMostZip64Bytes;
}

// What local and central header have in common.
struct HeaderFields
{
    std::string_view name;
    std::uint64_t offset = 0;
    std::uint64_t compressedSize = 0;
    std::uint64_t size = 0;
    std::uint32_t crc = 0;
    std::uint16_t method = 0;

    bool needsZip64() const { return isBig(size) || isBig(compressedSize); }
    std::uint16_t flags() const
    {
        const bool ascii =
            std::all_of(name.begin(), name.end(), [](char c) { return static_cast<signed char>(c) >= 0; });
        return ascii ? std::uint16_t(0) : zip::kFlagUtf8;
    }
};

void appendCommon(std::vector<std::byte> &out, const HeaderFields &entry, std::uint16_t version)
{
    appendLittle<std::uint16_t>(out, version);
    appendLittle<std::uint16_t>(out, entry.flags());
    appendLittle<std::uint16_t>(out, entry.method);
    appendLittle<std::uint16_t>(out, 0); // time
    appendLittle<std::uint16_t>(out, kDosDate);
    appendLittle<std::uint32_t>(out, entry.crc);
    appendLittle<std::uint32_t>(out, entry.needsZip64() ? zip::kMax32 : clipped(entry.compressedSize));
    appendLittle<std::uint32_t>(out, entry.needsZip64() ? zip::kMax32 : clipped(entry.size));
    appendLittle<std::uint16_t>(out, static_cast<std::uint16_t>(entry.name.size()));
}

void appendName(std::vector<std::byte> &out, std::string_view name)
{
    const auto bytes = std::as_bytes(std::span(name));
    out.insert(out.end(), bytes.begin(), bytes.end());
}

std::vector<std::byte> localHeader(const HeaderFields &entry, std::uint32_t alignment)
{
    std::vector<std::byte> extra;
    if (entry.needsZip64()) {
        appendLittle<std::uint16_t>(extra, zip::kExtraZip64);
        appendLittle<std::uint16_t>(extra, 16);
        appendLittle<std::uint64_t>(extra, entry.size);
        appendLittle<std::uint64_t>(extra, entry.compressedSize);
    }
    const std::uint64_t end = entry.offset + zip::kLocalSize + entry.name.size() + extra.size();
    std::uint64_t padding = (alignment - end % alignment) % alignment;
    if (padding != 0) {
        while (padding < 4) // the extra field's own header
            padding += alignment;
        appendLittle<std::uint16_t>(extra, zip::kExtraPadding);
        appendLittle<std::uint16_t>(extra, static_cast<std::uint16_t>(padding - 4));
        extra.resize(extra.size() + padding - 4);
    }
    std::vector<std::byte> out;
    out.reserve(zip::kLocalSize + entry.name.size() + extra.size());
    appendLittle<std::uint32_t>(out, zip::kLocalSignature);
    appendCommon(out, entry, entry.needsZip64() ? kVersionZip64 : kVersionPlain);
    appendLittle<std::uint16_t>(out, static_cast<std::uint16_t>(extra.size()));
    appendName(out, entry.name);
    out.insert(out.end(), extra.begin(), extra.end());
    return out;
}

void appendCentral(std::vector<std::byte> &out, const HeaderFields &entry)
{
    std::vector<std::byte> extra;
    if (entry.needsZip64()) {
        appendLittle<std::uint64_t>(extra, entry.size);
        appendLittle<std::uint64_t>(extra, entry.compressedSize);
    }
    if (isBig(entry.offset))
        appendLittle<std::uint64_t>(extra, entry.offset);
    const std::uint16_t version = extra.empty() ? kVersionPlain : kVersionZip64;
    appendLittle<std::uint32_t>(out, zip::kCentralSignature);
    appendLittle<std::uint16_t>(out, version); // made by: the plain host 0, without attributes
    appendCommon(out, entry, version);
    appendLittle<std::uint16_t>(out, static_cast<std::uint16_t>(extra.empty() ? 0 : extra.size() + 4));
    appendLittle<std::uint16_t>(out, 0); // comment
    appendLittle<std::uint16_t>(out, 0); // disk
    appendLittle<std::uint16_t>(out, 0); // internal attributes
    appendLittle<std::uint32_t>(out, 0); // external attributes
    appendLittle<std::uint32_t>(out, clipped(entry.offset));
    appendName(out, entry.name);
    if (extra.empty())
        return;
    appendLittle<std::uint16_t>(out, zip::kExtraZip64);
    appendLittle<std::uint16_t>(out, static_cast<std::uint16_t>(extra.size()));
    out.insert(out.end(), extra.begin(), extra.end());
}

void appendEnd(std::vector<std::byte> &out, std::uint64_t count, std::uint64_t offset)
{
    const std::uint64_t size = out.size();
    if (count >= zip::kMax16 || isBig(size) || isBig(offset)) {
        appendLittle<std::uint32_t>(out, zip::kZip64EndSignature);
        appendLittle<std::uint64_t>(out, zip::kZip64EndSize - 12);
        appendLittle<std::uint16_t>(out, kVersionZip64);
        appendLittle<std::uint16_t>(out, kVersionZip64);
        appendLittle<std::uint32_t>(out, 0);
        appendLittle<std::uint32_t>(out, 0);
        appendLittle<std::uint64_t>(out, count);
        appendLittle<std::uint64_t>(out, count);
        appendLittle<std::uint64_t>(out, size);
        appendLittle<std::uint64_t>(out, offset);
        appendLittle<std::uint32_t>(out, zip::kZip64LocatorSignature);
        appendLittle<std::uint32_t>(out, 0);
        appendLittle<std::uint64_t>(out, offset + size);
        appendLittle<std::uint32_t>(out, 1);
    }
    const auto shortCount = static_cast<std::uint16_t>(std::min<std::uint64_t>(count, zip::kMax16));
    appendLittle<std::uint32_t>(out, zip::kEndSignature);
    appendLittle<std::uint32_t>(out, 0); // disks
    appendLittle<std::uint16_t>(out, shortCount);
    appendLittle<std::uint16_t>(out, shortCount);
    appendLittle<std::uint32_t>(out, clipped(size));
    appendLittle<std::uint32_t>(out, clipped(offset));
    appendLittle<std::uint16_t>(out, 0); // comment
}

bool isStillAt(const struct stat &file, const std::filesystem::path &path)
{
    struct stat there = {};
    return ::stat(path.c_str(), &there) == 0 && there.st_dev == file.st_dev && there.st_ino == file.st_ino;
}

// Opened for writing by nobody else who writes archives: two runs that are told to write one file would mix
// theirs. On file systems without locks there is none.
Result<int> openLocked(const std::filesystem::path &path, int flags)
{
    constexpr int kTries = 10; // others may replace it meanwhile
    std::string why = "it is no regular file";
    for (int i = 0; i < kTries; ++i) {
        const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | flags, 0666);
        struct stat info = {};
        if (descriptor < 0) {
            why = std::strerror(errno);
            break;
        }
        const bool isFile = ::fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode);
        const bool isBusy = isFile && ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        if (isFile && !isBusy && isStillAt(info, path))
            return descriptor;
        ::close(descriptor);
        if (isFile)
            why = "another program is writing it";
        if (!isFile || isBusy)
            break;
    }
    return Status(ErrorCode::unreadable, fmt::format("{} cannot be written: {}", path.string(), why));
}

} // namespace

Result<DeflatedBytes> deflateBytes(std::span<const std::byte> bytes, int level)
{
    const std::unique_ptr<libdeflate_compressor, decltype(&::libdeflate_free_compressor)> compressor(
        ::libdeflate_alloc_compressor(level), &::libdeflate_free_compressor);
    if (!compressor)
        return Status(ErrorCode::internal,
                      fmt::format("{} bytes cannot be deflated at level {}", bytes.size(), level));
    DeflatedBytes result;
    result.size = bytes.size();
    result.crc = crc32(0, bytes);
    result.bytes.resize(::libdeflate_deflate_compress_bound(compressor.get(), bytes.size()));
    const std::size_t length = ::libdeflate_deflate_compress(compressor.get(), bytes.data(), bytes.size(),
                                                             result.bytes.data(), result.bytes.size());
    if (length == 0)
        return Status(ErrorCode::internal, fmt::format("deflate of {} bytes found no room", bytes.size()));
    result.bytes.resize(length);
    const bool bomb = bytes.size() > kBombFreeBytes && bytes.size() / kBombRatio >= result.bytes.size();
    result.stored = bomb || result.bytes.size() >= bytes.size();
    if (result.stored)
        result.bytes.assign(bytes.begin(), bytes.end());
    return result;
}

// What is there is not emptied but replaced, so that who has it open keeps what he reads, and not before the
// new file has an entry, for which the disk may have no room. In a folder that takes no new file it is
// emptied.
Result<std::unique_ptr<ZipWriter>> ZipWriter::create(const std::filesystem::path &path)
{
    std::error_code error;
    std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
    if (error)
        target = path;
    const Result<int> there = openLocked(target, O_CREAT);
    if (!there)
        return there.status();
    std::unique_ptr<ZipWriter> writer(new ZipWriter(path.filename().string(), *there));
    struct stat info = {};
    if (::fstat(*there, &info) == 0 && info.st_size == 0)
        return writer;
    if (auto draft = DraftName::take(target); draft.isOk()) {
        draft->handOverLock();
        const Result<int> fresh = openLocked(draft->draft(), 0);
        if (!fresh)
            return draft->named(fresh.status());
        writer->m_replaced = std::exchange(writer->m_descriptor, *fresh);
        writer->m_draft = std::make_unique<DraftName>(std::move(*draft));
        return writer;
    }
    if (::ftruncate(*there, 0) == 0)
        return writer;
    return Status(ErrorCode::unreadable,
                  fmt::format("{} cannot be written: {}", path.string(), std::strerror(errno)));
}

Result<std::unique_ptr<ZipWriter>> ZipWriter::resume(const std::filesystem::path &path)
{
    const auto source = openFile(path);
    if (!source)
        return source.status();
    LoadReport report;
    ZipOptions options;
    options.recover = true;
    const auto archive = ZipArchive::open(*source, report, options);
    if (!archive)
        return archive.status();
    const Result<int> descriptor = openLocked(path, 0);
    if (!descriptor)
        return descriptor.status();
    std::unique_ptr<ZipWriter> writer(new ZipWriter(path.filename().string(), *descriptor));
    for (const ZipEntry &entry : (*archive)->entries())
        writer->addToDirectory({std::string(entry.name), entry.headerOffset, entry.compressedSize, entry.size,
                                entry.crc, entry.method});
    writer->m_offset = (*archive)->endOfEntries();
    if (Status status = writer->cutBack(Status::ok()); !status)
        return status;
    return writer;
}

ZipWriter::~ZipWriter()
{
    m_fileRoom.giveBack(m_descriptor);
    ::close(m_descriptor);
    if (m_replaced >= 0)
        ::close(m_replaced);
}

Status ZipWriter::takeName()
{
    if (m_draft == nullptr)
        return Status::ok();
    if (Status status = m_draft->commit(); !status)
        return status;
    m_draft.reset();
    ::close(std::exchange(m_replaced, -1));
    return Status::ok();
}

Status ZipWriter::addStored(std::string_view name, Parts parts, std::uint32_t alignment)
{
    Entry entry;
    entry.name = name;
    for (const auto &part : parts) {
        entry.crc = crc32(entry.crc, part);
        entry.size += part.size();
    }
    entry.compressedSize = entry.size;
    return addEntry(std::move(entry), parts, alignment);
}

Status ZipWriter::addStored(std::string_view name, std::span<const std::byte> bytes, std::uint32_t alignment)
{
    const std::array parts = {bytes};
    return addStored(name, Parts(parts), alignment);
}

Status ZipWriter::addStored(std::string_view name, std::string_view text, std::uint32_t alignment)
{
    return addStored(name, std::as_bytes(std::span(text)), alignment);
}

Status ZipWriter::addDeflated(std::string_view name, const DeflatedBytes &deflated)
{
    Entry entry;
    entry.name = name;
    entry.compressedSize = deflated.bytes.size();
    entry.size = deflated.size;
    entry.crc = deflated.crc;
    entry.method = deflated.stored ? zip::kStored : zip::kDeflated;
    const std::array parts = {std::span<const std::byte>(deflated.bytes)};
    return addEntry(std::move(entry), parts, deflated.stored ? kDefaultAlignment : 1);
}

Status ZipWriter::addDeflated(std::string_view name, std::span<const std::byte> bytes, int level)
{
    const auto deflated = deflateBytes(bytes, level);
    return deflated ? addDeflated(name, *deflated) : deflated.status();
}

Status ZipWriter::addEntry(Entry entry, Parts parts, std::uint32_t alignment)
{
    if (Status status = checkIdle(); !status)
        return status;
    if (entry.name.empty() || entry.name.size() > zip::kMax16)
        return {ErrorCode::invalidArgument,
                fmt::format("{}: an entry name of {} bytes", m_name, entry.name.size())};
    entry.headerOffset = m_offset;
    const auto header = localHeader(
        {entry.name, m_offset, entry.compressedSize, entry.size, entry.crc, entry.method}, alignment);
    std::vector<std::span<const std::byte>> all = {header};
    all.insert(all.end(), parts.begin(), parts.end());
    if (Status status = checkRoom(entry, m_offset + header.size() + entry.compressedSize); !status)
        return status;
    if (Status status = writeAt(m_offset, all); !status)
        return cutBack(std::move(status));
    m_lastDataOffset = m_offset + header.size();
    m_offset = m_lastDataOffset + entry.compressedSize;
    addToDirectory(std::move(entry));
    return takeName();
}

Status ZipWriter::dropLast()
{
    if (Status status = checkIdle(); !status)
        return status;
    if (m_entries.empty())
        return {ErrorCode::invalidArgument, fmt::format("{}: no entry is left to take back", m_name)};
    m_offset = m_entries.back().headerOffset;
    m_directoryBytes -= mostDirectoryBytes(m_entries.back().name);
    m_entries.pop_back();
    return cutBack(Status::ok());
}

Status ZipWriter::beginStored(std::string_view name, std::uint64_t size, std::uint32_t alignment)
{
    if (Status status = checkIdle(); !status)
        return status;
    m_open = std::make_unique<Open>();
    m_open->entry.name = name;
    m_open->entry.headerOffset = m_offset;
    m_open->entry.size = size;
    m_open->entry.compressedSize = size;
    m_open->alignment = alignment;
    m_open->headerLength = localHeader({name, m_offset, size, size, 0, 0}, alignment).size();
    Status status = checkRoom(m_open->entry, m_offset + m_open->headerLength + size);
    if (!status)
        m_open.reset();
    return status;
}

Status ZipWriter::append(std::span<const std::byte> bytes)
{
    if (!m_open || bytes.size() > m_open->entry.size - m_open->appended)
        return {
            ErrorCode::invalidArgument,
            fmt::format("{}: {} bytes are appended to no entry with room for them", m_name, bytes.size())};
    const std::array parts = {bytes};
    if (Status status = writeAt(m_offset + m_open->headerLength + m_open->appended, parts); !status) {
        m_open.reset();
        return cutBack(std::move(status));
    }
    m_open->entry.crc = crc32(m_open->entry.crc, bytes);
    m_open->appended += bytes.size();
    return Status::ok();
}

Status ZipWriter::finish()
{
    if (!m_open || m_open->appended != m_open->entry.size)
        return {ErrorCode::invalidArgument,
                fmt::format("{}: an entry of {} bytes is finished after {}", m_name,
                            m_open ? m_open->entry.size : 0, m_open ? m_open->appended : 0)};
    const auto open = std::move(m_open);
    Entry &entry = open->entry;
    const auto header =
        localHeader({entry.name, m_offset, entry.size, entry.size, entry.crc, 0}, open->alignment);
    const std::array parts = {std::span<const std::byte>(header)};
    if (Status status = writeAt(m_offset, parts); !status)
        return cutBack(std::move(status));
    m_lastDataOffset = m_offset + open->headerLength;
    m_offset = m_lastDataOffset + entry.size;
    addToDirectory(std::move(entry));
    return takeName();
}

Status ZipWriter::abandon()
{
    m_open.reset();
    return cutBack(Status::ok());
}

Status ZipWriter::close()
{
    if (Status status = checkIdle(); !status)
        return status;
    std::vector<std::byte> directory;
    for (const Entry &entry : m_entries)
        appendCentral(directory, {entry.name, entry.headerOffset, entry.compressedSize, entry.size, entry.crc,
                                  entry.method});
    appendEnd(directory, m_entries.size(), m_offset);
    const std::array parts = {std::span<const std::byte>(directory)};
    if (Status status = writeAt(m_offset, parts); !status)
        return cutBack(std::move(status));
    m_offset += directory.size();
    if (Status status = takeName(); !status)
        return status;
    m_closed = true;
    m_fileRoom.giveBack(m_descriptor);
    ::flock(m_descriptor, LOCK_UN); // it is whole: the next may write it
    return Status::ok();
}

Status ZipWriter::sync()
{
    if (::fdatasync(m_descriptor) != 0)
        return {ErrorCode::unreadable, fmt::format("{}: {}", m_name, std::strerror(errno))};
    return Status::ok();
}

Status ZipWriter::writeAt(std::uint64_t offset, Parts parts)
{
    constexpr std::size_t kVectors = 64;
    std::vector<iovec> vectors;
    for (const auto &part : parts)
        if (!part.empty())
            vectors.push_back({const_cast<std::byte *>(part.data()), part.size()});
    for (std::size_t at = 0; at < vectors.size();) {
        const int count = static_cast<int>(std::min(vectors.size() - at, kVectors));
        const ssize_t wrote = ::pwritev(m_descriptor, &vectors[at], count, static_cast<off_t>(offset));
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return cannotWriteAt(offset, errno);
        offset += static_cast<std::uint64_t>(wrote);
        for (auto left = static_cast<std::size_t>(wrote); left > 0;) {
            const std::size_t step = std::min(left, vectors[at].iov_len);
            vectors[at].iov_base = static_cast<std::byte *>(vectors[at].iov_base) + step;
            vectors[at].iov_len -= step;
            left -= step;
            at += vectors[at].iov_len == 0 ? 1 : 0;
        }
    }
    return Status::ok();
}

Status ZipWriter::cannotWriteAt(std::uint64_t offset, int error) const
{
    return writeError(fmt::format("{}: writing at byte {}", m_name, offset), error);
}

void ZipWriter::addToDirectory(Entry entry)
{
    m_directoryBytes += mostDirectoryBytes(entry.name);
    m_entries.push_back(std::move(entry));
}

Status ZipWriter::checkRoom(const Entry &entry, std::uint64_t end)
{
    if (m_room == 0)
        return Status::ok();
    const std::uint64_t directory = m_directoryBytes + mostDirectoryBytes(entry.name) + kMostEndBytes;
    const int error = m_fileRoom.reach(m_descriptor, end + m_room + directory);
    return error == 0 ? Status::ok() : cannotWriteAt(m_offset, error);
}

// Makes the file end after the last whole entry again; REASON is what the caller reports.
Status ZipWriter::cutBack(Status reason)
{
    m_fileRoom.cutTo(m_offset);
    if (::ftruncate(m_descriptor, static_cast<off_t>(m_offset)) != 0 && reason)
        return {ErrorCode::unreadable, fmt::format("{}: {}", m_name, std::strerror(errno))};
    return reason;
}

Status ZipWriter::checkIdle() const
{
    if (m_closed)
        return {ErrorCode::invalidArgument, fmt::format("{}: the archive is closed", m_name)};
    if (m_open)
        return {ErrorCode::invalidArgument,
                fmt::format("{}: entry {} is not finished", m_name, m_open->entry.name)};
    return Status::ok();
}

} // namespace core
