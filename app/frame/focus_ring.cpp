// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/frame/focus_ring.h"

#include <QAbstractScrollArea>
#include <QApplication>
#include <QEvent>
#include <QPainter>
#include <QPlainTextEdit>

namespace app {

namespace {

constexpr int kRingWidth = 2;

// Lies over the whole of its parent, as large as that is at any time.
class Ring : public QWidget
{
public:
    Ring(const views::Theme &theme, QWidget *around) : QWidget(around), m_theme(theme)
    {
        setAttribute(Qt::WA_TransparentForMouseEvents);
        setAttribute(Qt::WA_NoSystemBackground);
        setFocusPolicy(Qt::NoFocus);
        around->installEventFilter(this);
        setGeometry(around->rect());
        raise();
        show();
    }

protected:
    bool eventFilter(QObject *watched, QEvent *event) override
    {
        if (event->type() == QEvent::Resize || event->type() == QEvent::ChildAdded) {
            setGeometry(parentWidget()->rect());
            raise();
        }
        return QWidget::eventFilter(watched, event);
    }

    void paintEvent(QPaintEvent *) override
    {
        QPainter painter(this);
        const QPen pen(m_theme.color(core::ColorToken::accent), kRingWidth, Qt::SolidLine, Qt::SquareCap,
                       Qt::MiterJoin);
        painter.setPen(pen);
        painter.drawRect(rect().adjusted(1, 1, -1, -1));
    }

private:
    const views::Theme &m_theme;
};

// A field of several lines has a ring already, a log has none.
bool needsRing(const QWidget &widget)
{
    const auto *text = qobject_cast<const QPlainTextEdit *>(&widget);
    return qobject_cast<const QAbstractScrollArea *>(&widget) != nullptr &&
           (text == nullptr || text->property("kind").toString() == QLatin1String("log")) &&
           !widget.window()->windowFlags().testFlag(Qt::Popup);
}

} // namespace

FocusRing::FocusRing(const views::Theme &theme, QObject *parent) : QObject(parent), m_theme(theme)
{
    connect(qApp, &QApplication::focusChanged, this,
            [this](const QWidget *, QWidget *now) { focusMoved(now); });
}

void FocusRing::focusMoved(QWidget *now)
{
    if (now == target() && now != nullptr)
        return;
    delete m_ring;
    if (now != nullptr && needsRing(*now))
        m_ring = new Ring(m_theme, now);
}

} // namespace app
