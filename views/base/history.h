// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace views {

// A walk with Back and Forward over at most LIMIT steps. STEP is compared so that standing still makes no
// step.
template <class Step, std::size_t Limit = 200>
class History
{
public:
    // Drops what was ahead; beyond the limit the oldest step goes.
    void push(const Step &step)
    {
        if (!m_steps.empty() && m_steps[m_current] == step)
            return;
        if (!m_steps.empty())
            m_steps.erase(m_steps.begin() + static_cast<std::ptrdiff_t>(m_current) + 1, m_steps.end());
        m_steps.push_back(step);
        if (m_steps.size() > Limit)
            m_steps.erase(m_steps.begin());
        m_current = m_steps.size() - 1;
    }
    bool canGoBack() const { return m_current > 0; }
    bool canGoForward() const { return m_current + 1 < m_steps.size(); }
    // The step to restore, nothing at the end of the walk.
    std::optional<Step> back()
    {
        if (!canGoBack())
            return std::nullopt;
        return m_steps[--m_current];
    }
    std::optional<Step> forward()
    {
        if (!canGoForward())
            return std::nullopt;
        return m_steps[++m_current];
    }
    std::size_t size() const { return m_steps.size(); }
    void clear()
    {
        m_steps.clear();
        m_current = 0;
    }

private:
    std::vector<Step> m_steps;
    std::size_t m_current = 0;
};

} // namespace views
