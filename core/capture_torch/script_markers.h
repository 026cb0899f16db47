// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/script_frames.h"

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace torch::jit {
struct Module;
struct Function;
struct Graph;
struct Block;
struct Node;
struct Value;
} // namespace torch::jit
namespace c10 {
struct IValue;
}

namespace core {

// A node of a TorchScript graph that may dispatch ops or call functions.
struct ScriptNode
{
    std::string kind; // "aten::linear", "prim::CallMethod"
    ScriptPlace place;
    std::vector<std::uint32_t> numberSources; // nodes whose numbers reach this one's inputs
};

struct ScriptGraph
{
    std::string name; // of the function: "forward", "helper"
    bool isMethod = false;
};

// Static facts about everything that was marked.
struct ScriptProgram
{
    std::vector<ScriptNode> nodes;
    std::vector<ScriptGraph> graphs;
    std::vector<SourcePiece> sources;
    bool usesAutocast = false;
};

// What marked graphs tell while they run. Called on the interpreter's thread.
class ScriptListener
{
public:
    virtual ~ScriptListener() = default;
    // SELF is null for a function; values are those the function got, without self.
    virtual void graphEntered(std::uint32_t graph, const c10::IValue *self) = 0;
    virtual void graphLeft(std::uint32_t graph, const std::vector<c10::IValue> &outputs) = 0;
    virtual void nodeReached(std::uint32_t node) = 0;
    // One turn of a loop (part "body") or one side of a branch ("true", "false") begins.
    virtual void blockEntered(std::uint32_t node, std::uint32_t block, std::int64_t turn) = 0;
    virtual void blocksLeft(std::uint32_t node) = 0;
};

// Puts the markers into every graph that MODULE's methods can reach, also those of other classes and of
// forked tasks, and applies the autocast pass where a graph asks for autocast. Before the first run only,
// since the executor copies the graphs then. Throws c10::Error.
ScriptProgram markScript(torch::jit::Module &module);

// While it lives, marked graphs that this thread runs tell LISTENER; without one they tell nobody.
class ScriptListenerScope
{
public:
    explicit ScriptListenerScope(ScriptListener &listener);
    ~ScriptListenerScope();
    ScriptListenerScope(const ScriptListenerScope &) = delete;
    ScriptListenerScope &operator=(const ScriptListenerScope &) = delete;

private:
    ScriptListener *m_before;
};

} // namespace core
