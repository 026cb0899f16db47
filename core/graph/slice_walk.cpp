// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/slice_walk.h"

#include <algorithm>

namespace core {

namespace {

constexpr std::size_t kSmallestStack = 3;
constexpr std::size_t kSmallestLeafStack = 8; // of modules of one op, which are as good as ops
constexpr std::size_t kMostItems = 36;        // of one frame before runs are made
constexpr std::size_t kRunItems = 12;         // a run's size when few runs are enough
constexpr std::size_t kMostRuns = 24;

constexpr std::uint64_t kModuleTag = 1ULL << 62U;
constexpr std::uint64_t kRunTag = 2ULL << 62U;
constexpr std::uint64_t kStackTag = 3ULL << 62U;
constexpr std::uint64_t kKeyBits = (1ULL << 62U) - 1;

bool isEqualSibling(const GraphTree &tree, const GraphFolds &folds, const GraphEntry &first,
                    const GraphEntry &next)
{
    if (!next.isGroup)
        return false;
    const GraphGroup &one = tree.group(first.value);
    const GraphGroup &other = tree.group(next.value);
    return one.structureHash == other.structureHash && one.state == other.state &&
           one.bornInBackward == other.bornInBackward && one.unchecked == other.unchecked &&
           !folds.isOpen(moduleFoldKey(other.call));
}

// Walks the entries of one part and groups equal neighbours.
class PartWalk
{
public:
    PartWalk(const GraphTree &tree, const GraphFolds &folds, const SliceItem &part)
        : m_tree(tree), m_folds(folds), m_part(part), m_entries(tree.entries(tree.group(part.owner)))
    {
    }

    std::vector<SliceItem> items()
    {
        std::vector<SliceItem> out;
        std::uint32_t at = m_part.firstEntry;
        while (at < m_part.pastEntry) {
            const GraphEntry &entry = m_entries[at];
            const std::uint32_t length = entry.isGroup ? stackLength(at) : 1;
            const bool isLeaf = entry.isGroup && onlyCall(m_tree, entry.value).isValid();
            const bool isStack = length >= (isLeaf ? kSmallestLeafStack : kSmallestStack);
            if (isStack)
                out.push_back(stack(at, length));
            for (std::uint32_t i = 0; !isStack && i < length; ++i)
                out.push_back(single(at + i));
            at += length;
        }
        return out;
    }

private:
    std::uint32_t stackLength(std::uint32_t at) const
    {
        const GraphEntry &first = m_entries[at];
        const ModuleCallId call = m_tree.group(first.value).call;
        if (m_folds.isOpen(moduleFoldKey(call)) || m_folds.isOpen(stackFoldKey(call)))
            return 1;
        std::uint32_t length = 1;
        while (at + length < m_part.pastEntry &&
               isEqualSibling(m_tree, m_folds, first, m_entries[at + length]) &&
               !m_folds.isOpen(stackFoldKey(m_tree.group(m_entries[at + length].value).call)))
            ++length;
        return length;
    }

    SliceItem base(BoxKind kind, std::uint32_t at, std::uint32_t length) const
    {
        SliceItem item;
        item.kind = kind;
        item.owner = m_part.owner;
        item.firstEntry = at;
        item.pastEntry = at + length;
        return item;
    }

    SliceItem stack(std::uint32_t at, std::uint32_t length) const
    {
        SliceItem item = base(BoxKind::stack, at, length);
        item.group = m_entries[at].value;
        item.key = stackFoldKey(m_tree.group(item.group).call);
        return item;
    }

    SliceItem single(std::uint32_t at) const
    {
        const GraphEntry &entry = m_entries[at];
        if (!entry.isGroup) {
            SliceItem item = base(BoxKind::op, at, 1);
            item.call = entry.call();
            return item;
        }
        SliceItem item = base(BoxKind::module, at, 1);
        item.group = entry.value;
        item.key = moduleFoldKey(m_tree.group(entry.value).call);
        item.call = onlyCall(m_tree, entry.value);
        item.isOpen = !item.call.isValid() && m_folds.isOpen(item.key);
        return item;
    }

    const GraphTree &m_tree;
    const GraphFolds &m_folds;
    const SliceItem &m_part;
    std::span<const GraphEntry> m_entries;
};

// How many runs the part is shown as; 0: its items fit. Counted with everything folded, so that unfolding one
// thing never regroups its neighbours.
std::size_t runCount(const GraphTree &tree, const SliceItem &part)
{
    const std::size_t entries = part.pastEntry - part.firstEntry;
    if (entries <= kMostItems)
        return 0;
    const std::size_t items = PartWalk(tree, GraphFolds(), part).items().size();
    if (items <= kMostItems)
        return 0;
    return std::clamp((items + kRunItems - 1) / kRunItems, std::size_t(2), kMostRuns);
}

} // namespace

std::uint64_t moduleFoldKey(ModuleCallId call)
{
    return kModuleTag | call.value();
}

std::uint64_t stackFoldKey(ModuleCallId first)
{
    return kStackTag | first.value();
}

std::uint64_t runFoldKey(std::uint64_t owner, std::uint32_t firstEntry, std::uint32_t pastLastEntry)
{
    std::uint64_t hash = owner * 0x9e3779b97f4a7c15ULL;
    hash = (hash ^ firstEntry) * 0xff51afd7ed558ccdULL;
    hash = (hash ^ (hash >> 33U) ^ pastLastEntry) * 0xc4ceb9fe1a85ec53ULL;
    return kRunTag | ((hash ^ (hash >> 29U)) & kKeyBits);
}

SliceItem rootItem(const GraphTree &tree)
{
    SliceItem root;
    root.kind = BoxKind::module;
    root.pastEntry = tree.group(0).entries.count;
    root.key = kModuleTag | ModuleCallId::kNone;
    root.isOpen = true;
    return root;
}

CallId onlyCall(const GraphTree &tree, std::uint32_t group)
{
    const std::span<const GraphEntry> entries = tree.entries(tree.group(group));
    return entries.size() == 1 && !entries[0].isGroup ? entries[0].call() : CallId();
}

std::vector<SliceItem> sliceItems(const GraphTree &tree, const GraphFolds &folds, const SliceItem &part)
{
    SliceItem whole = part;
    if (part.kind == BoxKind::module) {
        whole.owner = part.group;
        whole.firstEntry = 0;
        whole.pastEntry = tree.group(part.group).entries.count;
    }
    const std::size_t runs = runCount(tree, whole);
    if (runs == 0)
        return PartWalk(tree, folds, whole).items();
    std::vector<SliceItem> out;
    const std::size_t entries = whole.pastEntry - whole.firstEntry;
    for (std::size_t i = 0; i < runs; ++i) {
        SliceItem run;
        run.kind = BoxKind::run;
        run.owner = whole.owner;
        run.firstEntry = whole.firstEntry + static_cast<std::uint32_t>(entries * i / runs);
        run.pastEntry = whole.firstEntry + static_cast<std::uint32_t>(entries * (i + 1) / runs);
        run.key = runFoldKey(part.key, run.firstEntry, run.pastEntry);
        run.isOpen = folds.isOpen(run.key);
        out.push_back(run);
    }
    return out;
}

} // namespace core
