// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/node_state.h"
#include "core/trace/trace.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace core {

// A child of a group: a call or a group of its own.
struct GraphEntry
{
    std::uint32_t value = 0;
    bool isGroup = false;

    CallId call() const { return CallId(value); }
};

// One module call that contains ops. POSITIONS are places in the tree's walk: a group is a range of them.
struct GraphGroup
{
    ModuleCallId call; // none for group 0, the whole run, when it has no root module call
    std::uint32_t parent = 0;
    std::uint32_t depth = 0;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t ops = 0; // compute calls in it
    std::uint64_t structureHash =
        0; // equal for siblings of the same class and the same ops, dtypes and shapes
    NodeState state = NodeState::clean;
    bool bornInBackward = false; // the grad function of some op in it
    bool unchecked = false;      // some op in it was never looked at
    Range entries;
};

// The module calls of a run as a tree with the calls as leaves, in execution order. Built once per trace (and
// set of marks) in time linear in calls; holds a few bytes per call, no text. Reads of buffers are no leaves:
// they are shown at their consumers. A buffer that an op wrote stands behind that op. Keeps the trace alive.
// Immutable, any thread.
class GraphTree
{
public:
    GraphTree(std::shared_ptr<const Trace> trace, GraphMarks marks);

    const Trace &trace() const { return *m_trace; }
    std::shared_ptr<const Trace> sharedTrace() const { return m_trace; }
    const GraphMarks &marks() const { return m_marks; }

    std::span<const GraphGroup> groups() const { return m_groups; }
    const GraphGroup &group(std::uint32_t index) const { return m_groups[index]; }
    std::span<const GraphEntry> entries(const GraphGroup &group) const
    {
        return std::span(m_entries).subspan(group.entries.begin, group.entries.count);
    }
    // Calls by position.
    std::span<const CallId> calls() const { return m_calls; }
    // Position of a call; kNoPosition for a call that is no leaf.
    std::uint32_t position(CallId call) const { return m_positions[call.index()]; }
    // The group whose child the call is.
    std::uint32_t groupOf(CallId call) const { return m_groupOf[call.index()]; }
    // The group of a module call; kNoPosition when no op ran in it.
    std::uint32_t groupOf(ModuleCallId call) const { return m_groupOfCall[call.index()]; }
    // First and past-the-last position of an entry.
    std::uint32_t entryBegin(const GraphEntry &entry) const;
    std::uint32_t entryEnd(const GraphEntry &entry) const;

    // Recorded or measured; nullptr when there is none.
    const TensorStats *stats(TensorId tensor) const
    {
        return tensor.isValid() ? m_marks.stats(*m_trace, tensor) : nullptr;
    }
    NodeState stateOf(CallId call) const;
    bool isUnchecked(CallId call) const;
    bool isBornInBackward(CallId call) const;

    static constexpr std::uint32_t kNoPosition = 0xffffffffU;

private:
    std::uint32_t ensureGroup(ModuleCallId call);
    void addLeaves();
    std::vector<CallId> leaves() const;
    void number();
    void summarise();
    std::uint64_t callHash(CallId call) const;

    std::shared_ptr<const Trace> m_trace;
    GraphMarks m_marks;
    std::vector<GraphGroup> m_groups;
    std::vector<GraphEntry> m_entries;
    std::vector<CallId> m_calls;
    std::vector<std::uint32_t> m_positions;
    std::vector<std::uint32_t> m_groupOf;
    std::vector<std::uint32_t> m_groupOfCall;
    std::vector<std::vector<GraphEntry>> m_building; // entries by group, until number()
};

} // namespace core
