// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph_folds.h"

#include <QObject>
#include <QString>
#include <QUndoStack>

namespace views {
class FilterLine;
class GraphPane;
class TableView;
} // namespace views

namespace app {

// What was done to the view of a document and can be taken back: folds, filters, and how tables are sorted.
// Selections are no part of it, they have their history. Emptied when another document is shown. Owned by the
// main window.
class ExplorationUndo : public QObject
{
    Q_OBJECT

public:
    explicit ExplorationUndo(QObject *parent = nullptr) : QObject(parent) {}
    // The stack tells of its emptying while it dies, when nobody is there to listen any more.
    ~ExplorationUndo() override { m_stack.disconnect(); }

    QUndoStack &stack() { return m_stack; }
    void watch(views::GraphPane &graph);
    void watch(views::FilterLine &filter);
    void watch(views::TableView &table);
    // Another document is shown: its folds are where undoing starts.
    void restart();

private:
    void noteFolds(views::GraphPane &graph);
    void noteFilter(views::FilterLine &filter);

    QUndoStack m_stack;
    views::GraphPane *m_graph = nullptr;
    core::GraphFolds m_folds;
    bool m_foldsKnown = false;
    QString m_filter;
    bool m_applying = false; // by undo or redo
};

} // namespace app
