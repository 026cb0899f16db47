// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/capture/capture_request.h"
#include "core/capture_torch/grad_listener.h"
#include "core/capture_torch/grad_path_log.h"
#include "core/capture_torch/op_recorder.h"
#include "core/capture_torch/runnable_model.h"

#include <torch/csrc/autograd/function.h>

#include <unordered_map>
#include <utility>
#include <vector>

namespace core {

// The tensor that the loss of REQUEST (cross_entropy, mse) compares with: a file, or a specification. The
// errors of InputBuilder.
Result<at::Tensor> lossTarget(const BackwardRequest &request);

// The output that REQUEST makes a loss of, as messages name it. invalidArgument when there is none.
Result<std::pair<std::string, at::Tensor>> lossOutput(const BackwardRequest &request,
                                                      const ModelOutputs &outputs);
// The loss of OUTPUT, which lossOutput() gave. OPERANDS become what it is made of: the output, and the target
// if there is one. invalidArgument when the rule or the target does not fit.
Result<at::Tensor> lossOf(const BackwardRequest &request, const std::pair<std::string, at::Tensor> &output,
                          std::vector<at::Tensor> &operands);
// The gradient that arrives at LOSS: the scale of REQUEST, no op of its own.
at::Tensor lossSeed(const BackwardRequest &request, const at::Tensor &loss);
// The engine takes a first gradient over as .grad and adds to it later: each pass starts without.
void dropGradients(const NamedTensors &leaves);

// Pairs autograd nodes with the ops that made them, and records backward passes: which node fired when, what
// arrived and what it emitted, and so the gradient of every recorded tensor. Owned by the capture task; used
// on the thread that runs the model. Nodes it has seen stay alive with it.
class AutogradRecorder final : public GradListener
{
public:
    // WATCHED: hooks are put on the nodes, for a backward pass to come.
    AutogradRecorder(OpRecorder &recorder, bool watched) : m_recorder(recorder), m_watched(watched) {}
    ~AutogradRecorder() override;

    void outputMade(const at::Tensor &tensor, RecordId call, TensorRecord &record,
                    std::vector<RecordId> &nodes) override;
    void callEnded(const CallRecord &call, const NodeInfo *node, const std::vector<c10::IValue> &inputs,
                   const std::vector<at::Tensor> &written) override;

    // The loss that REQUEST describes of OUTPUTS, and as many passes as it asks for; PARAMETERS and INPUTS
    // have the gradients of the last one. invalidArgument when there is no such output or the target does not
    // fit it; modelFailed when it needs no gradient, and with the engine's words, also in the pass's record.
    Status backward(const BackwardRequest &request, const ModelOutputs &outputs,
                    const NamedTensors &parameters, const NamedTensors &inputs);

    // Called by the hooks.
    void starts(torch::autograd::Node &node) { m_running = &node; }
    void fired(torch::autograd::Node &node, const torch::autograd::variable_list &emitted,
               const torch::autograd::variable_list &arriving);

private:
    using NodePtr = decltype(torch::autograd::Edge::function);
    struct NodeState
    {
        RecordId id = kNoRecord;
        NodePtr pin; // keeps the address from being reused
        RecordId call = kNoRecord;
        bool leaf = false;
        std::vector<std::pair<RecordId, std::uint32_t>> outputs; // forward tensors and their output numbers
    };

    RecordId claim(const NodePtr &node, RecordId call, std::vector<RecordId> *nodes);
    GradNodeRecord describe(torch::autograd::Node &node, const NodeState &state);
    // Why VALUE cannot be a loss, with what ended the path of gradients.
    Status noGradient(const std::string &name, const at::Tensor &value) const;
    // The engine's words, or whose saved value was overwritten by what.
    Status explained(std::string words) const;
    Result<at::Tensor> loss(const BackwardRequest &request, const ModelOutputs &outputs);
    // What a pass that starts at LOSS with the gradient SEED has to tell of both: "dtype", "loss", "seed",
    // and "fault" where one of them is not finite for another reason than the output.
    Value lossFacts(const BackwardRequest &request, const at::Tensor &loss, const at::Tensor &seed) const;
    Status pass(const BackwardRequest &request, const at::Tensor &loss, std::uint32_t index, bool last);
    std::vector<RecordId> gradients(const torch::autograd::variable_list &list);
    RecordId gradient(const at::Tensor &tensor);

    OpRecorder &m_recorder;
    bool m_watched;
    GradPathLog m_log;
    torch::autograd::Node *m_running = nullptr; // the node that a pass works on
    std::vector<at::Tensor> m_lossOperands;     // output, and target if there is one
    std::size_t m_frozen = 0;                   // parameters that require no gradient
    std::size_t m_parameters = 0;
    std::unordered_map<torch::autograd::Node *, NodeState> m_nodes;
    struct Seen
    {
        c10::weak_intrusive_ptr<c10::TensorImpl> pin;
        std::uint32_t version;
        RecordId record;
    };
    std::unordered_map<c10::TensorImpl *, Seen> m_gradients; // of the running pass
    RecordId m_pass = kNoRecord;
    std::uint32_t m_fires = 0;
    RecordId m_fireRecords = 0;
    std::int64_t m_lastFireNs = 0;
};

} // namespace core
