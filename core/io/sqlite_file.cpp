// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/sqlite_file.h"

#include "core/io/file_room.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace core {
namespace {

// SQLite gives up on long paths with words that do not say so. Empty when PATH is none.
std::string tooLongText(const std::filesystem::path &path)
{
    const sqlite3_vfs *const system = sqlite3_vfs_find(nullptr);
    std::error_code ignored;
    const std::size_t size = std::filesystem::absolute(path, ignored).string().size();
    if (system == nullptr || size <= static_cast<std::size_t>(system->mxPathname))
        return {};
    return fmt::format("its path is too long for SQLite: {} bytes while it is written, {} at most", size,
                       system->mxPathname);
}

// The error number of a file that cannot become longer; 0: it can.
int whyNoLonger(const std::filesystem::path &path)
{
    constexpr std::uint64_t kMore = 65536; // the largest page
    struct stat info = {};
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0)
        return errno;
    FileRoom room;
    const int error = ::fstat(descriptor, &info) == 0
                          ? room.reach(descriptor, static_cast<std::uint64_t>(info.st_size) + kMore)
                          : errno;
    room.giveBack(descriptor);
    ::close(descriptor);
    return error;
}

} // namespace

void SqlCell::bind(sqlite3_stmt *statement, int position) const
{
    if (const auto *integer = std::get_if<std::int64_t>(&m_content))
        sqlite3_bind_int64(statement, position, *integer);
    else if (const auto *real = std::get_if<double>(&m_content))
        sqlite3_bind_double(statement, position, *real);
    else if (const auto *text = std::get_if<std::string_view>(&m_content))
        sqlite3_bind_text64(statement, position, text->data() == nullptr ? "" : text->data(), text->size(),
                            nullptr, SQLITE_UTF8); // nullptr: the text stays where it is
    else
        sqlite3_bind_null(statement, position);
}

Result<std::unique_ptr<SqliteFile>> SqliteFile::create(const std::filesystem::path &path)
{
    auto name = DraftName::take(path);
    if (!name)
        return name.status();
    std::unique_ptr<SqliteFile> file(new SqliteFile(std::move(*name)));
    // Without locks of its own: the draft is nobody else's, and on a network file system those would meet
    // ours.
    if (sqlite3_open_v2(file->m_name.draft().c_str(), &file->m_database,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        "unix-none") != SQLITE_OK) {
        const std::string tooLong = tooLongText(file->m_name.draft());
        return tooLong.empty()
                   ? file->failed()
                   : file->failed(tooLong).withRemedy("write it to a shorter path and move it from there");
    }
    // The file has its name only when it is whole: no journal is needed.
    for (const char *statement : {"PRAGMA journal_mode=OFF", "PRAGMA synchronous=OFF", "BEGIN"})
        if (Status status = file->execute(statement); !status)
            return status;
    return file;
}

SqliteFile::~SqliteFile()
{
    if (m_database != nullptr)
        sqlite3_close_v2(m_database);
}

Status SqliteFile::failed() const
{
    if (m_database == nullptr)
        return failed("out of memory");
    // A full disk has a word of its own; the rest is "disk I/O error", whatever the cause.
    const int code = sqlite3_errcode(m_database);
    const int error = code == SQLITE_FULL ? ENOSPC : code == SQLITE_IOERR ? whyNoLonger(m_name.draft()) : 0;
    if (error != 0)
        return writeError(fmt::format("{} cannot be written", m_name.target().string()), error);
    const int reason = code == SQLITE_CANTOPEN ? sqlite3_system_errno(m_database) : 0;
    return failed(reason != 0 ? std::strerror(reason) : sqlite3_errmsg(m_database));
}

Status SqliteFile::failed(std::string_view why) const
{
    return {ErrorCode::unreadable, fmt::format("{} cannot be written: {}", m_name.target().string(), why)};
}

Status SqliteFile::execute(const char *statement)
{
    return sqlite3_exec(m_database, statement, nullptr, nullptr, nullptr) == SQLITE_OK ? Status::ok()
                                                                                       : failed();
}

Status SqliteFile::commit()
{
    if (Status status = execute("COMMIT"); !status)
        return status;
    if (sqlite3_close(m_database) != SQLITE_OK)
        return failed();
    m_database = nullptr;
    return m_name.commit();
}

SqlInsert::SqlInsert(SqliteFile &file, const std::string &table, int columns) : m_file(file)
{
    std::string text = "INSERT INTO " + table + " VALUES(?";
    for (int i = 1; i < columns; ++i)
        text += ",?";
    text += ')';
    // Without a statement the first row says what is wrong.
    sqlite3_prepare_v2(file.m_database, text.c_str(), -1, &m_statement, nullptr);
}

SqlInsert::~SqlInsert()
{
    sqlite3_finalize(m_statement);
}

Status SqlInsert::row(std::initializer_list<SqlCell> cells)
{
    if (m_statement == nullptr)
        return m_file.failed();
    int position = 0;
    for (const SqlCell &cell : cells)
        cell.bind(m_statement, ++position);
    const bool done = sqlite3_step(m_statement) == SQLITE_DONE;
    Status status = done ? Status::ok() : m_file.failed();
    sqlite3_reset(m_statement);
    return status;
}

} // namespace core
