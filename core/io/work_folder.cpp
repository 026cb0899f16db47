// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/work_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

namespace core {
namespace {

void removeLeftFolders(const std::filesystem::path &parent, const std::string &beginning)
{
    std::error_code error;
    std::filesystem::directory_iterator entry(parent, error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
        if (entry->path().filename().string().starts_with(beginning))
            removeIfLeft(entry->path());
}

} // namespace

Result<WorkFolder> WorkFolder::make(std::string_view purpose)
{
    std::error_code error;
    const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
    if (error)
        return Status(ErrorCode::unreadable, "no temporary folder can be made: TMPDIR names none");
    const std::string beginning = "opscope-" + std::string(purpose) + "-";
    removeLeftFolders(parent, beginning);
    std::string pattern = (parent / (beginning + "XXXXXX")).string();
    if (::mkdtemp(pattern.data()) == nullptr)
        return Status(ErrorCode::unreadable,
                      "no temporary folder can be made in " + parent.string() + ": " + std::strerror(errno));
    WorkFolder folder;
    folder.m_path = pattern;
    folder.m_lock = UseLock::take(folder.m_path);
    return folder;
}

WorkFolder::WorkFolder(WorkFolder &&other) noexcept
    : m_path(std::exchange(other.m_path, {})), m_lock(std::move(other.m_lock))
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
}

} // namespace core
