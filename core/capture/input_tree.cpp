// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/byte_source.h"
#include "core/base/near_names.h"
#include "core/capture/input_spec.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <type_traits>

namespace core {

namespace {

constexpr std::uint64_t kMaxTreeBytes = 64U << 20U;
constexpr int kMaxDepth = 32;

// The members that say what a node is, and how each is written.
struct NodeKind
{
    std::string_view member;
    std::string_view takes;
    std::string_view example;
};
constexpr std::array kNodeKinds = {
    NodeKind{"tensor", "the name of a file", R"({"tensor": "x.npy"})"},
    NodeKind{"image", "the name of a file", R"({"image": "cat.png"})"},
    NodeKind{"audio", "the name of a file", R"({"audio": "a.wav"})"},
    NodeKind{"text", "a text", R"({"text": "hello"})"},
    NodeKind{"spec", "a specification", R"({"spec": "f32[2,3]=randn"})"},
    NodeKind{"value", "a number, a string, true, false or null", R"({"value": 3})"},
    NodeKind{"dict", "an object of named nodes", R"({"dict": {"a": {"tensor": "a.npy"}}})"},
    NodeKind{"list", "a list of nodes", R"({"list": [{"tensor": "a.npy"}]})"},
    NodeKind{"tuple", "a list of nodes", R"({"tuple": [{"tensor": "a.npy"}]})"}};
// The kind itself, then its options in the order in which they are applied.
constexpr std::array<std::string_view, 8> kImageMembers = {"image", "options", "resize", "crop",
                                                           "norm",  "mean",    "std",    "channels"};
constexpr std::array<std::string_view, 5> kAudioMembers = {"audio", "options", "channels", "rate", "length"};

// A value in the words of JSON.
std::string kindOf(const Value &value)
{
    if (value.isObject())
        return value.toObject().empty() ? "an empty object" : "an object";
    if (value.isList())
        return "a list";
    if (value.isNull())
        return "null";
    if (value.isString())
        return value.toString().empty() ? "an empty text" : "the text \"" + value.toString() + '"';
    return (value.isBool() ? "" : "the number ") + toJson(value);
}

// Which members VALUE, an object, has.
std::string membersOf(const Value &value)
{
    std::string names;
    for (const auto &[name, member] : value.toObject())
        names += (names.empty() ? "only \"" : "\", \"") + name;
    return names.empty() ? "an empty object" : "an object with " + names + '"';
}

std::string kindNames()
{
    std::string names;
    for (const NodeKind &kind : kNodeKinds)
        names += (names.empty()                             ? ""
                  : kind.member == kNodeKinds.back().member ? " or "
                                                            : ", ") +
                 std::string(kind.member);
    return names;
}

// How a bare VALUE that stands where a node is taken is written.
std::string writtenAs(const Value &value)
{
    if (value.isList())
        return R"(write {"list": [...]} or {"tuple": [...]})";
    if (value.isString())
        return R"(write {"tensor": "x.npy"} for a file, {"spec": "f32[2,3]=randn"} for a made tensor, )"
               R"({"value": "..."} for the text itself)";
    return R"(write {"value": )" + toJson(value) + '}';
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
    // SUBJECT is what messages call the tree: its file, or "inputs".
    TreeParser(std::string subject, std::filesystem::path base)
        : m_subject(std::move(subject)), m_base(std::move(base))
    {
    }

    Status invalidAt(const std::string &where, const std::string &message) const
    {
        return {ErrorCode::invalidArgument, m_subject + ": " + (where.empty() ? "" : where + ": ") + message};
    }

    Result<InputNode> node(const Value &value, const std::string &where, int depth) const
    {
        if (depth > kMaxDepth)
            return invalidAt(where, "nested deeper than " + std::to_string(kMaxDepth) + " levels");
        if (!value.isObject())
            return invalidAt(where, kindOf(value) + " is given, an object with " + kindNames() + " is taken")
                .withRemedy(writtenAs(value));
        const Result<const NodeKind *> kind = kindAt(value, where);
        if (!kind)
            return kind.error();
        const std::string_view member = (*kind)->member;
        const Value &content = value.at(member);
        const std::string inside = where + '.' + std::string(member);
        if (!isTaken(member, content))
            return wrongContent(**kind, content, inside);
        if (member == "tensor")
            return fileNode(content, value, inside);
        if (member == "image" || member == "audio" || member == "text")
            return preparedNode(member, content, value, where);
        if (member == "spec")
            return specNode(content, inside);
        if (member == "value")
            return leafNode(numberOrSame(content));
        if (member == "dict")
            return dictNode(content, inside, depth);
        return sequenceNode(content, inside, depth);
    }

private:
    static InputNode leafNode(std::variant<Value, TensorSpec, InputFile> leaf)
    {
        InputNode node;
        node.leaf = std::move(leaf);
        return node;
    }

    static bool isTaken(std::string_view member, const Value &content)
    {
        if (member == "dict")
            return content.isObject();
        if (member == "list" || member == "tuple")
            return content.isList();
        if (member == "value")
            return !content.isObject() && !content.isList();
        return content.isString() && !content.toString().empty();
    }

    // What the node says it is: one thing.
    Result<const NodeKind *> kindAt(const Value &value, const std::string &where) const
    {
        const NodeKind *found = nullptr;
        for (const NodeKind &kind : kNodeKinds) {
            const Value *content = value.find(kind.member);
            if (content == nullptr)
                continue;
            if (found != nullptr)
                return invalidAt(where, "has both \"" + std::string(found->member) + "\" and \"" +
                                            std::string(kind.member) + "\", a node is one of them")
                    .withRemedy(dictRemedy(value));
            found = &kind;
        }
        if (found != nullptr)
            return found;
        return invalidAt(where, membersOf(value) + " is given, one with " + kindNames() + " is taken")
            .withRemedy(dictRemedy(value));
    }

    // Who leaves a "dict" out means the members to be keys.
    static std::string dictRemedy(const Value &value)
    {
        std::vector<std::string_view> known;
        for (const NodeKind &kind : kNodeKinds)
            known.push_back(kind.member);
        std::string remedy;
        if (!value.toObject().empty()) {
            const std::string &first = value.toObject().front().first;
            if (const auto near = nearNames(first, known, 1); !near.empty() && near.front() != first)
                remedy = didYouMean(near, "\"", "\"") + ' ';
            remedy += "a dict argument is written {\"dict\": {\"" + first + "\": ...}}";
        } else {
            remedy = R"(an empty dict is written {"dict": {}})";
        }
        return remedy;
    }

    Status wrongContent(const NodeKind &kind, const Value &content, const std::string &inside) const
    {
        const std::string member(kind.member);
        Status status = invalidAt(inside, kindOf(content) + " is given, " + std::string(kind.takes) +
                                              " is taken, as in " + std::string(kind.example));
        if (!content.isObject() || member == "dict")
            return status;
        return std::move(status).withRemedy("a dict argument with the key " + member +
                                            " is written {\"dict\": {\"" + member + "\": ...}}");
    }

    Result<InputNode> fileNode(const Value &file, const Value &whole, const std::string &inside) const
    {
        auto option = parseInputOption(file.toString());
        if (!option || !std::holds_alternative<InputFile>(option->node.leaf) || !option->name.empty())
            return invalidAt(inside, '"' + file.toString() +
                                         "\" does not end in .npy, .npz, .pt, .pth, .bin or "
                                         ".safetensors");
        InputNode result = option->node;
        InputFile &input = std::get<InputFile>(result.leaf);
        if (input.path.is_relative())
            input.path = m_base / input.path;
        if (const Value *entry = whole.find("entry")) {
            if (!entry->isString())
                return invalidAt(inside.substr(0, inside.rfind('.')) + ".entry",
                                 kindOf(*entry) + " is given, the name of a tensor in the file is taken");
            input.entry = entry->toString();
        }
        return result;
    }

    // An image, a sound or a text: what is said beside it are its options, also one by one.
    Result<InputNode> preparedNode(std::string_view member, const Value &file, const Value &whole,
                                   const std::string &where) const
    {
        InputFile input;
        input.path = file.toString();
        input.kind = member == "image"   ? InputFileKind::image
                     : member == "audio" ? InputFileKind::wav
                                         : InputFileKind::text;
        if (input.kind == InputFileKind::text)
            return leafNode(std::move(input));
        if (input.path.is_relative())
            input.path = m_base / input.path;
        const std::span<const std::string_view> known =
            member == "image" ? std::span<const std::string_view>(kImageMembers) : kAudioMembers;
        for (const auto &[name, value] : whole.toObject())
            if (std::ranges::find(known, name) == known.end())
                return unknownOption(name, known, where);
        for (const std::string_view name : known.subspan(1))
            if (const Value *value = whole.find(name)) {
                const Result<std::string> text = optionText(std::string(name), *value, where);
                if (!text)
                    return text.error();
                input.entry += (input.entry.empty() ? "" : "&") + *text;
            }
        return leafNode(std::move(input));
    }

    // KNOWN: the member that has the options, then these.
    Status unknownOption(const std::string &name, std::span<const std::string_view> known,
                         const std::string &where) const
    {
        std::string names;
        for (const std::string_view option : known.subspan(2)) // after "options"
            names += (names.empty() ? "" : ", ") + std::string(option);
        const std::string question = didYouMean(nearNames(name, known.subspan(1), 1), "\"", "\"");
        return invalidAt(where, '"' + name + "\" is no option of \"" + std::string(known.front()) + '"')
            .withRemedy(question + (question.empty() ? "" : " ") + "the options are " + names);
    }

    // "options" as it is, else "NAME=VALUE"; lists with commas.
    Result<std::string> optionText(const std::string &name, const Value &value,
                                   const std::string &where) const
    {
        const auto isPlain = [](const Value &item) {
            return item.isString() || item.isBool() || item.isInt() || item.isDouble();
        };
        const bool isList = value.isList() && std::ranges::all_of(value.toList(), isPlain);
        if (!isPlain(value) && !isList)
            return invalidAt(where + '.' + name,
                             kindOf(value) + " is given, a number, a text or a list of numbers is taken");
        if (name == "options")
            return value.isString()
                       ? Result(value.toString())
                       : Result<std::string>(invalidAt(
                             where + ".options",
                             kindOf(value) + R"( is given, a text such as "resize=256&crop=224" is taken)"));
        std::string text = value.isString() ? value.toString() : toJson(value);
        std::erase_if(text, [](char c) { return c == '[' || c == ']' || c == ' '; });
        return name + '=' + text;
    }

    Result<InputNode> specNode(const Value &spec, const std::string &inside) const
    {
        auto parsed = parseTensorSpec(spec.toString());
        if (!parsed)
            return parsed.error().prefixed(m_subject + ": " + inside);
        return leafNode(*std::move(parsed));
    }

    Result<InputNode> dictNode(const Value &dict, const std::string &inside, int depth) const
    {
        InputNode result;
        result.container = InputNode::Container::dict;
        for (const auto &[key, child] : dict.toObject()) {
            auto parsed = node(child, inside + '.' + key, depth + 1);
            if (!parsed)
                return parsed;
            result.keys.push_back(key);
            result.children.push_back(*std::move(parsed));
        }
        return result;
    }

    Result<InputNode> sequenceNode(const Value &list, const std::string &inside, int depth) const
    {
        InputNode result;
        result.container =
            inside.ends_with(".list") ? InputNode::Container::list : InputNode::Container::tuple;
        for (const Value &child : list.toList()) {
            auto parsed = node(child, inside + '[' + std::to_string(result.children.size()) + ']', depth + 1);
            if (!parsed)
                return parsed;
            result.children.push_back(*std::move(parsed));
        }
        return result;
    }

    std::string m_subject;
    std::filesystem::path m_base;
};

// Of the whole document, before its nodes.
Status checkDocument(const Value &tree, const TreeParser &parser)
{
    const std::string taken = R"(an object with "args" (a list) or "kwargs" (an object) is taken)";
    if (!tree.isObject())
        return parser.invalidAt("", kindOf(tree) + " is given, " + taken);
    const Value *args = tree.find("args");
    const Value *kwargs = tree.find("kwargs");
    if (args != nullptr && !args->isList())
        return parser.invalidAt("args",
                                kindOf(*args) + " is given, a list of the arguments in order is taken");
    if (kwargs != nullptr && !kwargs->isObject())
        return parser.invalidAt("kwargs",
                                kindOf(*kwargs) + " is given, an object of named arguments is taken");
    if (args != nullptr || kwargs != nullptr)
        return Status::ok();
    return parser.invalidAt("", membersOf(tree) + " is given, " + taken);
}

Result<InputArguments> parseTree(const Value &tree, const TreeParser &parser)
{
    if (Status status = checkDocument(tree, parser); !status)
        return status;
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

} // namespace

Result<InputArguments> parseInputTree(const Value &tree, const std::filesystem::path &base)
{
    return parseTree(tree, TreeParser("inputs", base));
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
    return parseTree(inputs != nullptr && inputs->isObject() ? *inputs : *tree,
                     TreeParser(file.string(), file.parent_path()));
}

} // namespace core
