// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace core {

// Deeper nesting of modules or module calls than Python's own stack allows is no model's: walks from an op to
// the root stay short in any file.
constexpr std::uint32_t kDeepestNesting = 1000;

// The rows whose parent must be dropped so that following parents from any row ends within kDeepestNesting
// steps: one of each circle, and every row at which a chain becomes too long. Row has an id `parent`.
template <class Row>
std::vector<std::size_t> brokenChains(const std::vector<Row> &rows)
{
    constexpr std::uint32_t kOpen = std::numeric_limits<std::uint32_t>::max();
    std::vector<std::uint32_t> depths(rows.size(), 0); // 0: not known
    std::vector<std::size_t> broken;
    std::vector<std::size_t> path;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        path.clear();
        std::size_t at = i;
        bool ends = false;
        while (!ends && depths[at] == 0) {
            depths[at] = kOpen;
            path.push_back(at);
            ends = !rows[at].parent.isValid();
            at = ends ? at : rows[at].parent.index();
        }
        if (path.empty())
            continue;
        std::uint32_t above = ends || depths[at] == kOpen ? 0 : depths[at];
        if (!ends && depths[at] == kOpen)
            broken.push_back(path.back());
        for (std::size_t k = path.size(); k-- > 0;) {
            if (above == kDeepestNesting) {
                broken.push_back(path[k]);
                above = 0;
            }
            depths[path[k]] = ++above;
        }
    }
    return broken;
}

} // namespace core
