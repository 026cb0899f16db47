// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/grad_path_log.h"

#include "core/capture_torch/frame_origin.h"
#include "core/capture_torch/tensor_tracker.h"

#include <algorithm>
#include <charconv>

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

// The number behind WORD in TEXT.
std::optional<std::uint32_t> numberBehind(std::string_view text, std::string_view word)
{
    const std::size_t at = text.find(word);
    std::uint32_t number = 0;
    if (at == std::string_view::npos ||
        std::from_chars(text.data() + at + word.size(), text.data() + text.size(), number).ec != std::errc())
        return std::nullopt;
    return number;
}

// "torch::autograd::CopySlices, is at" -> "CopySlices", "ExpBackward0" -> "Exp"
std::string_view plainNodeName(std::string_view name)
{
    name = name.substr(0, name.find_first_of(", "));
    if (const std::size_t colons = name.rfind(':'); colons != std::string_view::npos)
        name.remove_prefix(colons + 1);
    return name.substr(0, name.find("Backward"));
}

// Autograd says "[torch.FloatTensor [4]], which is output 0 of ExpBackward0, is at version 1; expected
// version 0 instead", without the middle part when nothing computed the value.
struct Complaint
{
    std::optional<std::uint32_t> version;
    std::optional<std::uint32_t> expected;
    std::string_view producer;

    explicit Complaint(std::string_view text)
        : version(numberBehind(text, "is at version ")), expected(numberBehind(text, "expected version "))
    {
        const std::size_t output = text.find("which is output ");
        const std::size_t of = output == std::string_view::npos ? output : text.find(" of ", output);
        if (of != std::string_view::npos)
            producer = plainNodeName(text.substr(of + 4));
    }

    // Whether a value of COUNTER that was kept at KEPT was written as often as is said.
    bool counts(const c10::VariableVersion &counter, std::uint32_t kept) const
    {
        return expected && version && counter.enabled() && kept == *expected &&
               counter.current_version() == *version;
    }
};

} // namespace

GradPathLog::Touched GradPathLog::touchedNow(const at::Tensor &tensor, bool made)
{
    Touched touched{tensor.storage().getWeakStorageImpl(), {}, 0, made, tensor.grad_fn() != nullptr};
    if (!tensor.is_inference()) {
        touched.counter = tensor.unsafeGetTensorImpl()->version_counter();
        touched.version = touched.counter.current_version();
    }
    return touched;
}

void GradPathLog::outputMade(const at::Tensor &tensor, RecordId call)
{
    Call &made = m_calls[call];
    made.madeGradient = true;
    if (hasBytes(tensor))
        made.touched.push_back(touchedNow(tensor, true));
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
                entry.touched.push_back(touchedNow(tensor, false));
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

std::optional<RecordId> GradPathLog::overwriterOf(RecordId call, std::string_view complaint,
                                                  std::string_view node) const
{
    const auto known = m_calls.find(call);
    if (known == m_calls.end())
        return std::nullopt;
    const Complaint said(complaint);
    const bool ownOutput = said.producer == plainNodeName(node);
    // How well what is said fits a value: whose output it is, and how often it was written.
    const auto fit = [&](const Touched &value) {
        const bool counted = said.counts(value.counter, value.version);
        const bool origin = value.made ? ownOutput : value.hasNode == !said.producer.empty();
        return (counted ? 4 : 0) + (origin ? 2 : 0) + (value.made == ownOutput ? 1 : 0);
    };
    std::optional<RecordId> writer;
    int best = -1;
    for (const Touched &value : known->second.touched) {
        const std::optional<RecordId> wrote = writerOf(value, call);
        if (!wrote || fit(value) <= best)
            continue;
        best = fit(value);
        writer = wrote;
    }
    return writer;
}

std::optional<RecordId> GradPathLog::writerOf(const Touched &value, RecordId after) const
{
    const auto write = std::find_if(m_writes.begin(), m_writes.end(), [&](const Write &entry) {
        return entry.call > after && entry.storage._unsafe_get_target() == value.storage._unsafe_get_target();
    });
    return write == m_writes.end() ? std::nullopt : std::optional(write->call);
}

bool GradPathLog::wasWrittenBack(RecordId call, std::string_view complaint) const
{
    const auto known = m_calls.find(call);
    if (known == m_calls.end())
        return false;
    const Complaint said(complaint);
    const auto fits = [&](const Touched &value) {
        return !value.made && !value.hasNode && said.counts(value.counter, value.version);
    };
    const std::vector<Touched> &values = known->second.touched;
    return std::any_of(values.begin(), values.end(), fits) &&
           std::none_of(values.begin(), values.end(),
                        [&](const Touched &value) { return fits(value) && writerOf(value, call); });
}

} // namespace core
