// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/tensor/slice_bar.h"

#include "views/base/combo_arrow.h"
#include "views/base/widgets.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include <limits>

namespace views {

namespace {

constexpr int kIndicesInRow = 4;
constexpr int kChoiceLength = 11; // "dim 0 (768)"
constexpr int kNarrowestChoice = 80;

} // namespace

SliceBar::SliceBar(const Theme &theme, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_row(new QHBoxLayout(this))
{
    m_row->setContentsMargins(10, 4, 10, 4);
    m_row->setSpacing(6);
    m_row->addStretch(1);
    QPushButton *next = makeButton(tr("Next bad"), "", this);
    next->setIcon(themedIcon(theme, IconName::origin, core::ColorToken::nan));
    next->setAccessibleName(tr("Next bad element"));
    next->setToolTip(tr("Jump to the next NaN or Inf, across slices (N, back with Shift+N)"));
    connect(next, &QPushButton::clicked, this, &SliceBar::nextBadRequested);
    m_row->addWidget(next);
}

void SliceBar::setSlice(const std::vector<std::int64_t> &shape, const Slice &slice)
{
    if (shape == m_shape && slice == m_slice && m_controls != nullptr)
        return;
    m_shape = shape;
    m_slice = slice;
    rebuild();
}

void SliceBar::rebuild()
{
    // A control of the old row may be the sender, so it lives until its signal is done.
    if (m_controls != nullptr) {
        m_controls->hide();
        m_controls->deleteLater();
    }
    m_controls = new QWidget(this);
    auto *column = new QVBoxLayout(m_controls);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(4);
    const auto addRow = [column] {
        auto *row = new QHBoxLayout;
        row->setSpacing(6);
        column->addLayout(row);
        return row;
    };
    if (m_shape.size() >= 2) {
        QHBoxLayout *choices = addRow();
        addAxisChoice(*choices, tr("rows"), true);
        addAxisChoice(*choices, tr("columns"), false);
        choices->addStretch(1);
    }
    QHBoxLayout *indices = nullptr;
    int inRow = 0;
    for (std::size_t axis = 0; axis < m_shape.size(); ++axis) {
        if (static_cast<int>(axis) == m_slice.rowAxis || static_cast<int>(axis) == m_slice.columnAxis)
            continue;
        if (indices == nullptr || inRow == kIndicesInRow) {
            indices = addRow();
            indices->addStretch(1);
            inRow = 0;
        }
        addIndex(*indices, axis);
        ++inRow;
    }
    m_row->insertWidget(0, m_controls);
}

void SliceBar::addIndex(QHBoxLayout &row, std::size_t axis)
{
    const int end = row.count() - 1; // before the stretch
    row.insertWidget(end, makeLabel(tr("dim %1").arg(axis), "dense", m_controls));
    auto *index = new QSpinBox(m_controls);
    const std::int64_t last = std::max<std::int64_t>(0, m_shape[axis] - 1);
    index->setRange(0, static_cast<int>(std::min<std::int64_t>(last, std::numeric_limits<int>::max())));
    index->setValue(static_cast<int>(m_slice.fixed[axis]));
    index->setWrapping(true);
    index->setAccessibleName(tr("Index along dimension %1, 0 to %2").arg(axis).arg(last));
    row.insertWidget(end + 1, index);
    connect(index, &QSpinBox::valueChanged, this, [this, axis](int value) {
        m_slice.fixed[axis] = value;
        Q_EMIT sliceChanged(m_slice);
    });
}

QComboBox *SliceBar::addAxisChoice(QHBoxLayout &row, const QString &name, bool isRow)
{
    row.addWidget(makeLabel(name, "dense", m_controls));
    auto *choice = new QComboBox(m_controls);
    for (std::size_t i = 0; i < m_shape.size(); ++i)
        choice->addItem(tr("dim %1 (%2)").arg(i).arg(m_shape[i]));
    choice->setCurrentIndex(isRow ? m_slice.rowAxis : m_slice.columnAxis);
    choice->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    choice->setMinimumContentsLength(kChoiceLength);
    choice->setMinimumWidth(kNarrowestChoice);
    addComboArrow(m_theme, choice);
    choice->setAccessibleName(isRow ? tr("Dimension shown as rows") : tr("Dimension shown as columns"));
    row.addWidget(choice);
    connect(choice, &QComboBox::activated, this, [this, isRow](int chosen) { chooseAxis(isRow, chosen); });
    return choice;
}

// Choosing the axis the other side has swaps the two.
void SliceBar::chooseAxis(bool isRow, int axis)
{
    int &mine = isRow ? m_slice.rowAxis : m_slice.columnAxis;
    int &other = isRow ? m_slice.columnAxis : m_slice.rowAxis;
    if (axis == mine)
        return;
    if (axis == other)
        other = mine;
    mine = axis;
    rebuild();
    Q_EMIT sliceChanged(m_slice);
}

} // namespace views
