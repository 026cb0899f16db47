// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/tensor/histogram_plot.h"

#include "views/base/composition.h"
#include "views/base/counted_text.h"
#include "views/base/formatting.h"
#include "views/base/widgets.h"
#include "views/tensor/custom_plot.h"

#include <QFontMetrics>
#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace views {

namespace {

using core::ColorToken;

constexpr int kPlotHeight = 170;
constexpr double kSideShare = 0.32;
constexpr int kSideNameGap = 8; // between the names of two bins

// 0 stays 0, one element is seen: log10(1 + count).
double barHeight(std::uint64_t count)
{
    return std::log10(1.0 + static_cast<double>(count));
}

QString magnitudeTick(double log2)
{
    return numberText(std::exp2(log2), 3);
}

} // namespace

HistogramPlot::HistogramPlot(const Theme &theme, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_why(makeLabel({}, "dense", this))
{
    m_why->setWordWrap(true);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_why);
    setAccessibleName(tr("Histogram"));
    connect(&theme, &Theme::changed, this, [this] {
        if (m_plot != nullptr)
            replot();
    });
}

void HistogramPlot::makePlot()
{
    if (m_plot != nullptr)
        return;
    m_plot = new QCustomPlot(this);
    m_plot->setFixedHeight(kPlotHeight);
    m_plot->setFocusPolicy(Qt::NoFocus);
    m_plot->setAccessibleName(tr("Histogram"));
    layout()->addWidget(m_plot);
    m_plot->plotLayout()->clear();
    m_sideRect = new QCPAxisRect(m_plot);
    m_finiteRect = new QCPAxisRect(m_plot);
    m_plot->plotLayout()->addElement(0, 0, m_sideRect);
    m_plot->plotLayout()->addElement(0, 1, m_finiteRect);
    m_plot->plotLayout()->setColumnStretchFactor(0, kSideShare);
    m_plot->plotLayout()->setColumnStretchFactor(1, 1.0 - kSideShare);
    for (QCPBars *&bar : m_side) {
        bar = new QCPBars(m_sideRect->axis(QCPAxis::atBottom), m_sideRect->axis(QCPAxis::atLeft));
        bar->setWidth(0.72);
    }
    m_finite = new QCPBars(m_finiteRect->axis(QCPAxis::atBottom), m_finiteRect->axis(QCPAxis::atLeft));
}

void HistogramPlot::setSummary(const TensorSummary &summary, core::DType dtype)
{
    m_summary = summary;
    m_dtype = dtype;
    makePlot();
    m_plot->show();
    replot();
}

void HistogramPlot::clear(const QString &why)
{
    m_summary.reset();
    if (m_plot != nullptr)
        m_plot->hide();
    m_why->setText(why);
    m_why->setVisible(!why.isEmpty());
    setAccessibleDescription(why);
}

void HistogramPlot::setMagnitude(bool magnitude)
{
    m_magnitude = magnitude;
    if (m_summary)
        replot();
}

bool HistogramPlot::hasFiniteBars() const
{
    return m_summary && m_finite != nullptr && m_finite->dataCount() > 0;
}

std::vector<std::uint64_t> HistogramPlot::sideCounts() const
{
    if (!m_summary)
        return {};
    const core::Histogram &histogram = m_magnitude ? m_summary->magnitude : m_summary->linear;
    return {histogram.nan, histogram.negInf, histogram.posInf, histogram.zero};
}

void HistogramPlot::dress()
{
    m_plot->setBackground(m_theme.color(ColorToken::panel));
    for (QCPAxisRect *rect : {m_sideRect, m_finiteRect}) {
        rect->setBackground(m_theme.color(ColorToken::input));
        for (QCPAxis *axis : rect->axes()) {
            axis->setBasePen(m_theme.color(ColorToken::border));
            axis->setTickPen(m_theme.color(ColorToken::border));
            axis->setSubTickPen(Qt::NoPen);
            axis->setTickLabelColor(m_theme.color(ColorToken::muted));
            axis->setTickLabelFont(m_theme.font(FontRole::monoCaption));
            axis->grid()->setPen(m_theme.color(ColorToken::border));
            axis->grid()->setZeroLinePen(Qt::NoPen);
        }
        rect->axis(QCPAxis::atBottom)->grid()->setVisible(false);
    }
    const QFontMetrics metrics(m_theme.font(FontRole::monoCaption));
    const int nameWidth = metrics.horizontalAdvance(elementClassName(ElementClass::posInf)) + kSideNameGap;
    m_sideRect->setMinimumSize(4 * nameWidth, 0);
    m_sideRect->axis(QCPAxis::atLeft)->setTickLabels(true);
    m_finiteRect->axis(QCPAxis::atLeft)->setTickLabels(false);
    m_finite->setPen(Qt::NoPen);
    m_finite->setBrush(m_theme.color(ColorToken::accent));
}

void HistogramPlot::replot()
{
    dress();
    const core::Histogram &histogram = m_magnitude ? m_summary->magnitude : m_summary->linear;
    std::uint64_t most = std::max({histogram.nan, histogram.negInf, histogram.posInf, histogram.zero});
    for (const std::uint64_t count : histogram.counts)
        most = std::max(most, count);
    const double top = std::max(0.5, barHeight(most)) * 1.08;
    showSide(histogram, top);
    showFinite(histogram, top);
    auto decades = QSharedPointer<QCPAxisTickerText>::create();
    for (int decade = 0; decade <= static_cast<int>(top); ++decade)
        decades->addTick(barHeight(static_cast<std::uint64_t>(std::pow(10.0, decade))),
                         decade < 4 ? QString::number(static_cast<int>(std::pow(10, decade)))
                                    : QStringLiteral("1e%1").arg(decade));
    m_sideRect->axis(QCPAxis::atLeft)->setTicker(decades);
    m_finiteRect->axis(QCPAxis::atLeft)->setTicker(decades);
    m_plot->replot(QCustomPlot::rpQueuedReplot);
    m_why->setText(m_summary->stats.hasFinite()
                       ? tr("Counts are log10. Non-finite values never stand on the finite axis.")
                       : tr("No finite value: NaN or Inf in %1.")
                             .arg(countedText(m_summary->stats.elements, "element", "elements")));
    m_why->show();
}

void HistogramPlot::showSide(const core::Histogram &histogram, double top)
{
    const std::uint64_t counts[4] = {histogram.nan, histogram.negInf, histogram.posInf, histogram.zero};
    const ElementClass classes[4] = {ElementClass::nan, ElementClass::negInf, ElementClass::posInf,
                                     ElementClass::zero};
    auto names = QSharedPointer<QCPAxisTickerText>::create();
    for (int i = 0; i < 4; ++i) {
        const QColor tone = m_theme.color(elementClassTone(classes[i]));
        m_side[i]->setPen(tone);
        m_side[i]->setBrush(i == 3 ? QBrush(tone) : QBrush(tone, Qt::BDiagPattern));
        m_side[i]->setData(QVector<double>{static_cast<double>(i)}, QVector<double>{barHeight(counts[i])});
        names->addTick(i, i == 3 ? QStringLiteral("0") : elementClassName(classes[i]));
    }
    m_sideRect->axis(QCPAxis::atBottom)->setTicker(names);
    m_sideRect->axis(QCPAxis::atBottom)->setRange(-0.6, 3.6);
    m_sideRect->axis(QCPAxis::atLeft)->setRange(0, top);
}

void HistogramPlot::showFinite(const core::Histogram &histogram, double top)
{
    QVector<double> places;
    QVector<double> heights;
    const std::size_t bins = m_summary->stats.hasFinite() ? histogram.counts.size() : 0;
    for (std::size_t i = 0; i < bins; ++i) {
        places.push_back((histogram.edge(i) + histogram.edge(i + 1)) / 2);
        heights.push_back(barHeight(histogram.counts[i]));
    }
    const double span = histogram.high > histogram.low ? histogram.high - histogram.low : 1.0;
    m_finite->setWidth(bins == 0 ? 1.0 : span / static_cast<double>(bins) * 0.92);
    m_finite->setData(places, heights, true);
    QCPAxis *axis = m_finiteRect->axis(QCPAxis::atBottom);
    axis->setRange(histogram.low - span * 0.02, histogram.low + span * 1.02);
    m_finiteRect->axis(QCPAxis::atLeft)->setRange(0, top);
    auto ticks = QSharedPointer<QCPAxisTickerText>::create();
    if (bins > 0)
        for (const double share : {0.0, 0.5, 1.0}) {
            const double at = histogram.low + span * share;
            ticks->addTick(at, m_magnitude ? magnitudeTick(at) : numberText(at, 3));
        }
    axis->setTicker(ticks);
}

} // namespace views
