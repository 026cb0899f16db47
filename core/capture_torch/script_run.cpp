// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/script_run.h"

#include <ATen/core/ivalue.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace core {

namespace {

// Tracing gives a module that is called again methods forward1, forward2, ...; scripting calls the overloads
// of forward forward__0, forward__1, ... (LSTM, GRU). Other methods are helpers, whose ops belong to the call
// that uses them, as in Python.
bool isForward(std::string_view method)
{
    if (!method.starts_with("forward"))
        return false;
    method.remove_prefix(7);
    if (method.starts_with("__"))
        method.remove_prefix(2);
    return std::all_of(method.begin(), method.end(), [](char c) { return c >= '0' && c <= '9'; });
}

} // namespace

ScriptRun::ScriptRun(const ScriptProgram &program, std::unordered_map<const void *, ModuleInfo> modules,
                     RunObserver &observer)
    : m_program(program), m_modules(std::move(modules)), m_observer(observer)
{
}

std::uint32_t ScriptRun::pathTo(std::uint32_t graph)
{
    const std::uint32_t from = m_open.empty() ? kNone : m_open.back().path;
    const std::uint32_t node = m_open.empty() ? kNone : m_node;
    const auto [entry, fresh] =
        m_pathIds.try_emplace({from, node, graph}, static_cast<std::uint32_t>(m_paths.size()));
    if (!fresh)
        return entry->second;
    Path path;
    if (from != kNone) {
        path.frames = m_paths[from].frames;
        if (node != kNone) {
            const auto &frames = m_program.nodes[node].place.frames;
            path.frames.insert(path.frames.end(), frames.begin(), frames.end());
        }
    }
    m_paths.push_back(std::move(path));
    return entry->second;
}

NodeInfo &ScriptRun::infoOf(std::uint32_t path, std::uint32_t node)
{
    NodeInfo *&known = m_paths[path].nodes[node];
    if (known != nullptr)
        return *known;
    const ScriptNode &facts = m_program.nodes[node];
    NodeInfo &info = m_infos.emplace_back();
    known = &info;
    info.id = static_cast<std::uint32_t>(m_infos.size() - 1);
    info.target = facts.kind;
    // Only branches and loops need a name of their own: regions are called by it.
    if (facts.kind == "prim::Loop" || facts.kind == "prim::If")
        info.name = (facts.kind == "prim::Loop" ? "loop_" : "if_") + std::to_string(node);
    // The stack of a traced node is whole; the calls that led there have no places.
    if (!facts.place.traced)
        info.frames = m_paths[path].frames;
    info.frames.insert(info.frames.end(), facts.place.frames.begin(), facts.place.frames.end());
    std::vector<std::uint32_t> sources;
    for (const std::uint32_t source : facts.numberSources)
        if (source != node)
            sources.push_back(infoOf(path, source).id);
    info.numberSources = std::move(sources);
    return info;
}

void ScriptRun::endNode()
{
    if (m_running != nullptr)
        m_observer.nodeEnds(*std::exchange(m_running, nullptr));
}

void ScriptRun::graphEntered(std::uint32_t graph, const c10::IValue *self)
{
    Open open;
    open.caller = m_open.empty() ? kNone : m_open.back().path;
    open.callerNode = m_node;
    open.path = pathTo(graph);
    open.moduleCall = m_open.empty() ? std::nullopt : m_open.back().moduleCall;
    open.startsCall = false;
    if (self != nullptr && self->isObject() && isForward(m_program.graphs[graph].name)) {
        const auto module = m_modules.find(self->toObject().get());
        ModuleCallInfo call;
        call.id = static_cast<std::uint32_t>(m_calls.size());
        call.parent = open.moduleCall;
        if (module != m_modules.end()) {
            call.path = module->second.path;
            call.type = module->second.type;
        }
        call.method = m_program.graphs[graph].name;
        call.number = ++m_callCounts[call.path];
        open.moduleCall = call.id;
        open.startsCall = true;
        m_calls.push_back(call);
        m_observer.moduleCallStarted(m_calls.back());
    }
    endNode();
    m_open.push_back(open);
}

void ScriptRun::graphLeft(std::uint32_t, const std::vector<c10::IValue> &outputs)
{
    endNode();
    if (m_open.empty())
        return;
    const Open open = m_open.back();
    m_open.pop_back();
    if (open.startsCall)
        m_observer.moduleCallEnded(m_calls[*open.moduleCall], outputs);
    m_node = open.callerNode;
}

void ScriptRun::nodeReached(std::uint32_t node)
{
    endNode();
    m_node = node;
    if (m_open.empty())
        return;
    NodeInfo &info = infoOf(m_open.back().path, node);
    m_running = &info;
    m_observer.nodeStarts(info, m_open.back().moduleCall);
}

void ScriptRun::blockEntered(std::uint32_t node, std::uint32_t block, std::int64_t turn)
{
    endNode();
    if (m_open.empty())
        return;
    const bool loop = m_program.nodes[node].kind == "prim::Loop";
    // The next turn of the loop that is open.
    if (loop && !m_regions.empty() && m_regions.back().node == node && turn > 0) {
        m_observer.regionLeft(m_regions.back().info);
        m_regions.pop_back();
    }
    RegionInfo info;
    info.node = &infoOf(m_open.back().path, node);
    info.kind = loop ? "loop" : "if";
    info.part = loop ? "body" : block == 0 ? "true" : "false";
    info.iteration = static_cast<std::uint32_t>(turn);
    m_regions.push_back({node, info});
    m_observer.regionEntered(m_regions.back().info);
}

void ScriptRun::blocksLeft(std::uint32_t node)
{
    endNode();
    if (m_regions.empty() || m_regions.back().node != node)
        return; // a loop without a turn
    m_observer.regionLeft(m_regions.back().info);
    m_regions.pop_back();
}

void ScriptRun::end()
{
    endNode();
}

} // namespace core
