// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/grad_path_log.h"

#include "core/capture_torch/frame_origin.h"
#include "core/capture_torch/tensor_tracker.h"

#include <algorithm>

namespace core {
namespace {

template <class Take>
void eachTensor(const c10::IValue &value, const Take &take)
{
    if (value.isTensor())
        take(value.toTensor());
    else if (value.isTensorList())
        for (const at::Tensor &tensor : value.toTensorVector())
            take(tensor);
}

} // namespace

void GradPathLog::outputMade(const at::Tensor &tensor, RecordId call)
{
    Call &made = m_calls[call];
    made.madeGradient = true;
    if (hasBytes(tensor))
        made.touched.push_back(tensor.storage().getWeakStorageImpl());
}

void GradPathLog::callEnded(const CallRecord &call, const NodeInfo *node,
                            const std::vector<c10::IValue> &inputs, const std::vector<at::Tensor> &written)
{
    Call &entry = m_calls[call.id];
    entry.op = call.op;
    entry.place = placeOf(node);
    bool tookGradient = false;
    for (const c10::IValue &input : inputs)
        eachTensor(input, [&](const at::Tensor &tensor) {
            if (!tensor.defined())
                return;
            tookGradient = tookGradient || tensor.requires_grad();
            if (hasBytes(tensor))
                entry.touched.push_back(tensor.storage().getWeakStorageImpl());
        });
    for (const at::Tensor &tensor : written)
        if (hasBytes(tensor))
            m_writes.push_back({call.id, tensor.storage().getWeakStorageImpl()});
    if (tookGradient && !entry.madeGradient && !call.outputs.empty()) {
        m_lastCut = call.id;
        m_cutWithoutGradMode = !call.gradEnabled;
    }
}

// The text is kept: a driver's node infos go with its run.
std::uint32_t GradPathLog::placeOf(const NodeInfo *node)
{
    if (node == nullptr)
        return 0;
    const auto [known, fresh] = m_placeOfNode.try_emplace(node->id, 0);
    if (!fresh)
        return known->second;
    const RunFrame *const frame = userFrame(node->frames);
    if (frame == nullptr)
        return 0;
    known->second = static_cast<std::uint32_t>(m_places.size());
    m_places.push_back(frame->file + ':' + std::to_string(frame->line));
    return known->second;
}

std::string GradPathLog::placeOf(RecordId call) const
{
    const auto known = m_calls.find(call);
    if (known == m_calls.end())
        return "the loss";
    const std::string &place = m_places[known->second.place];
    return known->second.op + (place.empty() ? "" : " (" + place + ')');
}

std::optional<RecordId> GradPathLog::overwriterOf(RecordId call) const
{
    const auto known = m_calls.find(call);
    if (known == m_calls.end())
        return std::nullopt;
    const auto &touched = known->second.touched;
    for (const Write &write : m_writes)
        if (write.call > call && std::any_of(touched.begin(), touched.end(), [&](const Pin &pin) {
                return pin._unsafe_get_target() == write.storage._unsafe_get_target();
            }))
            return write.call;
    return std::nullopt;
}

} // namespace core
