// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/arguments.h"

#include "core/base/near_names.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace app {
namespace {

using core::ErrorCode;
using core::Result;
using core::Status;
using core::Value;

const OptionSpec *specOf(std::span<const OptionSpec> options, std::string_view name)
{
    const auto found = std::ranges::find(options, name, &OptionSpec::name);
    return found == options.end() ? nullptr : &*found;
}

const OptionSpec *specOfLetter(std::span<const OptionSpec> options, char letter)
{
    const auto found = std::ranges::find(options, letter, &OptionSpec::letter);
    return found == options.end() ? nullptr : &*found;
}

bool isOptionWord(std::string_view word)
{
    return word.starts_with("--") && word.size() > 2;
}

bool isLetterWord(std::string_view word)
{
    const auto isLetter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    return word.size() == 2 && word[0] == '-' && isLetter(word[1]);
}

Status usage(std::string message)
{
    return Status(ErrorCode::invalidArgument, std::move(message));
}

Status unknownOption(std::string_view word, std::span<const OptionSpec> options)
{
    Status status = usage("there is no option " + std::string(word));
    std::vector<std::string_view> names;
    for (const OptionSpec &option : options)
        names.push_back(option.name);
    const std::string name = isOptionWord(word) ? dashed(word.substr(2)) : std::string();
    const std::vector<std::string_view> near = core::nearNames(name, names, 1);
    return std::move(status).withRemedy(core::didYouMean(near, "--"));
}

std::optional<double> parseDouble(std::string_view text)
{
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

std::optional<std::int64_t> parseInteger(std::string_view text)
{
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

} // namespace

std::string dashed(std::string_view name)
{
    std::string out(name);
    std::ranges::replace(out, '_', '-');
    return out;
}

Result<Arguments> Arguments::parse(std::span<const std::string_view> words,
                                   std::span<const OptionSpec> options, bool anyOption)
{
    Arguments parsed;
    bool optionsEnded = false;
    for (std::size_t at = 0; at < words.size(); ++at) {
        const std::string_view word = words[at];
        if (!optionsEnded && word == "--") {
            optionsEnded = true;
        } else if (!optionsEnded && (isOptionWord(word) || isLetterWord(word))) {
            if (Status status = parsed.takeOption(words, at, options, anyOption); !status)
                return status;
        } else {
            parsed.m_operands.emplace_back(word);
        }
    }
    return parsed;
}

// Reads the option at words[at] with its value and leaves AT on the last word it used.
Status Arguments::takeOption(std::span<const std::string_view> words, std::size_t &at,
                             std::span<const OptionSpec> options, bool anyOption)
{
    const std::string_view word = words[at];
    const std::size_t equals = isOptionWord(word) ? word.find('=') : std::string_view::npos;
    const OptionSpec *spec = nullptr;
    std::string name;
    if (isOptionWord(word)) {
        name = dashed(word.substr(2, equals == std::string_view::npos ? equals : equals - 2));
        spec = specOf(options, name);
    } else if ((spec = specOfLetter(options, word[1])) != nullptr) {
        name = spec->name;
    }
    if (spec == nullptr && (!anyOption || name.empty()))
        return unknownOption(word.substr(0, equals), options);
    if (spec != nullptr && !spec->repeats && has(name))
        return usage("option --" + name + " is given twice");
    if (spec != nullptr && spec->value.empty()) {
        if (equals != std::string_view::npos)
            return usage("option --" + name + " takes no value");
        keep(spec, name, "true");
        return Status::ok();
    }
    if (equals != std::string_view::npos) {
        keep(spec, name, word.substr(equals + 1));
        return Status::ok();
    }
    const bool hasNext = at + 1 < words.size();
    if (spec == nullptr && (!hasNext || isOptionWord(words[at + 1]))) {
        keep(spec, name, "true");
        return Status::ok();
    }
    // A word that is an option of this command is no value: it was forgotten.
    if (!hasNext ||
        (isOptionWord(words[at + 1]) && specOf(options, dashed(words[at + 1].substr(2))) != nullptr))
        return usage("option --" + name + " needs a value");
    keep(spec, name, words[++at]);
    return Status::ok();
}

void Arguments::keep(const OptionSpec *spec, const std::string &name, std::string_view value)
{
    m_options.push_back({name, std::string(value), spec == nullptr});
}

const std::string *Arguments::find(std::string_view name) const
{
    for (auto option = m_options.rbegin(); option != m_options.rend(); ++option)
        if (option->name == name)
            return &option->value;
    return nullptr;
}

std::string_view Arguments::text(std::string_view name) const
{
    const std::string *value = find(name);
    return value == nullptr ? std::string_view() : std::string_view(*value);
}

std::vector<std::string> Arguments::texts(std::string_view name) const
{
    std::vector<std::string> out;
    for (const GivenOption &option : m_options)
        if (option.name == name)
            out.push_back(option.value);
    return out;
}

Result<std::optional<std::int64_t>> Arguments::integer(std::string_view name, std::int64_t least,
                                                       std::int64_t most) const
{
    const std::string *text = find(name);
    if (text == nullptr)
        return std::optional<std::int64_t>();
    const std::optional<std::int64_t> value = parseInteger(*text);
    const bool tooLong = !value && !text->empty() && text->find_first_not_of("0123456789") == text->npos;
    if (!tooLong && (!value || *value < least))
        return usage("option --" + std::string(name) + " is \"" + *text +
                     "\", it takes a whole number of at least " + std::to_string(least));
    if (tooLong || *value > most)
        return usage("option --" + std::string(name) + " is " + *text + ", it takes at most " +
                     std::to_string(most));
    return value;
}

Result<Value> Arguments::helperOptions() const
{
    Value out = Value::object();
    for (const GivenOption &option : m_options) {
        if (!option.isHelpers)
            continue;
        std::string key = option.name;
        std::ranges::replace(key, '-', '_');
        if (out.find(key) != nullptr)
            return usage("option --" + option.name + " is given twice");
        Result<Value> value = parseOptionValue(option.name, option.value);
        if (!value)
            return value.error();
        out.set(key, std::move(*value));
    }
    return out;
}

Result<Value> parseOptionValue(std::string_view name, std::string_view text)
{
    if (text == "true" || text == "True")
        return Value(true);
    if (text == "false" || text == "False")
        return Value(false);
    if (text == "null" || text == "none" || text == "None")
        return Value();
    if (text == "NaN" || text == "nan")
        return Value(std::numeric_limits<double>::quiet_NaN());
    if (text == "Infinity" || text == "inf" || text == "Inf")
        return Value(std::numeric_limits<double>::infinity());
    if (text == "-Infinity" || text == "-inf" || text == "-Inf")
        return Value(-std::numeric_limits<double>::infinity());
    if (text.starts_with('{') || text.starts_with('[') || text.starts_with('"')) {
        Result<Value> value = core::parseJson(text, "option --" + std::string(name));
        if (!value)
            return usage(value.error().message());
        return value;
    }
    if (const std::optional<std::int64_t> integer = parseInteger(text))
        return Value(*integer);
    if (const std::optional<double> number = parseDouble(text))
        return Value(*number);
    return Value(text);
}

} // namespace app
