// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/file_room.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace core {
namespace {

constexpr std::uint64_t kAhead = std::uint64_t(1) << 20U; // so that not every entry asks the file system

// 0 or the error number.
int setAside(int descriptor, std::uint64_t from, std::uint64_t to)
{
    for (;;) {
        if (::fallocate(descriptor, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(from),
                        static_cast<off_t>(to - from)) == 0)
            return 0;
        if (errno != EINTR)
            return errno;
    }
}

} // namespace

int FileRoom::reach(int descriptor, std::uint64_t end)
{
    // What is set aside is not always held against this limit.
    rlimit limit = {};
    if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && end > limit.rlim_cur)
        return EFBIG;
    if (end <= m_end || !m_setsAside)
        return 0;
    int error = setAside(descriptor, m_end, end + kAhead);
    if (error == 0) {
        m_end = end + kAhead;
        return 0;
    }
    if (isNoRoom(error))
        error = setAside(descriptor, m_end, end);
    if (error == 0)
        m_end = end;
    else if (!isNoRoom(error))
        m_setsAside = false;
    return isNoRoom(error) ? error : 0;
}

void FileRoom::giveBack(int descriptor)
{
    struct stat info = {};
    if (::fstat(descriptor, &info) != 0 || m_end <= static_cast<std::uint64_t>(info.st_size))
        return;
    // Where this fails the blocks stay with the file, which is as good as without.
    if (::ftruncate(descriptor, info.st_size) == 0)
        m_end = static_cast<std::uint64_t>(info.st_size);
}

} // namespace core
