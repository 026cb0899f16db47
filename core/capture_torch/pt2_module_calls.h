// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/pt2_program.h"

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace core::pt2 {

// Turns the module calls that a program's nodes name into module calls that happen: each site is one call,
// and inside a loop one call a turn. Lives for one run, on its thread.
class ModuleCallTracker
{
public:
    ModuleCallTracker(const std::vector<ModuleCallSite> &sites, RunObserver &observer);

    // The id of the call at SITE (kNoModuleCall: none); tells the observer of calls that begin with it, outer
    // ones first.
    std::optional<std::uint32_t> enter(std::uint32_t site);

    // One turn of a loop whose node is at SITE: calls below it happen anew, the ones it is in go on.
    void beginTurn(std::uint32_t site);
    void endTurn();

private:
    using Calls = std::vector<std::uint32_t>; // id by site, kNoModuleCall: not begun

    const std::vector<ModuleCallSite> &m_sites;
    RunObserver &m_observer;
    std::vector<Calls> m_turns;                                   // the last is the current one
    std::unordered_map<std::string_view, std::uint32_t> m_counts; // by path, a text of m_sites
    std::uint32_t m_next = 0;
};

} // namespace core::pt2
