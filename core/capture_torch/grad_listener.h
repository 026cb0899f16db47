// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/run_observer.h"
#include "core/trace/records.h"

#include <vector>

namespace core {

// Sees autograd nodes appear after each call; see autograd_recorder.h.
class GradListener
{
public:
    virtual ~GradListener() = default;
    // TENSOR is an output of CALL that requires a gradient: fills gradNode and gradNodeOutput of RECORD and
    // appends nodes that are new to NODES.
    virtual void outputMade(const at::Tensor &tensor, RecordId call, TensorRecord &record,
                            std::vector<RecordId> &nodes) = 0;
    // CALL of op OP at NODE (may be null) has ended; INPUTS are its arguments, WRITTEN what it wrote.
    virtual void callEnded(const CallRecord &call, const NodeInfo *node,
                           const std::vector<c10::IValue> &inputs,
                           const std::vector<at::Tensor> &written) = 0;
};

} // namespace core
