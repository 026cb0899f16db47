// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/autograd_recorder.h"

#include "core/analysis/report_parts.h"
#include "core/capture/loss_target.h"
#include "core/capture_torch/branch_gradients.h"
#include "core/capture_torch/input_builder.h"
#include "core/capture_torch/script_model.h"
#include "core/capture_torch/torch_dtype.h"

#include <ATen/ops/abs.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/mse_loss.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/functions/accumulate_grad.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace core {

namespace {

using torch::autograd::Node;
using torch::autograd::variable_list;

// Runs after a node: what it emitted and what had arrived.
class FireHook final : public torch::autograd::FunctionPostHook
{
public:
    FireHook(AutogradRecorder *&recorder, Node *node) : m_recorder(recorder), m_node(node) {}

    variable_list operator()(const variable_list &emitted, const variable_list &arriving) override
    {
        if (m_recorder != nullptr)
            m_recorder->fired(*m_node, emitted, arriving);
        return emitted;
    }

private:
    AutogradRecorder *&m_recorder;
    Node *m_node;
};

// Runs before a node: the one that is running when the engine fails.
class StartHook final : public torch::autograd::FunctionPreHook
{
public:
    StartHook(AutogradRecorder *&recorder, Node *node) : m_recorder(recorder), m_node(node) {}

    variable_list operator()(const variable_list &arriving) override
    {
        if (m_recorder != nullptr)
            m_recorder->starts(*m_node);
        return arriving;
    }

private:
    AutogradRecorder *&m_recorder;
    Node *m_node;
};

// The recorder that a backward pass of this thread tells; hooks outlive recorders.
thread_local AutogradRecorder *t_recorder = nullptr;

class ListeningPass
{
public:
    explicit ListeningPass(AutogradRecorder *recorder) : m_before(std::exchange(t_recorder, recorder)) {}
    ~ListeningPass() { t_recorder = m_before; }
    ListeningPass(const ListeningPass &) = delete;
    ListeningPass &operator=(const ListeningPass &) = delete;

private:
    AutogradRecorder *m_before;
};

std::string plainName(const Node &node)
{
    const std::string name = node.name();
    const std::size_t colons = name.rfind("::");
    return colons == std::string::npos ? name : name.substr(colons + 2);
}

TensorKind tensorKind(const std::string &name, const at::Tensor &tensor)
{
    return {name, fromScalarType(tensor.scalar_type()), tensor.sizes().vec()};
}

bool isAllFinite(const at::Tensor &tensor)
{
    TensorRecord record;
    record.dtype = fromScalarType(tensor.scalar_type());
    TensorSaver::measureAlone(tensor.detach(), record);
    return !record.stats || record.stats->nonFinite() == 0;
}

double numberIn(const at::Tensor &tensor)
{
    return tensor.detach().to(at::kDouble).item<double>();
}

// Cross-entropy or mean squared error of VALUE, output NAME, against the target of REQUEST, which is added to
// OPERANDS.
Result<at::Tensor> comparison(const BackwardRequest &request, const at::Tensor &value,
                              const std::string &name, std::vector<at::Tensor> &operands)
{
    const Result<at::Tensor> read = lossTarget(request);
    if (!read)
        return read.error();
    at::Tensor target = *read;
    operands.push_back(target);
    const std::string targetName = "target " + request.target;
    if (Status fits = checkLossTarget(request.rule, tensorKind(name, value), tensorKind(targetName, target));
        !fits)
        return fits;
    if (request.rule == "mse")
        return at::mse_loss(value, target);
    if (!at::isIntegralType(target.scalar_type(), false))
        return at::cross_entropy_loss(value, target.to(value.scalar_type()));
    target = target.to(at::kLong).contiguous();
    const std::int64_t classes = value.size(value.dim() > 1 ? 1 : 0);
    const std::span<const std::int64_t> indices(target.const_data_ptr<std::int64_t>(),
                                                static_cast<std::size_t>(target.numel()));
    if (Status inRange = checkClassIndices(indices, classes, targetName); !inRange)
        return inRange;
    return at::cross_entropy_loss(value, target);
}

std::vector<std::string> tensorNames(const ModelOutputs &outputs)
{
    std::vector<std::string> names;
    for (const auto &[name, value] : outputs)
        if (value.isTensor())
            names.push_back(name);
    return names;
}

// What is wrong with an input file is told of the target.
Status ofTarget(const Status &error)
{
    std::string_view text = error.message();
    for (const std::string_view start : {"input target: ", "input "})
        if (text.starts_with(start)) {
            text.remove_prefix(start.size());
            break;
        }
    return Status(error.code(), "target of the loss: " + std::string(text))
        .withDetail(error.detail())
        .withRemedy(error.remedy());
}

} // namespace

Result<at::Tensor> lossTarget(const BackwardRequest &request)
{
    const Result<NamedInput> file = parseInputOption(request.target);
    if (!file)
        return ofTarget(file.error());
    if (const auto *leaf = std::get_if<InputFile>(&file->node.leaf);
        leaf != nullptr && (leaf->kind == InputFileKind::image || leaf->kind == InputFileKind::wav ||
                            leaf->kind == InputFileKind::text))
        return Status(ErrorCode::invalidArgument,
                      "target of the loss: " + request.target + ": an image, a sound or a text is no target")
            .withRemedy("give a file that holds a tensor: .npy, .npz, .pt or .safetensors");
    InputBuilder builder(0);
    const Result<c10::IValue> target = builder.build(file->node, "target");
    if (!target)
        return ofTarget(target.error());
    if (!target->isTensor())
        return Status(ErrorCode::invalidArgument, "target " + request.target + " is no tensor");
    return target->toTensor();
}

Result<std::pair<std::string, at::Tensor>> lossOutput(const BackwardRequest &request,
                                                      const ModelOutputs &outputs)
{
    const auto found = std::find_if(outputs.begin(), outputs.end(), [&](const auto &output) {
        return (request.path.empty() || output.first == request.path) && output.second.isTensor();
    });
    if (found == outputs.end())
        return noSuchOutput(request.path, tensorNames(outputs));
    return std::pair(found->first.empty() ? std::string("the output") : "output " + found->first,
                     found->second.toTensor());
}

Result<at::Tensor> lossOf(const BackwardRequest &request, const std::pair<std::string, at::Tensor> &output,
                          std::vector<at::Tensor> &operands)
{
    const std::string &name = output.first;
    at::Tensor value = output.second;
    operands = {value};
    if (value.is_complex())
        value = at::abs(value);
    if (request.rule == "output" && value.dim() != 0)
        return Status(ErrorCode::invalidArgument,
                      name + " has " + std::to_string(value.numel()) + " elements; a loss has one");
    if (request.rule == "output" || (value.dim() == 0 && (request.rule == "sum" || request.rule == "mean")))
        return value;
    if (request.rule == "sum")
        return value.sum();
    if (request.rule == "mean")
        return value.mean();
    if (request.rule == "cross_entropy" || request.rule == "mse")
        return comparison(request, value, name, operands);
    return Status(ErrorCode::invalidArgument, "loss rule " + request.rule + " is not known");
}

at::Tensor lossSeed(const BackwardRequest &request, const at::Tensor &loss)
{
    return at::full_like(loss, request.lossScale.value_or(1.0));
}

void dropGradients(const NamedTensors &leaves)
{
    for (const auto &[name, leaf] : leaves)
        if (leaf.is_leaf() && leaf.grad().defined())
            leaf.mutable_grad() = at::Tensor();
}

AutogradRecorder::~AutogradRecorder() = default;

GradNodeRecord AutogradRecorder::describe(Node &node, const NodeState &state)
{
    GradNodeRecord record;
    record.id = state.id;
    record.className = plainName(node);
    record.call = state.call;
    if (const auto *leaf = dynamic_cast<torch::autograd::AccumulateGrad *>(&node)) {
        record.call = kNoRecord;
        record.parameter = m_recorder.nameOf(leaf->variable);
    } else {
        record.sequence = static_cast<std::int64_t>(node.sequence_nr());
    }
    for (const torch::autograd::Edge &edge : node.next_edges())
        if (edge.function)
            record.next.push_back({m_nodes.at(edge.function.get()).id, edge.input_nr});
    return record;
}

// Everything that hangs below NODE and was not seen before was made by CALL.
RecordId AutogradRecorder::claim(const NodePtr &node, RecordId call, std::vector<RecordId> *nodes)
{
    if (const auto known = m_nodes.find(node.get()); known != m_nodes.end())
        return known->second.id;
    std::vector<NodePtr> todo = {node};
    std::vector<Node *> fresh;
    while (!todo.empty()) {
        const NodePtr at = std::move(todo.back());
        todo.pop_back();
        if (!at || m_nodes.contains(at.get()))
            continue;
        NodeState state;
        state.id = static_cast<RecordId>(m_nodes.size());
        state.pin = at;
        const bool ofOp = !isBranchNode(*at);
        state.call = ofOp ? call : kNoRecord;
        state.leaf = dynamic_cast<torch::autograd::AccumulateGrad *>(at.get()) != nullptr;
        if (nodes != nullptr && !state.leaf && ofOp)
            nodes->push_back(state.id);
        m_nodes.emplace(at.get(), std::move(state));
        fresh.push_back(at.get());
        if (m_watched) {
            at->add_pre_hook(std::make_unique<StartHook>(t_recorder, at.get()));
            at->add_post_hook(std::make_unique<FireHook>(t_recorder, at.get()));
        }
        for (const torch::autograd::Edge &edge : at->next_edges())
            todo.push_back(edge.function);
    }
    for (Node *made : fresh) {
        NodeState &state = m_nodes.at(made);
        m_recorder.out().add(describe(*made, state));
        if (const auto *leaf = dynamic_cast<torch::autograd::AccumulateGrad *>(made))
            if (const RecordId tensor = m_recorder.firstRecordOf(leaf->variable); tensor != kNoRecord)
                state.outputs.emplace_back(tensor, 0);
    }
    return m_nodes.at(node.get()).id;
}

void AutogradRecorder::outputMade(const at::Tensor &tensor, RecordId call, TensorRecord &record,
                                  std::vector<RecordId> &nodes)
{
    if (m_watched)
        m_log.outputMade(tensor, call);
    const NodePtr node = tensor.grad_fn();
    if (!node)
        return;
    record.gradNode = claim(node, call, &nodes);
    record.gradNodeOutput = static_cast<std::uint32_t>(tensor.output_nr());
    m_nodes.at(node.get()).outputs.emplace_back(record.id, record.gradNodeOutput);
}

void AutogradRecorder::callEnded(const CallRecord &call, const NodeInfo *node,
                                 const std::vector<c10::IValue> &inputs,
                                 const std::vector<at::Tensor> &written)
{
    if (m_watched)
        m_log.callEnded(call, node, inputs, written);
}

Status AutogradRecorder::explained(std::string words) const
{
    const auto node = m_running == nullptr ? m_nodes.end() : m_nodes.find(m_running);
    if (node == m_nodes.end() || node->second.call == kNoRecord ||
        words.find("modified by an inplace operation") == std::string::npos)
        return {ErrorCode::modelFailed, std::move(words)};
    const std::string place = m_log.placeOf(node->second.call);
    const std::string needs = plainName(*m_running) + " of " + place + " needs a value that ";
    if (m_log.wasWrittenBack(node->second.call, words)) {
        Status status(ErrorCode::modelFailed,
                      needs +
                          "the program replaces at the end of its forward pass, as it does with the state "
                          "it changes; PyTorch cannot run this backward pass either");
        if (place.find("batch_norm") == std::string::npos)
            return status;
        return std::move(status).withRemedy("export the model in evaluation mode, or in training mode with a "
                                            "PyTorch that keeps a batch norm as "
                                            "one op, without run_decompositions()");
    }
    if (const auto writer = m_log.overwriterOf(node->second.call, words, plainName(*m_running)))
        return {ErrorCode::modelFailed, needs + m_log.placeOf(*writer) + " changed in place afterwards"};
    return {ErrorCode::modelFailed, needs + "was changed in place afterwards: " + words};
}

Status AutogradRecorder::noGradient(const std::string &name, const at::Tensor &value) const
{
    std::string text = name + " does not depend on anything that requires a gradient";
    if (m_parameters > 0 && m_frozen == m_parameters)
        text += ": all " + std::to_string(m_parameters) + " parameters are frozen";
    else if (const std::optional<RecordId> cut = m_log.lastCut())
        text += ": the path ends at " + m_log.placeOf(*cut) +
                (m_log.cutWithoutGradMode() ? ", which runs without gradients" : ", which has no derivative");
    else if (!value.is_floating_point() && !value.is_complex())
        text += ": it holds whole numbers";
    return Status(ErrorCode::modelFailed, std::move(text))
        .withDetail("no_gradient")
        .withRemedy(
            "choose another output with --backward RULE:PATH, or let an input require a gradient with "
            "--input-grad NAME");
}

RecordId AutogradRecorder::gradient(const at::Tensor &tensor)
{
    if (!tensor.defined())
        return kNoRecord;
    // What one node emits arrives at the next, unless the engine added to it.
    const auto version = static_cast<std::uint32_t>(tensor._version());
    const auto known = m_gradients.find(tensor.unsafeGetTensorImpl());
    if (known != m_gradients.end() && known->second.version == version)
        return known->second.record;
    // The engine adds gradients up in place where the recorder does not see it.
    m_recorder.tracker().written(tensor, true);
    TensorRecord record = m_recorder.snapshot(tensor, TensorRole::gradient, m_recorder.savesEverything());
    const RecordId id = record.id;
    m_recorder.addTensor(std::move(record));
    m_gradients.insert_or_assign(
        tensor.unsafeGetTensorImpl(),
        Seen{c10::weak_intrusive_ptr<c10::TensorImpl>(tensor.getIntrusivePtr()), version, id});
    return id;
}

std::vector<RecordId> AutogradRecorder::gradients(const variable_list &list)
{
    std::vector<RecordId> ids;
    ids.reserve(list.size());
    for (const at::Tensor &tensor : list)
        ids.push_back(gradient(tensor));
    return ids;
}

void AutogradRecorder::fired(Node &node, const variable_list &emitted, const variable_list &arriving)
{
    const std::int64_t now = m_recorder.sinceBegin();
    const auto state = m_nodes.find(&node);
    if (state == m_nodes.end() || m_pass == kNoRecord)
        return;
    GradFireRecord fire;
    fire.id = m_fireRecords++;
    fire.backward = m_pass;
    fire.order = m_fires++;
    fire.node = state->second.id;
    fire.arriving = gradients(arriving);
    if (!state->second.leaf)
        fire.emitted = gradients(emitted);
    fire.payloadsRecorded = m_recorder.savesEverything();
    fire.startNs = m_lastFireNs;
    fire.durationNs = now - m_lastFireNs;
    for (const auto &[tensor, output] : state->second.outputs) {
        if (output >= fire.arriving.size())
            continue;
        GradientRecord record;
        record.tensor = tensor;
        record.backward = m_pass;
        record.gradient = fire.arriving[output];
        m_recorder.out().add(std::move(record));
    }
    m_recorder.out().add(std::move(fire));
    m_lastFireNs = m_recorder.sinceBegin();
}

Result<at::Tensor> AutogradRecorder::loss(const BackwardRequest &request, const ModelOutputs &outputs)
{
    const auto output = lossOutput(request, outputs);
    if (!output)
        return output.error();
    m_lossOperands = {output->second};
    if (!output->second.requires_grad())
        return noGradient(output->first, output->second);
    return lossOf(request, *output, m_lossOperands);
}

Value AutogradRecorder::lossFacts(const BackwardRequest &request, const at::Tensor &loss,
                                  const at::Tensor &seed) const
{
    const double value = numberIn(loss);
    const double start = numberIn(seed);
    const double scaled = numberIn(loss.detach() * request.lossScale.value_or(1.0));
    Value facts = Value::object(
        {{"dtype", dtypeName(fromScalarType(loss.scalar_type()))}, {"loss", value}, {"seed", start}});
    std::string_view fault;
    if (!std::isfinite(start))
        fault = "seed";
    else if (!isAllFinite(m_lossOperands.front()))
        return facts; // a loss of a bad output: the forward pass tells
    else if (!std::isfinite(value))
        fault = m_lossOperands.size() < 2 || isAllFinite(m_lossOperands[1]) ? "loss" : "target";
    else if (!std::isfinite(scaled))
        fault = "scaled_loss";
    if (!fault.empty())
        facts.set("fault", fault);
    return facts;
}

Status AutogradRecorder::pass(const BackwardRequest &request, const at::Tensor &loss, std::uint32_t index,
                              bool last)
{
    BackwardRecord record;
    record.id = index - 1;
    record.index = index;
    record.lossRule = request.rule;
    record.lossScale = request.lossScale;
    if (loss.grad_fn())
        record.roots.push_back(claim(loss.grad_fn(), kNoRecord, nullptr));
    m_pass = record.id;
    m_fires = 0;
    m_gradients.clear();
    const std::int64_t start = m_recorder.sinceBegin();
    m_lastFireNs = start;
    Status status;
    try {
        const ListeningPass listening(this);
        const at::Tensor root = lossSeed(request, loss);
        record.attributes = lossFacts(request, loss, root);
        loss.backward(root, /*retain_graph=*/!last);
    } catch (const StopRun &) {
        status = Status(ErrorCode::cancelled, "the backward pass was stopped").withDetail("stopped");
    } catch (const std::exception &error) {
        status = explained(failureText(error));
    }
    m_running = nullptr;
    m_pass = kNoRecord;
    record.durationNs = m_recorder.sinceBegin() - start;
    record.status = status.isOk()                           ? "finished"
                    : status.code() == ErrorCode::cancelled ? "cancelled"
                                                            : "failed";
    record.message = status.message();
    m_recorder.out().add(std::move(record));
    return status;
}

Status AutogradRecorder::backward(const BackwardRequest &request, const ModelOutputs &outputs,
                                  const NamedTensors &parameters, const NamedTensors &inputs)
{
    try {
        const c10::AutoGradMode gradients(true);
        m_parameters = parameters.size();
        m_frozen = static_cast<std::size_t>(
            std::count_if(parameters.begin(), parameters.end(),
                          [](const auto &item) { return !item.second.requires_grad(); }));
        const Result<at::Tensor> made = loss(request, outputs);
        if (!made)
            return made.error();
        // Nodes of the loss expression belong to no op of the model.
        if (made->grad_fn())
            claim(made->grad_fn(), kNoRecord, nullptr);
        const std::uint32_t passes = std::max(1U, request.passes);
        for (std::uint32_t index = 1; index <= passes; ++index) {
            dropGradients(parameters);
            dropGradients(inputs);
            if (Status status = pass(request, *made, index, index == passes); !status)
                return status;
        }
        return Status::ok();
    } catch (const std::exception &error) {
        return {ErrorCode::modelFailed, failureText(error)};
    }
}

} // namespace core
