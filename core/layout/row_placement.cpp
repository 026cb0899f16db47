// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/layout/row_placement.h"

#include <algorithm>
#include <cstddef>

namespace core {

namespace {

// Neighbours that touch: SHIFT is the place they share once their distances from the row's start are taken
// off.
struct Block
{
    double shift = 0.0;
    double weight = 0.0;
    std::size_t count = 0;
};

} // namespace

std::vector<double> placeInRow(const std::vector<RowItem> &items, double separation)
{
    std::vector<double> offsets(items.size(), 0.0);
    for (std::size_t i = 1; i < items.size(); ++i)
        offsets[i] = offsets[i - 1] + (items[i - 1].width + items[i].width) / 2.0 + separation;
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < items.size(); ++i) {
        Block block{items[i].wish - offsets[i], items[i].weight, 1};
        while (!blocks.empty() && blocks.back().shift > block.shift) {
            const Block &last = blocks.back();
            const double weight = last.weight + block.weight;
            block.shift = (last.shift * last.weight + block.shift * block.weight) / weight;
            block.weight = weight;
            block.count += last.count;
            blocks.pop_back();
        }
        blocks.push_back(block);
    }
    std::vector<double> places;
    places.reserve(items.size());
    for (const Block &block : blocks)
        for (std::size_t i = 0; i < block.count; ++i)
            places.push_back(block.shift + offsets[places.size()]);
    return places;
}

double medianOf(std::vector<double> values)
{
    const std::size_t half = values.size() / 2;
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half), values.end());
    if (values.size() % 2 == 1)
        return values[half];
    const double upper = values[half];
    return (upper + *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(half))) /
           2.0;
}

} // namespace core
