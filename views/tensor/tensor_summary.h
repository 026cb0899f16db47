// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/histogram.h"
#include "core/base/job_context.h"
#include "core/trace/trace.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

// What the tensor pane needs to know about values, read from the trace's store. All of it runs in jobs.
namespace views {

// Statistics of all elements and their histograms on a linear and on a magnitude axis.
struct TensorSummary
{
    core::TensorStats stats;
    core::Histogram linear;
    core::Histogram magnitude;
};
// notFound with the payload state as detail when the values are not in the trace.
core::Result<TensorSummary> summarizeTensor(const core::Trace &trace, core::TensorId tensor,
                                            const core::JobContext &job);

// A two-dimensional cut of a tensor of any rank: two axes are shown, the others stand at fixed indices. An
// axis of -1 has one position (scalars have none to show, vectors one).
struct Slice
{
    int rowAxis = -1;
    int columnAxis = -1;
    std::vector<std::int64_t> fixed; // one index an axis; those of the shown axes are ignored

    // Rows along the last but one axis, columns along the last, all else at 0.
    static Slice standard(std::span<const std::int64_t> shape);
    std::int64_t rows(std::span<const std::int64_t> shape) const;
    std::int64_t columns(std::span<const std::int64_t> shape) const;
    // The flat row-major index of a cell.
    std::uint64_t flat(std::span<const std::int64_t> shape, std::int64_t row, std::int64_t column) const;
    // The cell of flat index FLAT, after moving the fixed axes to where it is.
    std::pair<std::int64_t, std::int64_t> moveTo(std::span<const std::int64_t> shape, std::uint64_t flat);

    bool operator==(const Slice &) const = default;
};

// A block of a slice: raw little-endian elements, row by row.
struct Tile
{
    std::int64_t firstRow = 0;
    std::int64_t firstColumn = 0;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::size_t itemBytes = 0;
    std::vector<std::byte> bytes;
};
inline constexpr std::int64_t kTileSide = 64;

// The tile that starts at FIRST ROW and FIRST COLUMN, cut at the slice's end.
core::Result<Tile> readTile(const core::Trace &trace, core::TensorId tensor, const Slice &slice,
                            std::int64_t firstRow, std::int64_t firstColumn, const core::JobContext &job);

// The next NaN or infinite element after FROM in flat order (before it for DIRECTION -1), around the end;
// nothing when there is none. FROM -1 starts at the beginning.
core::Result<std::optional<std::uint64_t>> findBadElement(const core::Trace &trace, core::TensorId tensor,
                                                          std::int64_t from, int direction,
                                                          const core::JobContext &job);

} // namespace views
