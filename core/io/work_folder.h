// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/io/use_lock.h"

#include <filesystem>
#include <string_view>

namespace core {

// A folder of one process for files that nobody is to keep; removed with all in it when this is destroyed. It
// is locked as long as it is in use, so that folders of programs that were killed are told from others': the
// next one that makes a folder removes them. Owned by one thread.
class WorkFolder
{
public:
    // In the folder for temporary files, as "opscope-PURPOSE-..."; unreadable when there is none or it takes
    // none.
    static Result<WorkFolder> make(std::string_view purpose);
    WorkFolder() = default;
    ~WorkFolder();
    WorkFolder(WorkFolder &&other) noexcept;
    WorkFolder &operator=(WorkFolder &&other) noexcept;

    const std::filesystem::path &path() const { return m_path; } // empty: there is none
    bool isMade() const { return !m_path.empty(); }

private:
    std::filesystem::path m_path;
    UseLock m_lock;
};

} // namespace core
