// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/byte_source.h"
#include "core/capture/input_spec.h"

#include <limits>
#include <type_traits>

namespace core {

namespace {

constexpr std::uint64_t kMaxTreeBytes = 64U << 20U;
constexpr int kMaxDepth = 32;

Status invalidAt(const std::string &where, const std::string &message)
{
    return {ErrorCode::invalidArgument, "inputs: " + where + ": " + message};
}

// The corpus writes non-finite numbers as strings; a "value" of such a string is that number.
Value numberOrSame(const Value &value)
{
    const std::string &text = value.toString();
    if (text == "nan" || text == "NaN")
        return Value(std::numeric_limits<double>::quiet_NaN());
    if (text == "inf" || text == "Infinity")
        return Value(std::numeric_limits<double>::infinity());
    if (text == "-inf" || text == "-Infinity")
        return Value(-std::numeric_limits<double>::infinity());
    return value;
}

class TreeParser
{
public:
    explicit TreeParser(std::filesystem::path base) : m_base(std::move(base)) {}

    Result<InputNode> node(const Value &value, const std::string &where, int depth) const
    {
        if (depth > kMaxDepth)
            return invalidAt(where, "nested deeper than " + std::to_string(kMaxDepth) + " levels");
        if (!value.isObject())
            return invalidAt(
                where,
                "expected an object with tensor, image, audio, text, spec, value, dict, list or tuple");
        if (const Value *file = value.find("tensor"))
            return fileNode(*file, value, where);
        for (const char *member : {"image", "audio", "text"})
            if (const Value *file = value.find(member))
                return preparedNode(member, *file, value, where);
        if (const Value *spec = value.find("spec"))
            return specNode(*spec, where);
        if (const Value *scalar = value.find("value"))
            return scalarNode(*scalar, where);
        if (const Value *dict = value.find("dict"))
            return dictNode(*dict, where + ".dict", depth);
        if (const Value *list = value.find("list"))
            return sequenceNode(*list, InputNode::Container::list, where + ".list", depth);
        if (const Value *tuple = value.find("tuple"))
            return sequenceNode(*tuple, InputNode::Container::tuple, where + ".tuple", depth);
        return invalidAt(where, "has none of tensor, image, audio, text, spec, value, dict, list, tuple");
    }

private:
    Result<InputNode> fileNode(const Value &file, const Value &whole, const std::string &where) const
    {
        if (!file.isString() || file.toString().empty())
            return invalidAt(where, "\"tensor\" must be the name of a file");
        auto option = parseInputOption(file.toString());
        if (!option || !std::holds_alternative<InputFile>(option->node.leaf) || !option->name.empty())
            return invalidAt(where, '"' + file.toString() +
                                        "\" does not end in .npy, .npz, .pt, .pth, .bin or "
                                        ".safetensors");
        InputNode result = option->node;
        InputFile &input = std::get<InputFile>(result.leaf);
        if (input.path.is_relative())
            input.path = m_base / input.path;
        if (const Value *entry = whole.find("entry"))
            input.entry = entry->toString();
        return result;
    }

    // An image, a sound or a text: what is said beside it are its options, also one by one.
    Result<InputNode> preparedNode(std::string_view member, const Value &file, const Value &whole,
                                   const std::string &where) const
    {
        if (!file.isString() || file.toString().empty())
            return invalidAt(where, '"' + std::string(member) + "\" must be a text");
        InputFile input;
        input.path = file.toString();
        input.kind = member == "image"   ? InputFileKind::image
                     : member == "audio" ? InputFileKind::wav
                                         : InputFileKind::text;
        if (input.kind != InputFileKind::text && input.path.is_relative())
            input.path = m_base / input.path;
        input.entry = whole.at("options").toString();
        for (const char *option : {"resize", "crop", "norm", "mean", "std", "channels", "rate", "length"})
            if (const Value *value = whole.find(option)) {
                std::string text = value->isString() ? value->toString() : toJson(*value);
                std::erase_if(text, [](char c) { return c == '[' || c == ']' || c == ' '; });
                input.entry += (input.entry.empty() ? "" : "&") + std::string(option) + '=' + text;
            }
        InputNode result;
        result.leaf = std::move(input);
        return result;
    }

    static Result<InputNode> specNode(const Value &spec, const std::string &where)
    {
        auto parsed = parseTensorSpec(spec.toString());
        if (!parsed)
            return parsed.error().prefixed("inputs: " + where);
        InputNode result;
        result.leaf = *std::move(parsed);
        return result;
    }

    static Result<InputNode> scalarNode(const Value &scalar, const std::string &where)
    {
        if (scalar.isList() || scalar.isObject())
            return invalidAt(where, "\"value\" must be a number, a string, true, false or null");
        InputNode result;
        result.leaf = numberOrSame(scalar);
        return result;
    }

    Result<InputNode> dictNode(const Value &dict, const std::string &where, int depth) const
    {
        if (!dict.isObject())
            return invalidAt(where, "expected an object");
        InputNode result;
        result.container = InputNode::Container::dict;
        for (const auto &[key, child] : dict.toObject()) {
            auto parsed = node(child, where + '.' + key, depth + 1);
            if (!parsed)
                return parsed;
            result.keys.push_back(key);
            result.children.push_back(*std::move(parsed));
        }
        return result;
    }

    Result<InputNode> sequenceNode(const Value &list, InputNode::Container kind, const std::string &where,
                                   int depth) const
    {
        if (!list.isList())
            return invalidAt(where, "expected a list");
        InputNode result;
        result.container = kind;
        for (const Value &child : list.toList()) {
            auto parsed = node(child, where + '[' + std::to_string(result.children.size()) + ']', depth + 1);
            if (!parsed)
                return parsed;
            result.children.push_back(*std::move(parsed));
        }
        return result;
    }

    std::filesystem::path m_base;
};

Value leafValue(const InputNode &node)
{
    return std::visit(
        [](const auto &leaf) {
            using Leaf = std::decay_t<decltype(leaf)>;
            Value result = Value::object();
            if constexpr (std::is_same_v<Leaf, Value>) {
                result.set("value", leaf);
            } else if constexpr (std::is_same_v<Leaf, TensorSpec>) {
                result.set("spec", formatTensorSpec(leaf));
            } else {
                const bool plain = leaf.kind != InputFileKind::image && leaf.kind != InputFileKind::wav &&
                                   leaf.kind != InputFileKind::text;
                result.set(plain                               ? "tensor"
                           : leaf.kind == InputFileKind::image ? "image"
                           : leaf.kind == InputFileKind::wav   ? "audio"
                                                               : "text",
                           leaf.path.string());
                if (!leaf.entry.empty())
                    result.set(plain ? "entry" : "options", leaf.entry);
            }
            return result;
        },
        node.leaf);
}

Value nodeValue(const InputNode &node)
{
    if (node.container == InputNode::Container::none)
        return leafValue(node);
    Value result = Value::object();
    if (node.container == InputNode::Container::dict) {
        Value dict = Value::object();
        for (std::size_t i = 0; i < node.children.size(); ++i)
            dict.set(node.keys[i], nodeValue(node.children[i]));
        result.set("dict", std::move(dict));
        return result;
    }
    Value list = Value::list();
    for (const InputNode &child : node.children)
        list.append(nodeValue(child));
    result.set(node.container == InputNode::Container::list ? "list" : "tuple", std::move(list));
    return result;
}

} // namespace

Result<InputArguments> parseInputTree(const Value &tree, const std::filesystem::path &base)
{
    if (!tree.isObject() || (!tree.at("args").isList() && !tree.at("kwargs").isObject()))
        return invalidAt("document", "expected an object with \"args\" (a list) or \"kwargs\" (an object)");
    const TreeParser parser(base);
    InputArguments result;
    for (const Value &argument : tree.at("args").toList()) {
        auto parsed = parser.node(argument, "args[" + std::to_string(result.positional.size()) + ']', 0);
        if (!parsed)
            return parsed.error();
        result.positional.push_back(*std::move(parsed));
    }
    for (const auto &[name, argument] : tree.at("kwargs").toObject()) {
        auto parsed = parser.node(argument, "kwargs." + name, 0);
        if (!parsed)
            return parsed.error();
        result.named.push_back({name, *std::move(parsed)});
    }
    return result;
}

Result<InputArguments> readInputTree(const std::filesystem::path &file)
{
    auto source = openFile(file);
    if (!source)
        return source.error();
    auto bytes = readRange(**source, 0, (*source)->size(), kMaxTreeBytes);
    if (!bytes)
        return bytes.error();
    const std::string_view text(reinterpret_cast<const char *>(bytes->data()), bytes->size());
    auto tree = parseJson(text, file.string());
    if (!tree)
        return tree.error();
    // expected.json of a test case keeps the tree below "inputs".
    const Value *inputs = tree->find("inputs");
    return parseInputTree(inputs != nullptr && inputs->isObject() ? *inputs : *tree, file.parent_path());
}

Value inputTreeValue(const InputArguments &arguments)
{
    Value args = Value::list();
    for (const InputNode &node : arguments.positional)
        args.append(nodeValue(node));
    Value kwargs = Value::object();
    for (const NamedInput &input : arguments.named)
        kwargs.set(input.name, nodeValue(input.node));
    Value result = Value::object();
    result.set("args", std::move(args));
    result.set("kwargs", std::move(kwargs));
    return result;
}

} // namespace core
