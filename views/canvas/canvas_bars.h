// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/layout/layout_types.h"
#include "views/base/theme.h"

#include <QElapsedTimer>
#include <QFrame>
#include <QString>
#include <QTimer>

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

// The line that tells how a layout fares: nothing while it is quick, then its seconds with Cancel, at last
// why it is simplified or missing with Try again. Its pane says when a layout is asked for and what came of
// it, and moves the line. Owned by its pane; GUI thread.
class LayoutNotice : public NoticeBar
{
    Q_OBJECT

public:
    explicit LayoutNotice(QWidget *parent);

    // A layout of so many boxes was asked for.
    void wait(std::size_t boxes);
    // It is there, or it will not come.
    void showResult(const core::LayoutResult &layout);
    void showFailure(const QString &reason);
    // Nobody waits any more, and there is nothing to say.
    void clear();

Q_SIGNALS:
    void cancelWanted();
    void retryWanted();
    // The line came, went or has other words.
    void changed();

private:
    void tick();
    void say(const QString &text, const QString &action);

    QTimer m_timer;
    QElapsedTimer m_since;
    std::size_t m_boxes = 0;
};

} // namespace views
