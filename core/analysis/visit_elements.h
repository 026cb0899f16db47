// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/trace/tensor_reader.h"

#include <algorithm>
#include <vector>

namespace core {

// Bytes of one piece: large enough for the disk, small enough to stay in the second cache level and to poll a
// cancelled job often.
inline constexpr std::size_t kPieceBytes = std::size_t(1) << 20;

// Calls VISIT(data, count, first) over the elements of a saved tensor in row-major pieces, without copies
// where the file is mapped; VISIT returns false to stop early. BUFFER is scratch memory of the calling
// thread. Errors are those of TensorReader and of the job.
template <class Visit>
Status visitElements(const Trace &trace, TensorId tensor, const JobContext &job,
                     std::vector<std::byte> &buffer, Visit visit)
{
    const auto reader = TensorReader::open(trace, tensor);
    if (!reader)
        return reader.error();
    const std::size_t item = reader->itemBytes();
    const std::uint64_t piece = std::max<std::uint64_t>(1, kPieceBytes / item);
    const std::span<const std::byte> mapped = reader->view();
    for (std::uint64_t first = 0; first < reader->elementCount(); first += piece) {
        if (Status status = job.checkpoint("reading tensors"); !status)
            return status;
        const std::uint64_t count = std::min(piece, reader->elementCount() - first);
        const std::byte *data = mapped.data() + first * item;
        if (mapped.empty()) {
            buffer.resize(static_cast<std::size_t>(piece * item));
            if (Status status = reader->read(first, std::span(buffer).first(count * item)); !status)
                return status;
            data = buffer.data();
        }
        if (!visit(data, static_cast<std::size_t>(count), first))
            break;
    }
    return Status::ok();
}

// The same over two tensors with the same number of elements: VISIT(dataA, dataB, count).
template <class Visit>
Status visitPairs(const Trace &traceA, TensorId a, const Trace &traceB, TensorId b, const JobContext &job,
                  Visit visit)
{
    const auto readerB = TensorReader::open(traceB, b);
    if (!readerB)
        return readerB.error();
    const std::span<const std::byte> mapped = readerB->view();
    std::vector<std::byte> bufferA;
    std::vector<std::byte> bufferB;
    Status readB;
    const Status readA = visitElements(
        traceA, a, job, bufferA, [&](const std::byte *data, std::size_t count, std::uint64_t first) {
            const std::byte *other = mapped.data() + first * readerB->itemBytes();
            if (mapped.empty()) {
                bufferB.resize(count * readerB->itemBytes());
                readB = readerB->read(first, bufferB);
                other = bufferB.data();
            }
            return readB.isOk() && visit(data, other, count);
        });
    return readA ? readB : readA;
}

} // namespace core
