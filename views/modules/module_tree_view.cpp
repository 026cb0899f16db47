// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/modules/module_tree_view.h"

#include "views/base/icon.h"

#include <QKeyEvent>
#include <QPainter>

namespace views {

namespace {

using core::ColorToken;

constexpr int kIndent = 15;
constexpr int kArrowSide = 11;

} // namespace

ModuleTreeView::ModuleTreeView(const Theme &theme, QWidget *parent) : QTreeView(parent), m_theme(theme)
{
    setHeaderHidden(true);
    setIndentation(kIndent);
    setUniformRowHeights(true);
    setAnimated(false);
    setExpandsOnDoubleClick(true);
    setEditTriggers(NoEditTriggers);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setSelectionMode(SingleSelection);
    setMouseTracking(true);
}

void ModuleTreeView::drawRow(QPainter *painter, const QStyleOptionViewItem &option,
                             const QModelIndex &index) const
{
    const QRect row(0, option.rect.top(), viewport()->width(), option.rect.height());
    if (selectionModel()->isSelected(index)) {
        painter->fillRect(row, m_theme.color(ColorToken::accentbg));
        painter->fillRect(QRect(row.topLeft(), QSize(2, row.height())), m_theme.color(ColorToken::accent));
    } else if (option.state.testFlag(QStyle::State_MouseOver)) {
        painter->fillRect(row, m_theme.color(ColorToken::hover));
    }
    QTreeView::drawRow(painter, option, index);
}

void ModuleTreeView::drawBranches(QPainter *painter, const QRect &rect, const QModelIndex &index) const
{
    if (!model()->hasChildren(index))
        return;
    const QRectF box(rect.right() - kIndent + 3, rect.center().y() - kArrowSide / 2.0 + 0.5, kArrowSide,
                     kArrowSide);
    paintIcon(*painter, box, isExpanded(index) ? IconName::chevronDown : IconName::chevronRight,
              m_theme.color(ColorToken::second));
}

void ModuleTreeView::keyPressEvent(QKeyEvent *event)
{
    if (!event->text().isEmpty() && event->text().front().isLetterOrNumber()) {
        event->ignore();
        return;
    }
    QTreeView::keyPressEvent(event);
}

} // namespace views
