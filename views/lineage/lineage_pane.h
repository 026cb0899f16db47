// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/canvas/picture_pane.h"
#include "views/lineage/lineage_facts.h"

class QLabel;
class QToolButton;

namespace views {

// Where the value of the selected op comes from and what it becomes, as a picture around that op. A click
// selects the op everywhere and the picture stays; Enter or a double click goes there and makes it the
// middle. A selection made elsewhere is followed unless the pane is pinned. Facts: marks, answers, layouts.
// Owned by its dock; GUI thread.
class LineagePane : public PicturePane
{
    Q_OBJECT

public:
    enum class Direction { ancestors, both, descendants };

    explicit LineagePane(const PaneContext &context, QWidget *parent = nullptr);

    void setMarks(core::GraphMarks marks);
    void setLineage(const LineageAnswer &answer);
    core::OpId start() const { return m_start; }

    Direction direction() const { return m_direction; }
    void setDirection(Direction direction);
    // 0: as far as there is anything.
    int depth() const { return m_depth; }
    void setDepth(int depth);

    QByteArray viewState() const;
    void restoreViewState(const QByteArray &state);

Q_SIGNALS:
    void lineageWished(const views::LineageWish &wish);
    void viewStateChanged();

protected:
    void showTrace() override;
    void showItem() override;
    void keyPressEvent(QKeyEvent *event) override;
    void showSelected() override;
    void pick(std::uint32_t box, bool activate) override;
    void askMore() override;
    QString exportName() const override;
    std::vector<std::string> exportFooter() const override;

private:
    QWidget *buildBar();
    void sayNothingSelected();
    void ask();
    void askFrom(core::OpId op);
    void updateBar();
    core::LineageOptions options() const;

    QLabel *m_startLabel = nullptr;
    QLabel *m_depthLabel = nullptr;
    QToolButton *m_directions[3] = {};
    QToolButton *m_all = nullptr;
    core::GraphMarks m_marks;
    std::shared_ptr<const core::GraphTree> m_tree;
    core::OpId m_start;
    Direction m_direction = Direction::both;
    int m_depth = 3;
    std::size_t m_boxes;
};

} // namespace views
