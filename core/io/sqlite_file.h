// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/io/draft_file.h"

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

struct sqlite3;
struct sqlite3_stmt;

namespace core {

// A value of a column; nothing is NULL. Texts are read when the row is written.
class SqlCell
{
public:
    SqlCell() = default;
    explicit SqlCell(std::int64_t value) : m_content(value) {}
    explicit SqlCell(double value) : m_content(value) {}
    explicit SqlCell(std::string_view value) : m_content(value) {}
    explicit SqlCell(const char *value) : m_content(std::string_view(value)) {}
    explicit SqlCell(const std::string &value) : m_content(std::string_view(value)) {}
    explicit SqlCell(std::string &&) = delete;

    // Binds it to parameter POSITION (from 1).
    void bind(sqlite3_stmt *statement, int position) const;

private:
    std::variant<std::monostate, std::int64_t, double, std::string_view> m_content;
};

// A new SQLite database, written in one transaction under another name beside PATH; takes its name at
// commit() and is removed when it is destroyed before. Owned by one thread.
class SqliteFile
{
public:
    static Result<std::unique_ptr<SqliteFile>> create(const std::filesystem::path &path);
    ~SqliteFile();
    SqliteFile(const SqliteFile &) = delete;
    SqliteFile &operator=(const SqliteFile &) = delete;

    Status execute(const char *statement);
    Status commit();

private:
    friend class SqlInsert;
    explicit SqliteFile(DraftName name) : m_name(std::move(name)) {}
    Status failed() const; // with the library's words
    Status failed(std::string_view why) const;

    DraftName m_name;
    sqlite3 *m_database = nullptr;
};

// Adds rows to one table. Lives shorter than its file.
class SqlInsert
{
public:
    // COLUMNS: how many the table has.
    SqlInsert(SqliteFile &file, const std::string &table, int columns);
    ~SqlInsert();
    SqlInsert(const SqlInsert &) = delete;
    SqlInsert &operator=(const SqlInsert &) = delete;

    // As many cells as the table has columns.
    Status row(std::initializer_list<SqlCell> cells);

private:
    SqliteFile &m_file;
    sqlite3_stmt *m_statement = nullptr;
};

} // namespace core
