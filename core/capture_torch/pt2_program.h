// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/pt2_json.h"
#include "core/capture_torch/pt2_numbers.h"
#include "core/capture_torch/run_observer.h"
#include "core/capture_torch/treespec.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// A torch.export program made ready to run: every op looked up, every argument bound to a slot or a constant
// in schema order. Built once, immutable, shared by runs.
namespace core::pt2 {

using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = 0xffffffffU;
inline constexpr std::uint32_t kNoModuleCall = 0xffffffffU;

// A constant or the content of a slot.
struct Operand
{
    Slot slot = kNoSlot;
    c10::IValue constant;
};

// One argument of a node, converted as its schema type asks.
struct Argument
{
    enum class Form : std::uint8_t {
        constant,
        value,   // the slot as it is
        tensor,  // a number becomes a wrapped number
        integer, // a tensor of one element becomes its value, also below
        floating,
        boolean,
        scalar,
        tensors, // lists of operands
        optionalTensors,
        integers,
        floats,
        booleans,
        scalars,
        operands, // of a higher-order op: spliced into its operand list
    };
    Form form = Form::constant;
    Slot slot = kNoSlot;
    c10::IValue constant;
    std::vector<Operand> items;
};

// Where one return value of a node goes; several slots unpack a list.
struct NodeResult
{
    bool isList = false;
    std::vector<Slot> slots; // kNoSlot where a value is unused
};

enum class NodeKind : std::uint8_t { dispatched, number, higherOrder, refused };
enum class HigherOrder : std::uint8_t {
    none,
    cond,
    whileLoop,
    scan,
    map,
    setGradEnabled,
    autocast,
    inlined, // runs its one subgraph: invoke_subgraph, wrap, checkpoints, hints
};

struct Graph;

struct Node
{
    NodeKind kind = NodeKind::refused;
    HigherOrder higherOrder = HigherOrder::none;
    NodeInfo info;
    std::uint32_t moduleCall = kNoModuleCall; // index into Program::moduleCalls
    std::optional<c10::OperatorHandle> op;
    NumberFunction number = nullptr;
    std::vector<Argument> arguments; // schema order; graph order for higher-order ops, named ones left out
    std::vector<std::shared_ptr<const Graph>> subgraphs; // in the order of the arguments
    std::size_t operandsFrom = 0; // higher-order: arguments before this one are not operands
    std::vector<NodeResult> results;
    std::vector<Slot> releases; // slots whose last use this node is
};

struct Graph
{
    std::string path; // of nested graphs, "" for the main one
    std::vector<Slot> inputs;
    std::vector<Argument> outputs;
    std::vector<Node> nodes;
    std::uint32_t slots = 0;
};

// A module call as the file tells them apart; one may happen several times when it is inside a loop.
struct ModuleCallSite
{
    std::uint32_t parent = kNoModuleCall;
    ModuleLevel level;
};

struct ProgramInput
{
    enum class Kind { user, parameter, buffer, constant, fixed, token };
    Kind kind = Kind::user;
    std::string name;      // of the graph's placeholder
    std::string stateName; // of parameter, buffer, constant
    Slot slot = kNoSlot;   // kNoSlot: nothing to bind
    Tagged fixed;          // fixed: the value that was frozen at export (points into the document)
    bool isTensor = false;
    DocumentTensor tensor;
};

struct ProgramOutput
{
    enum class Kind { user, buffer, parameter, userInput, token };
    Kind kind = Kind::user;
    std::string target; // state name or placeholder that is written back
};

// Something this program needs and this version cannot do. A program with refusals opens and does not run.
struct Refusal
{
    std::string reason; // "missing_op", "unsupported_node", "unsupported_argument", "custom_object"
    std::string target; // "acme_vision.fused_bias_act.default"
    std::string node;
};

struct MappedDevice
{
    std::string device; // as the file says: "cuda:0"
    std::string place;  // "node to_1", "parameter a.weight"
};

struct Program
{
    std::shared_ptr<const Document> document;
    std::shared_ptr<const Graph> graph;
    std::vector<ProgramInput> inputs;
    std::vector<ProgramOutput> outputs;
    std::vector<ModuleCallSite> moduleCalls;
    std::vector<Refusal> refusals;
    std::vector<MappedDevice> mappedDevices;
    std::optional<TreeSpec> inputTree; // a tuple of the positional arguments' tuple and the keywords' dict
    std::optional<TreeSpec> outputTree;
    std::vector<std::string> argumentNames; // of forward, in order
    std::uint32_t nodeCount = 0;            // of all graphs

    // All refusals in one status (unsupported), ok when there is none.
    Status runnable() const;
};

// corrupt with a token in detail() (cyclic_graph, undefined_value, duplicate_value, bad_program) when the
// document contradicts itself. What is only unknown becomes a refusal and a note in REPORT
// (unknown_argument).
Result<std::shared_ptr<const Program>> buildProgram(std::shared_ptr<const Document> document,
                                                    LoadReport &report);

} // namespace core::pt2
