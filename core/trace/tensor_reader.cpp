// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/tensor_reader.h"

#include "core/base/repeated_bytes.h"

#include <fmt/format.h>

#include <algorithm>

namespace core {
namespace {

Status misfit(const Trace &trace, TensorId id, std::string_view what)
{
    const TensorRow &row = trace.tensor(id);
    return {ErrorCode::corrupt,
            fmt::format("tensor {} in entry {}: {}", id.value(), trace.string(row.payload.entry), what)};
}

bool isRowMajor(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides)
{
    std::int64_t expected = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
        if (shape[d] != 1 && strides[d] != expected)
            return false;
        if (__builtin_mul_overflow(expected, shape[d], &expected))
            return false;
    }
    return true;
}

} // namespace

std::string_view payloadStateName(PayloadState state)
{
    switch (state) {
    case PayloadState::saved:
        return "saved";
    case PayloadState::notSaved:
        return "not_saved";
    case PayloadState::tooLarge:
        return "too_large";
    case PayloadState::meta:
        return "meta";
    case PayloadState::sparse:
        return "sparse";
    case PayloadState::quantized:
        return "quantized";
    case PayloadState::uninitialised:
        return "uninitialised";
    case PayloadState::undefined:
        return "undefined";
    case PayloadState::unsupported:
        return "unsupported";
    case PayloadState::dropped:
        return "dropped";
    case PayloadState::unknown:
        break;
    }
    return "unknown";
}

Result<TensorReader> TensorReader::open(const Trace &trace, TensorId tensor)
{
    const TensorRow &row = trace.tensor(tensor);
    if (row.payload.state != PayloadState::saved) {
        const std::string word(payloadStateName(row.payload.state));
        return Status(ErrorCode::notFound,
                      fmt::format("tensor {}: its values are not in the trace ({})", tensor.value(), word))
            .withDetail(word);
    }
    TensorReader reader;
    reader.m_trace = &trace;
    reader.m_tensor = tensor;
    reader.m_dtype = row.dtype;
    reader.m_item = itemSize(row.dtype);
    if (reader.m_item == 0 || !row.shapeKnown)
        return misfit(trace, tensor, "its dtype or shape is not known");
    const auto shape = trace.shape(tensor);
    reader.m_shape.assign(shape.begin(), shape.end());
    std::int64_t count = 1;
    for (const std::int64_t size : shape)
        if (size < 0 || __builtin_mul_overflow(count, size, &count))
            return misfit(trace, tensor, "its shape does not fit 64 bits");
    reader.m_count = static_cast<std::uint64_t>(count);
    std::int64_t lowest = 0;
    std::int64_t highest = count - 1;
    if (!row.payload.contiguous) {
        const auto strides = trace.strides(tensor);
        if (!strides.empty() && strides.size() != shape.size())
            return misfit(trace, tensor,
                          fmt::format("{} strides for {} dimensions", strides.size(), shape.size()));
        reader.m_strides.assign(strides.begin(), strides.end());
        reader.m_direct = strides.empty() || isRowMajor(shape, strides);
        lowest = row.storageOffset;
        if (__builtin_add_overflow(lowest, reader.m_direct ? count - 1 : 0, &highest))
            return misfit(trace, tensor, "its offset does not fit 64 bits");
        for (std::size_t d = 0; !reader.m_direct && d < shape.size() && count > 0; ++d) {
            std::int64_t reach = 0;
            if (__builtin_mul_overflow(strides[d], shape[d] - 1, &reach) ||
                __builtin_add_overflow(reach < 0 ? lowest : highest, reach, reach < 0 ? &lowest : &highest))
                return misfit(trace, tensor, "its strides do not fit 64 bits");
        }
    }
    const auto item = static_cast<std::uint64_t>(reader.m_item);
    if (count > 0 && (lowest < 0 || static_cast<std::uint64_t>(highest) >= row.payload.bytes / item))
        return misfit(trace, tensor,
                      fmt::format("payload is {} bytes, shape and strides need {}", row.payload.bytes,
                                  (static_cast<std::uint64_t>(highest) + 1) * item));
    if (repeatsWithoutEnd(reader.m_count, item, row.payload.bytes))
        return misfit(trace, tensor,
                      fmt::format("its strides make {} elements of {} bytes", count, row.payload.bytes));
    reader.m_base = row.payload.offset +
                    (row.payload.contiguous ? 0 : static_cast<std::uint64_t>(row.storageOffset) * item);
    return reader;
}

std::int64_t TensorReader::storageElement(std::uint64_t flat) const
{
    std::int64_t element = 0;
    for (std::size_t d = m_shape.size(); d-- > 0;) {
        const auto size = static_cast<std::uint64_t>(m_shape[d]);
        element += static_cast<std::int64_t>(flat % size) * m_strides[d];
        flat /= size;
    }
    return element;
}

Status TensorReader::read(std::uint64_t first, std::span<std::byte> out) const
{
    const std::uint64_t wanted = out.size() / m_item;
    if (first > m_count || wanted > m_count - first)
        return {ErrorCode::unreadable, fmt::format("tensor {}: elements {} to {} are asked for, it has {}",
                                                   m_tensor.value(), first, first + wanted, m_count)};
    if (wanted == 0)
        return Status::ok();
    if (!m_direct)
        return gather(first, out.first(wanted * m_item));
    const std::string_view entry = m_trace->string(m_trace->tensor(m_tensor).payload.entry);
    return m_trace->store().read(entry, m_base + first * m_item, out.first(wanted * m_item));
}

Status TensorReader::gather(std::uint64_t first, std::span<std::byte> out) const
{
    const std::string_view entry = m_trace->string(m_trace->tensor(m_tensor).payload.entry);
    const std::uint64_t wanted = out.size() / m_item;
    std::vector<std::int64_t> at(wanted);
    for (std::uint64_t i = 0; i < wanted; ++i)
        at[i] = storageElement(first + i);
    const auto [low, high] = std::minmax_element(at.begin(), at.end());
    const std::int64_t base = *low;
    const auto span = static_cast<std::uint64_t>(*high - base + 1) * m_item;
    constexpr std::uint64_t kSmall = std::uint64_t(1) << 20;
    const auto offsetOf = [this](std::int64_t element) {
        return m_base + static_cast<std::uint64_t>(element * static_cast<std::int64_t>(m_item));
    };
    if (span > out.size() * 16 + kSmall) { // spread wide: read what is needed, one element at a time
        for (std::uint64_t i = 0; i < wanted; ++i)
            if (Status status =
                    m_trace->store().read(entry, offsetOf(at[i]), out.subspan(i * m_item, m_item));
                !status)
                return status;
        return Status::ok();
    }
    std::vector<std::byte> block(span);
    if (Status status = m_trace->store().read(entry, offsetOf(base), block); !status)
        return status;
    for (std::uint64_t i = 0; i < wanted; ++i)
        std::copy_n(block.begin() + (at[i] - base) * static_cast<std::int64_t>(m_item), m_item,
                    out.begin() + static_cast<std::ptrdiff_t>(i * m_item));
    return Status::ok();
}

std::span<const std::byte> TensorReader::view() const
{
    if (!m_direct)
        return {};
    const std::string_view entry = m_trace->string(m_trace->tensor(m_tensor).payload.entry);
    return m_trace->store().view(entry, m_base, m_count * m_item);
}

} // namespace core
