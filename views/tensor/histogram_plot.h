// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/theme.h"
#include "views/tensor/tensor_summary.h"

#include <QWidget>

class QCPAxisRect;
class QCPBars;
class QCustomPlot;
class QLabel;

namespace views {

// The histogram of a tensor: finite values on an axis of their own, NaN, −Inf, +Inf and zero as bins beside
// it, never on it. Counts are log10. Owned by the tensor pane.
class HistogramPlot : public QWidget
{
    Q_OBJECT

public:
    explicit HistogramPlot(const Theme &theme, QWidget *parent = nullptr);

    // DTYPE decides the marks (limits of a floating type).
    void setSummary(const TensorSummary &summary, core::DType dtype);
    // No picture, WHY instead.
    void clear(const QString &why);
    void setMagnitude(bool magnitude);
    bool isMagnitude() const { return m_magnitude; }
    // Whether the finite axis has bars; the bins beside it do not count.
    bool hasFiniteBars() const;
    // Heights of the side bins in the order NaN, −Inf, +Inf, zero.
    std::vector<std::uint64_t> sideCounts() const;

private:
    void makePlot();
    void replot();
    void dress();
    void showSide(const core::Histogram &histogram, double top);
    void showFinite(const core::Histogram &histogram, double top);

    const Theme &m_theme;
    QCustomPlot *m_plot = nullptr;
    QLabel *m_why;
    QCPAxisRect *m_sideRect = nullptr;
    QCPAxisRect *m_finiteRect = nullptr;
    QCPBars *m_side[4] = {};
    QCPBars *m_finite = nullptr;
    std::optional<TensorSummary> m_summary;
    core::DType m_dtype = core::DType::unknown;
    bool m_magnitude = false;
};

} // namespace views
