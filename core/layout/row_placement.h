// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

namespace core {

// One thing of a row: how wide it is, where its middle would like to be, and how much that counts.
struct RowItem
{
    double width = 0.0;
    double wish = 0.0;
    double weight = 1.0;
};

// Middles of the items in the given order, at least SEPARATION between borders, with the least weighted sum
// of squared distances from the wishes (isotonic regression, pooling adjacent violators: linear time).
std::vector<double> placeInRow(const std::vector<RowItem> &items, double separation);

// The middle value; of an even number the mean of the two middle ones. VALUES must not be empty.
double medianOf(std::vector<double> values);

} // namespace core
