// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/input_builder.h"
#include "core/capture_torch/runnable_model.h"
#include "core/capture_torch/torch_dtype.h"

#include <ATen/core/Dict.h>
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <map>
#include <optional>

// Bringing described inputs into the order and shape a torch.export program expects.
namespace core::pt2 {

namespace {

Status invalid(const std::string &input, const std::string &message)
{
    return {ErrorCode::invalidArgument, "input " + input + ": " + message};
}

std::string nodeText(const InputNode &node)
{
    if (node.container != InputNode::Container::none)
        return node.container == InputNode::Container::dict ? "a dict" : "a list";
    if (const auto *value = std::get_if<Value>(&node.leaf))
        return toJson(*value);
    if (const auto *spec = std::get_if<TensorSpec>(&node.leaf))
        return formatTensorSpec(*spec);
    const auto &file = std::get<InputFile>(node.leaf);
    return file.path.string() + (file.entry.empty() ? "" : ':' + file.entry);
}

std::string tensorText(const at::Tensor &tensor)
{
    std::string text(dtypeName(fromScalarType(tensor.scalar_type())));
    text += '[';
    for (std::int64_t i = 0; i < tensor.dim(); ++i)
        text += (i == 0 ? "" : ",") + std::to_string(tensor.size(i));
    return text + ']';
}

std::string valueText(const c10::IValue &value)
{
    if (value.isTensor())
        return tensorText(value.toTensor());
    if (value.isNone())
        return "None";
    if (value.isBool())
        return value.toBool() ? "True" : "False";
    if (value.isInt())
        return std::to_string(value.toInt());
    if (value.isDouble())
        return formatDouble(value.toDouble());
    return value.isString() ? '"' + value.toStringRef() + '"' : std::string(value.tagKind());
}

// The value that export froze into the graph.
c10::IValue fixedValue(const Tagged &fixed)
{
    if (fixed.tag == "as_int")
        return fixed.value->toInt();
    if (fixed.tag == "as_float")
        return toFloat(*fixed.value);
    if (fixed.tag == "as_bool")
        return fixed.value->toBool();
    if (fixed.tag == "as_string")
        return fixed.value->toString();
    return {};
}

// Which description each leaf of the program's inputs gets; none: not given.
class LeafAssigner
{
public:
    LeafAssigner(const Program &program, std::vector<const ProgramInput *> leaves)
        : m_program(program), m_leaves(std::move(leaves)), m_nodes(m_leaves.size(), nullptr)
    {
        collectArguments();
    }

    Status assign(const InputArguments &arguments)
    {
        if (arguments.positional.size() > m_arguments.size())
            return {ErrorCode::invalidArgument,
                    "the model takes " + std::to_string(m_arguments.size()) + " inputs, " +
                        std::to_string(arguments.positional.size()) + " were given"};
        for (std::size_t i = 0; i < arguments.positional.size(); ++i)
            if (Status status = place(arguments.positional[i], m_arguments[i]); !status)
                return status;
        for (const NamedInput &input : arguments.named)
            if (Status status = assignNamed(input); !status)
                return status;
        return Status::ok();
    }

    const std::vector<const InputNode *> &nodes() const { return m_nodes; }

    std::vector<std::string> names() const
    {
        std::vector<std::string> names;
        for (const Place &argument : m_arguments) {
            const bool isLeaf = argument.spec == nullptr || argument.spec->kind == TreeSpec::Kind::leaf;
            if (isLeaf || argument.name.empty()) {
                for (std::size_t i = 0; i < (isLeaf ? 1 : argument.spec->leafCount()); ++i)
                    names.push_back(m_leaves[argument.leaf + i]->name);
                continue;
            }
            for (const std::string &path : argument.spec->leafPaths())
                names.push_back(argument.name + '.' + path);
        }
        return names;
    }

private:
    struct Place
    {
        std::string name;
        const TreeSpec *spec = nullptr; // null: one leaf
        std::size_t leaf = 0;           // its first one
    };

    // The arguments in order: the positional ones, then the keywords.
    void collectArguments()
    {
        const auto &tree = m_program.inputTree;
        if (!tree || !tree->isCall() || tree->leafCount() != m_leaves.size()) {
            for (std::size_t i = 0; i < m_leaves.size(); ++i)
                m_arguments.push_back({m_leaves[i]->name, nullptr, i});
            return;
        }
        std::size_t leaf = 0;
        for (const TreeSpec &group : tree->children)
            for (std::size_t i = 0; i < group.children.size(); ++i) {
                const std::size_t index = m_arguments.size();
                std::string name = i < group.keys.size() ? group.keys[i] : std::string();
                if (name.empty() && index < m_program.argumentNames.size())
                    name = m_program.argumentNames[index];
                m_arguments.push_back({std::move(name), &group.children[i], leaf});
                leaf += group.children[i].leafCount();
            }
    }

    Status assignNamed(const NamedInput &input)
    {
        for (const Place &argument : m_arguments)
            if (argument.name == input.name)
                return place(input.node, argument);
        for (const Place &argument : m_arguments) {
            const auto paths =
                argument.spec == nullptr ? std::vector<std::string>{""} : argument.spec->leafPaths();
            for (std::size_t i = 0; i < paths.size(); ++i) {
                const std::size_t leaf = argument.leaf + i;
                if (input.name == argument.name + '.' + paths[i] || input.name == m_leaves[leaf]->name)
                    return place(input.node, {input.name, nullptr, leaf});
            }
        }
        std::string names;
        for (const Place &argument : m_arguments)
            names += (names.empty() ? "" : ", ") + argument.name;
        return invalid(input.name, "the model has no such input, only " + names);
    }

    Status place(const InputNode &node, const Place &where)
    {
        const bool isLeaf = where.spec == nullptr || where.spec->kind == TreeSpec::Kind::leaf;
        const bool givesLeaf = node.container == InputNode::Container::none;
        if (isLeaf != givesLeaf)
            return invalid(where.name, isLeaf ? "expected " + expectedInput(*m_leaves[where.leaf]) +
                                                    ", got " + nodeText(node)
                                              : "expected a " + where.spec->type + " of " +
                                                    std::to_string(where.spec->children.size()) + ", got " +
                                                    nodeText(node));
        if (!isLeaf)
            return placeChildren(node, where);
        if (m_nodes[where.leaf] != nullptr)
            return invalid(where.name, "given twice");
        m_nodes[where.leaf] = &node;
        return Status::ok();
    }

    Status placeChildren(const InputNode &node, const Place &where)
    {
        const TreeSpec &spec = *where.spec;
        if (node.children.size() != spec.children.size())
            return invalid(where.name, "expected " + std::to_string(spec.children.size()) + " items, got " +
                                           std::to_string(node.children.size()));
        std::size_t leaf = where.leaf;
        for (std::size_t i = 0; i < spec.children.size(); ++i) {
            std::size_t given = i;
            const std::string name = i < spec.keys.size() ? spec.keys[i] : std::to_string(i);
            if (!spec.keys.empty() && !node.keys.empty()) {
                given = static_cast<std::size_t>(std::find(node.keys.begin(), node.keys.end(), name) -
                                                 node.keys.begin());
                if (given == node.keys.size())
                    return invalid(where.name, "no item \"" + name + '"');
            }
            if (Status status =
                    place(node.children[given], {where.name + '.' + name, &spec.children[i], leaf});
                !status)
                return status;
            leaf += spec.children[i].leafCount();
        }
        return Status::ok();
    }

    const Program &m_program;
    std::vector<const ProgramInput *> m_leaves;
    std::vector<Place> m_arguments;
    std::vector<const InputNode *> m_nodes;
};

// The leaves of (args, kwargs) as the exporter saved them, in the order of the specification.
void flattenSamples(const c10::IValue &value, const TreeSpec &spec, std::vector<c10::IValue> &out)
{
    if (spec.kind == TreeSpec::Kind::leaf) {
        out.push_back(value);
        return;
    }
    for (std::size_t i = 0; i < spec.children.size(); ++i) {
        c10::IValue child;
        if (value.isTuple() && i < value.toTupleRef().elements().size())
            child = value.toTupleRef().elements()[i];
        else if (value.isList() && i < value.toListRef().size())
            child = value.toListRef()[i];
        else if (value.isGenericDict() && i < spec.keys.size() &&
                 value.toGenericDict().contains(spec.keys[i]))
            child = value.toGenericDict().at(spec.keys[i]);
        flattenSamples(child, spec.children[i], out);
    }
}

class InputChecker
{
public:
    explicit InputChecker(const Program &program) : m_program(program) {}

    Status check(const ProgramInput &input, const c10::IValue &value)
    {
        if (input.kind == ProgramInput::Kind::fixed)
            return checkFixed(input, value);
        if (!input.isTensor)
            return value.isInt() || value.isDouble() || value.isBool() ? Status::ok()
                                                                       : mismatch(input, value);
        if (!value.isTensor() || !value.toTensor().defined())
            return mismatch(input, value);
        const at::Tensor &tensor = value.toTensor();
        if (fromScalarType(tensor.scalar_type()) != input.tensor.dtype ||
            static_cast<std::size_t>(tensor.dim()) != input.tensor.sizes.size())
            return mismatch(input, value);
        for (std::size_t i = 0; i < input.tensor.sizes.size(); ++i)
            if (Status status = checkSize(input, value, i); !status)
                return status;
        return Status::ok();
    }

private:
    static Status mismatch(const ProgramInput &input, const c10::IValue &value)
    {
        return invalid(input.name, "expected " + expectedInput(input) + ", got " + valueText(value));
    }

    static Status checkFixed(const ProgramInput &input, const c10::IValue &value)
    {
        const c10::IValue fixed = fixedValue(input.fixed);
        const bool equal = (fixed.isNone() && value.isNone()) ||
                           (!fixed.isNone() && !value.isNone() && !value.isTensor() && fixed == value);
        if (equal)
            return Status::ok();
        return invalid(input.name.empty() ? "without a name" : input.name,
                       "it was fixed to " + fixedText(input.fixed) + " at export, got " + valueText(value));
    }

    Status checkSize(const ProgramInput &input, const c10::IValue &value, std::size_t dimension)
    {
        const DocumentSize &expected = input.tensor.sizes[dimension];
        const std::int64_t size = value.toTensor().size(static_cast<std::int64_t>(dimension));
        if (expected.value)
            return *expected.value == size ? Status::ok() : mismatch(input, value);
        const auto [known, added] = m_symbols.try_emplace(expected.expression, std::pair(size, input.name));
        if (!added && known->second.first != size)
            return invalid(input.name, "expected " + expectedInput(input) + ", got " + valueText(value) +
                                           "; " + expected.expression + " is " +
                                           std::to_string(known->second.first) + " in input " +
                                           known->second.second);
        const Value &range = m_program.document->root.at("range_constraints").at(expected.expression);
        const Value &low = range.at("min_val");
        const Value &high = range.at("max_val");
        if ((low.isInt() && size < low.toInt()) || (high.isInt() && size > high.toInt()))
            return invalid(input.name, "expected " + expectedInput(input) + ", got " + valueText(value) +
                                           "; the model was exported for " + expected.expression + " from " +
                                           toJson(low) + " to " + toJson(high));
        return Status::ok();
    }

    const Program &m_program;
    std::map<std::string, std::pair<std::int64_t, std::string>> m_symbols;
};

// numpy has no bfloat16 and no float8: such arrays are written as unsigned integers of the same width.
c10::IValue reinterpreted(const ProgramInput &input, const c10::IValue &value)
{
    if (!input.isTensor || !value.isTensor())
        return value;
    const at::Tensor &tensor = value.toTensor();
    const auto wanted = toScalarType(input.tensor.dtype);
    const bool raw = tensor.scalar_type() == at::kUInt16 || tensor.scalar_type() == at::kByte;
    const bool lacking = isFloating(input.tensor.dtype) && input.tensor.dtype != DType::float16;
    if (!raw || !lacking || !wanted ||
        static_cast<std::int64_t>(c10::elementSize(*wanted)) != tensor.element_size())
        return value;
    return tensor.view(*wanted);
}

// A tensor of the form that INPUT wants; free sizes are the smallest from 2 on that the export allows. None
// for another input, or one of a size that depends on others.
std::optional<TensorSpec> specFor(const Program &program, const ProgramInput &input)
{
    if (!input.isTensor || input.kind != ProgramInput::Kind::user)
        return std::nullopt;
    TensorSpec spec;
    spec.dtype = input.tensor.dtype;
    for (const DocumentSize &size : input.tensor.sizes) {
        if (size.value) {
            spec.shape.push_back(*size.value);
            continue;
        }
        const Value &range = program.document->root.at("range_constraints").at(size.expression);
        if (!range.isObject())
            return std::nullopt;
        const std::int64_t low = std::max<std::int64_t>(range.at("min_val").toInt(2), 2);
        spec.shape.push_back(std::min(low, std::max<std::int64_t>(range.at("max_val").toInt(low), 1)));
    }
    const bool real = isFloating(spec.dtype);
    spec.fill = real ? TensorFill::rand : isComplex(spec.dtype) ? TensorFill::randn : TensorFill::randint;
    spec.high = 2;
    return spec;
}

std::vector<const ProgramInput *> userInputsOf(const Program &program)
{
    std::vector<const ProgramInput *> leaves;
    for (const ProgramInput &input : program.inputs)
        if (input.kind == ProgramInput::Kind::user || input.kind == ProgramInput::Kind::fixed)
            leaves.push_back(&input);
    return leaves;
}

} // namespace

std::vector<std::string> inputNames(const Program &program)
{
    return LeafAssigner(program, userInputsOf(program)).names();
}

Result<std::vector<RunInput>> buildInputs(const Program &program, const InputArguments &arguments,
                                          const std::optional<c10::IValue> &samples, InputBuilder &builder)
{
    const std::vector<const ProgramInput *> leaves = userInputsOf(program);
    LeafAssigner assigner(program, leaves);
    if (Status status = assigner.assign(arguments); !status)
        return status;
    std::vector<c10::IValue> flatSamples;
    if (samples && program.inputTree)
        flattenSamples(*samples, *program.inputTree, flatSamples);

    const std::vector<std::string> names = assigner.names();
    std::vector<RunInput> inputs;
    InputChecker checker(program);
    for (std::size_t i = 0; i < leaves.size(); ++i) {
        RunInput input;
        input.name = names[i];
        if (const InputNode *node = assigner.nodes()[i]) {
            auto built = builder.build(*node, input.name);
            if (!built)
                return built.error();
            input.value = reinterpreted(*leaves[i], *built);
            input.origin = nodeText(*node);
        } else if (leaves[i]->kind == ProgramInput::Kind::fixed) {
            input.value = fixedValue(leaves[i]->fixed);
            input.origin = "fixed at export";
        } else if (flatSamples.size() == leaves.size() && !flatSamples[i].isNone()) {
            input.value = flatSamples[i];
            input.origin = "sample_inputs";
        } else if (const auto spec = arguments.isEmpty() ? specFor(program, *leaves[i]) : std::nullopt) {
            InputNode made;
            made.leaf = *spec;
            auto built = builder.build(made, input.name);
            if (!built)
                return built.error();
            input.value = *built;
            input.origin = std::string(kGuessedOrigin) + formatTensorSpec(*spec);
        } else {
            return invalid(input.name, "none was given, expected " + expectedInput(*leaves[i]));
        }
        if (Status status = checker.check(*leaves[i], input.value); !status)
            return status;
        inputs.push_back(std::move(input));
    }
    return inputs;
}

} // namespace core::pt2
