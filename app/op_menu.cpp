// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/op_menu.h"

#include "views/base/formatting.h"

#include <QCoreApplication>
#include <QMenu>

#include <algorithm>

namespace app {

namespace {

constexpr std::size_t kMostListed = 24;

QString menuWords(const char *text)
{
    return QCoreApplication::translate("app::OpMenu", text);
}

void addOps(QMenu &menu, const QString &title, std::span<const core::OpId> ops,
            views::TraceSelection &selection)
{
    const core::Trace &trace = *selection.trace();
    QMenu *list = menu.addMenu(title.arg(views::countText(ops.size())));
    list->setEnabled(!ops.empty());
    for (std::size_t i = 0; i < std::min(ops.size(), kMostListed); ++i) {
        // Labels are data: an ampersand in them is no mnemonic.
        const QString label =
            views::fromView(trace.publicLabel(ops[i])).replace(QLatin1Char('&'), QStringLiteral("&&"));
        QAction *action = list->addAction(label);
        QObject::connect(action, &QAction::triggered, &selection,
                         [&selection, op = ops[i]] { selection.activate(views::OpItem{op}); });
    }
    if (ops.size() > kMostListed)
        list->addAction(menuWords("and %1 more").arg(views::countText(ops.size() - kMostListed)))
            ->setEnabled(false);
}

} // namespace

void fillOpMenu(QMenu &menu, views::TraceSelection &selection, const Actions &actions)
{
    if (!selection.trace())
        return;
    const core::OpId op = selection.op();
    if (!op.isValid())
        return;
    const core::Trace &trace = *selection.trace();
    addOps(menu, menuWords("Inputs (%1)"), trace.parents(op), selection);
    addOps(menu, menuWords("Consumers (%1)"), trace.children(op), selection);
    menu.addSeparator();
    menu.addActions({actions.reveal, actions.path, actions.isolate, actions.dim, actions.showEverything});
    menu.addSeparator();
    menu.addActions({actions.showLineage, actions.showTensor, actions.showSource, actions.showDetails});
    menu.addSeparator();
    menu.addActions({actions.copyName, actions.copyRow});
}

} // namespace app
