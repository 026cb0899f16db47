// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/graph/graph_legend.h"

#include "core/graph/graph_look.h"
#include "views/base/scaled.h"

#include <QPainter>

#include <algorithm>
#include <array>

namespace views {

namespace {

constexpr int kLegendLine = 20;
constexpr int kLegendMargin = 9;
constexpr int kLegendSign = 12;
constexpr int kLegendGap = 8;

// In the order of a trail.
constexpr std::array kLegendStates = {
    std::pair(core::NodeState::cause, QT_TRANSLATE_NOOP("views::GraphLegend", "Cause")),
    std::pair(core::NodeState::origin, QT_TRANSLATE_NOOP("views::GraphLegend", "Origin")),
    std::pair(core::NodeState::propagated, QT_TRANSLATE_NOOP("views::GraphLegend", "Propagated")),
    std::pair(core::NodeState::spreads, QT_TRANSLATE_NOOP("views::GraphLegend", "Spreads")),
    std::pair(core::NodeState::reached, QT_TRANSLATE_NOOP("views::GraphLegend", "Reached")),
    std::pair(core::NodeState::sink, QT_TRANSLATE_NOOP("views::GraphLegend", "Sink")),
    std::pair(core::NodeState::healed, QT_TRANSLATE_NOOP("views::GraphLegend", "Healed")),
};

} // namespace

GraphLegend::GraphLegend(const Theme &theme, QWidget *parent)
    : QFrame(parent), m_theme(theme), m_painter(theme.scheme())
{
    setObjectName(QStringLiteral("overlay"));
    setAttribute(Qt::WA_StyledBackground);
    setAttribute(Qt::WA_TransparentForMouseEvents);
    setAccessibleName(tr("Legend of the graph"));
    connect(&theme, &Theme::changed, this, qOverload<>(&QWidget::update));
}

void GraphLegend::setPicture(const core::GraphPicture &picture)
{
    m_lines.clear();
    const auto has = [&picture](auto &&test) {
        return std::any_of(picture.boxes.begin(), picture.boxes.end(), test);
    };
    for (const auto &[state, words] : kLegendStates) {
        if (has([wanted = state](const core::PictureBox &box) { return box.state == wanted; }))
            m_lines.push_back({state, false, tr(words)});
        if (state == core::NodeState::origin &&
            has([](const core::PictureBox &box) { return box.bornInBackward; }))
            m_lines.push_back({core::NodeState::clean, true, tr("Born in backward")});
    }
    if (has([](const core::PictureBox &box) { return box.unchecked || box.partlyUnchecked; }))
        m_lines.push_back({core::NodeState::clean, false, tr("Not saved")});
    QStringList words;
    for (const Line &line : m_lines)
        words.append(line.words);
    setAccessibleDescription(words.join(QStringLiteral(", ")));
    update();
}

int GraphLegend::lineHeight() const
{
    return scaledToText(m_theme, kLegendLine);
}

QSize GraphLegend::sizeHint() const
{
    const QFontMetrics metrics(m_theme.font(FontRole::dense));
    int widest = 0;
    for (const Line &line : m_lines)
        widest = std::max(widest, metrics.horizontalAdvance(line.words));
    return {2 * kLegendMargin + scaledToText(m_theme, 2 * kLegendSign) + kLegendGap + widest,
            2 * kLegendMargin - 4 + static_cast<int>(m_lines.size()) * lineHeight()};
}

void GraphLegend::paintEvent(QPaintEvent *event)
{
    QFrame::paintEvent(event);
    core::DrawList list;
    const double sign = scaledToText(m_theme, kLegendSign);
    double top = kLegendMargin - 2 + (lineHeight() - sign) / 2.0;
    for (const Line &line : m_lines) {
        const core::StateLook look = core::stateLook(line.state, line.bornInBackward);
        const core::Rect at = {static_cast<double>(kLegendMargin), top, sign, sign};
        if (look.hasGlyph)
            list.glyph(at, look.glyph, look.ink);
        else
            list.glyph(at, core::Glyph::openDot, core::ColorToken::second);
        if (line.bornInBackward)
            list.glyph(at.translated(sign, 0.0), core::Glyph::gradient, look.ink);
        top += lineHeight();
    }
    QPainter painter(this);
    m_painter.setScheme(m_theme.scheme());
    m_painter.paint(painter, list, {}, {});
    painter.setFont(m_theme.font(FontRole::dense));
    painter.setPen(m_theme.color(core::ColorToken::text));
    int y = kLegendMargin - 2;
    const int left = kLegendMargin + static_cast<int>(2.0 * sign) + kLegendGap;
    for (const Line &line : m_lines) {
        painter.drawText(QRect(left, y, width() - left, lineHeight()), Qt::AlignVCenter | Qt::AlignLeft,
                         line.words);
        y += lineHeight();
    }
}

} // namespace views
