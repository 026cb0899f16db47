// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/records.h"

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace at {
class Tensor;
}
namespace c10 {
struct IValue;
}

namespace core {

// One Python frame as the model file recorded it. line 0: not known; empty texts: not known.
struct RunFrame
{
    std::string file;
    std::uint32_t line = 0;
    std::string function;
    std::string source; // the text of the line, without indentation
};

// One level of a node's module stack. callKey tells one call of the module from another where the file says
// so
// ("L__self__i@1"); it is unique only together with the levels above it.
struct ModuleLevel
{
    std::string path; // "" is the root module
    std::string type; // "torch.nn.modules.linear.Linear"
    std::string callKey;
};

// What is known of one node before anything runs. One object a node for the whole run: observers may keep the
// address.
struct NodeInfo
{
    std::uint32_t id = 0; // dense over all graphs of the program, nested ones included
    std::string name;     // "linear_2"
    std::string target;   // "aten.add.Tensor", "higher_order.cond", "_operator.mul"
    std::string
        subgraph; // path of nested graphs, outermost first ("cond_1/true_graph_0"); "" in the main graph
    std::vector<ModuleLevel> modules; // outermost (root) first; empty: the node belongs to no module
    std::vector<RunFrame> frames;     // outermost first; empty: the file recorded none
    std::uint32_t stackNumber = 0; // from 1: nodes of the same number have the same frames; 0: not numbered
    std::vector<std::string> outputs; // names of the values it makes; "" where one is unused
    // Ids of the nodes whose numbers (sizes, .item() results, arithmetic on them) are arguments of this node,
    // as far as the graph says: edges that no tensor carries.
    std::vector<std::uint32_t> numberSources;
};

// A module that the file names, whether or not it is called.
struct ModuleInfo
{
    std::string path; // dotted address, "" is the root
    std::string type;
    std::optional<bool> training;     // unknown: the file does not say
    std::vector<std::string> aliases; // further addresses of the same module
};

// One call of one module as it happened. Ids are dense in the order of the first op.
struct ModuleCallInfo
{
    std::uint32_t id = 0;
    std::optional<std::uint32_t> parent; // the enclosing module call
    std::string path;
    std::string type;
    std::string method = "forward";
    std::uint32_t number = 1; // 1 for the first call of this path in this run
};

// A piece of control flow being executed: one body of a higher-order op, one turn of a loop.
struct RegionInfo
{
    const NodeInfo *node = nullptr; // the higher-order op, the loop or the branch
    std::string kind;               // "cond", "while_loop", "scan", "map", "no_grad", "autocast", ...
    std::string part;               // name of the subgraph
    std::uint32_t iteration = 0;    // 0-based; 0 where there is one turn only
};

// A number that a symbolic or Python-number node gave.
using RunNumber = std::variant<std::int64_t, double, bool>;

// Thrown by an observer, or by the fallback below it, to end a run early: without a base class, because only
// such a type passes the TorchScript interpreter and the autograd engine unchanged. The drivers catch it and
// return Status `cancelled` with detail "stopped".
struct StopRun
{
};

// What a driver of a run (.pt2 executor, TorchScript) tells whoever records it. All calls come on the thread
// that runs the model, in execution order; the driver does not own the observer and holds no lock. An
// observer must not dispatch recorded ops from inside these functions.
//
// Order of a run: moduleDeclared for every module the file names, parents first; namedTensor for all state
// and all inputs; then for each node nodeStarts, the dispatched ops, nodeEnds (or numberComputed between
// them); regions nest. The ops dispatched between nodeStarts and nodeEnds belong to that node. Ops dispatched
// between internalOpsBegin and internalOpsEnd are the driver's own (predicate of cond, select and stack of
// map and scan, copies of functional mutations back into state): no rows, but tensors they make still descend
// from their inputs.
class RunObserver
{
public:
    virtual ~RunObserver() = default;

    virtual void moduleDeclared(const ModuleInfo &module) = 0;

    // A tensor that exists before the run; ROLE is parameter, buffer, constant or input. NAMES holds all
    // names of a tied one, the first is the one to show.
    virtual void namedTensor(TensorRole role, const std::vector<std::string> &names,
                             const at::Tensor &tensor) = 0;

    // The module call is told before the first node inside it starts.
    virtual void moduleCallStarted(const ModuleCallInfo &call) = 0;
    // Told by drivers that see the end of a call (TorchScript); OUTPUTS is what the module returned.
    virtual void moduleCallEnded(const ModuleCallInfo &call, const std::vector<c10::IValue> &outputs) = 0;

    // MODULECALL is the id of the innermost module call the node runs in, none if it belongs to no module.
    virtual void nodeStarts(const NodeInfo &node, std::optional<std::uint32_t> moduleCall) = 0;
    virtual void nodeEnds(const NodeInfo &node) = 0;

    // Between nodeStarts and nodeEnds of a node that is computed without the dispatcher: a call with a value
    // and no tensor row. SOURCES are the nodes whose numbers went in (ids of NodeInfo).
    virtual void numberComputed(const NodeInfo &node, const RunNumber &value,
                                const std::vector<std::uint32_t> &sources) = 0;

    virtual void regionEntered(const RegionInfo &region) = 0;
    virtual void regionLeft(const RegionInfo &region) = 0;

    virtual void internalOpsBegin(const NodeInfo *node) = 0; // node may be null: before or after the graph
    virtual void internalOpsEnd() = 0;

    // The nodes that were told are about to go, also after a failure: who kept them for later uses them now.
    virtual void nodesEnd() {}

    // A leaf of what the model returned, in order; PATH is its place in the returned tree ("0", "logits").
    virtual void graphOutput(const std::string &path, const c10::IValue &value) = 0;
};

} // namespace core
