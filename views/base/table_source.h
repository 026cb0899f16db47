// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/value.h"
#include "core/draw/color_token.h"
#include "views/base/icon.h"

#include <QString>

#include <optional>
#include <string_view>
#include <vector>

namespace views {

struct TableColumn
{
    QString key;   // stable name for settings and copies
    QString title; // as shown
    int width = 120;
    bool isNumber = false; // sorted by number(), shown right-aligned
    bool isMono = true;
    bool takesRest = false; // grows and shrinks with the table
};

// How one cell is painted beside its text.
struct CellLook
{
    core::ColorToken tone = core::ColorToken::text;
    std::optional<IconName> icon;
    core::ColorToken iconTone = core::ColorToken::text;
    bool isStrong = false;
};

// The rows behind a table: cheap functions of a row number, asked for what is visible only. Sorting asks for
// number() or key() of every row once. Immutable while a model shows it; a new state is a new source.
class TableSource
{
public:
    virtual ~TableSource() = default;

    virtual const std::vector<TableColumn> &columns() const = 0;
    virtual std::size_t rowCount() const = 0;
    virtual QString text(std::size_t row, std::size_t column) const = 0;
    // For number columns; NaN sorts last both ways ("not known").
    virtual double number(std::size_t row, std::size_t column) const = 0;
    // For text columns; valid as long as the source.
    virtual std::string_view key(std::size_t row, std::size_t column) const = 0;
    virtual CellLook look(std::size_t, std::size_t) const { return {}; }
    // What Ctrl+C copies: full precision, C locale.
    virtual QString exactText(std::size_t row, std::size_t column) const { return text(row, column); }
    // The cell as data: what JSON gets. By itself a number where the exact text is one, null where it is
    // empty, else the text.
    virtual core::Value exactValue(std::size_t row, std::size_t column) const;
};

} // namespace views
