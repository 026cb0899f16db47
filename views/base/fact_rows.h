// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/fact_list.h"

#include <QAbstractButton>

namespace views {

// A clickable row of a FactList: icon, name, a muted line below, a value at the right.
class EntryRow : public QAbstractButton
{
    Q_OBJECT

public:
    EntryRow(const Theme &theme, const FactList::Entry &entry, QWidget *parent);

    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    void enterEvent(QEnterEvent *event) override;
    void leaveEvent(QEvent *event) override;

private:
    core::ColorToken valueToken() const;

    const Theme &m_theme;
    FactList::Entry m_entry;
};

// PART of WHOLE as a thin bar: green only when it is all of it.
class ShareBar : public QWidget
{
    Q_OBJECT

public:
    ShareBar(const Theme &theme, std::size_t part, std::size_t whole, const QString &name, QWidget *parent);

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    const Theme &m_theme;
    std::size_t m_part;
    std::size_t m_whole;
};

} // namespace views
