// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/theme.h"

#include <QFrame>
#include <QString>

class QLabel;
class QPushButton;

namespace views {

// The small panels that lie on a canvas. All are children of its pane, moved by it; they say what the user
// wants and show what they are told. GUI thread.

// Minus, the zoom in percent, plus, fit.
class ZoomBar : public QFrame
{
    Q_OBJECT

public:
    ZoomBar(const Theme &theme, QWidget *parent);
    void setZoom(double zoom);

Q_SIGNALS:
    void zoomWanted(double factor);
    void fitWanted();
    void actualSizeWanted();

private:
    QPushButton *m_percent = nullptr;
};

// One line about the layout with one way out: "Laying out 1,240 boxes, 3 s" Cancel; "Simplified layout" Try
// again.
class NoticeBar : public QFrame
{
    Q_OBJECT

public:
    explicit NoticeBar(QWidget *parent);
    void showNotice(const QString &text, const QString &action);
    QString text() const;

Q_SIGNALS:
    void actionWanted();

private:
    QLabel *m_text = nullptr;
    QPushButton *m_action = nullptr;
};

} // namespace views
