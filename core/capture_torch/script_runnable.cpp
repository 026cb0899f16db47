// SPDX-License-Identifier: GPL-3.0-or-later
// TorchScript behind RunnableModel, and what both kinds of model share.
#include "core/capture/input_preparation.h"
#include "core/capture_torch/capture_environment.h"
#include "core/capture_torch/describe_task.h"
#include "core/capture_torch/input_builder.h"
#include "core/capture_torch/input_tree_clone.h"
#include "core/capture_torch/runnable_model.h"
#include "core/capture_torch/script_model.h"
#include "core/capture_torch/shape_guess.h"
#include "core/capture_torch/torch_dtype.h"
#include "core/io/file_kind.h"

#include <algorithm>

namespace core {

namespace {

NamedTensors parametersOf(const ScriptModel &model)
{
    NamedTensors out;
    std::vector<const void *> seen;
    for (const auto &item : model.module().named_parameters()) {
        if (std::find(seen.begin(), seen.end(), item.value.unsafeGetTensorImpl()) != seen.end())
            continue;
        seen.push_back(item.value.unsafeGetTensorImpl());
        out.emplace_back(item.name, item.value);
    }
    return out;
}

class ScriptRunnable final : public RunnableModel
{
public:
    explicit ScriptRunnable(std::unique_ptr<ScriptModel> model) : m_model(std::move(model)) {}

    std::string kind() const override { return "torchscript"; }
    std::string className() const override { return m_model->className(); }
    Value facts() const override
    {
        return Value::object({{"traced", m_model->isTraced()}, {"frozen", m_model->isFrozen()}});
    }

    Status buildInputs(const CaptureRequest &request) override;
    const std::vector<ModelInput> &inputs() const override { return m_inputs; }
    Result<std::unique_ptr<RunnableModel>> copy() const override;
    Result<ModelOutputs> run(const CaptureRequest &request, RunObserver *observer,
                             const JobContext &context) override;
    Status runPlain(const CaptureRequest &request, const std::function<void(PlainRun)> &use) const override;
    std::optional<ModelFailure> failure() const override { return m_failure; }
    Status convertFloating(c10::ScalarType type) override
    {
        m_model->convertFloating(type);
        convertInputs(m_inputs, type);
        return Status::ok();
    }
    void declareState(RunObserver &observer) const override { m_model->tellState(observer); }
    NamedTensors parameters() const override { return parametersOf(*m_model); }
    const ScriptModel *script() const override { return m_model.get(); }

private:
    Status guess(const CaptureRequest &request);
    Status take(InputBuilder &builder, const ScriptArgument &argument, const InputNode &node);
    void tellInputs(RunObserver &observer) const;

    std::unique_ptr<ScriptModel> m_model;
    std::vector<ModelInput> m_inputs; // in the order of forward's arguments
    std::optional<ModelFailure> m_failure;
};

std::string listed(const std::vector<ScriptArgument> &arguments)
{
    std::string text;
    for (const ScriptArgument &argument : arguments)
        text += (text.empty() ? "" : ", ") + argument.name + ": " + argument.type;
    return text.empty() ? "none" : text;
}

std::string originOf(const InputNode &node)
{
    if (node.container != InputNode::Container::none)
        return "given";
    if (const auto *spec = std::get_if<TensorSpec>(&node.leaf))
        return formatTensorSpec(*spec);
    if (const auto *file = std::get_if<InputFile>(&node.leaf))
        return file->path.filename().string();
    return toJson(std::get<Value>(node.leaf));
}

Status ScriptRunnable::take(InputBuilder &builder, const ScriptArgument &argument, const InputNode &node)
{
    const Result<c10::IValue> built = builder.build(node, argument.name);
    if (!built)
        return built.error();
    Result<c10::IValue> value = m_model->argumentValue(argument.index, *built);
    if (!value)
        return value.error();
    m_inputs.push_back({argument.name, *std::move(value), originOf(node)});
    return Status::ok();
}

// A file without inputs: what it takes is found by trying.
Status ScriptRunnable::guess(const CaptureRequest &request)
{
    GuessOptions options;
    options.seed = effectiveSeed(request);
    options.timeLimitSeconds = request.timeLimitSeconds;
    options.batchSize = request.train ? 2 : 1; // norms of a batch refuse a single value when they train
    const JobContext job;
    Result<ShapeGuess> guess = guessScriptInputs(*m_model, options, job);
    if (!guess)
        return guess.error();
    if (!guess->found)
        return Status(ErrorCode::invalidArgument, "no input is given and none could be guessed (" +
                                                      guess->reason + "): " + guess->message +
                                                      "; forward takes " + listed(m_model->arguments()))
            .withDetail("missing_input")
            .withRemedy("give it with --input, for example --input f32[1,3,224,224]");
    for (GuessedInput &input : guess->inputs)
        m_inputs.push_back({input.name, std::move(input.value), std::string(kGuessedOrigin) + input.spec});
    return Status::ok();
}

Status checkNames(const InputArguments &asked, const std::vector<ScriptArgument> &arguments)
{
    for (const NamedInput &input : asked.named)
        if (std::none_of(arguments.begin(), arguments.end(),
                         [&](const ScriptArgument &argument) { return argument.name == input.name; }))
            return {ErrorCode::invalidArgument,
                    "forward has no argument " + input.name + "; it takes " + listed(arguments)};
    return Status::ok();
}

Status ScriptRunnable::buildInputs(const CaptureRequest &request)
{
    const Result<InputArguments> asked = requestedInputs(request);
    if (!asked)
        return asked.error();
    const std::vector<ScriptArgument> arguments = m_model->arguments();
    m_inputs.clear();
    if (Status known = checkNames(*asked, arguments); !known)
        return known;
    const bool needsSome = std::any_of(arguments.begin(), arguments.end(),
                                       [](const ScriptArgument &argument) { return !argument.hasDefault; });
    if (asked->isEmpty() && needsSome) {
        if (Status guessed = guess(request); !guessed)
            return guessed;
        m_model->prepare(request.train);
        return Status::ok();
    }
    InputBuilder builder(effectiveSeed(request));
    std::size_t position = 0;
    std::size_t used = 0;
    for (const ScriptArgument &argument : arguments) {
        const auto named = std::find_if(asked->named.begin(), asked->named.end(),
                                        [&](const NamedInput &input) { return input.name == argument.name; });
        const InputNode *node = nullptr;
        if (named != asked->named.end()) {
            node = &named->node;
            ++used;
        } else if (position < asked->positional.size()) {
            node = &asked->positional[position++];
        }
        if (node == nullptr && argument.hasDefault)
            continue;
        if (node == nullptr)
            return Status(ErrorCode::invalidArgument,
                          "input " + argument.name + " is missing; forward takes " + listed(arguments))
                .withDetail("missing_input")
                .withRemedy("give it with --input, for example --input " + argument.name +
                            "=f32[1,3,224,224]");
        if (Status status = take(builder, argument, *node); !status)
            return status;
    }
    if (position < asked->positional.size() || used < asked->named.size())
        return Status(ErrorCode::invalidArgument,
                      std::to_string(asked->positional.size() + asked->named.size()) +
                          " inputs were given; forward takes " + listed(arguments));
    m_model->prepare(request.train);
    return Status::ok();
}

Result<std::unique_ptr<RunnableModel>> ScriptRunnable::copy() const
{
    std::unique_ptr<ScriptModel> copied;
    try {
        copied = m_model->copy();
    } catch (const std::exception &error) {
        return Status(ErrorCode::unsupported, "the model cannot be copied: " + failureText(error))
            .withDetail("not_copyable");
    }
    auto made = std::make_unique<ScriptRunnable>(std::move(copied));
    made->m_inputs = cloneInputs(m_inputs);
    return std::unique_ptr<RunnableModel>(std::move(made));
}

// Tensors inside lists, tuples and dicts are inputs of their own: "batch.image".
void tellTensors(RunObserver &observer, const std::string &name, const c10::IValue &value)
{
    if (value.isTensor()) {
        observer.namedTensor(TensorRole::input, {name}, value.toTensor());
        return;
    }
    for (const auto &[path, leaf] : outputLeaves(value))
        if (leaf.isTensor())
            observer.namedTensor(TensorRole::input, {path.empty() ? name : name + '.' + path},
                                 leaf.toTensor());
}

void ScriptRunnable::tellInputs(RunObserver &observer) const
{
    for (const ModelInput &input : m_inputs)
        tellTensors(observer, input.name, input.value);
}

Result<ModelOutputs> ScriptRunnable::run(const CaptureRequest &, RunObserver *observer, const JobContext &)
{
    m_failure.reset();
    if (observer != nullptr) {
        m_model->tellState(*observer);
        tellInputs(*observer);
    }
    std::unordered_map<std::string, c10::IValue> named;
    for (const ModelInput &input : m_inputs)
        named.emplace(input.name, input.value);
    Result<c10::IValue> value = m_model->run({}, std::move(named), observer);
    if (!value) {
        m_failure = ModelFailure{m_model->lastFrames(), value.error().message()};
        return value.error();
    }
    ModelOutputs outputs = outputLeaves(*value);
    try {
        for (std::size_t i = 0; observer != nullptr && i < outputs.size(); ++i)
            observer->graphOutput(outputs[i].first, outputs[i].second);
    } catch (const StopRun &) {
        return Status(ErrorCode::cancelled, "the run was stopped").withDetail("stopped");
    }
    return outputs;
}

Status ScriptRunnable::runPlain(const CaptureRequest &request, const std::function<void(PlainRun)> &use) const
{
    std::vector<ModelInput> inputs = cloneInputs(m_inputs);
    std::unordered_map<std::string, c10::IValue> named;
    for (const ModelInput &input : inputs)
        named.emplace(input.name, input.value);
    return ScriptModel::runPlain(request.modelPath, std::move(named), request.train,
                                 [&](const ScriptModel &model, const c10::IValue &value) {
                                     use({outputLeaves(value), std::move(inputs), parametersOf(model)});
                                 });
}

} // namespace

NamedTensors inputTensors(const std::vector<ModelInput> &inputs)
{
    NamedTensors tensors;
    for (const ModelInput &input : inputs)
        for (const auto &[path, leaf] : outputLeaves(input.value))
            if (leaf.isTensor() && leaf.toTensor().defined())
                tensors.emplace_back(path.empty() ? input.name : input.name + '.' + path, leaf.toTensor());
    return tensors;
}

Result<std::unique_ptr<RunnableModel>> openScriptModel(const CaptureRequest &request)
{
    Result<std::unique_ptr<ScriptModel>> model = ScriptModel::load(request.modelPath);
    if (!model)
        return model.error();
    return std::unique_ptr<RunnableModel>(std::make_unique<ScriptRunnable>(std::move(*model)));
}

Result<std::unique_ptr<RunnableModel>> RunnableModel::open(const CaptureRequest &request, LoadReport &report)
{
    const Result<FileIdentity> identity = identifyFile(request.modelPath);
    if (!identity)
        return identity.error();
    switch (identity->kind) {
    case FileKind::torchScript:
        return openScriptModel(request);
    case FileKind::pt2:
        return openPt2Model(request, report);
    default:
        return notOneOfOurs(request.modelPath, *identity, "a model to run (.pt2 or TorchScript)");
    }
}

Result<InputArguments> requestedInputs(const CaptureRequest &request)
{
    InputArguments arguments;
    if (!request.inputsTree.empty()) {
        Result<InputArguments> tree = readInputTree(request.inputsTree);
        if (!tree)
            return tree.error();
        arguments = *std::move(tree);
    }
    for (const InputText &input : request.inputs) {
        Result<NamedInput> parsed = parseInputOption(input.text);
        if (!parsed)
            return parsed.error();
        if (!input.name.empty())
            parsed->name = input.name;
        if (parsed->name.empty())
            arguments.positional.push_back(std::move(parsed->node));
        else
            arguments.named.push_back(*std::move(parsed));
    }
    return arguments;
}

Result<Value> builtInputs(const CaptureRequest &request)
{
    LoadReport report;
    Result<std::unique_ptr<RunnableModel>> model = RunnableModel::open(request, report);
    if (!model)
        return model.error();
    if (Status built = (*model)->buildInputs(request); !built)
        return built;
    Value inputs = Value::list();
    for (const ModelInput &input : (*model)->inputs()) {
        Value entry = Value::object({{"name", input.name}, {"origin", originAsGiven(request, input.origin)}});
        if (input.value.isTensor()) {
            Value shape = Value::list();
            for (const std::int64_t size : input.value.toTensor().sizes())
                shape.append(size);
            entry.set("dtype", dtypeName(fromScalarType(input.value.toTensor().scalar_type())));
            entry.set("shape", std::move(shape));
        }
        inputs.append(std::move(entry));
    }
    return inputs;
}

} // namespace core
