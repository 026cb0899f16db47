// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/tensor/tensor_summary.h"

#include "core/analysis/tensor_stats.h"
#include "core/base/element_codec.h"
#include "core/trace/tensor_reader.h"

#include <algorithm>
#include <cmath>

namespace views {

namespace {

constexpr std::uint64_t kChunkBytes = 1U << 20;
constexpr std::size_t kBins = 48;

// Calls USE with each piece of the tensor in order: data, count, first flat index.
template <class Use>
core::Status visitPieces(const core::TensorReader &reader, const core::JobContext &job, Use use)
{
    const std::uint64_t perChunk =
        std::max<std::uint64_t>(1, kChunkBytes / std::max<std::size_t>(1, reader.itemBytes()));
    std::vector<std::byte> buffer;
    for (std::uint64_t first = 0; first < reader.elementCount(); first += perChunk) {
        if (core::Status status = job.checkpoint("reading values"); !status)
            return status;
        const std::uint64_t count = std::min(perChunk, reader.elementCount() - first);
        buffer.resize(count * reader.itemBytes());
        if (core::Status status = reader.read(first, buffer); !status)
            return status;
        job.report("reading values", first, reader.elementCount());
        use(buffer.data(), static_cast<std::size_t>(count), first);
    }
    return {};
}

bool isBad(core::DType dtype, const std::byte *data, std::size_t index)
{
    return !std::isfinite(core::elementAsDouble(dtype, data, index)) ||
           (core::isComplex(dtype) && !std::isfinite(core::elementImaginary(dtype, data, index)));
}

} // namespace

core::Result<TensorSummary> summarizeTensor(const core::Trace &trace, core::TensorId tensor,
                                            const core::JobContext &job)
{
    const core::Result<core::TensorReader> reader = core::TensorReader::open(trace, tensor);
    if (!reader)
        return reader.error();
    TensorSummary summary;
    if (const core::TensorStats *recorded = trace.stats(tensor)) {
        summary.stats = *recorded;
    } else {
        core::StatsAccumulator accumulator(reader->dtype());
        core::Status status =
            visitPieces(*reader, job, [&](const std::byte *data, std::size_t count, std::uint64_t first) {
                accumulator.add(data, count, first);
            });
        if (!status)
            return status;
        summary.stats = accumulator.result();
    }
    const std::size_t bins = reader->dtype() == core::DType::boolean ? 2 : kBins;
    core::HistogramAccumulator linear(core::HistogramScale::linear, summary.stats, bins);
    core::HistogramAccumulator magnitude(core::HistogramScale::log2Magnitude, summary.stats, kBins);
    core::Status status =
        visitPieces(*reader, job, [&](const std::byte *data, std::size_t count, std::uint64_t) {
            linear.add(reader->dtype(), data, count);
            magnitude.add(reader->dtype(), data, count);
        });
    if (!status)
        return status;
    summary.linear = linear.result();
    summary.magnitude = magnitude.result();
    return summary;
}

Slice Slice::standard(std::span<const std::int64_t> shape)
{
    Slice slice;
    slice.fixed.assign(shape.size(), 0);
    slice.columnAxis = static_cast<int>(shape.size()) - 1;
    slice.rowAxis = static_cast<int>(shape.size()) - 2;
    // A vector reads better from top to bottom.
    if (shape.size() == 1)
        std::swap(slice.rowAxis, slice.columnAxis);
    return slice;
}

std::int64_t Slice::rows(std::span<const std::int64_t> shape) const
{
    return rowAxis < 0 ? 1 : shape[static_cast<std::size_t>(rowAxis)];
}

std::int64_t Slice::columns(std::span<const std::int64_t> shape) const
{
    return columnAxis < 0 ? 1 : shape[static_cast<std::size_t>(columnAxis)];
}

std::uint64_t Slice::flat(std::span<const std::int64_t> shape, std::int64_t row, std::int64_t column) const
{
    std::uint64_t index = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        const std::int64_t at = static_cast<int>(axis) == rowAxis      ? row
                                : static_cast<int>(axis) == columnAxis ? column
                                                                       : fixed[axis];
        index = index * static_cast<std::uint64_t>(shape[axis]) + static_cast<std::uint64_t>(at);
    }
    return index;
}

std::pair<std::int64_t, std::int64_t> Slice::moveTo(std::span<const std::int64_t> shape, std::uint64_t flat)
{
    for (std::size_t axis = shape.size(); axis-- > 0;) {
        const auto size = static_cast<std::uint64_t>(std::max<std::int64_t>(1, shape[axis]));
        fixed[axis] = static_cast<std::int64_t>(flat % size);
        flat /= size;
    }
    return {rowAxis < 0 ? 0 : fixed[static_cast<std::size_t>(rowAxis)],
            columnAxis < 0 ? 0 : fixed[static_cast<std::size_t>(columnAxis)]};
}

core::Result<Tile> readTile(const core::Trace &trace, core::TensorId tensor, const Slice &slice,
                            std::int64_t firstRow, std::int64_t firstColumn, const core::JobContext &job)
{
    const core::Result<core::TensorReader> reader = core::TensorReader::open(trace, tensor);
    if (!reader)
        return reader.error();
    const auto shape = trace.shape(tensor);
    Tile tile;
    tile.firstRow = firstRow;
    tile.firstColumn = firstColumn;
    tile.rows = std::min(kTileSide, slice.rows(shape) - firstRow);
    tile.columns = std::min(kTileSide, slice.columns(shape) - firstColumn);
    tile.itemBytes = reader->itemBytes();
    tile.bytes.resize(static_cast<std::size_t>(tile.rows * tile.columns) * tile.itemBytes);
    // Along the last axis the elements of a row lie side by side.
    const bool contiguous = slice.columnAxis == static_cast<int>(shape.size()) - 1;
    const std::int64_t step = contiguous ? tile.columns : 1;
    for (std::int64_t row = 0; row < tile.rows; ++row) {
        if (core::Status status = job.checkpoint("reading a slice"); !status)
            return status;
        for (std::int64_t column = 0; column < tile.columns; column += step) {
            const std::size_t at = static_cast<std::size_t>(row * tile.columns + column) * tile.itemBytes;
            const auto out =
                std::span(tile.bytes).subspan(at, static_cast<std::size_t>(step) * tile.itemBytes);
            const std::uint64_t flat = slice.flat(shape, firstRow + row, firstColumn + column);
            if (core::Status status = reader->read(flat, out); !status)
                return status;
        }
    }
    return tile;
}

core::Result<std::optional<std::uint64_t>> findBadElement(const core::Trace &trace, core::TensorId tensor,
                                                          std::int64_t from, int direction,
                                                          const core::JobContext &job)
{
    const core::Result<core::TensorReader> reader = core::TensorReader::open(trace, tensor);
    if (!reader)
        return reader.error();
    // The nearest one in the direction, or, around the end, the first one seen from there.
    std::optional<std::uint64_t> nearest;
    std::optional<std::uint64_t> around;
    const core::Status status =
        visitPieces(*reader, job, [&](const std::byte *data, std::size_t count, std::uint64_t first) {
            for (std::size_t i = 0; i < count; ++i) {
                if (!isBad(reader->dtype(), data, i))
                    continue;
                const std::uint64_t flat = first + i;
                const bool ahead = direction > 0 ? static_cast<std::int64_t>(flat) > from
                                                 : static_cast<std::int64_t>(flat) < from;
                std::optional<std::uint64_t> &slot = ahead ? nearest : around;
                if (!slot || direction < 0)
                    slot = flat;
            }
        });
    if (!status)
        return status;
    return nearest ? nearest : around;
}

} // namespace views
