// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

namespace core {

// A file that takes its name when it is complete: written under another name beside it, renamed by commit(),
// removed when it is destroyed before. Owned by one thread.
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
    DraftFile(std::filesystem::path path, std::filesystem::path draft, std::FILE *file)
        : m_path(std::move(path)), m_draft(std::move(draft)), m_file(file)
    {
    }
    Status failed() const;

    std::filesystem::path m_path;
    std::filesystem::path m_draft;
    std::FILE *m_file;
};

} // namespace core
