// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <torch/library.h>

#include <vector>

namespace core {

// Registers the ops of torchvision that its models name in their files: nms, roi_align, roi_pool,
// ps_roi_align, ps_roi_pool, deform_conv2d, box_iou_rotated, with the same results, on the CPU and with
// gradients where torchvision has some (vision_pooling.h and rotated_boxes.h have what they compute). They
// are there as long as what is returned.
std::vector<torch::Library> registerVisionOps();

} // namespace core
