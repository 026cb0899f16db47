// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/work_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace core {
namespace {

// Locked for this process; -1 when it is in use, or somebody else's.
int lockFolder(const std::filesystem::path &folder)
{
    const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat info = {};
    if (descriptor < 0)
        return -1;
    if (::fstat(descriptor, &info) == 0 && info.st_uid == ::geteuid() &&
        ::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
        return descriptor;
    ::close(descriptor);
    return -1;
}

void removeLeft(const std::filesystem::path &parent, const std::string &beginning)
{
    std::error_code error;
    std::filesystem::directory_iterator entry(parent, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        if (!entry->path().filename().string().starts_with(beginning))
            continue;
        const int lock = lockFolder(entry->path());
        if (lock < 0)
            continue;
        // One that was made this moment is not locked yet.
        struct stat info = {};
        constexpr time_t kNew = 10;
        std::error_code ignored;
        if (::fstat(lock, &info) == 0 && ::time(nullptr) - info.st_mtime > kNew)
            std::filesystem::remove_all(entry->path(), ignored);
        ::close(lock);
    }
}

} // namespace

Result<WorkFolder> WorkFolder::make(std::string_view purpose)
{
    std::error_code error;
    const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
    if (error)
        return Status(ErrorCode::unreadable, "no temporary folder can be made: TMPDIR names none");
    const std::string beginning = "opscope-" + std::string(purpose) + "-";
    removeLeft(parent, beginning);
    std::string pattern = (parent / (beginning + "XXXXXX")).string();
    if (::mkdtemp(pattern.data()) == nullptr)
        return Status(ErrorCode::unreadable,
                      "no temporary folder can be made in " + parent.string() + ": " + std::strerror(errno));
    WorkFolder folder;
    folder.m_path = pattern;
    folder.m_lock = lockFolder(folder.m_path);
    return folder;
}

WorkFolder::WorkFolder(WorkFolder &&other) noexcept
    : m_path(std::exchange(other.m_path, {})), m_lock(std::exchange(other.m_lock, -1))
{
}

WorkFolder &WorkFolder::operator=(WorkFolder &&other) noexcept
{
    std::swap(m_path, other.m_path);
    std::swap(m_lock, other.m_lock);
    return *this;
}

WorkFolder::~WorkFolder()
{
    std::error_code ignored;
    if (!m_path.empty())
        std::filesystem::remove_all(m_path, ignored);
    if (m_lock >= 0)
        ::close(m_lock);
}

} // namespace core
