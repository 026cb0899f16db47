// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/byte_source.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace core {
namespace {

Status outside(const std::string &name, std::uint64_t offset, std::uint64_t length, std::uint64_t size)
{
    return {ErrorCode::unreadable, fmt::format("{}: bytes {} to {} are asked for, the file has {}", name,
                                               offset, offset + length, size)};
}

bool fits(std::uint64_t offset, std::uint64_t length, std::uint64_t size)
{
    return offset <= size && length <= size - offset;
}

class FileSource final : public ByteSource
{
public:
    FileSource(std::string name, int descriptor, std::uint64_t size)
        : m_name(std::move(name)), m_descriptor(descriptor), m_size(size)
    {
    }
    ~FileSource() override { ::close(m_descriptor); }
    FileSource(const FileSource &) = delete;
    FileSource &operator=(const FileSource &) = delete;

    std::uint64_t size() const override { return m_size; }
    const std::string &name() const override { return m_name; }
    std::span<const std::byte> view(std::uint64_t, std::uint64_t) const override { return {}; }

    Status readAt(std::uint64_t offset, std::span<std::byte> out) const override
    {
        if (!fits(offset, out.size(), m_size))
            return outside(m_name, offset, out.size(), m_size);
        while (!out.empty()) {
            const ssize_t got = ::pread(m_descriptor, out.data(), out.size(), static_cast<off_t>(offset));
            if (got < 0 && errno == EINTR)
                continue;
            if (got < 0)
                return {ErrorCode::unreadable, fmt::format("{}: {}", m_name, std::strerror(errno))};
            if (got == 0)
                return {ErrorCode::unreadable,
                        fmt::format("{}: the file ends at byte {}, it had {} when it was opened", m_name,
                                    offset, m_size)};
            out = out.subspan(static_cast<std::size_t>(got));
            offset += static_cast<std::uint64_t>(got);
        }
        return Status::ok();
    }

private:
    std::string m_name;
    int m_descriptor;
    std::uint64_t m_size;
};

class MemorySource final : public ByteSource
{
public:
    MemorySource(std::string name, std::vector<std::byte> bytes)
        : m_name(std::move(name)), m_bytes(std::move(bytes))
    {
    }

    std::uint64_t size() const override { return m_bytes.size(); }
    const std::string &name() const override { return m_name; }

    std::span<const std::byte> view(std::uint64_t offset, std::uint64_t length) const override
    {
        if (!fits(offset, length, m_bytes.size()))
            return {};
        return std::span(m_bytes).subspan(offset, length);
    }

    Status readAt(std::uint64_t offset, std::span<std::byte> out) const override
    {
        if (!fits(offset, out.size(), m_bytes.size()))
            return outside(m_name, offset, out.size(), m_bytes.size());
        if (!out.empty())
            std::memcpy(out.data(), m_bytes.data() + offset, out.size());
        return Status::ok();
    }

private:
    std::string m_name;
    std::vector<std::byte> m_bytes;
};

class SliceSource final : public ByteSource
{
public:
    SliceSource(std::shared_ptr<const ByteSource> parent, std::uint64_t offset, std::uint64_t length,
                std::string name)
        : m_parent(std::move(parent)), m_offset(offset), m_length(length), m_name(std::move(name))
    {
    }

    std::uint64_t size() const override { return m_length; }
    const std::string &name() const override { return m_name; }

    std::span<const std::byte> view(std::uint64_t offset, std::uint64_t length) const override
    {
        return fits(offset, length, m_length) ? m_parent->view(m_offset + offset, length)
                                              : std::span<const std::byte>();
    }

    Status readAt(std::uint64_t offset, std::span<std::byte> out) const override
    {
        if (!fits(offset, out.size(), m_length))
            return outside(m_name, offset, out.size(), m_length);
        return m_parent->readAt(m_offset + offset, out);
    }

private:
    std::shared_ptr<const ByteSource> m_parent;
    std::uint64_t m_offset;
    std::uint64_t m_length;
    std::string m_name;
};

} // namespace

Result<std::shared_ptr<const ByteSource>> openFile(const std::filesystem::path &path)
{
    const std::string name = path.filename().string();
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) {
        // A socket cannot be opened at all.
        if (errno == ENXIO)
            return Status(ErrorCode::unreadable, fmt::format("{}: not a regular file", path.string()));
        const auto code = errno == ENOENT ? ErrorCode::notFound : ErrorCode::unreadable;
        return Status(code, fmt::format("{}: {}", path.string(), std::strerror(errno)));
    }
    struct stat info = {};
    if (::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) {
        ::close(descriptor);
        return Status(ErrorCode::unreadable, fmt::format("{}: not a regular file", path.string()));
    }
    return std::shared_ptr<const ByteSource>(
        std::make_shared<FileSource>(name, descriptor, static_cast<std::uint64_t>(info.st_size)));
}

std::shared_ptr<const ByteSource> memorySource(std::string name, std::vector<std::byte> bytes)
{
    return std::make_shared<MemorySource>(std::move(name), std::move(bytes));
}

std::shared_ptr<const ByteSource> sliceSource(std::shared_ptr<const ByteSource> parent, std::uint64_t offset,
                                              std::uint64_t length, std::string name)
{
    return std::make_shared<SliceSource>(std::move(parent), offset, length, std::move(name));
}

Result<std::vector<std::byte>> readRange(const ByteSource &source, std::uint64_t offset, std::uint64_t length,
                                         std::uint64_t maximum)
{
    if (length > maximum)
        return Status(ErrorCode::limitExceeded, fmt::format("{}: {} bytes at offset {}, the limit is {}",
                                                            source.name(), length, offset, maximum));
    if (!fits(offset, length, source.size()))
        return outside(source.name(), offset, length, source.size());
    std::vector<std::byte> bytes(length);
    if (Status status = source.readAt(offset, bytes); !status)
        return status;
    return bytes;
}

} // namespace core
