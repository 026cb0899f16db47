// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/pt2_json.h"

#include "core/base/number_word.h"

#include <array>
#include <limits>
#include <utility>

namespace core::pt2 {

namespace {

const std::string kNoText;

constexpr std::size_t kMaxDepth = 256;
constexpr std::size_t kMaxBytes = std::size_t(2) << 30U;

struct DTypeCode
{
    int code;
    std::string_view member; // enum member name, written by some versions
    DType dtype;
};
constexpr std::array kDTypeCodes = {
    DTypeCode{1, "BYTE", DType::uint8},
    DTypeCode{2, "CHAR", DType::int8},
    DTypeCode{3, "SHORT", DType::int16},
    DTypeCode{4, "INT", DType::int32},
    DTypeCode{5, "LONG", DType::int64},
    DTypeCode{6, "HALF", DType::float16},
    DTypeCode{7, "FLOAT", DType::float32},
    DTypeCode{8, "DOUBLE", DType::float64},
    DTypeCode{9, "COMPLEXHALF", DType::complex32},
    DTypeCode{10, "COMPLEXFLOAT", DType::complex64},
    DTypeCode{11, "COMPLEXDOUBLE", DType::complex128},
    DTypeCode{12, "BOOL", DType::boolean},
    DTypeCode{13, "BFLOAT16", DType::bfloat16},
    DTypeCode{28, "UINT16", DType::uint16},
    DTypeCode{29, "FLOAT8E4M3FN", DType::float8_e4m3fn},
    DTypeCode{30, "FLOAT8E5M2", DType::float8_e5m2},
    DTypeCode{31, "FLOAT8E4M3FNUZ", DType::float8_e4m3fnuz},
    DTypeCode{32, "FLOAT8E5M2FNUZ", DType::float8_e5m2fnuz},
    DTypeCode{33, "FLOAT8E8M0FNU", DType::float8_e8m0fnu},
    DTypeCode{34, "UINT32", DType::uint32},
    DTypeCode{35, "UINT64", DType::uint64},
};

bool isTokenByte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

// Puts quotes around NaN, Infinity and -Infinity outside strings. Returns how many there were.
std::size_t quoteNonFiniteTokens(std::string_view text, std::string &out)
{
    std::size_t count = 0;
    std::size_t copied = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '"') {
            for (++i; i < text.size() && text[i] != '"'; ++i)
                if (text[i] == '\\')
                    ++i;
            continue;
        }
        if (text[i] != 'N' && text[i] != 'I')
            continue;
        const std::string_view token = text[i] == 'N' ? "NaN" : "Infinity";
        if (text.substr(i, token.size()) != token ||
            (i + token.size() < text.size() && isTokenByte(text[i + token.size()])))
            continue;
        const std::size_t begin = i > copied && text[i - 1] == '-' ? i - 1 : i;
        out.append(text, copied, begin - copied);
        out += '"';
        out.append(text, begin, i + token.size() - begin);
        out += '"';
        copied = i + token.size();
        i = copied - 1;
        ++count;
    }
    if (count > 0)
        out.append(text, copied);
    return count;
}

// Has the text a bare token at all? A cheap pre-test: most files have none.
bool mayHaveNonFiniteTokens(std::string_view text)
{
    return text.find("NaN") != std::string_view::npos || text.find("Infinity") != std::string_view::npos;
}

Value namedArgument(const std::string &name)
{
    return Value::object({{"as_tensor", Value::object({{"name", name}})}});
}

Value stateSpec(const char *kind, const char *key, const Value::Member &entry)
{
    return Value::object(
        {{kind, Value::object({{"arg", Value::object({{"name", entry.first}})}, {key, entry.second}})}});
}

// 2.1 lists placeholders by role; later versions list one entry per placeholder in graph order.
Value newSignature(const Value &old, const Value &graph)
{
    Value inputs = Value::list();
    for (const Value &input : graph.at("inputs").toList()) {
        const std::string &name = argumentName(input);
        const Value *parameter = old.at("inputs_to_parameters").find(name);
        const Value *buffer = old.at("inputs_to_buffers").find(name);
        if (parameter != nullptr)
            inputs.append(stateSpec("parameter", "parameter_name", {name, *parameter}));
        else if (buffer != nullptr)
            inputs.append(stateSpec("buffer", "buffer_name", {name, *buffer}));
        else
            inputs.append(Value::object({{"user_input", Value::object({{"arg", namedArgument(name)}})}}));
    }
    Value outputs = Value::list();
    for (const Value &output : graph.at("outputs").toList()) {
        const Value *mutated = old.at("buffers_to_mutate").find(argumentName(output));
        if (mutated != nullptr)
            outputs.append(stateSpec("buffer_mutation", "buffer_name", {argumentName(output), *mutated}));
        else
            outputs.append(Value::object({{"user_output", Value::object({{"arg", output}})}}));
    }
    return Value::object({{"input_specs", std::move(inputs)}, {"output_specs", std::move(outputs)}});
}

void readVersions(Document &document)
{
    const Value &schema = document.root.at("schema_version");
    if (schema.isInt()) {
        document.schemaMajor = static_cast<int>(schema.toInt());
    } else {
        document.schemaMajor = static_cast<int>(schema.at("major").toInt());
        document.schemaMinor = static_cast<int>(schema.at("minor").toInt());
    }
    document.torchVersion = document.root.at("torch_version").toString();
    document.dialect = document.root.at("dialect").toString();
    if (const auto &verifiers = document.root.at("verifiers").toList(); !verifiers.empty())
        document.dialect = verifiers.front().toString();
}

} // namespace

Tagged tagged(const Value &value)
{
    static const Value kNone;
    for (const auto &[key, content] : value.toObject())
        if (!content.isNull())
            return {key, &content};
    return {"as_none", &kNone};
}

const std::string &argumentName(const Value &argument)
{
    for (const char *key : {"name", "as_name"})
        if (const Value *name = argument.find(key); name != nullptr && name->isString())
            return name->toString();
    const Tagged content = tagged(argument);
    if (!content.value->isObject())
        return kNoText;
    for (const char *key : {"name", "as_name"})
        if (const Value *name = content.value->find(key); name != nullptr && name->isString())
            return name->toString();
    return kNoText;
}

double toFloat(const Value &value)
{
    return value.isString() ? numberOrWord(value).value_or(std::numeric_limits<double>::quiet_NaN())
                            : value.toDouble();
}

DType dtypeFromCode(const Value &code)
{
    for (const DTypeCode &entry : kDTypeCodes)
        if ((code.isInt() && code.toInt() == entry.code) ||
            (code.isString() && code.toString() == entry.member))
            return entry.dtype;
    return DType::unknown;
}

LayoutCode layoutFromCode(const Value &code)
{
    constexpr std::array kCodes = {LayoutCode::unknown,   LayoutCode::sparseCoo, LayoutCode::sparseCsr,
                                   LayoutCode::sparseCsc, LayoutCode::sparseBsr, LayoutCode::sparseBsc,
                                   LayoutCode::mkldnn,    LayoutCode::strided};
    const std::int64_t number = code.isString() && code.toString() == "Strided" ? 7 : code.toInt(-1);
    return number >= 0 && number < std::int64_t(kCodes.size()) ? kCodes[static_cast<std::size_t>(number)]
                                                               : LayoutCode::unknown;
}

MemoryFormatCode memoryFormatFromCode(const Value &code)
{
    constexpr std::array kCodes = {MemoryFormatCode::unknown, MemoryFormatCode::contiguous,
                                   MemoryFormatCode::channelsLast, MemoryFormatCode::channelsLast3d,
                                   MemoryFormatCode::preserve};
    const std::int64_t number = code.toInt(-1);
    return number >= 0 && number < std::int64_t(kCodes.size()) ? kCodes[static_cast<std::size_t>(number)]
                                                               : MemoryFormatCode::unknown;
}

std::string deviceText(const Value &device)
{
    std::string text = device.at("type").toString();
    if (const Value *index = device.find("index"); index != nullptr && index->isInt())
        text += ':' + std::to_string(index->toInt());
    return text;
}

std::string readableExpression(const std::string &text)
{
    constexpr std::string_view kPrefix = "Symbol('";
    if (!text.starts_with(kPrefix))
        return text;
    const auto end = text.find('\'', kPrefix.size());
    // Only a lone symbol: "Symbol('s0', positive=True, integer=True)".
    if (end == std::string::npos || text.find('(', end) != std::string::npos)
        return text;
    return text.substr(kPrefix.size(), end - kPrefix.size());
}

DocumentTensor readTensorMeta(const Value &entry)
{
    const Value *inner = entry.find("meta"); // 2.1 wraps it
    const Value &meta = inner != nullptr ? *inner : entry;
    DocumentTensor tensor;
    tensor.dtype = dtypeFromCode(meta.at("dtype"));
    tensor.requiresGrad = meta.at("requires_grad").toBool();
    tensor.device = deviceText(meta.at("device"));
    for (const Value &size : meta.at("sizes").toList()) {
        DocumentSize parsed;
        const Tagged content = tagged(size);
        if (content.tag == "as_int") {
            parsed.value = content.value->toInt();
        } else if (content.tag == "as_expr") {
            parsed.expression = readableExpression(content.value->at("expr_str").toString());
            if (const Value &hint = tagged(content.value->at("hint")).value->isInt()
                                        ? *tagged(content.value->at("hint")).value
                                        : content.value->at("hint");
                hint.isInt())
                parsed.hint = hint.toInt();
        }
        tensor.sizes.push_back(std::move(parsed));
    }
    return tensor;
}

Result<Document> parseDocument(std::string_view text, std::string_view name, LoadReport &report)
{
    JsonLimits limits;
    limits.depth = kMaxDepth;
    limits.bytes = kMaxBytes;
    auto parsed = [&]() -> Result<Value> {
        if (std::string quoted; mayHaveNonFiniteTokens(text)) {
            if (const auto count = quoteNonFiniteTokens(text, quoted); count > 0) {
                report.add("nan_token", std::string(name) + " writes " + std::to_string(count) +
                                            (count == 1 ? " number that is" : " numbers that are") +
                                            " not finite as bare words, as older versions of PyTorch do: " +
                                            "read as meant");
                return parseJson(quoted, name, limits);
            }
        }
        return parseJson(text, name, limits);
    }();
    if (!parsed) {
        Status status = parsed.error();
        return status.code() == ErrorCode::limitExceeded ? std::move(status).withDetail("nesting_too_deep")
                                                         : std::move(status).withDetail("bad_json");
    }

    Document document;
    document.root = *std::move(parsed);
    if (!document.graph().at("nodes").isList())
        return Status(ErrorCode::corrupt, std::string(name) + ": no graph_module.graph.nodes")
            .withDetail("bad_program");
    readVersions(document);
    if (document.schemaMajor > kNewestSchemaMajor)
        report.add("newer_schema", std::string(name) + ": schema version " +
                                       std::to_string(document.schemaMajor) + '.' +
                                       std::to_string(document.schemaMinor) + ", this version knows up to " +
                                       std::to_string(kNewestSchemaMajor));
    if (document.signature().find("inputs_to_parameters") != nullptr) {
        Value signature = newSignature(document.signature(), document.graph());
        // at() gives const access; the member is replaced through the owning objects.
        Value module = document.root.at("graph_module");
        module.set("signature", std::move(signature));
        document.root.set("graph_module", std::move(module));
    }
    return document;
}

} // namespace core::pt2
