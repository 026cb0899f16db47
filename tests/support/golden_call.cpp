// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/golden_call.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace tests {
namespace {

using core::Value;

std::string trimmed(const std::string &text)
{
    const auto begin = text.find_first_not_of(' ');
    return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// Parts between SEPARATOR outside of quotes and brackets.
std::vector<std::string> parts(const std::string &text, char separator)
{
    std::vector<std::string> list(1);
    int depth = 0;
    bool quoted = false;
    for (const char c : text) {
        quoted = quoted != (c == '\'');
        depth += quoted ? 0 : (c == '{' || c == '(' || c == '[') - (c == '}' || c == ')' || c == ']');
        if (c == separator && depth == 0 && !quoted)
            list.emplace_back();
        else
            list.back() += c;
    }
    for (std::string &part : list)
        part = trimmed(part);
    return list;
}

Value parseValue(const std::string &text)
{
    if (text == "None")
        return {};
    if (text == "True" || text == "False")
        return text == "True";
    if (text.starts_with("'"))
        return text.substr(1, text.size() - 2);
    if (text.starts_with("{")) {
        Value mapping = Value::object();
        for (const std::string &item : parts(text.substr(1, text.size() - 2), ',')) {
            const auto pair = parts(item, ':');
            if (pair.size() == 2) {
                const Value key = parseValue(pair[0]);
                mapping.set(key.isString() ? key.toString() : pair[0], parseValue(pair[1]));
            }
        }
        return mapping;
    }
    if (text.starts_with("(") || text.starts_with("[")) {
        Value list = Value::list();
        for (const std::string &item : parts(text.substr(1, text.size() - 2), ','))
            if (!item.empty())
                list.append(parseValue(item));
        return list;
    }
    char *end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0')
        return text;
    if (text.find_first_of(".enaif") == std::string::npos)
        return static_cast<std::int64_t>(std::strtoll(text.c_str(), nullptr, 10));
    return number;
}

bool isSameNumber(double a, double b)
{
    if (std::isnan(a) || std::isnan(b))
        return std::isnan(a) && std::isnan(b);
    if (std::isinf(a) || std::isinf(b))
        return a == b;
    return std::fabs(a - b) <= 1e-6 * std::max(std::fabs(a), std::fabs(b)) + 1e-300;
}

bool asNumber(const Value &value, double &number)
{
    if (value.isNumber()) {
        number = value.toDouble();
        return true;
    }
    const std::string &text = value.toString();
    if (text != "NaN" && text != "Infinity" && text != "-Infinity")
        return false;
    number = text == "NaN" ? std::nan("") : (text[0] == '-' ? -HUGE_VAL : HUGE_VAL);
    return true;
}

} // namespace

GoldenCall parseGoldenCall(const std::string &text)
{
    GoldenCall call;
    const auto open = text.find('(');
    call.helper = text.substr(0, open);
    call.options = Value::object();
    if (open == std::string::npos)
        return call;
    for (const std::string &argument : parts(text.substr(open + 1, text.rfind(')') - open - 1), ',')) {
        const auto equals = parts(argument, '=');
        if (argument.empty())
            continue;
        if (equals.size() == 2)
            call.options.set(equals[0], parseValue(equals[1]));
        else
            call.positional.push_back(parseValue(argument));
    }
    return call;
}

std::vector<std::filesystem::path> goldenFolders(const std::string &directory,
                                                 const std::vector<std::string> &files)
{
    const char *const named = std::getenv("OPSCOPE_GOLDENS");
    const std::vector<std::string> places = named != nullptr
                                                ? std::vector<std::string>{named}
                                                : std::vector<std::string>{directory, directory + "_more"};
    std::vector<std::filesystem::path> folders;
    for (const std::string &place : places)
        for (const auto &entry : std::filesystem::directory_iterator(place))
            if (std::any_of(files.begin(), files.end(), [&](const std::string &file) {
                    return std::filesystem::exists(entry.path() / file);
                }))
                folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end());
    return folders;
}

Value readJson(const std::filesystem::path &path)
{
    std::ifstream file(path, std::ios::binary);
    std::stringstream text;
    text << file.rdbuf();
    const auto value = core::parseJson(text.str(), path.string());
    if (!value) {
        std::fprintf(stderr, "%s\n", value.error().message().c_str());
        std::abort();
    }
    return *value;
}

std::string difference(const Value &expected, const Value &actual, const std::vector<std::string> &ignored,
                       const std::string &path)
{
    double a = 0.0;
    double b = 0.0;
    if (asNumber(expected, a) && asNumber(actual, b))
        return isSameNumber(a, b) ? "" : path + ": expected " + toJson(expected) + ", got " + toJson(actual);
    if (expected.isObject() && actual.isObject()) {
        for (const auto &[key, value] : expected.toObject()) {
            if (std::find(ignored.begin(), ignored.end(), key) != ignored.end())
                continue;
            const std::string found = difference(value, actual.at(key), ignored, path + "." + key);
            if (!found.empty())
                return found;
        }
        return "";
    }
    if (expected.isList() && actual.isList()) {
        for (std::size_t i = 0; i < std::min(expected.toList().size(), actual.toList().size()); ++i) {
            const std::string found = difference(expected.toList()[i], actual.toList()[i], ignored,
                                                 path + "[" + std::to_string(i) + "]");
            if (!found.empty())
                return found;
        }
        return expected.toList().size() == actual.toList().size()
                   ? ""
                   : path + ": expected " + std::to_string(expected.toList().size()) + " items, got " +
                         std::to_string(actual.toList().size()) + " " + toJson(actual).substr(0, 300);
    }
    return expected == actual ? "" : path + ": expected " + toJson(expected) + ", got " + toJson(actual);
}

} // namespace tests
