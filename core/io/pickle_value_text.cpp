// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/pickle_value_text.h"

#include "core/base/utf8.h"

#include <fmt/format.h>

namespace core {
namespace {

constexpr int kDeepestText = 12;
constexpr std::size_t kItems = 20'000;

// Turns a value into a core::Value under a shared budget of items.
class Converter
{
public:
    Value convert(PickleValue value, int depth)
    {
        if (depth > kDeepestText || m_left == 0)
            return Value("...");
        --m_left;
        switch (value.kind()) {
        case PickleKind::none:
            return {};
        case PickleKind::boolean:
            return Value(value.toBool());
        case PickleKind::integer:
            return Value(value.toInt());
        case PickleKind::bigInteger:
        case PickleKind::real:
            return Value(value.toDouble());
        case PickleKind::string:
            return Value(cleanUtf8(value.text()));
        case PickleKind::bytes:
            return Value(fmt::format("<{} bytes>", value.bytes().size()));
        case PickleKind::global:
            return Value(cleanUtf8(value.fullName()));
        case PickleKind::dict:
            return pairs(picklePairs(value), depth);
        case PickleKind::instance:
            return instance(value, depth);
        default:
            return list(value, depth);
        }
    }

private:
    Value list(PickleValue value, int depth)
    {
        Value::List items;
        for (const PickleValue item : pickleItems(value)) {
            items.push_back(convert(item, depth + 1));
            if (m_left == 0)
                break; // the rest is the "..." that was just put there or comes next
        }
        return Value(std::move(items));
    }

    Value pairs(const std::vector<std::pair<PickleValue, PickleValue>> &content, int depth)
    {
        Value::Object object;
        for (const auto &[key, value] : content) {
            const Value name = convert(key, depth + 1);
            object.emplace_back(name.isString() ? name.toString() : toJson(name), convert(value, depth + 1));
            if (m_left == 0)
                break;
        }
        return Value(std::move(object));
    }

    Value instance(PickleValue value, int depth)
    {
        if (const PickleValue number = pickleNumber(value); number.isNumber())
            return convert(number, depth);
        if (value.dictItems().isValid())
            return pairs(picklePairs(value), depth);
        const std::string name = value.fullName();
        if (name == "builtins.frozenset" || name == "builtins.set" || name == "builtins.list" ||
            name == "torch.Size")
            return list(value, depth);
        if (value.state().is(PickleKind::dict) && depth < kDeepestText / 2)
            return pairs(picklePairs(value.state()), depth);
        if (value.state().is(PickleKind::list))
            return list(value.state(), depth);
        const PickleValue first = value.args().item(0);
        if (value.args().size() == 1 && first.is(PickleKind::string))
            return Value(cleanUtf8(first.text()));
        return Value(fmt::format("<{}>", cleanUtf8(name)));
    }

    std::size_t m_left = kItems;
};

} // namespace

Value pickleToValue(PickleValue value)
{
    return Converter().convert(value, 0);
}

std::vector<PickleValue> pickleItems(PickleValue value)
{
    if (value.is(PickleKind::instance))
        value = value.listItems().isValid() ? value.listItems() : value.args().item(0);
    std::vector<PickleValue> items;
    if (value.is(PickleKind::dict) || value.is(PickleKind::persistent))
        return items;
    for (std::size_t i = 0; i < value.size(); ++i)
        items.push_back(value.item(i));
    return items;
}

std::vector<std::string> pickleStrings(PickleValue value)
{
    std::vector<std::string> texts;
    for (const PickleValue item : pickleItems(value))
        if (item.is(PickleKind::string))
            texts.push_back(cleanUtf8(item.text()));
    return texts;
}

std::vector<std::pair<PickleValue, PickleValue>> picklePairs(PickleValue value)
{
    if (value.is(PickleKind::instance))
        value = value.dictItems();
    std::vector<std::pair<PickleValue, PickleValue>> pairs;
    for (std::size_t i = 0; value.is(PickleKind::dict) && i < value.size(); ++i)
        pairs.emplace_back(value.key(i), value.value(i));
    return pairs;
}

PickleValue pickleAttribute(PickleValue object, std::string_view name)
{
    PickleValue state = object.is(PickleKind::instance) ? object.state() : object;
    if (state.is(PickleKind::tuple) && state.size() == 2 && state.item(1).is(PickleKind::dict))
        state = state.item(1);
    return state.find(name);
}

PickleValue pickleNumber(PickleValue value)
{
    if (value.is(PickleKind::instance) && value.args().size() == 1)
        value = value.args().item(0);
    return value.isNumber() || value.is(PickleKind::boolean) ? value : PickleValue();
}

std::string pickleText(PickleValue value)
{
    if (value.is(PickleKind::instance))
        value = value.fullName() == "builtins.getattr" ? value.args().item(1) : value.args().item(0);
    return cleanUtf8(value.text());
}

} // namespace core
