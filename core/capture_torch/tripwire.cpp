// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/tripwire.h"

#include <algorithm>

namespace core {

bool Tripwire::look(const at::Tensor &tensor, TensorRecord &record)
{
    const bool bad = !m_tripped && !m_saver.isFinite(tensor);
    if (bad)
        m_saver.measure(tensor, record);
    return bad;
}

void Tripwire::trip(const at::Tensor &tensor, TensorRecord &record)
{
    m_out.note(m_saver.save(tensor, true, record));
    m_tripped = true;
}

void Tripwire::hold(const at::Tensor &tensor, const TensorRecord &record)
{
    if (record.stats || !hasBytes(tensor))
        return;
    Held held;
    held.id = record.id;
    held.call = m_calls;
    held.tensor = tensor.detach();
    held.described.id = record.id;
    held.described.dtype = record.dtype;
    held.described.shape = record.shape;
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
    if (!held.tensor.defined())
        return;
    m_saver.measure(held.tensor, held.described);
    m_heldBytes -= held.tensor.nbytes();
    held.tensor.reset();
}

void Tripwire::callEnded()
{
    ++m_calls;
    while (!m_held.empty() && m_held.front().call + kCalls < m_calls) {
        if (m_held.front().tensor.defined())
            m_heldBytes -= m_held.front().tensor.nbytes();
        m_held.pop_front();
    }
}

void Tripwire::beforeWrite(const at::Tensor &tensor)
{
    if (!hasBytes(tensor))
        return;
    const c10::StorageImpl *const storage = tensor.storage().unsafeGetStorageImpl();
    const ByteRange range = byteRange(tensor);
    for (Held &held : m_held)
        if (held.tensor.defined() && held.tensor.storage().unsafeGetStorageImpl() == storage &&
            byteRange(held.tensor).overlaps(range))
            measure(held);
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
        if (held.described.stats)
            m_out.add(std::move(held.described));
    }
    m_held.clear();
}

} // namespace core
