// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/tensor_tracker.h"

#include <algorithm>

namespace core {

namespace {

void addOnce(std::vector<RecordId> &list, RecordId id)
{
    if (id != kNoRecord && std::find(list.begin(), list.end(), id) == list.end())
        list.push_back(id);
}

} // namespace

ByteRange byteRange(const at::Tensor &tensor)
{
    if (tensor.numel() == 0)
        return {};
    std::int64_t first = tensor.storage_offset();
    std::int64_t last = first;
    for (std::int64_t d = 0; d < tensor.dim(); ++d) {
        const std::int64_t reach = tensor.stride(d) * (tensor.size(d) - 1);
        (reach >= 0 ? last : first) += reach;
    }
    const auto item = static_cast<std::int64_t>(tensor.itemsize());
    return {first * item, (last + 1) * item};
}

KnownTensor *TensorTracker::find(const at::Tensor &tensor)
{
    const auto found = m_known.find(tensor.unsafeGetTensorImpl());
    return found == m_known.end() ? nullptr : &found->second;
}

KnownTensor &TensorTracker::known(const at::Tensor &tensor)
{
    return m_known.try_emplace(tensor.unsafeGetTensorImpl(), tensor).first->second;
}

StorageState *TensorTracker::findStorage(const at::Tensor &tensor)
{
    if (!hasBytes(tensor))
        return nullptr;
    const auto found = m_storages.find(tensor.storage().unsafeGetStorageImpl());
    return found == m_storages.end() ? nullptr : &found->second;
}

StorageState &TensorTracker::storage(const at::Tensor &tensor)
{
    const auto [entry, fresh] = m_storages.try_emplace(tensor.storage().unsafeGetStorageImpl(), tensor);
    if (fresh)
        entry->second.id = static_cast<RecordId>(m_storages.size() - 1);
    return entry->second;
}

KnownTensor &TensorTracker::made(const at::Tensor &tensor, RecordId record, bool hasRow)
{
    KnownTensor &entry = known(tensor);
    entry.record = record;
    entry.shown = record;
    entry.time = m_time;
    entry.shownTime = m_time;
    entry.hasRow = hasRow;
    entry.ancestors.clear();
    if (hasBytes(tensor))
        if (StorageState &state = storage(tensor); state.creator == kNoRecord)
            state.creator = record;
    return entry;
}

bool TensorTracker::isUninitialised(const at::Tensor &tensor)
{
    const StorageState *state = findStorage(tensor);
    if (state == nullptr || !state->uninitialised || tensor.numel() == 0)
        return false;
    const ByteRange range = byteRange(tensor);
    return std::none_of(state->initialised.begin(), state->initialised.end(),
                        [&](ByteRange known) { return known.covers(range); });
}

void TensorTracker::madeUninitialised(const at::Tensor &tensor)
{
    if (!hasBytes(tensor))
        return;
    StorageState &state = storage(tensor);
    state.uninitialised = true;
    state.initialised.clear();
}

// Ranges that touch become one. Of a strided view that is what lies between its first and its last byte: rows
// and columns that are filled one after the other end as a whole.
void TensorTracker::initialised(const at::Tensor &tensor)
{
    StorageState *state = findStorage(tensor);
    if (state == nullptr || !state->uninitialised || tensor.numel() == 0)
        return;
    ByteRange range = byteRange(tensor);
    std::erase_if(state->initialised, [&](ByteRange known) {
        const bool touches = known.begin <= range.end && range.begin <= known.end;
        if (touches)
            range = {std::min(known.begin, range.begin), std::max(known.end, range.end)};
        return touches;
    });
    state->initialised.push_back(range);
}

void TensorTracker::written(const at::Tensor &tensor, bool wholly)
{
    if (!hasBytes(tensor))
        return;
    StorageState &state = storage(tensor);
    ++state.version;
    if (wholly)
        initialised(tensor);
    state.writes.push_back({m_time, byteRange(tensor), kNoRecord});
}

void TensorTracker::nameWrite(const at::Tensor &tensor, RecordId record)
{
    StorageState *state = findStorage(tensor);
    if (state == nullptr)
        return;
    const ByteRange range = byteRange(tensor);
    for (auto write = state->writes.rbegin(); write != state->writes.rend() && write->time == m_time; ++write)
        if (write->range == range)
            write->tensor = record;
}

void TensorTracker::parents(const at::Tensor &tensor, std::vector<RecordId> &out, std::uint64_t &latest)
{
    const KnownTensor *entry = find(tensor);
    const std::uint64_t since = entry == nullptr ? 0 : entry->time;
    const StorageState *state = findStorage(tensor);
    latest = 0;
    if (state != nullptr) {
        const ByteRange range = byteRange(tensor);
        for (auto write = state->writes.rbegin(); write != state->writes.rend() && write->time > since;
             ++write) {
            if (!write->range.overlaps(range))
                continue;
            latest = std::max(latest, write->time);
            addOnce(out, write->tensor);
            if (write->range.covers(range))
                return;
        }
    }
    if (entry == nullptr) {
        if (state != nullptr)
            addOnce(out, state->creator);
        return;
    }
    for (const RecordId ancestor : entry->ancestors)
        addOnce(out, ancestor);
    if (entry->hasRow)
        addOnce(out, entry->record);
}

} // namespace core
