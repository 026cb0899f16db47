// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <array>
#include <optional>
#include <vector>

namespace views {

class TableModel;

enum class TableFormat { tsv, csv, json, markdown };
inline constexpr std::array kTableFormats = {TableFormat::tsv, TableFormat::csv, TableFormat::json,
                                             TableFormat::markdown};

QString tableFormatName(TableFormat format);   // "TSV"
QString tableFormatSuffix(TableFormat format); // "tsv"
// By the ending of a file's name; nullopt for another one.
std::optional<TableFormat> tableFormatOf(const QString &fileName);

// ROWS (positions in the view) of MODEL in full precision and C locale, with the columns' stable names: TSV
// and CSV (RFC 4180) with a header line, JSON as a list of objects, Markdown as a table. Columns the user hid
// are in it: hiding is a matter of the screen.
QString tableText(const TableModel &model, const std::vector<int> &rows, TableFormat format);

} // namespace views
