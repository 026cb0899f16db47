// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/io/use_lock.h"

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

namespace core {

// A name for a file that is still being written, beside the one it will get: nobody else has it, also when
// two programs write to one place at once. The empty file is there from the beginning; it is renamed by
// commit() and removed when this is destroyed before; it is locked meanwhile, so that the next one that
// writes to the same place removes that of a process that was killed. A symbolic link at PATH is followed, so
// that the file it names is replaced and not the link. Owned by one thread.
class DraftName
{
public:
    // unreadable when PATH is there and is no regular file that may be written, or its folder takes no file.
    static Result<DraftName> take(const std::filesystem::path &path);
    ~DraftName();
    DraftName(DraftName &&other) noexcept;
    DraftName(const DraftName &) = delete;
    DraftName &operator=(const DraftName &) = delete;

    const std::filesystem::path &target() const { return m_path; }
    const std::filesystem::path &draft() const { return m_draft; }
    // Gives the file, which must be whole and closed, its name.
    Status commit();
    // From now on who writes the draft holds a lock of its own on it (ZipWriter).
    void handOverLock() { m_lock.release(); }
    // STATUS with the name of the file where its message has that of the draft, which nobody asked for.
    Status named(const Status &status) const;

private:
    DraftName(std::filesystem::path path, std::filesystem::path draft, UseLock lock)
        : m_path(std::move(path)), m_draft(std::move(draft)), m_lock(std::move(lock))
    {
    }

    std::filesystem::path m_path;
    std::filesystem::path m_draft; // empty when it was committed
    UseLock m_lock;
};

// A file that takes its name when it is complete. Owned by one thread.
class DraftFile
{
public:
    static Result<std::unique_ptr<DraftFile>> create(const std::filesystem::path &path);
    ~DraftFile();
    DraftFile(const DraftFile &) = delete;
    DraftFile &operator=(const DraftFile &) = delete;

    Status write(std::string_view text);
    Status write(std::span<const std::byte> bytes);
    Status commit();

private:
    DraftFile(DraftName name, std::FILE *file) : m_name(std::move(name)), m_file(file) {}
    Status failed() const;

    DraftName m_name;
    std::FILE *m_file;
};

// invalidArgument when writing OUT would replace IN, which is read, or a file of it where IN is a folder;
// links are followed.
Status checkNotRead(const std::filesystem::path &out, const std::filesystem::path &in);

// That a file may be written at PATH: it is a regular file, or it is not there and its folder is. Errors name
// PATH and what stands there.
Status checkWritable(const std::filesystem::path &path);

} // namespace core
