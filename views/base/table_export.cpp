// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/table_export.h"

#include "views/base/formatting.h"
#include "views/base/table_model.h"

#include <QFileInfo>

namespace views {

namespace {

// Tabs and line breaks would be cells and rows of their own.
QString tsvCell(QString text)
{
    return text.replace(QLatin1Char('\t'), QLatin1Char(' ')).replace(QLatin1Char('\n'), QLatin1Char(' '));
}

QString csvCell(const QString &text)
{
    const bool plain = !text.contains(QLatin1Char(',')) && !text.contains(QLatin1Char('"')) &&
                       !text.contains(QLatin1Char('\n')) && !text.contains(QLatin1Char('\r'));
    if (plain)
        return text;
    return QLatin1Char('"') + QString(text).replace(QLatin1Char('"'), QLatin1String("\"\"")) +
           QLatin1Char('"');
}

QString markdownCell(QString text)
{
    return text.replace(QLatin1Char('|'), QLatin1String("\\|")).replace(QLatin1Char('\n'), QLatin1Char(' '));
}

template <class Cell>
QString lines(const TableModel &model, const std::vector<int> &rows, Cell cell, const QString &separator,
              const QString &end)
{
    const TableSource &source = *model.source();
    const std::size_t count = source.columns().size();
    QString text;
    for (std::size_t c = 0; c < count; ++c)
        text += (c == 0 ? QString() : separator) + cell(source.columns()[c].key);
    for (const int row : rows) {
        text += end;
        for (std::size_t c = 0; c < count; ++c)
            text += (c == 0 ? QString() : separator) + cell(source.exactText(model.sourceRow(row), c));
    }
    return text;
}

QString markdown(const TableModel &model, const std::vector<int> &rows)
{
    QString text = lines(model, rows, markdownCell, QStringLiteral(" | "), QStringLiteral(" |\n| "));
    QString rule = QStringLiteral("|");
    for (const TableColumn &column : model.source()->columns())
        rule += column.isNumber ? QStringLiteral("---:|") : QStringLiteral("---|");
    const qsizetype head = text.indexOf(QLatin1Char('\n'));
    if (head < 0)
        return QStringLiteral("| ") + text + QStringLiteral(" |\n") + rule;
    return QStringLiteral("| ") + text.left(head + 1) + rule + text.mid(head) + QStringLiteral(" |");
}

QString json(const TableModel &model, const std::vector<int> &rows)
{
    core::Value list = core::Value::list();
    const TableSource &source = *model.source();
    for (const int row : rows) {
        core::Value object = core::Value::object();
        for (std::size_t c = 0; c < source.columns().size(); ++c)
            object.set(source.columns()[c].key.toStdString(), source.exactValue(model.sourceRow(row), c));
        list.append(std::move(object));
    }
    return fromView(core::toJson(list, 2));
}

} // namespace

core::Value TableSource::exactValue(std::size_t row, std::size_t column) const
{
    const QString text = exactText(row, column);
    if (text.isEmpty() || text == QStringLiteral("–"))
        return {};
    if (!columns()[column].isNumber)
        return text.toStdString();
    bool isInteger = false;
    if (const qlonglong integer = text.toLongLong(&isInteger); isInteger)
        return static_cast<long long>(integer);
    bool isNumber = false;
    const double number = text.toDouble(&isNumber);
    return isNumber ? core::Value(number) : core::Value(text.toStdString());
}

QString tableFormatName(TableFormat format)
{
    switch (format) {
    case TableFormat::tsv:
        return QStringLiteral("TSV");
    case TableFormat::csv:
        return QStringLiteral("CSV");
    case TableFormat::json:
        return QStringLiteral("JSON");
    case TableFormat::markdown:
        return QStringLiteral("Markdown");
    }
    return {};
}

QString tableFormatSuffix(TableFormat format)
{
    return format == TableFormat::markdown ? QStringLiteral("md") : tableFormatName(format).toLower();
}

std::optional<TableFormat> tableFormatOf(const QString &fileName)
{
    const QString suffix = QFileInfo(fileName).suffix().toLower();
    for (const TableFormat format : kTableFormats)
        if (suffix == tableFormatSuffix(format))
            return format;
    return std::nullopt;
}

QString tableText(const TableModel &model, const std::vector<int> &rows, TableFormat format)
{
    if (model.source() == nullptr)
        return {};
    switch (format) {
    case TableFormat::tsv:
        return lines(model, rows, tsvCell, QStringLiteral("\t"), QStringLiteral("\n"));
    case TableFormat::csv:
        return lines(model, rows, csvCell, QStringLiteral(","), QStringLiteral("\r\n")) +
               QStringLiteral("\r\n");
    case TableFormat::json:
        return json(model, rows);
    case TableFormat::markdown:
        return markdown(model, rows);
    }
    return {};
}

} // namespace views
