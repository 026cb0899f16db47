// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/fact_rows.h"

#include "views/base/scaled.h"

#include <QPainter>

namespace views {

namespace {

using core::ColorToken;

constexpr int kSide = 14;
constexpr int kOneLine = 24;
constexpr int kTwoLines = 40;

} // namespace

EntryRow::EntryRow(const Theme &theme, const FactList::Entry &entry, QWidget *parent)
    : QAbstractButton(parent), m_theme(theme), m_entry(entry)
{
    setText(entry.name);
    setAccessibleName(QStringLiteral("%1 %2 %3").arg(entry.name, entry.detail, entry.value).simplified());
    setToolTip(accessibleName());
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    if (entry.activate) {
        setCursor(Qt::PointingHandCursor);
        setFocusPolicy(Qt::TabFocus);
        connect(this, &QAbstractButton::clicked, this, [run = entry.activate] { run(); });
    } else {
        setFocusPolicy(Qt::NoFocus);
    }
    connect(&theme, &Theme::changed, this, [this] {
        updateGeometry();
        update();
    });
}

QSize EntryRow::sizeHint() const
{
    return {160, scaledToText(m_theme, m_entry.detail.isEmpty() ? kOneLine : kTwoLines)};
}

void EntryRow::enterEvent(QEnterEvent *event)
{
    QAbstractButton::enterEvent(event);
    update();
}

void EntryRow::leaveEvent(QEvent *event)
{
    QAbstractButton::leaveEvent(event);
    update();
}

core::ColorToken EntryRow::valueToken() const
{
    for (const auto &[name, token] : {std::pair{"nan", ColorToken::nan},
                                      {"inf", ColorToken::inf},
                                      {"warn", ColorToken::warn},
                                      {"ok", ColorToken::ok},
                                      {"accent", ColorToken::accent},
                                      {"muted", ColorToken::muted}})
        if (qstrcmp(m_entry.valueTone, name) == 0)
            return token;
    return ColorToken::second;
}

void EntryRow::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    if (m_entry.isCurrent) {
        painter.fillRect(rect(), m_theme.color(ColorToken::accentbg));
        painter.fillRect(QRect(0, 0, 2, height()), m_theme.color(ColorToken::accent));
    } else if (underMouse() && m_entry.activate) {
        painter.fillRect(rect(), m_theme.color(ColorToken::hover));
    }
    const int line = m_entry.detail.isEmpty() ? height() : scaledToText(m_theme, kOneLine);
    paintIcon(painter, QRectF(kSide, (line - 12) / 2.0, 12, 12), m_entry.icon,
              m_theme.color(m_entry.iconTone));
    QRect room(kSide + 20, 0, width() - 2 * kSide - 20, line);
    painter.setFont(m_theme.font(FontRole::monoDense));
    // The name is cut only when it needs more than half of the row; the tooltip says all.
    const int left = room.width() - painter.fontMetrics().horizontalAdvance(m_entry.name) - 12;
    const QString value =
        painter.fontMetrics().elidedText(m_entry.value, Qt::ElideRight, std::max(room.width() / 2, left));
    const int valueWidth = painter.fontMetrics().horizontalAdvance(value);
    painter.setPen(m_theme.color(valueToken()));
    painter.drawText(room, Qt::AlignRight | Qt::AlignVCenter, value);
    room.setRight(room.right() - valueWidth - 8);
    painter.setFont(m_theme.font(m_entry.detail.isEmpty() ? FontRole::monoDense : FontRole::control));
    painter.setPen(m_theme.color(ColorToken::text));
    painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(m_entry.name, Qt::ElideMiddle, room.width()));
    if (!m_entry.detail.isEmpty()) {
        painter.setFont(m_theme.font(FontRole::monoCaption));
        painter.setPen(m_theme.color(ColorToken::muted));
        const QRect below(kSide + 20, scaledToText(m_theme, 20), width() - 2 * kSide - 20,
                          scaledToText(m_theme, 18));
        painter.drawText(below, Qt::AlignLeft | Qt::AlignVCenter,
                         painter.fontMetrics().elidedText(m_entry.detail, Qt::ElideMiddle, below.width()));
    }
    if (hasFocus()) {
        painter.setPen(QPen(m_theme.color(ColorToken::accent), 2));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(rect().adjusted(1, 1, -1, -1));
    }
}

ShareBar::ShareBar(const Theme &theme, std::size_t part, std::size_t whole, const QString &name,
                   QWidget *parent)
    : QWidget(parent), m_theme(theme), m_part(part), m_whole(whole)
{
    setMinimumSize(40, 14);
    setAccessibleName(tr("%1: %2 of %3").arg(name).arg(part).arg(whole));
    connect(&theme, &Theme::changed, this, qOverload<>(&QWidget::update));
}

void ShareBar::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    const QRectF track(0, height() / 2.0 - 2.5, width(), 5);
    painter.setBrush(m_theme.color(ColorToken::border));
    painter.drawRoundedRect(track, 2, 2);
    if (m_whole == 0 || m_part == 0)
        return;
    const double share = static_cast<double>(m_part) / static_cast<double>(m_whole);
    painter.setBrush(m_theme.color(m_part == m_whole ? ColorToken::ok : ColorToken::warn));
    painter.drawRoundedRect(QRectF(track.left(), track.top(), track.width() * share, track.height()), 2, 2);
}

} // namespace views
