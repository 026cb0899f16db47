// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/tab_order.h"

#include <QFormLayout>
#include <QLayout>
#include <QList>
#include <QScrollArea>
#include <QWidget>

namespace views {

namespace {

void collect(QLayout *layout, QList<QWidget *> &controls);

void collect(QWidget *widget, QList<QWidget *> &controls)
{
    if (widget == nullptr)
        return;
    if ((widget->focusPolicy() & Qt::TabFocus) != 0)
        controls.push_back(widget);
    else if (const auto *area = qobject_cast<QScrollArea *>(widget))
        collect(area->widget(), controls);
    else
        collect(widget->layout(), controls);
}

// By its rows: the items of a form come in the order they were added.
void collectRows(const QFormLayout &form, QList<QWidget *> &controls)
{
    for (int row = 0; row < form.rowCount(); ++row)
        for (const auto role : {QFormLayout::FieldRole, QFormLayout::SpanningRole})
            if (QLayoutItem *item = form.itemAt(row, role)) {
                collect(item->layout(), controls);
                collect(item->widget(), controls);
            }
}

void collect(QLayout *layout, QList<QWidget *> &controls)
{
    if (const auto *form = qobject_cast<const QFormLayout *>(layout))
        return collectRows(*form, controls);
    for (int i = 0; layout != nullptr && i < layout->count(); ++i) {
        QLayoutItem *item = layout->itemAt(i);
        collect(item->layout(), controls);
        collect(item->widget(), controls);
    }
}

} // namespace

void orderTabsByLayout(QWidget &root)
{
    QList<QWidget *> controls;
    collect(root.layout(), controls);
    for (qsizetype i = 1; i < controls.size(); ++i)
        QWidget::setTabOrder(controls[i - 1], controls[i]);
}

} // namespace views
