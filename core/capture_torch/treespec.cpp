// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/treespec.h"

namespace core {

namespace {

constexpr int kMaxDepth = 64;
constexpr std::size_t kJsonDepth = 512;

void collectPaths(const TreeSpec &spec, const std::string &prefix, std::vector<std::string> &out)
{
    if (spec.kind == TreeSpec::Kind::leaf) {
        out.push_back(prefix);
        return;
    }
    for (std::size_t i = 0; i < spec.children.size(); ++i) {
        const std::string name = i < spec.keys.size() ? spec.keys[i] : std::to_string(i);
        collectPaths(spec.children[i], prefix.empty() ? name : prefix + '.' + name, out);
    }
}

std::string keyText(const Value &key)
{
    return key.isString() ? key.toString() : toJson(key);
}

// The context is JSON text: a list of keys for dicts and dataclasses, something else for other classes. For
// defaultdict it is a list that holds the list of keys; for a named tuple it is the class name.
std::vector<std::string> contextKeys(const Value &context, std::size_t children, const Value &namedTuples)
{
    Value parsed = context;
    if (context.isString())
        if (auto json = parseJson(context.toString(), "context"); json.isOk())
            parsed = *std::move(json);
    const Value &className = parsed.isString() ? parsed : context;
    if (const Value *fields = namedTuples.find(className.toString()); fields != nullptr)
        parsed = Value(fields->at("field_names"));

    const Value::List *keys = parsed.toList().size() == children ? &parsed.toList() : nullptr;
    for (const Value &item : parsed.toList())
        if (item.isList()) {
            keys = item.toList().size() == children ? &item.toList() : nullptr;
            break;
        }
    std::vector<std::string> names;
    if (keys != nullptr)
        for (const Value &key : *keys)
            names.push_back(keyText(key));
    return names;
}

Result<TreeSpec> parseNode(const Value &node, const Value &namedTuples, int depth)
{
    if (depth > kMaxDepth)
        return Status(ErrorCode::corrupt,
                      "tree specification nested deeper than " + std::to_string(kMaxDepth) + " levels");
    if (!node.isObject() || !node.at("children_spec").isList())
        return Status(ErrorCode::corrupt, "tree specification: a node without children_spec");
    TreeSpec spec;
    spec.type = node.at("type").toString();
    for (const Value &child : node.at("children_spec").toList()) {
        auto parsed = parseNode(child, namedTuples, depth + 1);
        if (!parsed)
            return parsed;
        spec.children.push_back(*std::move(parsed));
    }
    if (node.at("type").isNull())
        return spec;
    if (spec.type == "builtins.tuple")
        spec.kind = TreeSpec::Kind::tuple;
    else if (spec.type == "builtins.list" || spec.type == "collections.deque")
        spec.kind = TreeSpec::Kind::list;
    else {
        spec.keys = contextKeys(node.at("context"), spec.children.size(), namedTuples);
        const bool isDict = spec.type == "builtins.dict" || spec.type.ends_with("dict") ||
                            !spec.keys.empty() || spec.type.ends_with("Dict");
        spec.kind = isDict ? TreeSpec::Kind::dict : TreeSpec::Kind::other;
    }
    return spec;
}

} // namespace

std::size_t TreeSpec::leafCount() const
{
    if (kind == Kind::leaf)
        return 1;
    std::size_t count = 0;
    for (const TreeSpec &child : children)
        count += child.leafCount();
    return count;
}

std::vector<std::string> TreeSpec::leafPaths() const
{
    std::vector<std::string> paths;
    collectPaths(*this, {}, paths);
    return paths;
}

Result<TreeSpec> parseTreeSpec(std::string_view text, const Value &namedTuples)
{
    JsonLimits limits;
    limits.depth = kJsonDepth;
    auto parsed = parseJson(text, "tree specification", limits);
    if (!parsed)
        return parsed.error();
    const Value::List &items = parsed->toList();
    if (items.size() != 2)
        return Status(ErrorCode::corrupt, "tree specification: expected [version, node], got " +
                                              std::to_string(items.size()) + " items");
    return parseNode(items[1], namedTuples, 0);
}

} // namespace core
