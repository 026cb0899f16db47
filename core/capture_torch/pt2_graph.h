// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/pt2_numbers.h"
#include "core/capture_torch/pt2_program.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// The graphs of a program with every op looked up and every argument bound to a slot or a constant in schema
// order.
namespace core::pt2 {

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

} // namespace core::pt2
