// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/doctor_probe.h"
#include "core/capture_torch/pt2_describe.h"
#include "core/capture_torch/runnable_model.h"
#include "core/capture_torch/silent_observer.h"
#include "core/capture_torch/torch_dtype.h"
#include "core/io/file_kind.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <set>
#include <string>

namespace core {
namespace {

std::string shapeText(const at::Tensor &tensor)
{
    std::string text = "[";
    for (std::int64_t d = 0; d < tensor.dim(); ++d)
        text += (d == 0 ? "" : ",") + std::to_string(tensor.size(d));
    return text + "]";
}

std::string dtypeText(const at::Tensor &tensor)
{
    const DType dtype = fromScalarType(tensor.scalar_type());
    return dtype == DType::unknown ? c10::toString(tensor.scalar_type()) : std::string(dtypeName(dtype));
}

// Looks at tensors of weights and inputs: what kinds there are, never their values.
class TensorCensus
{
public:
    void add(const at::Tensor &tensor)
    {
        if (!tensor.defined())
            return;
        m_quantized = m_quantized || tensor.is_quantized();
        const std::string dtype = dtypeText(tensor);
        m_fp8 = m_fp8 || dtype.starts_with("float8") || dtype.starts_with("Float8");
        m_dtypes.insert(dtype);
        m_devices.insert(tensor.device().str());
    }
    void addValue(const c10::IValue &value) // NOLINT(misc-no-recursion): model inputs nest a few levels deep
    {
        if (value.isTensor())
            add(value.toTensor());
        else if (value.isList())
            for (const c10::IValue &item : value.toListRef())
                addValue(item);
        else if (value.isTuple())
            for (const c10::IValue &item : value.toTupleRef().elements())
                addValue(item);
        else if (value.isGenericDict())
            for (const auto &item : value.toGenericDict())
                addValue(item.value());
    }
    void addDType(const std::string &name)
    {
        if (name.empty())
            return;
        m_dtypes.insert(name);
        m_fp8 = m_fp8 || name.starts_with("float8");
    }

    void write(Value &facts) const
    {
        facts.set("quantized", m_quantized || facts.at("quantized").toBool());
        facts.set("fp8", m_fp8);
        facts.set("dtypes", Value(Value::List(m_dtypes.begin(), m_dtypes.end())));
        facts.set("devices", Value(Value::List(m_devices.begin(), m_devices.end())));
    }

private:
    bool m_quantized = false;
    bool m_fp8 = false;
    std::set<std::string> m_dtypes;
    std::set<std::string> m_devices;
};

// Hears what a model declares, before any run.
class StateListener final : public SilentObserver
{
public:
    explicit StateListener(TensorCensus &census) : m_census(census) {}

    Value tied = Value::list();
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    std::optional<bool> training; // of the root

    void moduleDeclared(const ModuleInfo &module) override
    {
        if (module.path.empty())
            training = module.training;
    }
    void namedTensor(TensorRole, const std::vector<std::string> &names, const at::Tensor &tensor) override
    {
        m_census.add(tensor);
        if (!names.empty() && !m_seen.insert(names.front()).second)
            return;
        for (std::size_t i = 1; i < names.size(); ++i) {
            tied.append(Value::list({names.front(), names[i]}));
            m_seen.insert(names[i]);
        }
        ++count;
        bytes += tensor.is_quantized() || tensor.layout() == c10::kStrided
                     ? static_cast<std::uint64_t>(tensor.numel()) * tensor.element_size()
                     : 0;
    }

private:
    TensorCensus &m_census;
    std::set<std::string> m_seen;
};

bool mentions(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

// What the graphs of a .pt2 file name.
void addDescription(const Pt2Description &description, TensorCensus &census, Value &facts)
{
    Value missing = Value::list();
    Value unsupported = Value::list();
    Value vmap = Value::list();
    for (const Pt2Description::Op &op : description.ops) {
        if (op.refusal == "missing_op")
            missing.append(op.target);
        else if (!op.refusal.empty())
            unsupported.append(op.target + " (" + op.refusal + ")");
        if (mentions(op.target, "vmap") || mentions(op.target, "functorch"))
            vmap.append(op.target);
        if (op.target.starts_with("quantized.") || op.target.starts_with("quantized_decomposed."))
            facts.set("quantized", true);
    }
    facts.set("model_type", description.modelClass);
    facts.set("mode", description.mode);
    facts.set("missing_ops", std::move(missing));
    facts.set("unsupported", std::move(unsupported));
    facts.set("vmap", std::move(vmap));
    facts.set("cuda_constants",
              Value(Value::List(description.mappedDevices.begin(), description.mappedDevices.end())));
    Value inputs = Value::list();
    for (const Pt2Description::Input &input : description.inputs) {
        inputs.append(input.name + ": " + input.expected);
        census.addDType(input.dtype);
    }
    facts.set("inputs", std::move(inputs));
    facts.set("parameters",
              Value::object({{"count", description.parameters.tensors + description.buffers.tensors},
                             {"bytes", description.parameters.bytes + description.buffers.bytes}}));
}

// The inputs as they would be given, or why they do not fit.
void addInputs(const CaptureRequest &request, RunnableModel &model, TensorCensus &census, Value &facts)
{
    if (Status built = model.buildInputs(request); !built) {
        // Nothing was given and the file has none: a fact, no fault.
        if (!request.inputs.empty() || !request.inputsTree.empty())
            facts.set("inputs_error", built.message());
        return;
    }
    Value inputs = Value::list();
    for (const ModelInput &input : model.inputs()) {
        census.addValue(input.value);
        std::string text = input.name + ": ";
        text += input.value.isTensor() && input.value.toTensor().defined()
                    ? dtypeText(input.value.toTensor()) + shapeText(input.value.toTensor())
                    : input.value.tagKind();
        inputs.append(text + (input.origin.empty() ? "" : " from " + input.origin));
    }
    facts.set("inputs", std::move(inputs));
}

void addModel(const CaptureRequest &request, RunnableModel &model, TensorCensus &census, Value &facts)
{
    StateListener state(census);
    model.declareState(state);
    facts.set("model_type", model.className());
    if (state.training)
        facts.set("mode", *state.training ? "train" : "eval");
    facts.set("tied", std::move(state.tied));
    facts.set("parameters", Value::object({{"count", state.count}, {"bytes", state.bytes}}));
    addInputs(request, model, census, facts);
}

// An op that LibTorch does not know stands in the message of the TorchScript loader.
void addRefusal(const Status &error, Value &facts)
{
    if (error.detail() == "missing_op" && facts.at("missing_ops").toList().empty())
        facts.set("missing_ops", Value::list({error.message()}));
    else if (facts.at("missing_ops").toList().empty() && facts.at("unsupported").toList().empty())
        facts.set("unsupported", Value::list({error.message()}));
}

} // namespace

Result<Value> probeModel(const CaptureRequest &request)
{
    const Result<FileIdentity> identity = identifyFile(request.modelPath);
    if (!identity)
        return identity.error();
    if (identity->kind != FileKind::pt2 && identity->kind != FileKind::torchScript)
        return notOneOfOurs(request.modelPath, *identity, "a model to run (.pt2 or TorchScript)");
    LoadReport report;
    TensorCensus census;
    Value facts = Value::object({{"kind", identity->kind == FileKind::pt2 ? "pt2" : "torchscript"}});
    if (identity->kind == FileKind::pt2) {
        const Result<Pt2Description> description = describePt2(request.modelPath, report);
        if (!description)
            return description.error();
        addDescription(*description, census, facts);
    }
    if (const auto model = RunnableModel::open(request, report); model)
        addModel(request, **model, census, facts);
    else if (model.error().code() == ErrorCode::unsupported)
        addRefusal(model.error(), facts);
    else
        return model.error();
    census.write(facts);
    Value notes = Value::list();
    for (const LoadReport::Note &note : report.notes())
        notes.append(note.message);
    facts.set("notes", std::move(notes));
    return facts;
}

} // namespace core
