// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/tlspec_files.h"

#include "core/io/zip_reader.h"

#include <fmt/format.h>

namespace core {
namespace {

constexpr std::size_t kMostFiles = 4'000'000;

class DirectoryFiles final : public TlspecFiles
{
public:
    explicit DirectoryFiles(std::filesystem::path path) : m_path(std::move(path)), m_name(nameOf(m_path)) {}

    const std::string &name() const override { return m_name; }
    bool contains(std::string_view name) const override { return m_files.count(std::string(name)) != 0; }

    Result<std::shared_ptr<const ByteSource>> open(std::string_view name) const override
    {
        if (!isSafeRelativePath(name))
            return Status(ErrorCode::corrupt, fmt::format("{}: file name {} leaves the bundle", m_name, name))
                .withDetail("unsafe_path");
        std::error_code error;
        const std::filesystem::path path = m_path / name;
        if (std::filesystem::is_symlink(path, error))
            return linkFound(name);
        return openFile(path);
    }

    // The bundle's own level and its blobs; other directories (pictures) are of no interest.
    Status list()
    {
        if (Status status = listOne(""); !status)
            return status;
        return contains("blobs") ? listOne("blobs/") : Status::ok();
    }

private:
    static std::string nameOf(const std::filesystem::path &path)
    {
        const auto name = path.filename().string();
        return name.empty() ? path.parent_path().filename().string() : name;
    }

    Status linkFound(std::string_view name) const
    {
        return Status(
                   ErrorCode::corrupt,
                   fmt::format("{}: {} is a symbolic link, which could lead out of the bundle", m_name, name))
            .withDetail("link");
    }

    Status listOne(const std::string &prefix)
    {
        std::error_code error;
        for (std::filesystem::directory_iterator at(m_path / prefix, error), end; !error && at != end;
             at.increment(error)) {
            std::string name = prefix + at->path().filename().string();
            if (at->is_symlink(error))
                return linkFound(name);
            if (m_files.size() >= kMostFiles)
                return Status(ErrorCode::limitExceeded,
                              fmt::format("{}: more than {} files", m_name, kMostFiles))
                    .withDetail("too_many_entries");
            m_files.insert(std::move(name));
        }
        if (error)
            return {ErrorCode::unreadable, fmt::format("{}/{}: {}", m_name, prefix, error.message())};
        return Status::ok();
    }

    std::filesystem::path m_path;
    std::string m_name;
    std::unordered_set<std::string> m_files;
};

class ZipFiles final : public TlspecFiles
{
public:
    ZipFiles(std::shared_ptr<const ZipArchive> archive, std::string prefix)
        : m_archive(std::move(archive)), m_prefix(std::move(prefix))
    {
    }

    const std::string &name() const override { return m_archive->fileName(); }
    bool contains(std::string_view name) const override { return find(name) != nullptr; }

    Result<std::shared_ptr<const ByteSource>> open(std::string_view name) const override
    {
        const ZipEntry *entry = find(name);
        if (entry == nullptr)
            return Status(ErrorCode::notFound, fmt::format("{}: no entry {}{}", this->name(), m_prefix, name))
                .withDetail("missing_record");
        return m_archive->open(*entry);
    }

private:
    const ZipEntry *find(std::string_view name) const
    {
        return m_archive->find(m_prefix + std::string(name));
    }

    std::shared_ptr<const ZipArchive> m_archive;
    std::string m_prefix;
};

} // namespace

Result<std::shared_ptr<const TlspecFiles>> openTlspecDirectory(const std::filesystem::path &path)
{
    auto files = std::make_shared<DirectoryFiles>(path);
    if (Status status = files->list(); !status)
        return status;
    return std::shared_ptr<const TlspecFiles>(std::move(files));
}

Result<std::shared_ptr<const TlspecFiles>> openTlspecZip(std::shared_ptr<const ByteSource> source,
                                                         LoadReport &report)
{
    auto archive = ZipArchive::open(std::move(source), report);
    if (!archive)
        return archive.status();
    std::string prefix;
    if ((*archive)->find("manifest.json") == nullptr && !(*archive)->entries().empty()) {
        const std::string_view first = (*archive)->entries().front().name;
        prefix = first.substr(0, first.find('/') + 1);
    }
    if ((*archive)->find(prefix + "manifest.json") == nullptr)
        return Status(
                   ErrorCode::unknownFormat,
                   fmt::format("{}: a zip archive without a bundle's manifest.json", (*archive)->fileName()))
            .withDetail("unknown_format");
    return std::shared_ptr<const TlspecFiles>(
        std::make_shared<ZipFiles>(std::move(*archive), std::move(prefix)));
}

} // namespace core
