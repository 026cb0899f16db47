// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/tripwire.h"

#include "core/analysis/tensor_stats.h"
#include "core/capture_torch/torch_dtype.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace core {

namespace {

std::size_t bytesOf(const std::vector<c10::IValue> &values)
{
    std::size_t bytes = 0;
    for (const c10::IValue &value : values)
        forEachTensor(
            value, [&bytes](const at::Tensor &tensor) { bytes += hasBytes(tensor) ? tensor.nbytes() : 0; });
    return bytes;
}

constexpr double kNoBound = std::numeric_limits<double>::infinity();

// Of a number that scales an operand.
double magnitudeOf(const c10::IValue &value)
{
    if (value.isInt())
        return std::abs(static_cast<double>(value.toInt()));
    return value.isDouble() ? std::abs(value.toDouble()) : kNoBound;
}

// Of a parameter or a running statistic; OTHERWISE where there is none.
double largestOf(const c10::IValue &value, double otherwise)
{
    if (!value.isTensor() || !value.toTensor().defined())
        return otherwise;
    const at::Tensor &tensor = value.toTensor();
    const bool plain = hasBytes(tensor) && tensor.is_contiguous() && at::isFloatingType(tensor.scalar_type());
    return plain ? largestMagnitude(fromScalarType(tensor.scalar_type()), tensor.const_data_ptr(),
                                    static_cast<std::size_t>(tensor.numel()))
                 : kNoBound;
}

// The smallest element; minus infinity where that is not read (half types, no elements).
double smallestOf(const at::Tensor &tensor)
{
    const auto least = [&tensor](const auto *data) {
        return tensor.numel() == 0 ? -kNoBound
                                   : static_cast<double>(*std::min_element(data, data + tensor.numel()));
    };
    if (tensor.scalar_type() == c10::ScalarType::Float)
        return least(tensor.const_data_ptr<float>());
    return tensor.scalar_type() == c10::ScalarType::Double ? least(tensor.const_data_ptr<double>())
                                                           : -kNoBound;
}

// y = (x - mean) * weight / sqrt(variance + eps) + bias (torch.nn.BatchNorm2d, evaluation), with the largest
// factor of any channel and |x| up to LARGEST. INPUTS are those of batch_norm, or, one shorter, of
// _native_batch_norm_legit_no_training.
double normalisedBound(double largest, std::span<const c10::IValue> inputs)
{
    const bool hasMode = inputs.size() == 9;
    if ((hasMode && inputs[5].toBool()) || !std::isfinite(largestOf(inputs[4], kNoBound)))
        return kNoBound;
    // Not negative, so that the sum in the kernel's type is no smaller than the larger one.
    const double variance = smallestOf(inputs[4].toTensor()), eps = inputs[hasMode ? 7 : 6].toDouble();
    if (!(variance >= 0.0 && eps >= 0.0))
        return kNoBound;
    const double spread = variance + eps;
    // Far from the limits of float32, in which the kernel has the root's inverse and the factor.
    constexpr double kSmall = 1e-30;
    constexpr double kLarge = 1e30;
    const double factor = spread >= kSmall ? largestOf(inputs[1], 1.0) / std::sqrt(spread) : kNoBound;
    if (!(factor <= kLarge))
        return kNoBound;
    return factor * (largest + largestOf(inputs[3], kNoBound)) + largestOf(inputs[2], 0.0);
}

struct Memory
{
    const c10::StorageImpl *storage;
    ByteRange range;

    bool overlaps(const at::Tensor &tensor) const
    {
        return hasBytes(tensor) && tensor.storage().unsafeGetStorageImpl() == storage &&
               byteRange(tensor).overlaps(range);
    }
    bool overlaps(const std::vector<c10::IValue> &values) const
    {
        bool any = false;
        for (const c10::IValue &value : values)
            forEachTensor(value, [&](const at::Tensor &tensor) { any = any || overlaps(tensor); });
        return any;
    }
};

} // namespace

bool Tripwire::look(const at::Tensor &tensor, TensorRecord &record)
{
    const bool bad = !m_tripped && !m_saver.isFinite(tensor);
    if (bad)
        m_saver.measure(tensor, record);
    return bad;
}

double Tripwire::bound(BoundRule rule, std::span<const c10::IValue> inputs)
{
    const auto boundOf = [this](const c10::IValue &value) {
        return value.isTensor() && value.toTensor().defined() ? m_saver.boundOf(value.toTensor()) : kNoBound;
    };
    double largest = 0.0;
    switch (rule) {
    case BoundRule::largest:
        forEachTensor(inputs.front(), [&](const at::Tensor &tensor) {
            largest = std::max(largest, tensor.defined() ? m_saver.boundOf(tensor) : kNoBound);
        });
        return largest;
    case BoundRule::sum:
        return boundOf(inputs[0]) + magnitudeOf(inputs[2]) * boundOf(inputs[1]);
    case BoundRule::batchNorm:
        return normalisedBound(boundOf(inputs[0]), inputs);
    case BoundRule::none:
        break;
    }
    return kNoBound;
}

void Tripwire::trip(const at::Tensor &tensor, TensorRecord &record)
{
    m_out.note(m_saver.save(tensor, true, record));
    m_tripped = true;
}

void Tripwire::hold(const at::Tensor &tensor, const TensorRecord &record, std::optional<std::size_t> slot)
{
    if (record.stats || !hasBytes(tensor))
        return;
    Held held;
    held.id = record.id;
    held.call = m_callCount;
    held.slot = slot;
    held.tensor = tensor.requires_grad() ? tensor.detach() : tensor;
    held.storage = tensor.storage().unsafeGetStorageImpl();
    held.range = byteRange(tensor);
    held.dtype = record.dtype;
    held.shape = record.shape;
    m_heldBytes += tensor.nbytes();
    m_held.push_back(std::move(held));
    for (Held &old : m_held) {
        if (m_heldBytes <= kBytes)
            break;
        measure(old);
    }
}

void Tripwire::measure(Held &held)
{
    if (held.isRemade)
        if (Call *const call = callOf(held); call != nullptr)
            remake(*call);
    if (!held.tensor.defined())
        return;
    TensorRecord record;
    record.dtype = held.dtype;
    m_saver.measure(held.tensor, record);
    held.stats = record.stats;
    m_heldBytes -= held.tensor.nbytes();
    held.tensor.reset();
}

Tripwire::Call *Tripwire::callOf(const Held &held)
{
    const std::size_t first = m_callCount - m_calls.size();
    return held.call < first || held.call >= m_callCount ? nullptr : &m_calls[held.call - first];
}

// Runs CALL again and measures what of its outputs was overwritten.
void Tripwire::remake(Call &call)
{
    std::vector<c10::IValue> stack = call.recipe.inputs;
    try {
        call.recipe.op->callBoxed(&stack);
    } catch (const std::exception &) {
        stack.clear(); // no memory for it: these statistics stay unknown
    }
    for (Held &held : m_held) {
        if (held.call != call.number || !held.isRemade)
            continue;
        held.isRemade = false;
        if (*held.slot >= stack.size())
            continue;
        TensorRecord record;
        record.dtype = held.dtype;
        m_saver.measureAlone(stack[*held.slot].toTensor(), record);
        held.stats = record.stats;
    }
    forget(call);
}

void Tripwire::forget(Call &call)
{
    m_heldBytes -= call.bytes.value_or(0);
    call.bytes.reset();
    call.recipe = Recipe();
}

void Tripwire::callEnded(Recipe recipe)
{
    m_calls.push_back({m_callCount++, std::move(recipe), std::nullopt});
    // What is overwritten mostly is so by the next op: what an op read is not kept alive for longer.
    constexpr std::size_t kWaits = 4;
    if (m_calls.size() > kWaits)
        if (Call &call = m_calls[m_calls.size() - 1 - kWaits]; !call.bytes)
            forget(call);
    while (!m_held.empty() && m_held.front().call + kCalls < m_callCount) {
        if (m_held.front().tensor.defined())
            m_heldBytes -= m_held.front().tensor.nbytes();
        m_held.pop_front();
    }
    if (m_calls.size() > kCalls) {
        forget(m_calls.front());
        m_calls.pop_front();
    }
}

void Tripwire::beforeWrite(const at::Tensor &tensor)
{
    if (!hasBytes(tensor))
        return;
    const Memory written{tensor.storage().unsafeGetStorageImpl(), byteRange(tensor)};
    for (Held &held : m_held) {
        if (held.storage != written.storage || !held.tensor.defined() || !held.range.overlaps(written.range))
            continue;
        Call *const call = held.slot ? callOf(held) : nullptr;
        if (call == nullptr || !call->recipe.op || written.overlaps(call->recipe.inputs)) {
            measure(held);
            continue;
        }
        if (!call->bytes) {
            call->bytes = bytesOf(call->recipe.inputs);
            m_heldBytes += *call->bytes;
        }
        m_heldBytes -= held.tensor.nbytes();
        held.tensor.reset();
        held.isRemade = true;
    }
    for (Call &call : m_calls) {
        if (!call.recipe.op || !written.overlaps(call.recipe.inputs))
            continue;
        if (call.bytes)
            remake(call);
        else
            forget(call);
    }
}

void Tripwire::keep(const at::Tensor &tensor, RecordId id, bool withValues)
{
    if (std::find(m_kept.begin(), m_kept.end(), id) != m_kept.end())
        return;
    m_kept.push_back(id);
    TensorRecord record;
    record.id = id;
    m_saver.describe(tensor, record);
    m_saver.measure(tensor, record);
    m_out.note(m_saver.save(tensor, withValues, record));
    m_out.add(std::move(record));
}

void Tripwire::finish()
{
    for (Held &held : m_held) {
        if (std::find(m_kept.begin(), m_kept.end(), held.id) != m_kept.end())
            continue;
        measure(held);
        if (!held.stats)
            continue;
        TensorRecord record;
        record.id = held.id;
        record.dtype = held.dtype;
        record.shape = std::move(held.shape);
        record.stats = held.stats;
        m_out.add(std::move(record));
    }
    m_held.clear();
}

} // namespace core
