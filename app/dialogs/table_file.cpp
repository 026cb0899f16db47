// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dialogs/table_file.h"

#include "app/settings.h"
#include "views/base/formatting.h"
#include "views/base/table_view.h"

#include <QCoreApplication>
#include <QFileDialog>
#include <QMessageBox>
#include <QSaveFile>

namespace app {

namespace {

QString tableFileWords(const char *text)
{
    return QCoreApplication::translate("app::TableFile", text);
}

QString suggestedName(const views::TableView &table)
{
    QString name = table.stateKey().isEmpty() ? QStringLiteral("table") : table.stateKey();
    return name.remove(QStringLiteral("report/")).replace(QLatin1Char('/'), QLatin1Char('-')) +
           QStringLiteral(".csv");
}

void save(views::TableView &table, const QString &path)
{
    const views::TableFormat format = views::tableFormatOf(path).value_or(views::TableFormat::csv);
    const core::Status status = writeTextFile(path, table.textOf(format, false));
    if (status)
        return;
    auto *message = new QMessageBox(QMessageBox::Warning, tableFileWords("The table was not saved"),
                                    views::fromView(status.message()), QMessageBox::Ok, &table);
    message->setAttribute(Qt::WA_DeleteOnClose);
    message->open();
}

} // namespace

core::Status writeTextFile(const QString &path, const QString &text)
{
    QSaveFile file(path);
    const QByteArray bytes = text.toUtf8();
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit())
        return core::Status(core::ErrorCode::unreadable,
                            path.toStdString() + ": " + file.errorString().toStdString());
    return core::Status::ok();
}

void askTableFile(views::TableView &table, Settings &settings)
{
    auto *dialog = new QFileDialog(&table, tableFileWords("Save the table"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    QStringList filters;
    for (const views::TableFormat format : {views::TableFormat::csv, views::TableFormat::tsv,
                                            views::TableFormat::json, views::TableFormat::markdown})
        filters.push_back(QStringLiteral("%1 (*.%2)")
                              .arg(views::tableFormatName(format), views::tableFormatSuffix(format)));
    dialog->setNameFilters(filters);
    dialog->setDefaultSuffix(QStringLiteral("csv"));
    const QVariant folder = settings.value(QStringLiteral("window/saveFolder"));
    if (folder.isValid())
        dialog->setDirectory(folder.toString());
    dialog->selectFile(suggestedName(table));
    QObject::connect(dialog, &QFileDialog::filterSelected, dialog, [dialog](const QString &filter) {
        dialog->setDefaultSuffix(filter.section(QStringLiteral("*."), 1).chopped(1));
    });
    QObject::connect(
        dialog, &QFileDialog::fileSelected, &table, [&table, dialog, &settings](const QString &path) {
            settings.setValue(QStringLiteral("window/saveFolder"), dialog->directory().absolutePath());
            save(table, path);
        });
    dialog->open();
}

} // namespace app
