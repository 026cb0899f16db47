// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/run_observer.h"
#include "core/capture_torch/script_markers.h"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace core {

// One watched run of a TorchScript model: turns what the markers say into what an observer hears. The call
// stack of a node is the places of the calls that led to its graph and its own place. Owned by
// ScriptModel::run.
class ScriptRun final : public ScriptListener
{
public:
    // MODULES by the address of their object.
    ScriptRun(const ScriptProgram &program, std::unordered_map<const void *, ModuleInfo> modules,
              RunObserver &observer);

    // The model returned: ends what is open.
    void end();
    // Of the node that was reached last.
    std::vector<RunFrame> lastFrames() const
    {
        return m_running == nullptr ? std::vector<RunFrame>() : m_running->frames;
    }

    void graphEntered(std::uint32_t graph, const c10::IValue *self) override;
    void graphLeft(std::uint32_t graph, const std::vector<c10::IValue> &outputs) override;
    void nodeReached(std::uint32_t node) override;
    void blockEntered(std::uint32_t node, std::uint32_t block, std::int64_t turn) override;
    void blocksLeft(std::uint32_t node) override;

private:
    static constexpr std::uint32_t kNone = 0xffffffffU;

    // A way through calls to one graph.
    struct Path
    {
        std::vector<RunFrame> frames; // of the calls
        std::unordered_map<std::uint32_t, NodeInfo *> nodes;
    };
    struct Open
    {
        std::uint32_t path;
        std::uint32_t caller; // path of the caller's frame
        std::uint32_t callerNode;
        std::optional<std::uint32_t> moduleCall;
        bool startsCall;
    };
    struct Region
    {
        std::uint32_t node;
        RegionInfo info;
    };

    NodeInfo &infoOf(std::uint32_t path, std::uint32_t node);
    std::uint32_t pathTo(std::uint32_t graph);
    void endNode();

    const ScriptProgram &m_program;
    std::unordered_map<const void *, ModuleInfo> m_modules;
    RunObserver &m_observer;
    std::vector<Path> m_paths;
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> m_pathIds;
    std::deque<NodeInfo> m_infos;
    std::deque<ModuleCallInfo> m_calls;
    std::unordered_map<std::string, std::uint32_t> m_callCounts;
    std::vector<Open> m_open;
    std::vector<Region> m_regions;
    std::uint32_t m_node = kNone;
    NodeInfo *m_running = nullptr;
};

} // namespace core
