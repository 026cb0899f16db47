// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dialogs/help_dialog.h"

#include "views/base/widgets.h"

#include <QAction>
#include <QCoreApplication>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

namespace app {

namespace {

constexpr QSize kSize(560, 520);

} // namespace

HelpRows shortcutRows(const std::vector<QAction *> &actions)
{
    HelpRows rows;
    for (const QAction *action : actions)
        if (!action->shortcut().isEmpty())
            rows.emplace_back(action->text().remove(QLatin1Char('&')),
                              action->shortcut().toString(QKeySequence::NativeText));
    return rows;
}

HelpRows aboutRows()
{
    return {
        {HelpDialog::tr("Program"), HelpDialog::tr("opscope, an inspector of PyTorch runs")},
        {HelpDialog::tr("Version"), QCoreApplication::applicationVersion()},
        {HelpDialog::tr("Licence"), QStringLiteral("GPL-3.0-or-later")},
        {HelpDialog::tr("Qt"), QStringLiteral("%1, LGPL-3.0").arg(QLatin1String(qVersion()))},
        {HelpDialog::tr("Plots"), QStringLiteral("QCustomPlot, GPL-3.0")},
        {HelpDialog::tr("Source view"), QStringLiteral("QScintilla, GPL-3.0")},
        {HelpDialog::tr("Layout"), QStringLiteral("Graphviz, EPL-1.0, in a process of its own")},
        {HelpDialog::tr("Running models"), QStringLiteral("LibTorch, BSD-3-Clause, in a process of its own")},
        {HelpDialog::tr("Fonts"), QStringLiteral("Inter and JetBrains Mono, OFL-1.1")},
        {HelpDialog::tr("Network"), HelpDialog::tr("none: nothing leaves this computer")}};
}

HelpDialog::HelpDialog(const QString &title, const HelpRows &rows, QWidget *parent) : QDialog(parent)
{
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(title);
    resize(kSize);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(20, 16, 20, 14);
    column->addWidget(views::makeLabel(title, "title", this));
    auto *content = new QWidget;
    auto *grid = new QGridLayout(content);
    grid->setVerticalSpacing(6);
    grid->setHorizontalSpacing(20);
    int row = 0;
    for (const auto &[name, value] : rows) {
        grid->addWidget(views::makeLabel(name, "second", content), row, 0);
        grid->addWidget(views::makeLabel(value, "monoDense", content), row++, 1);
    }
    grid->setColumnStretch(1, 1);
    grid->setRowStretch(row, 1);
    auto *scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setWidget(content);
    scroll->setAccessibleName(title);
    column->addWidget(scroll, 1);
    QPushButton *close = views::makeButton(tr("Close"), "", this);
    close->setDefault(true);
    connect(close, &QPushButton::clicked, this, &QDialog::accept);
    column->addWidget(close, 0, Qt::AlignRight);
}

} // namespace app
