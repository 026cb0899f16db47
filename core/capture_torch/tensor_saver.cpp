// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/tensor_saver.h"

#include "core/analysis/tensor_stats.h"
#include "core/base/element_codec.h"
#include "core/capture_torch/torch_dtype.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace core {

namespace {

constexpr std::int64_t kSampleElements = 16;
constexpr std::size_t kMostHeldBytes = std::size_t(512) << 20;

void waitFor(const PayloadDone &done)
{
    while (!done->load(std::memory_order_acquire))
        std::this_thread::sleep_for(std::chrono::microseconds(20));
}

const std::byte *bytesOf(const at::Tensor &tensor)
{
    return static_cast<const std::byte *>(tensor.const_data_ptr());
}

// Elements that lie one after the other in memory: how many at the end of the row-major order.
std::int64_t contiguousRun(const at::Tensor &tensor)
{
    std::int64_t run = 1;
    for (std::int64_t d = tensor.dim(); d-- > 0;) {
        if (tensor.size(d) != 1 && tensor.stride(d) != run)
            break;
        run *= tensor.size(d);
    }
    return run;
}

// Row-major order over a tensor whose elements are not in that order in memory, run by run.
TensorStats strided(const at::Tensor &tensor, DType dtype)
{
    constexpr std::int64_t kWorthARun = 64;
    constexpr std::size_t kMostCopied = std::size_t(64) << 20;
    const std::int64_t run = contiguousRun(tensor);
    // A copy is faster than many short runs, but an expanded tensor is much larger than its memory.
    if (run < kWorthARun && tensor.nbytes() <= kMostCopied) {
        const at::Tensor copy = tensor.contiguous();
        return computeStats(dtype, bytesOf(copy), static_cast<std::size_t>(copy.numel()));
    }
    StatsAccumulator accumulator(dtype);
    const std::int64_t runs = tensor.numel() / run;
    for (std::int64_t i = 0; i < runs; ++i) {
        std::int64_t rest = i * run;
        std::int64_t offset = 0;
        for (std::int64_t d = tensor.dim(); d-- > 0;) {
            offset += rest % tensor.size(d) * tensor.stride(d);
            rest /= tensor.size(d);
        }
        accumulator.add(bytesOf(tensor) + offset * static_cast<std::int64_t>(tensor.itemsize()),
                        static_cast<std::size_t>(run), static_cast<std::uint64_t>(i * run));
    }
    return accumulator.result();
}

TensorStats scan(const at::Tensor &tensor, DType dtype)
{
    if (tensor.numel() == 0)
        return {};
    if (tensor.is_contiguous())
        return computeStats(dtype, bytesOf(tensor), static_cast<std::size_t>(tensor.numel()));
    if (tensor.is_non_overlapping_and_dense()) {
        // Memory order is faster; only first positions depend on the order.
        const TensorStats stats =
            computeStats(dtype, bytesOf(tensor), static_cast<std::size_t>(tensor.numel()));
        if (stats.isAllFinite())
            return stats;
    }
    return strided(tensor, dtype);
}

PayloadState reasonWithoutBytes(const at::Tensor &tensor)
{
    if (tensor.is_meta())
        return PayloadState::meta;
    if (tensor.is_quantized())
        return PayloadState::quantized;
    return tensor.layout() == c10::kStrided  ? PayloadState::unsupported
           : tensor.layout() == c10::kMkldnn ? PayloadState::unsupported
                                             : PayloadState::sparse;
}

// Whether the strides are those of a fresh tensor of this shape. A turned row [k, 1] is contiguous, but
// products choose their way by the stride that its one column does not use, and round by it.
bool hasPlainStrides(const at::Tensor &tensor)
{
    if (tensor.numel() == 0)
        return tensor.is_contiguous();
    std::int64_t run = 1;
    for (std::int64_t d = tensor.dim(); d-- > 0; run *= tensor.size(d))
        if (tensor.stride(d) != run)
            return false;
    return true;
}

} // namespace

bool isReadable(const at::Tensor &tensor)
{
    return hasBytes(tensor) && !tensor.is_quantized();
}

at::Tensor resolved(const at::Tensor &tensor)
{
    return tensor.is_conj() || tensor.is_neg() ? tensor.resolve_conj().resolve_neg() : tensor;
}

TensorSaver::~TensorSaver()
{
    for (const Held &held : m_held)
        waitFor(held.done);
}

void TensorSaver::describe(const at::Tensor &tensor, TensorRecord &record)
{
    record.dtype = fromScalarType(tensor.scalar_type());
    record.requiresGrad = tensor.requires_grad();
    if (tensor.is_nested())
        return; // rows of several lengths: no sizes to be asked for
    record.shape.assign(tensor.sizes().begin(), tensor.sizes().end());
    if (tensor.layout() == c10::kStrided && !hasPlainStrides(tensor))
        record.strides.assign(tensor.strides().begin(), tensor.strides().end());
    if (tensor.has_storage())
        record.storageOffset = tensor.storage_offset();
    if (!tensor.device().is_cpu())
        record.device = tensor.device().str();
    if (hasBytes(tensor)) {
        StorageState &state = m_tracker.storage(tensor);
        record.storage = state.id;
        if (state.creator == kNoRecord)
            state.creator = record.id;
    }
}

void TensorSaver::measureAlone(const at::Tensor &tensor, TensorRecord &record)
{
    if (isReadable(tensor) && record.dtype != DType::unknown)
        record.stats = scan(resolved(tensor), record.dtype);
}

void TensorSaver::measure(const at::Tensor &tensor, TensorRecord &record)
{
    if (!isReadable(tensor) || record.dtype == DType::unknown)
        return;
    if (tensor.is_conj() || tensor.is_neg()) {
        measureAlone(tensor, record);
        return;
    }
    StorageState &state = m_tracker.storage(tensor);
    const ByteRange range = byteRange(tensor);
    const bool dense = tensor.is_non_overlapping_and_dense();
    // Views that show the same elements share one scan; where something is not finite the order matters too.
    if (dense && state.stats && state.statsVersion == state.version && state.statsRange == range &&
        state.statsType == tensor.scalar_type() && (state.stats->isAllFinite() || tensor.is_contiguous())) {
        record.stats = state.stats;
        return;
    }
    record.stats = scan(tensor, record.dtype);
    if (!dense || !(record.stats->isAllFinite() || tensor.is_contiguous()))
        return;
    state.stats = record.stats;
    state.statsVersion = state.version;
    state.statsRange = range;
    state.statsType = tensor.scalar_type();
}

Status TensorSaver::save(const at::Tensor &tensor, bool wanted, TensorRecord &record)
{
    if (!isReadable(tensor)) {
        record.payload.state = reasonWithoutBytes(tensor);
        return Status::ok();
    }
    if (!wanted) {
        record.payload.state = PayloadState::notSaved;
        return Status::ok();
    }
    StorageState &state = m_tracker.storage(tensor);
    const bool plain = !tensor.is_conj() && !tensor.is_neg();
    if (plain && state.payload && state.payloadVersion == state.version) {
        record.payload = *state.payload;
        record.payload.contiguous = state.payload->contiguous && tensor.is_contiguous() &&
                                    tensor.storage_offset() == 0 && tensor.nbytes() == state.payload->bytes;
        if (!record.payload.contiguous)
            record.strides.assign(tensor.strides().begin(), tensor.strides().end());
        return Status::ok();
    }
    if (tensor.nbytes() > m_maximumBytes) {
        record.payload.state = PayloadState::tooLarge;
        sample(tensor, record);
        return Status::ok();
    }
    // The engine adds gradients up in place only while nobody else holds their memory; strides, and by them
    // kernels, follow from that.
    const bool held = record.role != TensorRole::gradient;
    const bool whole = held && plain && tensor.storage_offset() == 0 &&
                       tensor.nbytes() == tensor.storage().nbytes() && tensor.is_non_overlapping_and_dense();
    if (!whole)
        return saveElements(tensor, record);
    const bool contiguous = tensor.is_contiguous();
    const std::int64_t count = tensor.numel();
    const std::span<const std::int64_t> shape =
        contiguous ? std::span<const std::int64_t>(tensor.sizes().data(), tensor.sizes().size())
                   : std::span<const std::int64_t>(&count, 1);
    PayloadDone done;
    Result<PayloadRecord> written = hand(tensor, shape, done);
    if (!written)
        return written.error();
    m_stored += tensor.nbytes();
    record.payload = *written;
    record.payload.contiguous = contiguous;
    state.payload = record.payload;
    state.payloadVersion = state.version;
    state.pending = std::move(done);
    return Status::ok();
}

Result<PayloadRecord> TensorSaver::hand(const at::Tensor &tensor, std::span<const std::int64_t> shape,
                                        PayloadDone &done)
{
    // A sink that is slower than the model must not make the model's memory grow without end.
    while (!m_held.empty() && (m_held.front().done->load() || m_heldBytes > kMostHeldBytes)) {
        waitFor(m_held.front().done);
        m_heldBytes -= m_held.front().bytes;
        m_held.pop_front();
    }
    Result<PayloadRecord> written = m_sink.writePayloadLater(fromScalarType(tensor.scalar_type()), shape,
                                                             {bytesOf(tensor), tensor.nbytes()}, done);
    if (written && done && !done->load()) {
        m_held.push_back({tensor.storage(), done, tensor.nbytes()});
        m_heldBytes += tensor.nbytes();
    }
    return written;
}

void TensorSaver::settle(const at::Tensor &tensor)
{
    StorageState *const state = m_tracker.findStorage(tensor);
    if (state == nullptr || !state->pending)
        return;
    m_sink.settlePayload(state->pending);
    state->pending.reset();
}

// Elements that are not a whole storage, or that must not be held; what the model may write later is copied.
Status TensorSaver::saveElements(const at::Tensor &tensor, TensorRecord &record)
{
    at::Tensor copy = resolved(tensor).contiguous();
    if (copy.is_alias_of(tensor))
        copy = copy.clone();
    PayloadDone done;
    Result<PayloadRecord> written = hand(copy, {copy.sizes().data(), copy.sizes().size()}, done);
    if (!written)
        return written.error();
    m_stored += copy.nbytes();
    record.payload = *written;
    record.payload.contiguous = true;
    return Status::ok();
}

void TensorSaver::sample(const at::Tensor &tensor, TensorRecord &record)
{
    if (!isReadable(tensor) || record.dtype == DType::unknown || tensor.is_complex() ||
        !record.sample.empty())
        return;
    const std::int64_t count = std::min<std::int64_t>(tensor.numel(), kSampleElements);
    for (std::int64_t i = 0; i < count; ++i) {
        const Value value = elementBroadcast(tensor, record.shape, i);
        record.sample.push_back(value.toDouble());
    }
}

Value elementBroadcast(const at::Tensor &tensor, std::span<const std::int64_t> shape, std::int64_t at)
{
    if (!isReadable(tensor) || tensor.is_complex() || tensor.numel() == 0 ||
        tensor.dim() > static_cast<std::int64_t>(shape.size()))
        return {};
    const auto missing = static_cast<std::int64_t>(shape.size()) - tensor.dim();
    std::int64_t rest = at;
    std::int64_t offset = 0;
    for (auto d = static_cast<std::int64_t>(shape.size()); d-- > 0;) {
        const std::int64_t size = shape[static_cast<std::size_t>(d)];
        const std::int64_t index = rest % size;
        rest /= size;
        if (d < missing)
            continue;
        const std::int64_t own = tensor.size(d - missing);
        if (own != size && own != 1)
            return {};
        offset += own == 1 ? 0 : index * tensor.stride(d - missing);
    }
    const double value = elementAsDouble(fromScalarType(tensor.scalar_type()), bytesOf(tensor),
                                         static_cast<std::size_t>(offset));
    return tensor.is_neg() ? Value(-value) : Value(value);
}

} // namespace core
