// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/dtype.h"
#include "core/base/element_codec.h"
#include "core/trace/trace.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace core {

// Reads the elements of one saved tensor in row-major order, whatever its strides, chunk by chunk, from the
// trace's store. The trace must outlive it. Not thread safe; make one per thread.
class TensorReader
{
public:
    // notFound with the payload state as detail() ("not_saved", "too_large", ...) when the values are not in
    // the trace; corrupt when shape, strides and stored bytes do not fit each other.
    static Result<TensorReader> open(const Trace &trace, TensorId tensor);

    DType dtype() const { return m_dtype; }
    std::uint64_t elementCount() const { return m_count; }
    std::size_t itemBytes() const { return m_item; }

    // Elements FIRST .. FIRST + out.size() / itemBytes(); OUT holds whole elements.
    Status read(std::uint64_t first, std::span<std::byte> out) const;
    // The whole tensor where it lies contiguously in mapped memory, else empty.
    std::span<const std::byte> view() const;

private:
    TensorReader() = default;
    std::int64_t storageElement(std::uint64_t flat) const;
    Status gather(std::uint64_t first, std::span<std::byte> out) const;

    const Trace *m_trace = nullptr;
    TensorId m_tensor;
    DType m_dtype = DType::unknown;
    std::size_t m_item = 0;
    std::uint64_t m_count = 0;
    bool m_direct = true; // row-major in the payload, from m_base
    std::uint64_t m_base = 0;
    std::vector<std::int64_t> m_shape;
    std::vector<std::int64_t> m_strides;
};

// "not_saved", "too_large", ...: the word for a payload state.
std::string_view payloadStateName(PayloadState state);
// Element INDEX of DATA as a double, by the rules of core/base/element_codec.h; DATA must hold it.
inline double elementAsDouble(DType dtype, std::span<const std::byte> data, std::size_t index)
{
    return elementAsDouble(dtype, data.data(), index);
}

} // namespace core
