// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/pt2_json.h"
#include "core/capture_torch/run_observer.h"
#include "core/capture_torch/treespec.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

// A torch.export program made ready to run. Built once, immutable, shared by runs. What it is made of op by
// op is in pt2_graph.h; here is what can be told without LibTorch.
namespace core::pt2 {

using Slot = std::uint32_t;
inline constexpr Slot kNoSlot = 0xffffffffU;
inline constexpr std::uint32_t kNoModuleCall = 0xffffffffU;

struct Graph;

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

// How often an op occurs in the graphs of a program.
struct ProgramOp
{
    std::string target;
    std::uint64_t count = 0;
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
    std::vector<ModuleInfo> modules; // every module the file names, parents first
    std::vector<ModuleCallSite> moduleCalls;
    std::vector<ProgramOp> ops; // by first appearance, nested graphs included
    std::vector<Refusal> refusals;
    std::vector<MappedDevice> mappedDevices;
    std::optional<TreeSpec> inputTree; // a tuple of the positional arguments' tuple and the keywords' dict
    std::optional<TreeSpec> outputTree;
    std::vector<std::string> argumentNames; // of forward, in order
    std::uint32_t nodeCount = 0;            // of all graphs

    // All refusals in one status (unsupported), ok when there is none.
    Status runnable() const;
};

// "float32[2,s0,8]", "int", "None": what the program expects of an input.
std::string expectedInput(const ProgramInput &input);
// The value that export froze into the graph, in Python's words.
std::string fixedText(const Tagged &fixed);

// corrupt with a token in detail() (cyclic_graph, undefined_value, duplicate_value, bad_program) when the
// document contradicts itself. What is only unknown becomes a refusal and a note in REPORT
// (unknown_argument).
Result<std::shared_ptr<const Program>> buildProgram(std::shared_ptr<const Document> document,
                                                    LoadReport &report);

// The part of it that looks up ops: fills graph, ops, moduleCalls, refusals, mappedDevices, nodeCount of
// PROGRAM and gives the slots of the main graph by name. (pt2_builder.cpp)
Result<std::unordered_map<std::string, Slot>> buildGraphs(Program &program, LoadReport &report);

} // namespace core::pt2
