// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/payload_reason.h"

namespace core {

std::string_view payloadReason(const Trace &trace, TensorId tensor)
{
    if (!tensor.isValid())
        return "non-tensor/container";
    const TensorRow &row = trace.tensor(tensor);
    switch (row.payload.state) {
    case PayloadState::saved:
        return isQuantized(row.dtype) ? "quantized" : "ok";
    case PayloadState::meta:
        return "meta";
    case PayloadState::sparse:
        return "sparse";
    case PayloadState::quantized:
        return "quantized";
    case PayloadState::undefined:
        return "non-tensor/container";
    default:
        return "unsaved";
    }
}

} // namespace core
