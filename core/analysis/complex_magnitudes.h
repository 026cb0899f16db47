// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/visit_elements.h"
#include "core/base/element_codec.h"

#include <cmath>
#include <cstdint>
#include <limits>

namespace core {

// What the parts of complex values do not tell: counts and limits of whole elements by their magnitude.
struct ComplexMagnitudes
{
    std::uint64_t elements = 0;
    std::uint64_t nan = 0;    // either part
    std::uint64_t inf = 0;    // either part, without a NaN
    std::uint64_t negInf = 0; // of those, real part -Inf
    std::uint64_t zero = 0;
    std::uint64_t subnormal = 0;
    double largest = 0.0; // of finite ones
    bool allSame = true;

    void add(double real, double imaginary, double smallestNormal)
    {
        allSame = allSame && real == real && imaginary == imaginary &&
                  (elements == 0 || (real == m_firstReal && imaginary == m_firstImaginary));
        if (elements++ == 0) {
            m_firstReal = real;
            m_firstImaginary = imaginary;
        }
        if (std::isnan(real) || std::isnan(imaginary)) {
            ++nan;
        } else if (std::isinf(real) || std::isinf(imaginary)) {
            ++inf;
            negInf += real < 0 && std::isinf(real) ? 1 : 0;
        } else {
            const double magnitude = std::hypot(real, imaginary);
            largest = magnitude > largest ? magnitude : largest;
            zero += magnitude == 0.0 ? 1 : 0;
            subnormal += magnitude != 0.0 && magnitude < smallestNormal ? 1 : 0;
        }
    }

private:
    double m_firstReal = 0.0;
    double m_firstImaginary = 0.0;
};

// Walks a saved complex tensor.
inline Result<ComplexMagnitudes> complexMagnitudes(const Trace &trace, TensorId tensor, const JobContext &job)
{
    const DType dtype = trace.tensor(tensor).dtype;
    const double normal = floatLimits(dtype).smallestNormal;
    ComplexMagnitudes result;
    std::vector<std::byte> buffer;
    const Status status = visitElements(
        trace, tensor, job, buffer, [&](const std::byte *data, std::size_t count, std::uint64_t) {
            for (std::size_t i = 0; i < count; ++i)
                result.add(elementAsDouble(dtype, data, i), elementImaginary(dtype, data, i), normal);
            return true;
        });
    return status ? Result<ComplexMagnitudes>(result) : Result<ComplexMagnitudes>(status);
}

} // namespace core
