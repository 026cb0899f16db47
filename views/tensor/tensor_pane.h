// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/pane.h"
#include "views/tensor/slice_model.h"
#include "views/tensor/tensor_summary.h"

class QLabel;
class QSplitter;
class QTableView;
class QToolButton;
class QVBoxLayout;

namespace views {

class CompositionStrip;
class FactList;
class HistogramPlot;
class SliceBar;

// The values of the current tensor: composition, histogram, statistics and a grid of any slice. What needs
// reading is wished for and arrives later; meanwhile the pane says "reading". A tensor whose values are not
// in the trace says why and how to record them, and shows the recorded statistics.
class TensorPane : public Pane
{
    Q_OBJECT

public:
    explicit TensorPane(const PaneContext &context, QWidget *parent = nullptr);
    ~TensorPane() override;

    core::TensorId tensor() const { return m_tensor; }
    // Answers; those for another tensor or slice than the shown one are dropped.
    void setSummary(core::TensorId tensor, const core::Result<TensorSummary> &summary);
    void setTile(core::TensorId tensor, const Slice &slice, const core::Result<Tile> &tile);
    void showBadElement(core::TensorId tensor, const core::Result<std::optional<std::uint64_t>> &flat);
    // Wishes for the next (1) or previous (-1) NaN or Inf, from the current cell.
    void stepBadElement(int direction);

    HistogramPlot &histogram() const { return *m_histogram; }
    CompositionStrip &composition() const { return *m_composition; }
    const SliceModel &slices() const { return m_model; }
    QTableView &grid() const { return *m_grid; }
    QString noteText() const;

Q_SIGNALS:
    void summaryRequested(core::TensorId tensor);
    void tileRequested(core::TensorId tensor, const views::Slice &slice, std::int64_t firstRow,
                       std::int64_t firstColumn);
    void badElementRequested(core::TensorId tensor, std::int64_t from, int direction);

protected:
    void showTrace() override;
    void showItem() override;
    void themeChanged() override;
    void resizeEvent(QResizeEvent *event) override;

private:
    static QString unreadWords(const core::Status &status);
    QWidget *makeTop();
    QWidget *makeBottom();
    void showTensor(core::OpId op, core::TensorId tensor);
    void showNote(const QString &note);
    void showStats(const core::TensorStats &stats);
    void showSlice(const Slice &slice);
    QWidget *makeWindowRow();
    void showWindow();
    void showElement(std::uint64_t flat);
    void pickCell(int row, int column);
    void showCell(int row, int column);
    int cellWidth() const;

    SliceModel m_model;
    QSplitter *m_splitter = nullptr;
    double m_largest = 0.0; // magnitude, as far as it is known
    QLabel *m_name;
    QLabel *m_kind;
    QLabel *m_note;
    CompositionStrip *m_composition;
    HistogramPlot *m_histogram;
    FactList *m_facts;
    SliceBar *m_sliceBar;
    QTableView *m_grid;
    QLabel *m_cell;
    QWidget *m_windowRow = nullptr; // which part of a very long axis is in the grid
    QLabel *m_window = nullptr;
    QToolButton *m_linear = nullptr;
    QToolButton *m_magnitude = nullptr;
    core::OpId m_op;
    core::TensorId m_tensor;
    bool m_showing = false;
};

} // namespace views
