// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/near_names.h"

#include <algorithm>
#include <utility>

namespace core {
namespace {

// Insertions, deletions, replacements and swaps of neighbours that make A into B.
std::size_t alignmentDistance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> before(b.size() + 1);
    std::vector<std::size_t> previous(b.size() + 1);
    std::vector<std::size_t> current(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j)
        previous[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        current[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                current[j] = std::min(current[j], before[j - 2] + 1);
        }
        std::swap(before, previous);
        std::swap(previous, current);
    }
    return previous[b.size()];
}

} // namespace

std::vector<std::string_view> nearNames(std::string_view name, std::span<const std::string_view> known,
                                        std::size_t limit)
{
    constexpr std::size_t kLongestCompared = 200;
    std::vector<std::pair<std::size_t, std::string_view>> near;
    if (name.empty() || name.size() > kLongestCompared)
        return {};
    for (const std::string_view candidate : known) {
        if (candidate.size() > kLongestCompared)
            continue;
        const std::size_t allowed = std::max<std::size_t>(1, std::max(name.size(), candidate.size()) / 3);
        const std::size_t distance = alignmentDistance(name, candidate);
        if (distance <= allowed)
            near.emplace_back(distance, candidate);
        else if (candidate.find(name) != std::string_view::npos)
            near.emplace_back(allowed + 1, candidate);
    }
    std::ranges::stable_sort(near, {}, &std::pair<std::size_t, std::string_view>::first);
    std::vector<std::string_view> out;
    for (std::size_t i = 0; i < near.size() && i < limit; ++i)
        out.push_back(near[i].second);
    return out;
}

std::string didYouMean(std::span<const std::string_view> near, std::string_view opening,
                       std::string_view closing)
{
    std::string text;
    for (std::size_t i = 0; i < near.size(); ++i) {
        text += i == 0 ? "did you mean " : i + 1 < near.size() ? ", " : " or ";
        text.append(opening).append(near[i]).append(closing);
    }
    return text.empty() ? text : text + '?';
}

std::string knownNamesText(std::string_view name, std::span<const std::string_view> known,
                           std::string_view lead)
{
    constexpr std::size_t kMostNames = 12;
    std::string text = didYouMean(nearNames(name, known));
    text.append(text.empty() ? "" : " ").append(lead);
    for (std::size_t i = 0; i < known.size() && i < kMostNames; ++i)
        text.append(i == 0 ? " " : ", ").append(known[i]);
    if (known.size() > kMostNames)
        text += " and " + std::to_string(known.size() - kMostNames) + " more";
    return text;
}

} // namespace core
