// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/run_observer.h"
#include "core/trace/records.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace core {

// What a forward run did that a backward pass may stumble over: which memory each call read and made, what
// was written in place afterwards, where the path of gradients ends. Kept only when a backward pass is to
// come; owned by the autograd recorder.
class GradPathLog
{
public:
    // TENSOR, an output that requires a gradient, was made by CALL.
    void outputMade(const at::Tensor &tensor, RecordId call);
    void callEnded(const CallRecord &call, const NodeInfo *node, const std::vector<c10::IValue> &inputs,
                   const std::vector<at::Tensor> &written);

    // "aten.sqrt.default (net.py:12)"
    std::string placeOf(RecordId call) const;
    // The first call after CALL that wrote a value which CALL read or made. What autograd complains of with
    // COMPLAINT, of a value that NODE kept, says which of them where several were written.
    std::optional<RecordId> overwriterOf(RecordId call, std::string_view complaint,
                                         std::string_view node) const;
    // Whether what autograd complains of is a value that CALL read and that no op has written since: state,
    // which a program replaces at its end.
    bool wasWrittenBack(RecordId call, std::string_view complaint) const;
    // The last call that took something with a gradient and gave nothing with one.
    std::optional<RecordId> lastCut() const { return m_lastCut; }
    // That call ran in a region without gradients.
    bool cutWithoutGradMode() const { return m_cutWithoutGradMode; }

private:
    using Pin = c10::weak_intrusive_ptr<c10::StorageImpl>;
    struct Touched
    {
        Pin storage;
        c10::VariableVersion counter; // of the tensor, counts on
        std::uint32_t version = 0;    // when the call had ended
        bool made = false;            // else read
        bool hasNode = false;         // it was itself computed
    };
    struct Call
    {
        std::string op;
        std::uint32_t place = 0; // into m_places
        std::vector<Touched> touched;
        bool madeGradient = false;
    };
    struct Write
    {
        RecordId call;
        Pin storage;
    };

    std::optional<RecordId> writerOf(const Touched &value, RecordId after) const;
    static Touched touchedNow(const at::Tensor &tensor, bool made);
    std::uint32_t placeOf(const NodeInfo *node);

    std::unordered_map<RecordId, Call> m_calls;
    std::vector<std::string> m_places = {{}};                       // "net.py:12"; the first is not known
    std::unordered_map<std::uint32_t, std::uint32_t> m_placeOfNode; // by id of the node
    std::vector<Write> m_writes;                                    // in order
    std::optional<RecordId> m_lastCut;
    bool m_cutWithoutGradMode = false;
};

} // namespace core
