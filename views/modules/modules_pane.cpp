// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/modules/modules_pane.h"

#include "views/base/formatting.h"
#include "views/base/trace_facts.h"
#include "views/base/widgets.h"
#include "views/modules/module_delegate.h"
#include "views/modules/module_tree_view.h"

#include <QScopedValueRollback>
#include <QToolButton>
#include <QVBoxLayout>

namespace views {

ModulesPane::ModulesPane(const PaneContext &context, QWidget *parent)
    : Pane(context, QStringLiteral("modules"), tr("Modules"), parent),
      m_tree(new ModuleTreeView(context.theme, this)),
      m_collapse(makeIconButton(context.theme, IconName::collapseAll, tr("Collapse all modules"), this))
{
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 4, 0, 0);
    column->addWidget(m_tree);
    m_tree->setModel(&m_model);
    m_tree->setItemDelegate(new ModuleDelegate(context.theme, m_tree));
    m_tree->setAccessibleName(tr("Module tree"));
    connect(m_collapse, &QToolButton::clicked, m_tree, [this] {
        m_tree->collapseAll();
        m_tree->expandToDepth(0);
    });
    connect(m_tree->selectionModel(), &QItemSelectionModel::currentChanged, this,
            [this](const QModelIndex &current) {
                if (!m_showing && current.isValid())
                    selection().select(ModuleItem{m_model.moduleAt(current)});
            });
    m_tree->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_tree, &QWidget::customContextMenuRequested, this,
            [this](const QPoint &position) { Q_EMIT menuWanted(m_tree->viewport()->mapToGlobal(position)); });
    connect(m_tree, &QTreeView::activated, this, [this](const QModelIndex &index) {
        if (index.isValid())
            selection().activate(ModuleItem{m_model.moduleAt(index)});
    });
}

QList<QWidget *> ModulesPane::headerControls()
{
    return {m_collapse};
}

void ModulesPane::setFacts(std::shared_ptr<const TraceFacts> facts)
{
    const bool isNews = takeFacts(std::move(facts), m_facts);
    if (isNews && trace() && isVisible())
        m_model.setFacts(*m_facts); // the tree stays as unfolded as it is
    else if (isNews)
        showAgain();
}

void ModulesPane::showTrace()
{
    const QScopedValueRollback<bool> guard(m_showing, true);
    m_model.setTrace(trace(), m_facts.get());
    m_tree->expandToDepth(0);
    setSubtitle(trace() ? countText(trace()->modules().size()) : QString());
}

void ModulesPane::showItem()
{
    if (!trace())
        return;
    const QScopedValueRollback<bool> guard(m_showing, true);
    const QModelIndex index = m_model.indexOf(moduleOf(*trace(), item()));
    m_tree->setCurrentIndex(index);
    if (index.isValid())
        m_tree->scrollTo(index);
}

void ModulesPane::themeChanged()
{
    m_tree->viewport()->update();
}

} // namespace views
