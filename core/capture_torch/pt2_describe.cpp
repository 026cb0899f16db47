// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/pt2_describe.h"

#include "core/base/or_null.h"
#include "core/capture/input_spec.h"
#include "core/capture_torch/pt2_archive.h"
#include "core/capture_torch/pt2_program.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

namespace core {

namespace {

using pt2::ProgramInput;

constexpr std::int64_t kSizeWithoutHint = 2;

std::string generationText(pt2::Generation generation)
{
    switch (generation) {
    case pt2::Generation::flatZip:
        return "2.1 to 2.7";
    case pt2::Generation::torchSaveDir:
        return "2.8";
    case pt2::Generation::rawRecords:
        return "2.9 and later";
    }
    return {};
}

Pt2Description::Input describeInput(const ProgramInput &input)
{
    Pt2Description::Input result;
    result.name = input.name;
    result.isFixed = input.kind == ProgramInput::Kind::fixed;
    result.expected = pt2::expectedInput(input);
    if (!input.isTensor)
        return result;
    result.dtype = dtypeName(input.tensor.dtype);
    TensorSpec spec;
    spec.dtype = input.tensor.dtype;
    spec.fill = isFloating(spec.dtype) || isComplex(spec.dtype) ? TensorFill::randn : TensorFill::zeros;
    Value shape = Value::list();
    for (const pt2::DocumentSize &size : input.tensor.sizes) {
        shape.append(size.value ? Value(*size.value) : Value(size.expression));
        spec.shape.push_back(size.value.value_or(size.hint.value_or(kSizeWithoutHint)));
    }
    result.shape = std::move(shape);
    if (spec.dtype != DType::unknown)
        result.specification = formatTensorSpec(spec);
    return result;
}

void describeInputs(const pt2::Program &program, Pt2Description &description)
{
    std::vector<std::string> paths;
    if (program.inputTree && program.inputTree->isCall()) {
        std::size_t argument = 0;
        for (const TreeSpec &group : program.inputTree->children)
            for (std::size_t i = 0; i < group.children.size(); ++i, ++argument) {
                std::string name = i < group.keys.size() ? group.keys[i] : std::string();
                if (name.empty() && argument < program.argumentNames.size())
                    name = program.argumentNames[argument];
                for (const std::string &path : group.children[i].leafPaths())
                    paths.push_back(path.empty() ? name : name + '.' + path);
            }
    }
    std::size_t leaf = 0;
    for (const ProgramInput &input : program.inputs) {
        if (input.kind != ProgramInput::Kind::user && input.kind != ProgramInput::Kind::fixed)
            continue;
        description.inputs.push_back(describeInput(input));
        description.inputs.back().path =
            leaf < paths.size() && !paths[leaf].empty() ? paths[leaf] : input.name;
        ++leaf;
    }
}

// Counts what the state holds; a tensor with several names once.
void describeState(const pt2::Archive &archive, const pt2::Program &program, Pt2Description &description)
{
    using Place = std::tuple<std::string, std::int64_t, std::vector<std::int64_t>>;
    std::map<std::string, Place> places;
    for (const pt2::StateRecord &record : archive.records())
        places[record.name] = {record.entry, record.view.offset, record.view.sizes};
    std::set<Place> seen;
    for (const ProgramInput &input : program.inputs) {
        if (input.stateName.empty())
            continue;
        const auto place = places.find(input.stateName);
        if (!seen.insert(place != places.end() ? place->second : Place{input.stateName, -1, {}}).second)
            continue;
        std::uint64_t elements = 1;
        for (const pt2::DocumentSize &size : input.tensor.sizes)
            elements *= static_cast<std::uint64_t>(size.value.value_or(0));
        Pt2Description::State &state = input.kind == ProgramInput::Kind::parameter ? description.parameters
                                       : input.kind == ProgramInput::Kind::buffer  ? description.buffers
                                                                                   : description.constants;
        ++state.tensors;
        state.elements += elements;
        state.bytes += elements * itemSize(input.tensor.dtype);
    }
}

// Train or eval was frozen into arguments of these names.
class ModeFinder
{
public:
    void visit(const Value &graph)
    {
        for (const Value &node : graph.at("nodes").toList())
            for (const Value &input : node.at("inputs").toList()) {
                const pt2::Tagged content = pt2::tagged(input.at("arg"));
                if (content.tag == "as_graph")
                    visit(content.value->at("graph"));
                const std::string &name = input.at("name").toString();
                if (content.tag == "as_bool" &&
                    (name == "training" || name == "train" || name == "use_input_stats"))
                    (content.value->toBool() ? m_train : m_eval) = true;
            }
    }
    std::string mode() const
    {
        if (m_train)
            return m_eval ? "mixed" : "train";
        return m_eval ? "eval" : "";
    }

private:
    bool m_train = false;
    bool m_eval = false;
};

// Ops whose result is a look at what is there. What flatten and reshape copy now and then is not worth more.
bool isViewOp(std::string_view target)
{
    static constexpr std::array kViews = {
        "alias",   "as_strided",       "chunk",        "contiguous",      "detach",  "diagonal",
        "expand",  "expand_as",        "flatten",      "lift_fresh_copy", "movedim", "narrow",
        "numpy_T", "permute",          "real",         "reshape",         "select",  "slice",
        "split",   "split_with_sizes", "squeeze",      "swapaxes",        "t",       "transpose",
        "unbind",  "unflatten",        "unsafe_split", "unsqueeze",       "view",    "view_as",
        "dropout", "sym_size",         "item"};
    const std::size_t dot = target.find('.');
    if (dot == std::string_view::npos || target.substr(0, dot) != "aten")
        return false;
    std::string_view name = target.substr(dot + 1);
    name = name.substr(0, name.find('.'));
    if (name.ends_with('_'))
        return true; // in place: the memory is there
    return std::find(kViews.begin(), kViews.end(), name) != kViews.end();
}

// A node's results by name, lists included.
std::vector<std::string> resultNames(const Value &node)
{
    std::vector<std::string> names;
    for (const Value &output : node.at("outputs").toList()) {
        const pt2::Tagged content = pt2::tagged(output);
        if (content.tag == "as_tensor")
            names.push_back(content.value->at("name").toString());
        else if (content.tag == "as_tensors")
            for (const Value &item : content.value->toList())
                names.push_back(item.at("name").toString());
    }
    return names;
}

void describeValues(const Value &graph, Pt2Description &description)
{
    const Value &metas = graph.at("tensor_values");
    for (const Value &node : graph.at("nodes").toList()) {
        std::string target = node.at("target").toString();
        if (constexpr std::string_view kOps = "torch.ops."; target.starts_with(kOps))
            target.erase(0, kOps.size());
        if (isViewOp(target))
            continue;
        for (const std::string &name : resultNames(node)) {
            const Value *meta = metas.find(name);
            if (meta == nullptr)
                continue;
            const pt2::DocumentTensor tensor = pt2::readTensorMeta(*meta);
            std::uint64_t bytes = itemSize(tensor.dtype);
            bool known = bytes > 0;
            for (const pt2::DocumentSize &size : tensor.sizes) {
                const auto length = size.value ? size.value : size.hint;
                known = known && length.has_value() && *length >= 0;
                bytes *= known ? static_cast<std::uint64_t>(*length) : 0;
            }
            if (known)
                ++description.valueSizes[bytes];
            else
                ++description.valuesOfUnknownSize;
        }
    }
}

void describeOps(const pt2::Program &program, Pt2Description &description)
{
    for (const pt2::ProgramOp &op : program.ops)
        description.ops.push_back({op.target, op.count, {}});
    for (const pt2::Refusal &refusal : program.refusals)
        for (Pt2Description::Op &op : description.ops)
            if (op.target == refusal.target.substr(0, refusal.target.find(':')))
                op.refusal = refusal.reason;
    if (const Status status = program.runnable(); !status)
        description.refusal = status.message();
}

Value stateValue(const Pt2Description::State &state)
{
    return Value::object({{"tensors", state.tensors}, {"elements", state.elements}, {"bytes", state.bytes}});
}

Value stringsValue(const std::vector<std::string> &strings)
{
    Value list = Value::list();
    for (const std::string &text : strings)
        list.append(text);
    return list;
}

} // namespace

Result<Pt2Description> describePt2(const std::filesystem::path &path, LoadReport &report)
{
    auto archive = pt2::Archive::open(path, report);
    if (!archive)
        return archive.error();
    auto program = pt2::buildProgram((*archive)->document(), report);
    if (!program)
        return program.error().prefixed((*archive)->zip().fileName());
    const pt2::Document &document = *(*archive)->document();
    Pt2Description description;
    description.generation = generationText((*archive)->generation());
    description.torchVersion = document.torchVersion;
    description.schemaVersion =
        std::to_string(document.schemaMajor) + '.' + std::to_string(document.schemaMinor);
    description.dialect = document.dialect;
    description.hasSampleInputs = !(*archive)->sampleEntry().empty();
    description.nativeCode = (*archive)->nativeCode();
    for (const Value &guard : document.root.at("guards_code").toList())
        description.guards += (description.guards.empty() ? "" : "\n") + guard.toString();
    ModeFinder mode;
    mode.visit(document.graph());
    description.mode = mode.mode();
    for (const ModuleInfo &module : (*program)->modules) {
        description.modules.push_back(module.path);
        if (module.path.empty())
            description.modelClass = module.type;
    }
    if ((*program)->outputTree)
        description.outputs = (*program)->outputTree->leafPaths();
    for (const pt2::MappedDevice &device : (*program)->mappedDevices)
        description.mappedDevices.push_back(device.device + " (" + device.place + ')');
    describeInputs(**program, description);
    describeState(**archive, **program, description);
    describeOps(**program, description);
    describeValues(document.graph(), description);
    return description;
}

Value toValue(const Pt2Description &description)
{
    Value inputs = Value::list();
    for (const Pt2Description::Input &input : description.inputs)
        inputs.append(Value::object({{"name", input.name},
                                     {"path", input.path},
                                     {"expected", input.expected},
                                     {"dtype", orNull(input.dtype)},
                                     {"shape", input.shape},
                                     {"specification", orNull(input.specification)},
                                     {"fixed", input.isFixed}}));
    Value ops = Value::list();
    for (const Pt2Description::Op &op : description.ops)
        ops.append(Value::object({{"op", op.target}, {"count", op.count}, {"refusal", orNull(op.refusal)}}));
    Value sizes = Value::list();
    for (const auto &[bytes, count] : description.valueSizes)
        sizes.append(Value::object({{"bytes", bytes}, {"count", count}}));
    return Value::object({{"format", "torch.export"},
                          {"value_sizes", std::move(sizes)},
                          {"values_of_unknown_size", description.valuesOfUnknownSize},
                          {"generation", description.generation},
                          {"torch_version", orNull(description.torchVersion)},
                          {"schema_version", description.schemaVersion},
                          {"dialect", orNull(description.dialect)},
                          {"mode", orNull(description.mode)},
                          {"model_class", orNull(description.modelClass)},
                          {"inputs", std::move(inputs)},
                          {"outputs", stringsValue(description.outputs)},
                          {"ops", std::move(ops)},
                          {"modules", stringsValue(description.modules)},
                          {"parameters", stateValue(description.parameters)},
                          {"buffers", stateValue(description.buffers)},
                          {"constants", stateValue(description.constants)},
                          {"mapped_devices", stringsValue(description.mappedDevices)},
                          {"native_code", stringsValue(description.nativeCode)},
                          {"sample_inputs", description.hasSampleInputs},
                          {"guards", orNull(description.guards)},
                          {"refusal", orNull(description.refusal)}});
}

} // namespace core
