// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/pt2_module_calls.h"

namespace core::pt2 {

ModuleCallTracker::ModuleCallTracker(const std::vector<ModuleCallSite> &sites, RunObserver &observer)
    : m_sites(sites), m_observer(observer), m_turns(1, Calls(sites.size(), kNoModuleCall))
{
}

std::optional<std::uint32_t> ModuleCallTracker::enter(std::uint32_t site)
{
    if (site == kNoModuleCall)
        return std::nullopt;
    if (const std::uint32_t known = m_turns.back()[site]; known != kNoModuleCall)
        return known;
    const ModuleCallSite &what = m_sites[site];
    ModuleCallInfo call;
    call.parent = enter(what.parent);
    call.id = m_next++;
    call.path = what.level.path;
    call.type = what.level.type;
    call.number = ++m_counts[what.level.path];
    m_turns.back()[site] = call.id;
    m_observer.moduleCallStarted(call);
    return call.id;
}

void ModuleCallTracker::beginTurn(std::uint32_t site)
{
    Calls calls(m_sites.size(), kNoModuleCall);
    for (; site != kNoModuleCall; site = m_sites[site].parent)
        calls[site] = m_turns.back()[site];
    m_turns.push_back(std::move(calls));
}

void ModuleCallTracker::endTurn()
{
    m_turns.pop_back();
}

} // namespace core::pt2
