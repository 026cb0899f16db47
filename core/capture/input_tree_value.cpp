// SPDX-License-Identifier: GPL-3.0-or-later
// The way back: arguments as a tree of inputs is written.
#include "core/capture/input_spec.h"

#include <type_traits>

namespace core {

namespace {

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
