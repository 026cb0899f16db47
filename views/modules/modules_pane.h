// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/pane.h"
#include "views/modules/module_tree_model.h"

class QTreeView;
class QToolButton;

namespace views {

struct TraceFacts;

// The module tree. Follows the current module; a click selects one.
class ModulesPane : public Pane
{
    Q_OBJECT

public:
    explicit ModulesPane(const PaneContext &context, QWidget *parent = nullptr);

    QList<QWidget *> headerControls() override;
    // What a report measured where the trace recorded no statistics.
    void setFacts(std::shared_ptr<const TraceFacts> facts);
    QTreeView &tree() const { return *m_tree; }
    const ModuleTreeModel &model() const { return m_model; }

protected:
    void showTrace() override;
    void showItem() override;
    void themeChanged() override;

private:
    ModuleTreeModel m_model;
    std::shared_ptr<const TraceFacts> m_facts;
    QTreeView *m_tree;
    QToolButton *m_collapse;
    bool m_showing = false;
};

} // namespace views
