// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/modules/module_tree_model.h"

#include "views/base/counted_text.h"
#include "views/base/formatting.h"
#include "views/base/trace_facts.h"

#include <algorithm>
#include <limits>

namespace views {

namespace {

QString lastPart(const QString &path)
{
    return path.mid(path.lastIndexOf(QLatin1Char('.')) + 1);
}

} // namespace

void ModuleTreeModel::setTrace(std::shared_ptr<const core::Trace> trace, const TraceFacts *facts)
{
    beginResetModel();
    m_trace = std::move(trace);
    m_nodes.assign(m_trace ? m_trace->modules().size() : 0, {});
    m_roots.clear();
    for (std::size_t i = 0; i < m_nodes.size(); ++i) {
        const core::ModuleId parent = m_trace->modules()[i].parent;
        // A parent that comes later or is the module itself cannot be one: such a file is shown flat there.
        const bool isRoot = !parent.isValid() || parent.index() >= i;
        std::vector<std::uint32_t> &siblings = isRoot ? m_roots : m_nodes[parent.index()].children;
        m_nodes[i].parent = isRoot ? 0xffffffffU : static_cast<std::uint32_t>(parent.index());
        siblings.push_back(static_cast<std::uint32_t>(i));
    }
    if (m_trace) {
        countOps(facts);
        sortByRun();
    }
    endResetModel();
}

// As they ran, not as the file names them (a list of layers by name has 10 before 2); those that did not run
// last.
void ModuleTreeModel::sortByRun()
{
    constexpr auto kNever = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> first(m_nodes.size(), kNever);
    std::size_t step = 0;
    for (const core::OpId op : m_trace->computeOps()) {
        const core::ModuleCallId call = m_trace->callOf(op).moduleCall;
        ++step;
        if (!call.isValid())
            continue;
        std::size_t &at = first[m_trace->moduleCall(call).module.index()];
        at = std::min(at, step);
    }
    // Parents come before their children.
    for (std::size_t i = m_nodes.size(); i-- > 0;)
        if (const std::uint32_t parent = m_nodes[i].parent; parent != 0xffffffffU)
            first[parent] = std::min(first[parent], first[i]);
    const auto sort = [&](std::vector<std::uint32_t> &siblings) {
        std::stable_sort(siblings.begin(), siblings.end(),
                         [&](std::uint32_t a, std::uint32_t b) { return first[a] < first[b]; });
        for (std::size_t row = 0; row < siblings.size(); ++row)
            m_nodes[siblings[row]].row = static_cast<int>(row);
    };
    sort(m_roots);
    for (Node &node : m_nodes)
        sort(node.children);
}

void ModuleTreeModel::setFacts(const TraceFacts &facts)
{
    if (!m_trace)
        return;
    for (Node &node : m_nodes)
        node.ops = node.nanOps = node.infOps = 0;
    countOps(&facts);
    Q_EMIT layoutChanged();
}

void ModuleTreeModel::countOps(const TraceFacts *facts)
{
    for (const core::OpId op : m_trace->computeOps()) {
        const core::CallRow &made = m_trace->callOf(op);
        const core::ModuleCallId call = made.moduleCall;
        if (!call.isValid() || made.kind != core::CallKind::compute)
            continue;
        const core::TensorStats *stats = statsOf(*m_trace, facts, m_trace->op(op).tensor);
        Node &node = m_nodes[m_trace->moduleCall(call).module.index()];
        // An op that returns several tensors has a row for each of them.
        node.ops += op.index() == made.rows.begin ? 1 : 0;
        if (stats != nullptr && stats->nan > 0)
            ++node.nanOps;
        else if (stats != nullptr && stats->nonFinite() > 0)
            ++node.infOps;
    }
    // Parents come before their children, so one walk from the end adds everything up.
    for (std::size_t i = m_nodes.size(); i-- > 0;) {
        const Node &node = m_nodes[i];
        if (node.parent == 0xffffffffU)
            continue;
        Node &parent = m_nodes[node.parent];
        parent.ops += node.ops;
        parent.nanOps += node.nanOps;
        parent.infOps += node.infOps;
    }
}

const std::vector<std::uint32_t> &ModuleTreeModel::childrenOf(const QModelIndex &parent) const
{
    return parent.isValid() ? m_nodes[parent.internalId()].children : m_roots;
}

QModelIndex ModuleTreeModel::index(int row, int column, const QModelIndex &parent) const
{
    const auto &children = childrenOf(parent);
    if (row < 0 || column != 0 || row >= static_cast<int>(children.size()))
        return {};
    return createIndex(row, 0, static_cast<quintptr>(children[static_cast<std::size_t>(row)]));
}

QModelIndex ModuleTreeModel::parent(const QModelIndex &index) const
{
    if (!index.isValid())
        return {};
    const std::uint32_t parent = m_nodes[index.internalId()].parent;
    return parent == 0xffffffffU ? QModelIndex()
                                 : createIndex(m_nodes[parent].row, 0, static_cast<quintptr>(parent));
}

int ModuleTreeModel::rowCount(const QModelIndex &parent) const
{
    return static_cast<int>(childrenOf(parent).size());
}

QModelIndex ModuleTreeModel::indexOf(core::ModuleId module) const
{
    if (!module.isValid() || module.index() >= m_nodes.size())
        return {};
    return createIndex(m_nodes[module.index()].row, 0, static_cast<quintptr>(module.index()));
}

core::ModuleId ModuleTreeModel::moduleAt(const QModelIndex &index) const
{
    return index.isValid() ? core::ModuleId(index.internalId()) : core::ModuleId();
}

QVariant ModuleTreeModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const core::ModuleId id = moduleAt(index);
    const Node &node = m_nodes[id.index()];
    const QString className = lastPart(fromView(m_trace->string(m_trace->module(id).className)));
    switch (role) {
    case Qt::DisplayRole: {
        const bool isRoot = m_trace->string(m_trace->module(id).address).empty();
        return isRoot ? moduleText(*m_trace, id) : lastPart(moduleText(*m_trace, id));
    }
    case Qt::ToolTipRole:
        return tr("%1, %2, %3").arg(moduleText(*m_trace, id), className, countedText(node.ops, "op", "ops"));
    case Qt::AccessibleTextRole:
        return tr("%1, %2, %3, %4 with NaN, %5 with Inf")
            .arg(moduleText(*m_trace, id), className)
            .arg(node.ops)
            .arg(node.nanOps)
            .arg(node.infOps);
    case kClassRole:
        return m_trace->string(m_trace->module(id).address).empty() ? QString() : className;
    case kOpsRole:
        return node.ops;
    case kNanRole:
        return node.nanOps;
    case kInfRole:
        return node.infOps;
    default:
        return {};
    }
}

} // namespace views
