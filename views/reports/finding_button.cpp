// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/reports/finding_button.h"

#include "views/base/icon.h"
#include "views/base/severity_look.h"

#include <QMouseEvent>
#include <QPainter>

namespace views {

namespace {

constexpr int kIcon = 12;
constexpr int kLeft = kIcon + 10;
constexpr int kPadding = 4;
constexpr int kLeastHeight = 24;

} // namespace

FindingButton::FindingButton(const Theme &theme, core::Severity severity, const QString &text,
                             QWidget *parent)
    : QAbstractButton(parent), m_theme(theme), m_severity(severity)
{
    setText(text);
    setAccessibleName(text);
    setCursor(Qt::PointingHandCursor);
    QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Minimum);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    connect(&theme, &Theme::changed, this, qOverload<>(&QWidget::update));
}

int FindingButton::heightForWidth(int width) const
{
    const QFontMetrics metrics(m_theme.font(FontRole::dense));
    const QRect room(0, 0, std::max(40, width - kLeft - kPadding), 10000);
    return std::max(kLeastHeight,
                    metrics.boundingRect(room, Qt::TextWordWrap, text()).height() + 2 * kPadding);
}

QSize FindingButton::sizeHint() const
{
    return {280, heightForWidth(280)};
}

void FindingButton::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    if (underMouse() && isEnabled())
        painter.fillRect(rect(), m_theme.color(core::ColorToken::hover));
    const SeverityLook look = severityLook(m_severity);
    painter.setFont(m_theme.font(FontRole::dense));
    const int line = painter.fontMetrics().height();
    paintIcon(painter, QRectF(kPadding, kPadding + (line - kIcon) / 2.0, kIcon, kIcon), look.icon,
              m_theme.color(look.tone));
    painter.setPen(m_theme.color(core::ColorToken::text));
    painter.drawText(rect().adjusted(kLeft, kPadding, -kPadding, 0), Qt::TextWordWrap, text());
    if (hasFocus()) {
        painter.setPen(QPen(m_theme.color(core::ColorToken::accent), 2));
        painter.drawRect(rect().adjusted(1, 1, -1, -1));
    }
}

void FindingButton::enterEvent(QEnterEvent *event)
{
    QAbstractButton::enterEvent(event);
    update();
}

void FindingButton::leaveEvent(QEvent *event)
{
    QAbstractButton::leaveEvent(event);
    update();
}

void FindingButton::mouseDoubleClickEvent(QMouseEvent *event)
{
    event->accept();
    Q_EMIT activated();
}

} // namespace views
