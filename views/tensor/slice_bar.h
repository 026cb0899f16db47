// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/theme.h"
#include "views/tensor/tensor_summary.h"

#include <QWidget>

class QComboBox;
class QHBoxLayout;
class QSpinBox;

namespace views {

// Chooses a slice: which axes are rows and columns, and where the other ones stand, in rows of their own, so
// that a tensor of many dimensions does not make the pane wider. Also holds Next bad element. Owned by the
// tensor pane.
class SliceBar : public QWidget
{
    Q_OBJECT

public:
    SliceBar(const Theme &theme, QWidget *parent);

    // Rebuilds the controls for SHAPE without emitting.
    void setSlice(const std::vector<std::int64_t> &shape, const Slice &slice);
    const Slice &slice() const { return m_slice; }

Q_SIGNALS:
    void sliceChanged(const views::Slice &slice);
    void nextBadRequested();

private:
    void rebuild();
    QComboBox *addAxisChoice(QHBoxLayout &row, const QString &name, bool isRow);
    void addIndex(QHBoxLayout &row, std::size_t axis);
    void chooseAxis(bool isRow, int axis);

    std::vector<std::int64_t> m_shape;
    Slice m_slice;
    const Theme &m_theme;
    QHBoxLayout *m_row;
    QWidget *m_controls = nullptr;
};

} // namespace views
