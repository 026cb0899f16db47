// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/composition.h"

#include "views/base/counted_text.h"
#include "views/base/formatting.h"
#include "views/base/icon.h"

#include <QPainter>

#include <algorithm>
#include <numeric>

namespace views {

namespace {

using core::ColorToken;

constexpr int kStripHeight = 18;
constexpr int kSmallestPart = 3;
constexpr int kCellWidth = 104;
constexpr int kCellHeight = 34;
constexpr int kGap = 8;

constexpr std::array kClasses = {ElementClass::nan,  ElementClass::negInf,    ElementClass::posInf,
                                 ElementClass::zero, ElementClass::subnormal, ElementClass::normal};

IconName classIcon(ElementClass which)
{
    switch (which) {
    case ElementClass::nan:
        return IconName::origin;
    case ElementClass::negInf:
    case ElementClass::posInf:
        return IconName::cause;
    case ElementClass::zero:
        return IconName::openDot;
    case ElementClass::subnormal:
        return IconName::warning;
    case ElementClass::normal:
        return IconName::dot;
    }
    return IconName::dot;
}

QBrush partBrush(const Theme &theme, ElementClass which)
{
    const QColor tone = theme.color(elementClassTone(which));
    switch (which) {
    case ElementClass::nan:
    case ElementClass::negInf:
    case ElementClass::posInf:
        return QBrush(tone, Qt::BDiagPattern);
    default:
        return tone;
    }
}

} // namespace

Composition Composition::of(const core::TensorStats &stats)
{
    Composition result;
    result.counts = {stats.nan, stats.negInf, stats.posInf, stats.zero, stats.subnormal, 0};
    const std::uint64_t named = result.total();
    result.counts[5] = stats.elements > named ? stats.elements - named : 0;
    return result;
}

QString elementsText(core::DType dtype, std::uint64_t counted)
{
    return core::isComplex(dtype) ? countedText(counted, "real or imaginary part", "real and imaginary parts")
                                  : countedText(counted, "element", "elements");
}

std::uint64_t Composition::total() const
{
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t(0));
}

QString elementClassName(ElementClass which)
{
    switch (which) {
    case ElementClass::nan:
        return QStringLiteral("NaN");
    case ElementClass::negInf:
        return QStringLiteral("−Inf");
    case ElementClass::posInf:
        return QStringLiteral("+Inf");
    case ElementClass::zero:
        return CompositionStrip::tr("Zero");
    case ElementClass::subnormal:
        return CompositionStrip::tr("Subnormal");
    case ElementClass::normal:
        return CompositionStrip::tr("Normal");
    }
    return {};
}

core::ColorToken elementClassTone(ElementClass which)
{
    switch (which) {
    case ElementClass::nan:
        return ColorToken::nan;
    case ElementClass::negInf:
    case ElementClass::posInf:
        return ColorToken::inf;
    case ElementClass::zero:
        return ColorToken::nodeb;
    case ElementClass::subnormal:
        return ColorToken::warn;
    case ElementClass::normal:
        return ColorToken::accent;
    }
    return ColorToken::accent;
}

std::array<int, 6> stripWidths(const Composition &composition, int width, int minimum)
{
    std::array<int, 6> widths{};
    const std::uint64_t total = composition.total();
    if (total == 0)
        return widths;
    for (std::size_t i = 0; i < widths.size(); ++i) {
        const double share = static_cast<double>(composition.counts[i]) / static_cast<double>(total);
        widths[i] = composition.counts[i] == 0 ? 0 : std::max(minimum, static_cast<int>(share * width));
    }
    // The largest part gives or takes what is left.
    const auto largest = std::max_element(widths.begin(), widths.end());
    *largest += width - std::accumulate(widths.begin(), widths.end(), 0);
    return widths;
}

CompositionStrip::CompositionStrip(const Theme &theme, QWidget *parent) : QWidget(parent), m_theme(theme)
{
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
    setAccessibleName(tr("Composition of the elements"));
    connect(&theme, &Theme::changed, this, qOverload<>(&QWidget::update));
}

void CompositionStrip::setComposition(const std::optional<Composition> &composition)
{
    m_composition = composition;
    QStringList parts;
    if (composition)
        for (const ElementClass which : kClasses)
            parts.push_back(
                QStringLiteral("%1 %2").arg(elementClassName(which), countText((*composition)[which])));
    setAccessibleDescription(composition ? parts.join(QStringLiteral(", ")) : tr("not measured"));
    setToolTip(composition ? parts.join(QLatin1Char('\n')) : tr("Not measured"));
    update();
}

int CompositionStrip::columns(int width) const
{
    return width >= 6 * kCellWidth ? 6 : width >= 3 * kCellWidth ? 3 : 2;
}

int CompositionStrip::heightForWidth(int width) const
{
    const int rows = 6 / columns(width);
    return kStripHeight + kGap + rows * kCellHeight;
}

QSize CompositionStrip::sizeHint() const
{
    return {240, heightForWidth(240)};
}

QSize CompositionStrip::minimumSizeHint() const
{
    return {180, kStripHeight + kGap + kCellHeight};
}

void CompositionStrip::paintEvent(QPaintEvent *)
{
    QPainter painter(this);
    paintStrip(painter);
    paintLegend(painter);
}

void CompositionStrip::paintStrip(QPainter &painter) const
{
    const QRect strip(0, 0, width(), kStripHeight);
    painter.fillRect(strip, m_theme.color(ColorToken::input));
    if (!m_composition) {
        painter.fillRect(strip, QBrush(m_theme.color(ColorToken::nodeb), Qt::BDiagPattern));
        return;
    }
    const std::array<int, 6> widths = stripWidths(*m_composition, width(), kSmallestPart);
    int x = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
        painter.fillRect(QRect(x, 0, widths[i], kStripHeight), partBrush(m_theme, kClasses[i]));
        x += widths[i];
    }
    painter.setPen(m_theme.color(ColorToken::border));
    painter.drawRect(strip.adjusted(0, 0, -1, -1));
}

void CompositionStrip::paintLegend(QPainter &painter) const
{
    const int perRow = columns(width());
    const int cell = width() / perRow;
    const std::uint64_t total = m_composition ? m_composition->total() : 0;
    for (std::size_t i = 0; i < kClasses.size(); ++i) {
        const int column = static_cast<int>(i) % perRow;
        const int row = static_cast<int>(i) / perRow;
        const QRect box(column * cell, kStripHeight + kGap + row * kCellHeight, cell - 6, kCellHeight - 2);
        const std::uint64_t count = m_composition ? (*m_composition)[kClasses[i]] : 0;
        const bool present = count > 0;
        const ColorToken tone = present ? elementClassTone(kClasses[i]) : ColorToken::muted;
        paintIcon(painter, QRectF(box.left(), box.top() + 2, 11, 11), classIcon(kClasses[i]),
                  m_theme.color(tone));
        painter.setFont(m_theme.font(FontRole::caption));
        painter.setPen(m_theme.color(present ? ColorToken::text : ColorToken::muted));
        painter.drawText(box.adjusted(15, 0, 0, 0), Qt::AlignTop | Qt::AlignLeft,
                         elementClassName(kClasses[i]));
        painter.setFont(m_theme.font(FontRole::monoCaption));
        painter.setPen(m_theme.color(ColorToken::muted));
        painter.drawText(box, Qt::AlignTop | Qt::AlignRight,
                         m_composition ? shareText(count, total) : QString());
        const bool loud = present && kClasses[i] != ElementClass::normal && kClasses[i] != ElementClass::zero;
        painter.setPen(m_theme.color(loud ? tone : present ? ColorToken::text : ColorToken::muted));
        painter.drawText(box.adjusted(15, 15, 0, 0), Qt::AlignTop | Qt::AlignLeft,
                         m_composition ? countText(count) : QStringLiteral("–"));
    }
}

} // namespace views
