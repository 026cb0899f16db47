// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/draft_file.h"

#include "core/io/file_room.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace core {
namespace {

Status cannotWrite(const std::filesystem::path &path, std::string_view why)
{
    return {ErrorCode::unreadable, fmt::format("{} cannot be written: {}", path.string(), why)};
}

std::string_view typeWords(std::filesystem::file_type type)
{
    using std::filesystem::file_type;
    switch (type) {
    case file_type::directory:
        return "it is a folder";
    case file_type::fifo:
        return "it is a named pipe";
    case file_type::socket:
        return "it is a socket";
    case file_type::block:
    case file_type::character:
        return "it is a device";
    default:
        return "it is no regular file";
    }
}

std::filesystem::path folderOf(const std::filesystem::path &path)
{
    const std::filesystem::path folder = path.parent_path();
    return folder.empty() ? std::filesystem::path(".") : folder;
}

// The name of drafts without their process, number and ending.
std::filesystem::path draftStem(const std::filesystem::path &target)
{
    constexpr std::size_t kLongest = 200; // bytes of a name that still takes the suffix
    const std::string own = target.filename().string();
    return target.parent_path() / (own.size() <= kLongest ? own : ".opscope");
}

// Whether NAME is "STEM.PROCESS-NUMBER.part", which is its first LENGTH bytes, or what SQLite puts beside it.
bool isDraft(std::string_view name, std::string_view stem, std::size_t &length)
{
    constexpr std::string_view kEnding = ".part";
    const std::size_t ending = name.starts_with(stem) ? name.find(kEnding, stem.size()) : name.npos;
    if (ending == name.npos)
        return false;
    length = ending + kEnding.size();
    const std::string_view numbers = name.substr(stem.size(), ending - stem.size());
    const std::size_t dash = numbers.find('-');
    return numbers.starts_with('.') && dash != numbers.npos && dash > 1 &&
           numbers.find_first_not_of("0123456789-", 1) == numbers.npos;
}

// A program that was killed could not remove its draft: the next one that writes the same file does.
void removeLeftDrafts(const std::filesystem::path &target)
{
    const std::string stem = draftStem(target).filename().string();
    std::error_code error;
    std::filesystem::directory_iterator entry(folderOf(target), error);
    for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        std::size_t length = 0;
        if (!isDraft(name, stem, length))
            continue;
        // The draft is what is locked: what stands beside it is in use as long as it is there.
        std::error_code ignored;
        const bool isBeside = length < name.size();
        if (!isBeside || !std::filesystem::exists(folderOf(target) / name.substr(0, length), ignored))
            removeIfLeft(entry->path());
    }
}

// Makes an empty file beside TARGET under a name that was free; the name goes into DRAFT. 0 or the error
// number.
int makeDraft(const std::filesystem::path &target, std::string &draft)
{
    constexpr int kTries = 10000;
    const std::filesystem::path stem = draftStem(target);
    for (int i = 0; i < kTries; ++i) {
        draft = fmt::format("{}.{}-{}.part", stem.string(), ::getpid(), i);
        const int descriptor = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0) {
            ::close(descriptor);
            return 0;
        }
        if (errno != EEXIST)
            return errno;
    }
    return EEXIST;
}

// What nobody else may read stays so when it is replaced. A file system without permissions has nothing to
// keep.
void keepAccess(const std::filesystem::path &target, const std::string &draft)
{
    std::error_code ignored;
    const std::filesystem::file_status there = std::filesystem::status(target, ignored);
    if (std::filesystem::is_regular_file(there))
        std::filesystem::permissions(draft, there.permissions() & std::filesystem::perms::all, ignored);
}

// A bundle is a folder: all in it is read.
bool isFileOf(const std::filesystem::path &out, const std::filesystem::path &folder)
{
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error) || !std::filesystem::exists(out, error))
        return false;
    const std::filesystem::path inside = std::filesystem::canonical(folder, error);
    const std::filesystem::path file = error ? out : std::filesystem::canonical(out, error);
    return !error &&
           std::mismatch(inside.begin(), inside.end(), file.begin(), file.end()).first == inside.end();
}

// The file that PATH stands for: what a link names need not be there yet.
Result<std::filesystem::path> followLinks(std::filesystem::path path)
{
    constexpr int kMostLinks = 40; // as many as the system follows
    std::error_code error;
    for (int i = 0; i < kMostLinks; ++i) {
        if (!std::filesystem::is_symlink(std::filesystem::symlink_status(path, error)))
            return path;
        const std::filesystem::path link = std::filesystem::read_symlink(path, error);
        if (error)
            return cannotWrite(path, error.message());
        path = path.parent_path() / link; // an absolute one replaces what stands before it
    }
    return cannotWrite(path, std::strerror(ELOOP));
}

} // namespace

Status checkNotRead(const std::filesystem::path &out, const std::filesystem::path &in)
{
    std::error_code ignored;
    const bool isSame = std::filesystem::equivalent(out, in, ignored);
    if (!isSame && !isFileOf(out, in))
        return Status::ok();
    return Status(ErrorCode::invalidArgument,
                  fmt::format("the output {} is {}{}, which is read", out.string(),
                              isSame ? "" : "a file of ", in.string()))
        .withRemedy("give the output another name");
}

Status checkWritable(const std::filesystem::path &path)
{
    std::error_code error;
    if (path.empty())
        return {ErrorCode::invalidArgument, "the name of the file to write is empty"};
    if (path.is_relative() && std::filesystem::current_path(error).empty())
        return cannotWrite(path, "the working folder is no longer there");
    const auto status = std::filesystem::status(path, error);
    if (std::filesystem::exists(status)) {
        if (!std::filesystem::is_regular_file(status))
            return cannotWrite(path, typeWords(status.type()));
        return ::access(path.c_str(), W_OK) == 0 ? Status::ok() : cannotWrite(path, std::strerror(errno));
    }
    if (status.type() == std::filesystem::file_type::none)
        return cannotWrite(path, error.message());
    const auto folder = std::filesystem::status(folderOf(path), error);
    if (!std::filesystem::is_directory(folder))
        return cannotWrite(path, std::filesystem::exists(folder)
                                     ? fmt::format("{} is no folder", folderOf(path).string())
                                     : fmt::format("there is no folder {}", folderOf(path).string()));
    return Status::ok();
}

Result<DraftName> DraftName::take(const std::filesystem::path &path)
{
    if (Status status = checkWritable(path); !status)
        return status;
    auto followed = followLinks(path);
    if (!followed)
        return followed.status();
    std::filesystem::path target = *std::move(followed);
    removeLeftDrafts(target);
    std::string draft;
    if (const int failed = makeDraft(target, draft); failed != 0)
        return cannotWrite(path, std::strerror(failed));
    UseLock lock = UseLock::take(draft);
    keepAccess(target, draft);
    return DraftName(std::move(target), std::move(draft), std::move(lock));
}

DraftName::DraftName(DraftName &&other) noexcept
    : m_path(std::move(other.m_path)), m_draft(std::move(other.m_draft)), m_lock(std::move(other.m_lock))
{
    other.m_draft.clear();
}

DraftName::~DraftName()
{
    std::error_code ignored;
    if (!m_draft.empty())
        std::filesystem::remove(m_draft, ignored);
}

Status DraftName::named(const Status &status) const
{
    std::string message = status.message();
    for (const std::string &draft : {m_draft.string(), m_draft.filename().string()})
        for (std::size_t at = message.find(draft); !draft.empty() && at != std::string::npos;
             at = message.find(draft, at + 1))
            message.replace(at, draft.size(), m_path.string());
    if (status.isOk() || message == status.message())
        return status;
    return Status(status.code(), std::move(message)).withDetail(status.detail()).withRemedy(status.remedy());
}

Status DraftName::commit()
{
    std::error_code error;
    std::filesystem::rename(m_draft, m_path, error);
    if (error)
        return cannotWrite(m_path, error.message());
    m_draft.clear();
    m_lock.release();
    return Status::ok();
}

Result<std::unique_ptr<DraftFile>> DraftFile::create(const std::filesystem::path &path)
{
    auto name = DraftName::take(path);
    if (!name)
        return name.status();
    std::FILE *file = std::fopen(name->draft().c_str(), "wbe");
    if (file == nullptr)
        return cannotWrite(path, std::strerror(errno));
    return std::unique_ptr<DraftFile>(new DraftFile(std::move(*name), file));
}

DraftFile::~DraftFile()
{
    if (m_file != nullptr)
        std::fclose(m_file);
}

Status DraftFile::failed() const
{
    return writeError(fmt::format("{} cannot be written", m_name.target().string()), errno);
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
    if (std::fclose(file) != 0)
        return failed();
    return m_name.commit();
}

} // namespace core
