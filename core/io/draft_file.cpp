// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/draft_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace core {

Result<std::unique_ptr<DraftFile>> DraftFile::create(const std::filesystem::path &path)
{
    std::filesystem::path draft = path;
    draft += ".part";
    std::FILE *file = std::fopen(draft.c_str(), "wbe");
    if (file == nullptr)
        return Status(ErrorCode::unreadable, fmt::format("{}: {}", draft.string(), std::strerror(errno)));
    return std::unique_ptr<DraftFile>(new DraftFile(path, std::move(draft), file));
}

DraftFile::~DraftFile()
{
    if (m_file == nullptr)
        return;
    std::fclose(m_file);
    std::error_code ignored;
    std::filesystem::remove(m_draft, ignored);
}

Status DraftFile::failed() const
{
    return {ErrorCode::unreadable, fmt::format("{}: {}", m_path.string(), std::strerror(errno))};
}

Status DraftFile::write(std::string_view text)
{
    return write(std::as_bytes(std::span(text)));
}

Status DraftFile::write(std::span<const std::byte> bytes)
{
    return std::fwrite(bytes.data(), 1, bytes.size(), m_file) == bytes.size() ? Status::ok() : failed();
}

Status DraftFile::commit()
{
    std::FILE *file = m_file;
    m_file = nullptr;
    std::error_code error;
    if (std::fclose(file) != 0) {
        Status status = failed();
        std::filesystem::remove(m_draft, error);
        return status;
    }
    std::filesystem::rename(m_draft, m_path, error);
    if (error)
        return {ErrorCode::unreadable, fmt::format("{}: {}", m_path.string(), error.message())};
    return Status::ok();
}

} // namespace core
