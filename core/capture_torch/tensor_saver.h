// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/capture_torch/tensor_tracker.h"
#include "core/trace/trace_sink.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <deque>
#include <span>

namespace core {

// Strided, on the CPU, not quantized: its elements can be read.
bool isReadable(const at::Tensor &tensor);
// TENSOR as its memory shows it: conj and neg are bits apart from it. May call ops.
at::Tensor resolved(const at::Tensor &tensor);

// Turns tensors of the running model into what a TensorRecord says of them: metadata, statistics, values.
// Values are written once a storage and version; views of it refer to them. A storage is held until the sink
// has read it, but never a gradient's, whose values are copied. What it calls must not be
// recorded: use it inside an OpListener's functions or outside a TapScope. Owned by the recorder; one thread.
class TensorSaver
{
public:
    TensorSaver(TraceSink &sink, TensorTracker &tracker, std::uint64_t maximumBytes)
        : m_sink(sink), m_tracker(tracker), m_maximumBytes(maximumBytes)
    {
    }

    // Waits for what the sink still reads: the memory is the model's.
    ~TensorSaver();
    TensorSaver(const TensorSaver &) = delete;
    TensorSaver &operator=(const TensorSaver &) = delete;

    // dtype, shape, strides, device, storage id, requires-grad. Defined tensors only.
    void describe(const at::Tensor &tensor, TensorRecord &record);
    // The statistics, where the tensor has values that can be measured: strided, on the CPU, not quantized.
    void measure(const at::Tensor &tensor, TensorRecord &record);
    // The same for a tensor of our own, which the run does not know.
    static void measureAlone(const at::Tensor &tensor, TensorRecord &record);
    // The payload, or the reason why there is none. WANTED false: the policy leaves it out.
    Status save(const at::Tensor &tensor, bool wanted, TensorRecord &record);
    // Before TENSOR is written: waits until the sink has read its storage.
    void settle(const at::Tensor &tensor);
    // The first 16 elements.
    void sample(const at::Tensor &tensor, TensorRecord &record);

    std::uint64_t storedBytes() const { return m_stored; }

private:
    Status saveElements(const at::Tensor &tensor, TensorRecord &record);
    Result<PayloadRecord> hand(const at::Tensor &tensor, std::span<const std::int64_t> shape,
                               PayloadDone &done);

    // Storages that the sink still reads.
    struct Held
    {
        c10::Storage storage;
        PayloadDone done;
        std::size_t bytes;
    };

    TraceSink &m_sink;
    TensorTracker &m_tracker;
    std::uint64_t m_maximumBytes;
    std::uint64_t m_stored = 0;
    std::deque<Held> m_held; // in the order they were handed over
    std::size_t m_heldBytes = 0;
};

// The element of TENSOR that broadcasting to SHAPE puts at the flat row-major index AT, as a number; null
// when it does not broadcast, is complex, or has no values.
Value elementBroadcast(const at::Tensor &tensor, std::span<const std::int64_t> shape, std::int64_t at);

} // namespace core
