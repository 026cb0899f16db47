// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "views/base/table_export.h"

#include <QString>

namespace views {
class TableView;
} // namespace views

namespace app {

class Settings;

// Asks where the rows of TABLE that are shown go (TSV, CSV, JSON or Markdown by the file's ending) and writes
// them. Does not wait.
void askTableFile(views::TableView &table, Settings &settings);

// Writes TEXT as UTF-8; the file appears whole or not at all.
core::Status writeTextFile(const QString &path, const QString &text);

} // namespace app
