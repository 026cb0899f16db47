// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph_picture.h"
#include "core/graph/slice_walk.h"

#include <string>

namespace core {

// The words on boxes and frames. Filled in place from what SliceItem stands for.

// Title, names, badges and marks of a box. ITEM is not open.
void describeBox(const GraphTree &tree, const SliceItem &item, PictureBox &box);
// Title and subtitle of an open module or run.
void describeCluster(const GraphTree &tree, const SliceItem &item, PictureCluster &cluster);

// "fp16 [4, 256, 768]"; the dtype alone when the shape is not known; empty without a tensor.
std::string tensorWords(const Trace &trace, TensorId tensor);
// "softmax_8" of "softmax_8_345": a label without its op number, with its pass when it has several.
std::string shortLabel(const Trace &trace, OpId op);
// What to call a value in a pill: an input's or buffer's address, else the short label.
std::string valueName(const Trace &trace, OpId op);
// "fp16", "bf16", "int64", "bool": the words of the window.
std::string dtypeWord(DType dtype);

} // namespace core
