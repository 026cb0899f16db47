// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture/input_spec.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

namespace core {

namespace {

constexpr std::int64_t kMaxElements = std::int64_t(1) << 40;
constexpr std::size_t kMaxDimensions = 64;

struct FillName
{
    std::string_view name;
    TensorFill fill;
};
constexpr std::array kFillNames = {
    FillName{"zeros", TensorFill::zeros},   FillName{"ones", TensorFill::ones},
    FillName{"arange", TensorFill::arange}, FillName{"eye", TensorFill::eye},
    FillName{"randn", TensorFill::randn},   FillName{"rand", TensorFill::rand}};

std::string_view trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string quoted(std::string_view text)
{
    return '"' + std::string(text) + '"';
}

Status invalid(std::string message)
{
    return {ErrorCode::invalidArgument, std::move(message)};
}

std::optional<std::int64_t> parseInteger(std::string_view text)
{
    text = trimmed(text);
    if (text.starts_with('+'))
        text.remove_prefix(1);
    std::int64_t value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || result.ec != std::errc() || result.ptr != text.data() + text.size())
        return std::nullopt;
    return value;
}

std::optional<double> parseNumber(std::string_view text)
{
    text = trimmed(text);
    if (text.starts_with('+'))
        text.remove_prefix(1);
    double value = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || result.ec != std::errc() || result.ptr != text.data() + text.size())
        return std::nullopt;
    return value;
}

Result<std::vector<std::int64_t>> parseShape(std::string_view text, std::string_view whole)
{
    std::vector<std::int64_t> shape;
    std::int64_t elements = 1;
    while (!trimmed(text).empty()) {
        const auto comma = text.find(',');
        const std::string_view part = text.substr(0, comma);
        const auto size = parseInteger(part);
        if (!size || *size < 0)
            return invalid("input " + quoted(whole) + ": size " + quoted(trimmed(part)) +
                           " is no whole number of 0 or more");
        if (*size != 0 && elements > kMaxElements / *size)
            return invalid("input " + quoted(whole) + ": more than " + std::to_string(kMaxElements) +
                           " elements");
        elements *= *size;
        shape.push_back(*size);
        if (shape.size() > kMaxDimensions)
            return invalid("input " + quoted(whole) + ": more than " + std::to_string(kMaxDimensions) +
                           " dimensions");
        if (comma == std::string_view::npos)
            break;
        text.remove_prefix(comma + 1);
    }
    return shape;
}

// "randint(LOW,HIGH)" or "randint(HIGH)".
Status parseRandint(std::string_view text, TensorSpec &spec, std::string_view whole)
{
    const auto open = text.find('(');
    if (open == std::string_view::npos || text.back() != ')')
        return invalid("input " + quoted(whole) + ": randint needs its limits, as in randint(0,100)");
    const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
    const auto comma = inside.find(',');
    const auto low = comma == std::string_view::npos ? std::optional<std::int64_t>(0)
                                                     : parseInteger(inside.substr(0, comma));
    const auto high = parseInteger(comma == std::string_view::npos ? inside : inside.substr(comma + 1));
    if (!low || !high || *low >= *high)
        return invalid("input " + quoted(whole) +
                       ": randint takes two whole numbers, the first below the second");
    spec.fill = TensorFill::randint;
    spec.low = *low;
    spec.high = *high;
    return Status::ok();
}

Status parseFill(std::string_view text, TensorSpec &spec, std::string_view whole)
{
    for (const FillName &entry : kFillNames)
        if (entry.name == text) {
            spec.fill = entry.fill;
            return Status::ok();
        }
    if (text.starts_with("randint"))
        return parseRandint(text, spec, whole);
    if (text.starts_with("full(") && text.ends_with(")"))
        text = text.substr(5, text.size() - 6);
    if (text == "true" || text == "True" || text == "false" || text == "False") {
        spec.fill = TensorFill::full;
        spec.value = (text[0] == 't' || text[0] == 'T') ? 1.0 : 0.0;
        return Status::ok();
    }
    const auto number = parseNumber(text);
    if (!number)
        return invalid("input " + quoted(whole) + ": " + quoted(text) +
                       " is none of zeros, ones, arange, eye, randn, rand, randint(LOW,HIGH), a value");
    spec.fill = TensorFill::full;
    spec.value = *number;
    if (const auto exact = parseInteger(text); exact && std::abs(spec.value) >= 0x1p53)
        spec.exact = exact;
    return Status::ok();
}

Status checkFill(const TensorSpec &spec, std::string_view whole)
{
    const bool real = isFloating(spec.dtype) || isComplex(spec.dtype);
    if ((spec.fill == TensorFill::randn || spec.fill == TensorFill::rand) && !real)
        return invalid("input " + quoted(whole) + ": " + std::string(dtypeName(spec.dtype)) +
                       " cannot be filled with random fractions, use randint(LOW,HIGH)");
    if (spec.fill == TensorFill::full && !real &&
        (!std::isfinite(spec.value) || spec.value != std::floor(spec.value)))
        return invalid("input " + quoted(whole) + ": " + formatDouble(spec.value) +
                       " is no whole number for " + std::string(dtypeName(spec.dtype)));
    if (spec.fill == TensorFill::full && !real && std::abs(spec.value) >= 0x1p53 && !spec.exact)
        return invalid("input " + quoted(whole) + ": " + formatDouble(spec.value) + " does not fit int64");
    if (spec.fill == TensorFill::eye && spec.shape.size() < 2)
        return invalid("input " + quoted(whole) + ": eye needs 2 dimensions, the shape has " +
                       std::to_string(spec.shape.size()));
    return Status::ok();
}

} // namespace

Result<TensorSpec> parseTensorSpec(std::string_view text)
{
    const std::string_view whole = trimmed(text);
    const auto open = whole.find('[');
    if (open == std::string_view::npos)
        return invalid("input " + quoted(whole) + ": no \"[\" after the dtype");
    const auto dtype = dtypeFromName(trimmed(whole.substr(0, open)));
    if (!dtype || *dtype == DType::unknown)
        return invalid("input " + quoted(whole) + ": " + quoted(trimmed(whole.substr(0, open))) +
                       " is no dtype");
    if (isQuantized(*dtype))
        return invalid("input " + quoted(whole) + ": a quantized tensor cannot be specified");
    const auto close = whole.find(']', open);
    if (close == std::string_view::npos)
        return invalid("input " + quoted(whole) + ": the shape has no \"]\"");

    TensorSpec spec;
    spec.dtype = *dtype;
    auto shape = parseShape(whole.substr(open + 1, close - open - 1), whole);
    if (!shape)
        return shape.error();
    spec.shape = *std::move(shape);
    spec.fill = isFloating(*dtype) || isComplex(*dtype) ? TensorFill::randn : TensorFill::zeros;

    const std::string_view rest = trimmed(whole.substr(close + 1));
    if (!rest.empty()) {
        if (rest.front() != '=')
            return invalid("input " + quoted(whole) + ": " + quoted(rest) +
                           " after the shape, expected \"=\"");
        if (Status status = parseFill(trimmed(rest.substr(1)), spec, whole); !status)
            return status;
    }
    if (Status status = checkFill(spec, whole); !status)
        return status;
    return spec;
}

std::string formatTensorSpec(const TensorSpec &spec)
{
    std::string text(dtypeShortName(spec.dtype));
    text += '[';
    for (std::size_t i = 0; i < spec.shape.size(); ++i)
        text += (i == 0 ? "" : ",") + std::to_string(spec.shape[i]);
    text += "]=";
    if (spec.fill == TensorFill::randint)
        return text + "randint(" + std::to_string(spec.low) + ',' + std::to_string(spec.high) + ')';
    if (spec.fill == TensorFill::full) {
        text += spec.exact ? std::to_string(*spec.exact) : formatDouble(spec.value);
        return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
    }
    for (const FillName &entry : kFillNames)
        if (entry.fill == spec.fill)
            text += entry.name;
    return text;
}

namespace {

std::optional<InputFileKind> fileKind(const std::filesystem::path &path)
{
    const std::string suffix = path.extension().string();
    if (suffix == ".npy")
        return InputFileKind::npy;
    if (suffix == ".npz")
        return InputFileKind::npz;
    if (suffix == ".pt" || suffix == ".pth" || suffix == ".bin")
        return InputFileKind::torchSave;
    if (suffix == ".safetensors")
        return InputFileKind::safetensors;
    constexpr std::array<std::string_view, 10> kImages = {".png",  ".jpg", ".jpeg", ".bmp", ".gif",
                                                          ".webp", ".tif", ".tiff", ".ppm", ".pgm"};
    std::string lower = suffix;
    for (char &c : lower)
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (std::find(kImages.begin(), kImages.end(), lower) != kImages.end())
        return InputFileKind::image;
    if (lower == ".wav")
        return InputFileKind::wav;
    return std::nullopt;
}

bool isPrepared(InputFileKind kind)
{
    return kind == InputFileKind::image || kind == InputFileKind::wav;
}

Result<InputFile> parseFile(std::string_view text)
{
    InputFile file;
    constexpr std::string_view kText = "text:";
    if (text.starts_with(kText)) {
        file.path = std::string(text.substr(kText.size()));
        file.kind = InputFileKind::text;
        return file;
    }
    file.path = std::filesystem::path(text);
    auto kind = fileKind(file.path);
    if (const auto mark = text.rfind('?'); !kind && mark != std::string_view::npos) {
        const std::filesystem::path path(text.substr(0, mark));
        if (const auto named = fileKind(path); named && isPrepared(*named)) {
            file.path = path;
            file.entry = std::string(text.substr(mark + 1));
            kind = named;
        }
    }
    if (const auto colon = text.rfind(':'); !kind && colon != std::string_view::npos) {
        file.path = std::filesystem::path(text.substr(0, colon));
        file.entry = std::string(text.substr(colon + 1));
        kind = fileKind(file.path);
    }
    if (!kind)
        return invalid(
            "input " + quoted(text) +
            ": neither a specification such as f32[2,3]=randn, nor a value, nor a file that ends in "
            ".npy, .npz, .pt, .pth, .bin, .safetensors, .png, .jpg or .wav");
    file.kind = *kind;
    return file;
}

bool isSpecification(std::string_view text)
{
    const auto open = text.find('[');
    return open != std::string_view::npos && dtypeFromName(trimmed(text.substr(0, open))).has_value();
}

std::optional<Value> parseScalar(std::string_view text)
{
    if (text == "true" || text == "True")
        return Value(true);
    if (text == "false" || text == "False")
        return Value(false);
    if (text == "none" || text == "None" || text == "null")
        return Value(nullptr);
    if (const auto integer = parseInteger(text))
        return Value(*integer);
    if (const auto number = parseNumber(text))
        return Value(*number);
    return std::nullopt;
}

Result<InputNode> parseUnnamed(std::string_view text)
{
    InputNode node;
    if (isSpecification(text)) {
        auto spec = parseTensorSpec(text);
        if (!spec)
            return spec.error();
        node.leaf = *std::move(spec);
    } else if (auto scalar = parseScalar(text)) {
        node.leaf = *std::move(scalar);
    } else {
        auto file = parseFile(text);
        if (!file)
            return file.error();
        node.leaf = *std::move(file);
    }
    return node;
}

bool isIdentifier(std::string_view text)
{
    if (text.empty() || (text[0] >= '0' && text[0] <= '9'))
        return false;
    for (const char c : text)
        if (!(c == '_' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
              (c >= 'A' && c <= 'Z')))
            return false;
    return true;
}

} // namespace

Result<NamedInput> parseInputOption(std::string_view text)
{
    text = trimmed(text);
    NamedInput input;
    if (!isSpecification(text)) {
        const auto equals = text.find('=');
        if (equals != std::string_view::npos && isIdentifier(trimmed(text.substr(0, equals)))) {
            input.name = std::string(trimmed(text.substr(0, equals)));
            text = trimmed(text.substr(equals + 1));
        }
    }
    auto node = parseUnnamed(text);
    if (!node)
        return input.name.empty() ? node.error() : node.error().prefixed(input.name);
    input.node = *std::move(node);
    return input;
}

} // namespace core
