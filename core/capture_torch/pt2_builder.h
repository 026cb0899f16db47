// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/pt2_arguments.h"
#include "core/capture_torch/pt2_graph.h"

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace core::pt2 {

// Builds one graph of a program, and by further builders the graphs nested in it. Used once, by buildProgram.
class GraphBuilder
{
public:
    // What all graphs of one program share.
    struct Shared
    {
        Program &program;
        LoadReport &report;
        std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> moduleCalls; // by parent and key
        std::map<std::string, std::size_t> ops;                                     // place in Program::ops
        std::unordered_map<std::string, std::uint32_t> stacks; // NodeInfo::stackNumber by the recorded text
    };

    GraphBuilder(Shared &shared, std::string path);

    Result<std::shared_ptr<Graph>> build(const Value &graph);
    // After build: the slots by the names of the values.
    const std::unordered_map<std::string, Slot> &slots() const { return m_slots; }

private:
    Slot findSlot(const std::string &name) const; // kNoSlot when there is none
    Status declareInputs(const Value::List &inputs);
    Status addNode(const Value &json);
    Status addEffect(const Value &json);
    Status addPlain(const Value &json);
    Status readInfo(const Value &json, Node &node);
    Status bindDispatched(const Value &json, Node &node);
    Status bindNumber(const Value &json, Node &node);
    Status bindHigherOrder(const Value &json, Node &node);
    Status addSubgraph(const Value &graph, Node &node);
    Status defineResults(const Value &json, Node &node);
    Status defineList(const Value &items, Node &node);
    Status define(const std::string &name, Node &node, Slot &slot);
    Status takeBinderFindings(Node &node, const std::string &argument);
    Status undefined(const std::string &name, const Node &node) const;
    Status bindOutputs(const Value::List &outputs);
    void refuse(Node &node, const char *reason, const std::string &detail = {});
    void noteUses();
    std::uint32_t moduleCallSite(const std::vector<ModuleLevel> &levels);

    static constexpr std::uint32_t kNoNode = 0xffffffffU;

    Shared &m_shared;
    std::shared_ptr<Graph> m_graph;
    std::unordered_map<std::string, Slot> m_slots;
    std::vector<std::uint32_t> m_producers;           // node id by slot
    std::unordered_map<std::string, bool> m_allNames; // every name that any node of this graph makes
    ArgumentBinder m_binder;
};

// "torch.ops.aten.add.Tensor" -> "aten.add.Tensor"; other targets as they are.
std::string displayTarget(std::string_view target);

} // namespace core::pt2
