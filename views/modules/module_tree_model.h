// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/trace.h"

#include <QAbstractItemModel>

#include <memory>
#include <vector>

namespace views {

struct TraceFacts;

// The module tree of a trace with how many ops each module holds (below included) and how many of them have
// NaN or Inf. Immutable content; owned by the pane.
class ModuleTreeModel : public QAbstractItemModel
{
    Q_OBJECT

public:
    enum Role { kClassRole = Qt::UserRole + 1, kOpsRole, kNanRole, kInfRole };

    explicit ModuleTreeModel(QObject *parent = nullptr) : QAbstractItemModel(parent) {}

    // FACTS may be null; they are read, not kept.
    void setTrace(std::shared_ptr<const core::Trace> trace, const TraceFacts *facts = nullptr);
    // The counts again, with what a report measured.
    void setFacts(const TraceFacts &facts);
    QModelIndex indexOf(core::ModuleId module) const;
    core::ModuleId moduleAt(const QModelIndex &index) const;

    QModelIndex index(int row, int column, const QModelIndex &parent = {}) const override;
    QModelIndex parent(const QModelIndex &index) const override;
    int rowCount(const QModelIndex &parent = {}) const override;
    int columnCount(const QModelIndex & = {}) const override { return 1; }
    QVariant data(const QModelIndex &index, int role) const override;

private:
    struct Node
    {
        std::uint32_t parent = 0xffffffffU;
        int row = 0;
        std::vector<std::uint32_t> children;
        std::uint32_t ops = 0;
        std::uint32_t nanOps = 0; // ops whose output holds NaN
        std::uint32_t infOps = 0; // Inf and no NaN
    };
    void countOps(const TraceFacts *facts);
    void sortByRun();
    const std::vector<std::uint32_t> &childrenOf(const QModelIndex &parent) const;

    std::shared_ptr<const core::Trace> m_trace;
    std::vector<Node> m_nodes;
    std::vector<std::uint32_t> m_roots;
};

} // namespace views
