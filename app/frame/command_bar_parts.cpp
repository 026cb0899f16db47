// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/frame/command_bar_parts.h"

#include "views/base/counted_text.h"
#include "views/base/icon.h"
#include "views/base/theme.h"

#include <QPainter>
#include <QStyleOptionToolButton>
#include <QStylePainter>

#include <algorithm>

namespace app {

namespace {

using core::ColorToken;

constexpr int kPadding = 11;
constexpr int kControlHeight = 28;
constexpr qreal kRadius = 5.0;

void paintOutline(QPainter &painter, const QRect &rect, const QColor &line, const QColor &fill, qreal width)
{
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(line, width));
    painter.setBrush(fill);
    const qreal inset = width / 2.0;
    painter.drawRoundedRect(QRectF(rect).adjusted(inset, inset, -inset, -inset), kRadius, kRadius);
}

} // namespace

PerspectiveButton::PerspectiveButton(const views::Theme &theme, const QString &title, QWidget *parent)
    : QToolButton(parent), m_theme(theme), m_title(title)
{
    setProperty("kind", "perspective");
    setCheckable(true);
    setText(title);
    setAccessibleName(title);
    setFocusPolicy(Qt::TabFocus);
    connect(&theme, &views::Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

void PerspectiveButton::setBadge(int count)
{
    m_badge = count;
    setAccessibleName(count > 0
                          ? tr("%1, %2").arg(m_title, views::countedText(static_cast<std::uint64_t>(count),
                                                                         "finding", "findings"))
                          : m_title);
    updateGeometry();
    update();
}

int PerspectiveButton::badgeWidth() const
{
    if (m_badge == 0)
        return 0;
    const QFontMetrics metrics(m_theme.font(views::FontRole::monoCaption));
    return metrics.horizontalAdvance(QString::number(m_badge)) + 9;
}

QSize PerspectiveButton::sizeHint() const
{
    const QFontMetrics metrics(m_theme.font(views::FontRole::control));
    const int badge = badgeWidth();
    return {metrics.horizontalAdvance(m_title) + 2 * kPadding + (badge > 0 ? badge + 8 : 0), kControlHeight};
}

void PerspectiveButton::paintEvent(QPaintEvent *)
{
    QStyleOptionToolButton option;
    initStyleOption(&option);
    option.text.clear();
    QStylePainter painter(this);
    painter.drawComplexControl(QStyle::CC_ToolButton, option);
    painter.setFont(m_theme.font(views::FontRole::control));
    painter.setPen(m_theme.color(isChecked() || underMouse() ? ColorToken::text : ColorToken::second));
    painter.drawText(rect().adjusted(kPadding, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft, m_title);
    const int badge = badgeWidth();
    if (badge == 0)
        return;
    const QRect box(width() - kPadding - badge + 2, (height() - 17) / 2, badge, 17);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(m_theme.color(ColorToken::nan));
    painter.setBrush(m_theme.color(ColorToken::nanbg));
    painter.drawRoundedRect(QRectF(box).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    painter.setFont(m_theme.font(views::FontRole::monoCaption));
    painter.drawText(box, Qt::AlignCenter, QString::number(m_badge));
}

PaletteField::PaletteField(const views::Theme &theme, QWidget *parent)
    : QAbstractButton(parent), m_theme(theme)
{
    setText(tr("Find op, module, source line, shape, dtype, finding"));
    setAccessibleName(text());
    setToolTip(tr("Find anything in the trace, or run a command (Ctrl+K)"));
    setFocusPolicy(Qt::TabFocus);
    setCursor(Qt::IBeamCursor);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    connect(&theme, &views::Theme::changed, this, qOverload<>(&QWidget::update));
}

QSize PaletteField::sizeHint() const
{
    return {420, kControlHeight};
}

QSize PaletteField::minimumSizeHint() const
{
    return {120, kControlHeight};
}

void PaletteField::enterEvent(QEnterEvent *event)
{
    QAbstractButton::enterEvent(event);
    update();
}

void PaletteField::leaveEvent(QEvent *event)
{
    QAbstractButton::leaveEvent(event);
    update();
}

void PaletteField::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    const ColorToken line = hasFocus() || underMouse() ? ColorToken::accent : ColorToken::strong;
    paintOutline(painter, rect(), m_theme.color(line), m_theme.color(ColorToken::input),
                 hasFocus() ? 2.0 : 1.0);
    views::paintIcon(painter, QRectF(9, (height() - 13) / 2.0, 13, 13), views::IconName::search,
                     m_theme.color(ColorToken::second));
    const QString keys = QStringLiteral("Ctrl K");
    painter.setFont(m_theme.font(views::FontRole::monoCaption));
    const int keysWidth = painter.fontMetrics().horizontalAdvance(keys) + 12;
    const QRect keysBox(width() - keysWidth - 6, (height() - 18) / 2, keysWidth, 18);
    painter.setPen(m_theme.color(ColorToken::border));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(keysBox).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    painter.setPen(m_theme.color(ColorToken::muted));
    painter.drawText(keysBox, Qt::AlignCenter, keys);
    painter.setFont(m_theme.font(views::FontRole::dense));
    painter.setPen(m_theme.color(ColorToken::second));
    const QRect room(30, 0, keysBox.left() - 36, height());
    painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft,
                     painter.fontMetrics().elidedText(text(), Qt::ElideRight, room.width()));
}

JobLight::JobLight(const views::Theme &theme, QWidget *parent) : QAbstractButton(parent), m_theme(theme)
{
    setFocusPolicy(Qt::TabFocus);
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    setState(tr("Idle"), false);
    connect(&theme, &views::Theme::changed, this, qOverload<>(&QWidget::update));
}

void JobLight::setState(const QString &text, bool busy)
{
    m_busy = busy;
    setText(text);
    setAccessibleName(tr("Jobs: %1").arg(text));
    setToolTip(text);
    updateGeometry();
    update();
}

QSize JobLight::sizeHint() const
{
    const int words = QFontMetrics(m_theme.font(views::FontRole::dense)).horizontalAdvance(text());
    return {std::min(words, 220) + 26, kControlHeight};
}

QSize JobLight::minimumSizeHint() const
{
    return {std::min(sizeHint().width(), 60), kControlHeight};
}

void JobLight::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    if (hasFocus())
        paintOutline(painter, rect(), m_theme.color(ColorToken::accent), Qt::transparent, 2.0);
    views::paintIcon(painter, QRectF(2, (height() - 14) / 2.0, 14, 14),
                     m_busy ? views::IconName::play : views::IconName::dot,
                     m_theme.color(m_busy ? ColorToken::accent : ColorToken::ok));
    painter.setFont(m_theme.font(views::FontRole::dense));
    painter.setPen(m_theme.color(ColorToken::text));
    const QRect room(20, 0, width() - 20, height());
    painter.drawText(room, Qt::AlignVCenter | Qt::AlignLeft,
                     painter.fontMetrics().elidedText(text(), Qt::ElideRight, room.width()));
}

} // namespace app
