// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/pt2_executor.h"

#include "core/capture_torch/input_builder.h"
#include "core/capture_torch/pt2_arguments.h"
#include "core/capture_torch/pt2_metadata.h"

#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace core::pt2 {

namespace {

// Thrown between two nodes when the job was cancelled.
struct CancelRun
{
};

RunNumber toRunNumber(const c10::IValue &value)
{
    if (value.isBool())
        return value.toBool();
    if (value.isInt())
        return value.toInt();
    return value.toDouble();
}

c10::IValue toIValue(const RunNumber &number)
{
    return std::visit([](auto value) { return c10::IValue(value); }, number);
}

bool isUserInput(const ProgramInput &input)
{
    return input.kind == ProgramInput::Kind::user || input.kind == ProgramInput::Kind::fixed;
}

void storeResult(const NodeResult &result, c10::IValue &&value, std::vector<c10::IValue> &slots)
{
    if (!result.isList) {
        if (result.slots[0] != kNoSlot)
            slots[result.slots[0]] = std::move(value);
        return;
    }
    const auto items = value.toListRef();
    TORCH_CHECK(items.size() == result.slots.size(), "gave ", items.size(), " values, the program expects ",
                result.slots.size());
    for (std::size_t i = 0; i < items.size(); ++i)
        if (result.slots[i] != kNoSlot)
            slots[result.slots[i]] = items[i];
}

} // namespace

TensorRole roleOf(const ProgramInput &input)
{
    switch (input.kind) {
    case ProgramInput::Kind::parameter:
        return TensorRole::parameter;
    case ProgramInput::Kind::buffer:
        return TensorRole::buffer;
    case ProgramInput::Kind::constant:
        return TensorRole::constant;
    default:
        return TensorRole::input;
    }
}

Executor::Executor(const Program &program, State &state, RunObserver *observer)
    : m_program(program), m_state(state), m_observer(observer)
{
    if (observer != nullptr)
        m_moduleCalls.emplace(program.moduleCalls, *observer);
}

Result<std::vector<c10::IValue>> Executor::run(const Values &inputs, const RunOptions &options,
                                               const JobContext &context)
{
    if (Status status = m_program.runnable(); !status)
        return status;
    if (Status status = checkInputs(inputs); !status)
        return status;
    m_options = options;
    m_context = &context;
    m_current = nullptr;
    m_failure.reset();
    try {
        const at::AutoGradMode gradMode(options.gradients);
        return runChecked(inputs);
    } catch (const CancelRun &) {
        return Status(ErrorCode::cancelled,
                      "the run was cancelled before " +
                          (m_current == nullptr ? "the first node" : m_current->info.name));
    } catch (const StopRun &) {
        return Status(ErrorCode::cancelled,
                      "the run was stopped at " + (m_current == nullptr ? "its start" : m_current->info.name))
            .withDetail("stopped");
    } catch (const c10::Error &error) {
        return failed(error.what_without_backtrace());
    } catch (const std::exception &error) {
        return failed(error.what());
    }
}

Status Executor::failed(std::string message)
{
    m_failure = RunFailure{m_current == nullptr ? nullptr : &m_current->info, message};
    if (m_current == nullptr)
        return {ErrorCode::modelFailed, std::move(message)};
    const NodeInfo &node = m_current->info;
    const std::string place = userPlace(node.frames);
    return {ErrorCode::modelFailed,
            node.target + " (" + node.name + ')' + (place.empty() ? "" : " at " + place) + ": " + message};
}

Status Executor::checkInputs(const Values &inputs) const
{
    std::size_t expected = 0;
    for (const ProgramInput &input : m_program.inputs)
        expected += isUserInput(input) ? 1 : 0;
    if (inputs.size() != expected)
        return {ErrorCode::invalidArgument, "the model takes " + std::to_string(expected) + " inputs, " +
                                                std::to_string(inputs.size()) + " were given"};
    for (const ProgramInput &input : m_program.inputs)
        if (!input.stateName.empty() && m_state.find(input.stateName) == nullptr)
            return {ErrorCode::corrupt, "no tensor for \"" + input.stateName + '"'};
    return Status::ok();
}

void Executor::declareToObserver(const Values &inputs)
{
    for (const ModuleInfo &module : m_program.modules)
        m_observer->moduleDeclared(module);
    std::vector<const c10::TensorImpl *> told;
    const std::vector<std::string> names = inputNames(m_program);
    std::size_t next = 0;
    for (const ProgramInput &input : m_program.inputs) {
        if (isUserInput(input)) {
            const std::string &name = names[next];
            const c10::IValue &value = inputs[next++];
            if (value.isTensor() && value.toTensor().defined())
                m_observer->namedTensor(TensorRole::input, {name}, value.toTensor());
        } else if (const at::Tensor *tensor = m_state.find(input.stateName)) {
            if (std::find(told.begin(), told.end(), tensor->unsafeGetTensorImpl()) != told.end())
                continue;
            told.push_back(tensor->unsafeGetTensorImpl());
            m_observer->namedTensor(roleOf(input), m_state.namesOf(input.stateName), *tensor);
        }
    }
}

std::vector<c10::IValue> Executor::graphInputs(const Values &inputs) const
{
    Values values;
    std::size_t next = 0;
    for (const ProgramInput &input : m_program.inputs) {
        if (isUserInput(input))
            values.push_back(inputs[next++]);
        else if (const at::Tensor *tensor = m_state.find(input.stateName))
            values.emplace_back(*tensor);
        else
            values.emplace_back();
    }
    // The signature's order is the graph's, but the names decide.
    Values ordered(m_program.graph->inputs.size());
    for (std::size_t i = 0; i < m_program.inputs.size(); ++i)
        for (std::size_t k = 0; k < ordered.size(); ++k)
            if (m_program.inputs[i].slot != kNoSlot && m_program.graph->inputs[k] == m_program.inputs[i].slot)
                ordered[k] = values[i];
    return ordered;
}

Result<std::vector<c10::IValue>> Executor::runChecked(const Values &inputs)
{
    if (m_observer != nullptr)
        declareToObserver(inputs);
    Values outputs = runGraph(*m_program.graph, graphInputs(inputs));
    m_current = nullptr;
    return takeOutputs(std::move(outputs), inputs);
}

void Executor::writeBack(const ProgramOutput &output, const c10::IValue &value, const Values &inputs)
{
    const at::NoGradGuard guard;
    if (output.kind != ProgramOutput::Kind::userInput) {
        const at::Tensor *target = m_state.find(output.target);
        TORCH_CHECK(target != nullptr, "no tensor for \"", output.target, "\", which the program changes");
        target->copy_(value.toTensor());
        return;
    }
    std::size_t next = 0;
    for (const ProgramInput &input : m_program.inputs) {
        if (!isUserInput(input))
            continue;
        if (input.name == output.target)
            inputs[next].toTensor().copy_(value.toTensor());
        ++next;
    }
}

std::vector<c10::IValue> Executor::takeOutputs(Values outputs, const Values &inputs)
{
    Values user;
    if (m_observer != nullptr)
        m_observer->internalOpsBegin(nullptr);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const ProgramOutput &output = m_program.outputs[i];
        if (output.kind == ProgramOutput::Kind::user)
            user.push_back(std::move(outputs[i]));
        else if (output.kind != ProgramOutput::Kind::token)
            writeBack(output, outputs[i], inputs);
    }
    if (m_observer == nullptr)
        return user;
    m_observer->internalOpsEnd();
    std::vector<std::string> paths;
    if (m_program.outputTree)
        paths = m_program.outputTree->leafPaths();
    for (std::size_t i = 0; i < user.size(); ++i)
        m_observer->graphOutput(paths.size() == user.size() ? paths[i] : std::to_string(i), user[i]);
    return user;
}

std::vector<c10::IValue> Executor::runGraph(const Graph &graph, Values inputs)
{
    Values slots(graph.slots);
    TORCH_CHECK(inputs.size() == graph.inputs.size(), "graph \"", graph.path, "\" takes ",
                graph.inputs.size(), " inputs, ", inputs.size(), " were given");
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (graph.inputs[i] != kNoSlot)
            slots[graph.inputs[i]] = std::move(inputs[i]);
    Values stack;
    for (const Node &node : graph.nodes) {
        m_current = &node;
        if (m_context->isCancelled())
            throw CancelRun();
        runNode(node, slots, stack);
    }
    Values outputs;
    outputs.reserve(graph.outputs.size());
    for (const Argument &output : graph.outputs)
        outputs.push_back(evaluate(output, slots));
    return outputs;
}

void Executor::runNode(const Node &node, Values &slots, Values &stack)
{
    if (m_observer != nullptr)
        m_observer->nodeStarts(node.info, m_moduleCalls->enter(node.moduleCall));
    switch (node.kind) {
    case NodeKind::dispatched:
        if (!m_options.skipMetadataAsserts || node.info.target != "aten._assert_tensor_metadata.default")
            runDispatched(node, slots, stack);
        break;
    case NodeKind::number:
        runNumber(node, slots);
        break;
    case NodeKind::higherOrder:
        runHigherOrder(node, slots);
        m_current = &node;
        break;
    case NodeKind::refused:
        TORCH_CHECK(false, node.info.target, " is not supported");
    }
    if (m_observer != nullptr)
        m_observer->nodeEnds(node.info);
    for (const Slot slot : node.releases)
        slots[slot] = c10::IValue();
}

void Executor::runDispatched(const Node &node, Values &slots, Values &stack)
{
    stack.clear();
    for (const Argument &argument : node.arguments)
        stack.push_back(evaluate(argument, slots));
    node.op->callBoxed(&stack);
    const std::size_t count = std::min(stack.size(), node.results.size());
    for (std::size_t i = 0; i < count; ++i)
        storeResult(node.results[i], std::move(stack[i]), slots);
    stack.clear();
}

void Executor::runNumber(const Node &node, Values &slots)
{
    Values values;
    for (const Argument &argument : node.arguments)
        evaluateInto(values, argument, slots);
    std::vector<RunNumber> numbers;
    for (const c10::IValue &value : values)
        numbers.push_back(toRunNumber(value));
    const RunNumber result = node.number(numbers);
    if (m_observer != nullptr)
        m_observer->numberComputed(node.info, result, node.info.numberSources);
    if (!node.results.empty())
        storeResult(node.results[0], toIValue(result), slots);
}

} // namespace core::pt2
