// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/exploration_undo.h"

#include "views/base/filter_line.h"
#include "views/base/table_view.h"
#include "views/graph/graph_pane.h"

#include <QHeaderView>
#include <QPointer>
#include <QScopedValueRollback>
#include <QUndoCommand>

#include <functional>
#include <memory>
#include <utility>

namespace app {

namespace {

// One step as what leads back and what leads on. It was done before it is pushed, so the first redo does
// nothing.
class Step : public QUndoCommand
{
public:
    Step(const QString &text, std::function<void()> undo, std::function<void()> redo)
        : QUndoCommand(text), m_undo(std::move(undo)), m_redo(std::move(redo))
    {
    }
    void undo() override { m_undo(); }
    void redo() override
    {
        if (std::exchange(m_done, false))
            return;
        m_redo();
    }

private:
    std::function<void()> m_undo;
    std::function<void()> m_redo;
    bool m_done = true;
};

} // namespace

void ExplorationUndo::watch(views::GraphPane &graph)
{
    m_graph = &graph;
    connect(&graph, &views::GraphPane::foldsChanged, this, [this, &graph] { noteFolds(graph); });
}

void ExplorationUndo::noteFolds(views::GraphPane &graph)
{
    const core::GraphFolds before = std::exchange(m_folds, graph.folds());
    const bool known = std::exchange(m_foldsKnown, true);
    if (m_applying || !known || before == m_folds)
        return;
    const auto apply = [this, pane = &graph](const core::GraphFolds &folds) {
        const QScopedValueRollback<bool> guard(m_applying, true);
        pane->setFolds(folds);
    };
    m_stack.push(new Step(
        tr("folding"), [apply, before] { apply(before); }, [apply, after = m_folds] { apply(after); }));
}

void ExplorationUndo::watch(views::FilterLine &filter)
{
    m_filter = filter.text();
    connect(&filter, &views::FilterLine::filterChanged, this, [this, &filter] { noteFilter(filter); });
}

void ExplorationUndo::noteFilter(views::FilterLine &filter)
{
    const QString before = std::exchange(m_filter, filter.text());
    if (m_applying || before == m_filter)
        return;
    const auto apply = [this, line = &filter](const QString &text) {
        const QScopedValueRollback<bool> guard(m_applying, true);
        line->setText(text);
    };
    m_stack.push(new Step(
        tr("filter"), [apply, before] { apply(before); }, [apply, after = m_filter] { apply(after); }));
}

void ExplorationUndo::watch(views::TableView &table)
{
    QHeaderView *header = table.horizontalHeader();
    auto last = std::make_shared<std::pair<int, Qt::SortOrder>>(header->sortIndicatorSection(),
                                                                header->sortIndicatorOrder());
    connect(
        header, &QHeaderView::sortIndicatorChanged, this,
        [this, header, last](int section, Qt::SortOrder order) {
            const auto before = std::exchange(*last, {section, order});
            if (m_applying || before == *last)
                return;
            const auto apply = [this, header](std::pair<int, Qt::SortOrder> sort) {
                const QScopedValueRollback<bool> guard(m_applying, true);
                header->setSortIndicator(sort.first, sort.second);
            };
            m_stack.push(new Step(
                tr("sorting"), [apply, before] { apply(before); }, [apply, after = *last] { apply(after); }));
        });
}

void ExplorationUndo::restart()
{
    m_stack.clear();
    m_foldsKnown = m_graph != nullptr && m_graph->state().hasTree();
    if (m_foldsKnown)
        m_folds = m_graph->folds();
}

} // namespace app
