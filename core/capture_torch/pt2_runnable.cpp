// SPDX-License-Identifier: GPL-3.0-or-later
// A torch.export program behind RunnableModel.
#include "core/capture_torch/capture_environment.h"
#include "core/capture_torch/input_builder.h"
#include "core/capture_torch/input_tree_clone.h"
#include "core/capture_torch/pt2_executor.h"
#include "core/capture_torch/runnable_model.h"
#include "core/capture_torch/script_model.h"

#include <algorithm>

namespace core {

namespace {

class Pt2Runnable final : public RunnableModel
{
public:
    Pt2Runnable(std::shared_ptr<const pt2::Archive> archive, std::shared_ptr<const pt2::Program> program)
        : m_archive(std::move(archive)), m_program(std::move(program))
    {
    }

    std::string kind() const override { return "pt2"; }
    std::string className() const override
    {
        return m_program->modules.empty() ? std::string() : m_program->modules.front().type;
    }
    Value facts() const override;

    Status loadState(LoadReport &report);
    Status buildInputs(const CaptureRequest &request) override;
    const std::vector<ModelInput> &inputs() const override { return m_inputs; }
    Result<std::unique_ptr<RunnableModel>> copy() const override;
    Result<ModelOutputs> run(const CaptureRequest &request, RunObserver *observer,
                             const JobContext &context) override;
    std::optional<ModelFailure> failure() const override { return m_failure; }
    Status convertFloating(c10::ScalarType type) override
    {
        m_state.convertFloating(type);
        convertInputs(m_inputs, type);
        m_converted = true;
        return Status::ok();
    }
    void declareState(RunObserver &observer) const override;
    Status runPlain(const CaptureRequest &request, const std::function<void(PlainRun)> &use) const override;
    NamedTensors parameters() const override;

private:
    std::shared_ptr<const pt2::Archive> m_archive;
    std::shared_ptr<const pt2::Program> m_program;
    pt2::State m_state;
    std::optional<c10::IValue> m_samples;
    std::vector<ModelInput> m_inputs;
    std::optional<ModelFailure> m_failure;
    bool m_converted = false; // another precision than the file's: no autocast
};

Value Pt2Runnable::facts() const
{
    Value devices = Value::list();
    for (const pt2::MappedDevice &mapped : m_program->mappedDevices)
        devices.append(mapped.device + " (" + mapped.place + ')');
    const pt2::Document &document = *m_program->document;
    return Value::object(
        {{"torch_version", document.torchVersion},
         {"schema", std::to_string(document.schemaMajor) + '.' + std::to_string(document.schemaMinor)},
         {"dialect", document.dialect},
         {"mapped_devices", devices}});
}

Status Pt2Runnable::loadState(LoadReport &report)
{
    Result<pt2::State> state = pt2::loadState(*m_archive, report);
    if (!state)
        return state.error();
    m_state = *std::move(state);
    if (Status settled = m_state.settle(*m_program); !settled)
        return settled;
    Result<std::optional<c10::IValue>> samples = pt2::loadSampleInputs(*m_archive, report);
    if (!samples)
        return samples.error();
    m_samples = *std::move(samples);
    return Status::ok();
}

Status Pt2Runnable::buildInputs(const CaptureRequest &request)
{
    if (request.train)
        return Status(ErrorCode::invalidArgument, "train or eval was fixed when this .pt2 was exported")
            .withDetail("train_fixed_at_export")
            .withRemedy("export the model in train mode");
    const Result<InputArguments> asked = requestedInputs(request);
    if (!asked)
        return asked.error();
    InputBuilder builder(effectiveSeed(request));
    Result<std::vector<pt2::RunInput>> inputs = pt2::buildInputs(*m_program, *asked, m_samples, builder);
    if (!inputs)
        return inputs.error();
    m_inputs.clear();
    for (pt2::RunInput &input : *inputs)
        m_inputs.push_back({std::move(input.name), std::move(input.value), std::move(input.origin)});
    return Status::ok();
}

Result<std::unique_ptr<RunnableModel>> Pt2Runnable::copy() const
{
    auto made = std::make_unique<Pt2Runnable>(m_archive, m_program);
    LoadReport report;
    if (Status loaded = made->loadState(report); !loaded)
        return loaded;
    made->m_inputs = cloneInputs(m_inputs);
    return std::unique_ptr<RunnableModel>(std::move(made));
}

Result<ModelOutputs> Pt2Runnable::run(const CaptureRequest &request, RunObserver *observer,
                                      const JobContext &context)
{
    m_failure.reset();
    pt2::RunOptions options;
    options.gradients = request.gradEnabled;
    options.autocast = !m_converted;
    pt2::Executor executor(*m_program, m_state, observer);
    std::vector<c10::IValue> values;
    for (const ModelInput &input : m_inputs)
        values.push_back(input.value);
    Result<std::vector<c10::IValue>> flat = executor.run(values, options, context);
    if (!flat) {
        if (const auto &failed = executor.failure())
            m_failure = ModelFailure{failed->node == nullptr ? std::vector<RunFrame>() : failed->node->frames,
                                     failed->message};
        return flat.error();
    }
    const std::vector<std::string> paths =
        m_program->outputTree ? m_program->outputTree->leafPaths() : std::vector<std::string>();
    ModelOutputs outputs;
    for (std::size_t i = 0; i < flat->size(); ++i)
        outputs.emplace_back(paths.size() == flat->size() ? paths[i] : std::to_string(i),
                             std::move((*flat)[i]));
    return outputs;
}

Status Pt2Runnable::runPlain(const CaptureRequest &request, const std::function<void(PlainRun)> &use) const
{
    const Result<std::unique_ptr<RunnableModel>> fresh = copy();
    if (!fresh)
        return fresh.error();
    Result<ModelOutputs> outputs = (*fresh)->run(request, nullptr, JobContext());
    if (!outputs)
        return outputs.error();
    try {
        use({*std::move(outputs), (*fresh)->inputs(), (*fresh)->parameters()});
    } catch (const std::exception &error) {
        return {ErrorCode::modelFailed, failureText(error)};
    }
    return Status::ok();
}

void Pt2Runnable::declareState(RunObserver &observer) const
{
    std::vector<const c10::TensorImpl *> told;
    for (const pt2::ProgramInput &input : m_program->inputs) {
        const at::Tensor *const tensor = input.stateName.empty() ? nullptr : m_state.find(input.stateName);
        if (tensor == nullptr ||
            std::find(told.begin(), told.end(), tensor->unsafeGetTensorImpl()) != told.end())
            continue;
        told.push_back(tensor->unsafeGetTensorImpl());
        observer.namedTensor(pt2::roleOf(input), m_state.namesOf(input.stateName), *tensor);
    }
}

NamedTensors Pt2Runnable::parameters() const
{
    NamedTensors out;
    for (const pt2::ProgramInput &input : m_program->inputs) {
        if (input.kind != pt2::ProgramInput::Kind::parameter)
            continue;
        const at::Tensor *const tensor = m_state.find(input.stateName);
        if (tensor == nullptr)
            continue;
        bool known = false;
        for (const auto &[name, other] : out)
            known = known || other.is_same(*tensor);
        if (!known)
            out.emplace_back(m_state.namesOf(input.stateName).front(), *tensor);
    }
    return out;
}

} // namespace

Result<std::unique_ptr<RunnableModel>> openPt2Model(const CaptureRequest &request, LoadReport &report)
{
    Result<std::shared_ptr<const pt2::Archive>> archive = pt2::Archive::open(request.modelPath, report);
    if (!archive)
        return archive.error();
    Result<std::shared_ptr<const pt2::Program>> program = pt2::buildProgram((*archive)->document(), report);
    if (!program)
        return program.error().prefixed((*archive)->zip().fileName());
    if (Status runnable = (*program)->runnable(); !runnable)
        return runnable;
    auto model = std::make_unique<Pt2Runnable>(*archive, *program);
    if (Status loaded = model->loadState(report); !loaded)
        return loaded;
    return std::unique_ptr<RunnableModel>(std::move(model));
}

} // namespace core
