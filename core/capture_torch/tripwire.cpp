// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/tripwire.h"

#include "core/capture_torch/torch_dtype.h"

#include <algorithm>

namespace core {

namespace {

struct Memory
{
    const c10::StorageImpl *storage;
    ByteRange range;

    bool overlaps(const at::Tensor &tensor) const
    {
        return tensor.defined() && tensor.has_storage() &&
               tensor.storage().unsafeGetStorageImpl() == storage && hasBytes(tensor) &&
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

std::size_t bytesOf(const std::vector<c10::IValue> &values)
{
    std::size_t bytes = 0;
    for (const c10::IValue &value : values)
        forEachTensor(
            value, [&bytes](const at::Tensor &tensor) { bytes += hasBytes(tensor) ? tensor.nbytes() : 0; });
    return bytes;
}

bool canRunAgain(const OpFacts &facts, std::span<const c10::IValue> results)
{
    const auto isTensor = [](const c10::IValue &value) { return value.isTensor(); };
    return !facts.writes && !facts.view && !facts.uninitialised && !results.empty() &&
           std::all_of(results.begin(), results.end(), isTensor);
}

bool Tripwire::look(const at::Tensor &tensor, TensorRecord &record, const FiniteWatch::Forecast &forecast,
                    bool first)
{
    const bool bad = !m_tripped && !m_watch.isFinite(tensor, forecast, first);
    if (bad)
        m_saver.measure(tensor, record);
    return bad;
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
