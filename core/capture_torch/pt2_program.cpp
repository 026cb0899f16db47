// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/pt2_program.h"

#include "core/capture_torch/library_ops.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace core::pt2 {

namespace {

using SlotByName = std::unordered_map<std::string, Slot>;
using TensorMetas = std::unordered_map<std::string, const Value *>;

TensorMetas tensorMetas(const Value &graph)
{
    TensorMetas metas;
    for (const auto &[name, meta] : graph.at("tensor_values").toObject())
        metas.emplace(name, &meta);
    return metas;
}

struct StateKind
{
    std::string_view tag;
    ProgramInput::Kind kind;
    const char *nameKey;
};
constexpr StateKind kStateKinds[] = {
    {"parameter", ProgramInput::Kind::parameter, "parameter_name"},
    {"buffer", ProgramInput::Kind::buffer, "buffer_name"},
    {"tensor_constant", ProgramInput::Kind::constant, "tensor_constant_name"},
};

Result<ProgramInput> readInput(const Tagged &spec, const TensorMetas &metas, Program &program)
{
    ProgramInput input;
    const Value &content = *spec.value;
    for (const StateKind &state : kStateKinds)
        if (spec.tag == state.tag) {
            input.kind = state.kind;
            input.stateName = content.at(state.nameKey).toString();
        }
    input.name = argumentName(content.at("arg"));
    if (spec.tag == "constant_input") {
        input.kind = ProgramInput::Kind::fixed;
        input.name = content.at("name").toString();
        input.fixed = tagged(content.at("value"));
    } else if (spec.tag == "user_input") {
        const Tagged argument = tagged(content.at("arg"));
        input.kind = input.name.empty() ? ProgramInput::Kind::fixed : ProgramInput::Kind::user;
        input.fixed = argument;
        input.isTensor = argument.tag == "as_tensor";
    } else if (spec.tag == "token") {
        input.kind = ProgramInput::Kind::token;
    } else if (spec.tag == "custom_obj") {
        input.kind = ProgramInput::Kind::token;
        program.refusals.push_back({"custom_object", content.at("custom_obj_name").toString(), input.name});
    } else if (input.stateName.empty()) {
        return Status(ErrorCode::corrupt,
                      "input specification \"" + std::string(spec.tag) + "\" is not known")
            .withDetail("bad_program");
    }
    if (const auto meta = metas.find(input.name); meta != metas.end()) {
        input.tensor = readTensorMeta(*meta->second);
        input.isTensor = true;
    }
    return input;
}

Status readInputs(Program &program, const SlotByName &slots, LoadReport &report)
{
    const Document &document = *program.document;
    const TensorMetas metas = tensorMetas(document.graph());
    for (const Value &spec : document.signature().at("input_specs").toList()) {
        auto input = readInput(tagged(spec), metas, program);
        if (!input)
            return input.error();
        if (const auto slot = slots.find(input->name); slot != slots.end())
            input->slot = slot->second;
        const bool needsSlot =
            input->kind != ProgramInput::Kind::fixed && input->kind != ProgramInput::Kind::token;
        if (needsSlot && input->slot == kNoSlot)
            return Status(ErrorCode::corrupt, "input \"" + input->name + "\" is no input of the graph")
                .withDetail("undefined_value");
        if (needsSlot && !input->tensor.device.empty() && input->tensor.device != "cpu" &&
            input->tensor.device != "meta")
            program.mappedDevices.push_back({input->tensor.device, input->stateName.empty()
                                                                       ? "input " + input->name
                                                                       : "state " + input->stateName});
        if (input->isTensor && input->tensor.dtype == DType::unknown)
            report.add("unknown_dtype",
                       "input " + input->name + " has a dtype that this version does not know");
        program.inputs.push_back(*std::move(input));
    }
    return Status::ok();
}

Status readOutputs(Program &program)
{
    for (const Value &spec : program.document->signature().at("output_specs").toList()) {
        const Tagged content = tagged(spec);
        ProgramOutput output;
        if (content.tag == "buffer_mutation") {
            output.kind = ProgramOutput::Kind::buffer;
            output.target = content.value->at("buffer_name").toString();
        } else if (content.tag == "parameter_mutation") {
            output.kind = ProgramOutput::Kind::parameter;
            output.target = content.value->at("parameter_name").toString();
        } else if (content.tag == "user_input_mutation") {
            output.kind = ProgramOutput::Kind::userInput;
            output.target = content.value->at("user_input_name").toString();
        } else if (content.tag == "token") {
            output.kind = ProgramOutput::Kind::token;
        } else if (content.tag != "user_output" && content.tag != "loss_output") {
            program.refusals.push_back(
                {"unsupported_node", "output of kind " + std::string(content.tag), "output"});
        }
        program.outputs.push_back(std::move(output));
    }
    const std::size_t graphOutputs = program.document->graph().at("outputs").toList().size();
    if (program.outputs.size() != graphOutputs)
        return Status(ErrorCode::corrupt, "the signature lists " + std::to_string(program.outputs.size()) +
                                              " outputs, the graph has " + std::to_string(graphOutputs))
            .withDetail("bad_program");
    return Status::ok();
}

// The program's own calling convention; an unreadable tree leaves inputs and outputs a flat list.
void readTrees(Program &program, LoadReport &report)
{
    const Value &module = program.document->graphModule();
    const Value *signature = nullptr;
    for (const Value &entry : module.at("module_call_graph").toList())
        if (entry.at("fqn").toString().empty() && entry.at("signature").isObject())
            signature = &entry.at("signature");
    if (signature == nullptr)
        signature = &module.at("call_spec");
    const Value &namedTuples = module.at("treespec_namedtuple_fields");
    const auto read = [&](const char *key) -> std::optional<TreeSpec> {
        const std::string &text = signature->at(key).toString();
        if (text.empty())
            return std::nullopt;
        auto tree = parseTreeSpec(text, namedTuples);
        if (!tree) {
            report.add("tree_specification", std::string(key) + ": " + tree.error().message());
            return std::nullopt;
        }
        return *std::move(tree);
    };
    program.inputTree = read("in_spec");
    program.outputTree = read("out_spec");
    for (const Value &name : signature->at("forward_arg_names").toList())
        program.argumentNames.push_back(name.toString());
}

// Every module that a node, the call graph or a state name mentions, and the ones above them.
void readModules(Program &program)
{
    std::map<std::string, std::string> types; // by path
    const auto mention = [&types](const std::string &path) {
        for (auto end = path.find('.'); end != std::string::npos; end = path.find('.', end + 1))
            types.try_emplace(path.substr(0, end));
        types.try_emplace(path);
    };
    types.try_emplace("");
    for (const ModuleCallSite &site : program.moduleCalls) {
        mention(site.level.path);
        types[site.level.path] = site.level.type;
    }
    for (const Value &entry : program.document->graphModule().at("module_call_graph").toList())
        if (const std::string &path = entry.at("fqn").toString(); path.find('@') == std::string::npos)
            mention(path);
    for (const ProgramInput &input : program.inputs)
        if (const auto dot = input.stateName.rfind('.'); dot != std::string::npos)
            mention(input.stateName.substr(0, dot));
    for (const auto &[path, type] : types)
        program.modules.push_back({path, type, std::nullopt, {}});
}

} // namespace

Status Program::runnable() const
{
    if (refusals.empty())
        return Status::ok();
    std::vector<std::string> names;
    std::string reason;
    for (const Refusal &refusal : refusals) {
        std::string name = refusal.target;
        if (refusal.reason == "missing_op")
            name += " (no such op in this LibTorch)";
        else if (refusal.reason == "custom_object")
            name += " (custom object)";
        else
            name += " (not supported)";
        if (std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(std::move(name));
    }
    std::string text;
    for (const std::string &name : names)
        text += (text.empty() ? "" : ", ") + name;
    return Status(ErrorCode::unsupported, "the program cannot run here: " + text)
        .withDetail(refusals.front().reason)
        .withRemedy(
            refusals.front().reason == std::string("missing_op")
                ? "run the model where its ops are installed and record a trace there"
                : "export the model again without it, for example with the batch dimension written out "
                  "instead of torch.vmap");
}

Result<std::shared_ptr<const Program>> buildProgram(std::shared_ptr<const Document> document,
                                                    LoadReport &report)
{
    provideLibraryOps();
    auto program = std::make_shared<Program>();
    program->document = std::move(document);
    auto slots = buildGraphs(*program, report);
    if (!slots)
        return slots.error();
    if (Status status = readInputs(*program, *slots, report); !status)
        return status;
    if (Status status = readOutputs(*program); !status)
        return status;
    readTrees(*program, report);
    readModules(*program);
    return std::shared_ptr<const Program>(std::move(program));
}

std::string fixedText(const Tagged &fixed)
{
    if (fixed.tag == "as_bool")
        return fixed.value->toBool() ? "True" : "False";
    if (fixed.tag == "as_float")
        return formatDouble(toFloat(*fixed.value));
    return fixed.tag == "as_none" ? "None" : toJson(*fixed.value);
}

std::string expectedInput(const ProgramInput &input)
{
    if (input.kind == ProgramInput::Kind::fixed)
        return fixedText(input.fixed);
    if (!input.isTensor)
        return input.fixed.tag == "as_sym_float"  ? "float"
               : input.fixed.tag == "as_sym_bool" ? "bool"
                                                  : "int";
    std::string text(dtypeName(input.tensor.dtype));
    text += '[';
    for (std::size_t i = 0; i < input.tensor.sizes.size(); ++i) {
        const DocumentSize &size = input.tensor.sizes[i];
        text += (i == 0 ? "" : ",") + (size.value ? std::to_string(*size.value) : size.expression);
    }
    return text + ']';
}

} // namespace core::pt2
