// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/use_lock.h"

#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace core {
namespace {

// For writing where that is possible: some network file systems lock nothing else.
int openToLock(const std::filesystem::path &path)
{
    constexpr int kFlags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    const int descriptor = ::open(path.c_str(), O_RDWR | kFlags);
    return descriptor >= 0 ? descriptor : ::open(path.c_str(), O_RDONLY | kFlags);
}

bool isOwn(int descriptor)
{
    struct stat info = {};
    return ::fstat(descriptor, &info) == 0 && info.st_uid == ::geteuid() &&
           (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode));
}

} // namespace

UseLock UseLock::take(const std::filesystem::path &path)
{
    UseLock lock;
    const int descriptor = openToLock(path);
    if (descriptor < 0)
        return lock;
    if (isOwn(descriptor) && ::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        lock.m_descriptor = descriptor;
    else
        ::close(descriptor);
    return lock;
}

UseLock::UseLock(UseLock &&other) noexcept : m_descriptor(std::exchange(other.m_descriptor, -1)) {}

UseLock &UseLock::operator=(UseLock &&other) noexcept
{
    std::swap(m_descriptor, other.m_descriptor);
    return *this;
}

void UseLock::release()
{
    if (m_descriptor >= 0)
        ::close(std::exchange(m_descriptor, -1));
}

void removeIfLeft(const std::filesystem::path &path)
{
    constexpr std::chrono::minutes kUntouched{10};
    const UseLock lock = UseLock::take(path);
    std::error_code error;
    const auto touched = std::filesystem::last_write_time(path, error);
    if (lock.isHeld() && !error && std::filesystem::file_time_type::clock::now() - touched > kUntouched)
        std::filesystem::remove_all(path, error);
}

} // namespace core
