// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/theme.h"
#include "views/canvas/canvas_bars.h"

#include <QFrame>
#include <QString>

class QLabel;
class QLineEdit;
class QToolButton;

namespace views {

// "Find" with the count of matches and where one is among them.
class FindBar : public QFrame
{
    Q_OBJECT

public:
    FindBar(const Theme &theme, QWidget *parent);
    QString text() const;
    bool isRegex() const;
    bool matchesCase() const;
    // CURRENT from 0; below 0: none is current. PROBLEM: why the text is no pattern, or empty.
    void setCount(int current, int count, const QString &problem);
    void open();

Q_SIGNALS:
    void changed();
    void stepWanted(int direction);
    void closed();

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    QLineEdit *m_field = nullptr;
    QLabel *m_count = nullptr;
    QToolButton *m_regex = nullptr;
    QToolButton *m_case = nullptr;
};

} // namespace views
