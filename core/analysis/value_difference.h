// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/trace/trace.h"

namespace core {

// |a - b| over two saved tensors of the same shape. NaN makes maxAbs and meanAbs NaN, as does Inf minus Inf.
struct ValueDifference
{
    double maxAbs = 0.0;
    double meanAbs = 0.0;
    bool allClose =
        true; // all |a - b| <= atol + rtol * |b|; equal infinities are close, NaN is close to nothing
};

struct Tolerance
{
    double relative = 1e-5;
    double absolute = 1e-8;
    bool inFloat64 = false; // differences of real floating types as float64 whatever the types
};

// Two tensors of one real floating type are compared in that type (their difference rounds and overflows as
// in PyTorch), others as float64; complex values by |a - b|, integers and booleans exactly whatever the
// tolerance, an integer with a floating value as the latter. Streams both tensors; errors are the readers'
// and the job's.
Result<ValueDifference> differenceOf(const Trace &traceA, TensorId a, const Trace &traceB, TensorId b,
                                     Tolerance tolerance, const JobContext &job);

// The type two dtypes are compared in: the wider one of PyTorch's promotion.
DType promotedDType(DType a, DType b);

} // namespace core
