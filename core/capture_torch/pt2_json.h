// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/dtype.h"
#include "core/base/load_report.h"
#include "core/base/result.h"
#include "core/base/value.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Reading the JSON of torch.export programs: its tagged unions, its enum codes, its generations. No LibTorch
// here.
namespace core::pt2 {

// A tagged union: the one member that is not null (2.1 writes all of them). A union with nothing but nulls is
// as_none.
struct Tagged
{
    std::string_view tag;
    const Value *value = nullptr; // never null
};
Tagged tagged(const Value &value);

// The name that an argument refers to or defines ({"as_tensor": {"name": ..}}, {"as_sym_int": {"as_name":
// ..}},
// {"name": ..}); empty when it names none.
const std::string &argumentName(const Value &argument);

// A number as any generation writes it: "Infinity", "-Infinity" and "NaN" are strings since 2.7.
double toFloat(const Value &value);

// torch.export's own codes, which are not those of c10. unknown: a code that this version does not know.
DType dtypeFromCode(const Value &code);
enum class LayoutCode { unknown, strided, sparseCoo, sparseCsr, sparseCsc, sparseBsr, sparseBsc, mkldnn };
LayoutCode layoutFromCode(const Value &code);
enum class MemoryFormatCode { unknown, contiguous, channelsLast, channelsLast3d, preserve };
MemoryFormatCode memoryFormatFromCode(const Value &code);

// "cuda:0", "cpu"; empty when there is none.
std::string deviceText(const Value &device);

// A size of a tensor: a number, or an expression with the value it had at export (hint).
struct DocumentSize
{
    std::optional<std::int64_t> value;
    std::string expression; // "s0"; empty for a fixed size
    std::optional<std::int64_t> hint;

    bool isDynamic() const { return !value; }
};
struct DocumentTensor
{
    DType dtype = DType::unknown;
    std::vector<DocumentSize> sizes;
    bool requiresGrad = false;
    std::string device;
};
DocumentTensor readTensorMeta(const Value &meta);

// The readable form of a symbolic expression: srepr text of 2.7 and later is reduced to its symbol when it is
// one, otherwise shown as written.
std::string readableExpression(const std::string &text);

// A program's JSON document, brought to one form: signature as input_specs and output_specs, whatever wrote
// it.
struct Document
{
    Value root;
    int schemaMajor = 0;
    int schemaMinor = 0;
    std::string torchVersion; // "2.15.0"; empty when the file does not say
    std::string dialect;      // "TRAINING", "ATEN"; empty when the file does not say

    const Value &graphModule() const { return root.at("graph_module"); }
    const Value &graph() const { return graphModule().at("graph"); }
    const Value &signature() const { return graphModule().at("signature"); }
};

// Accepts the bare NaN and Infinity tokens of 2.3 and 2.5 (note nan_token). Errors: corrupt, or limitExceeded
// with detail nesting_too_deep. Notes: nan_token, newer_schema.
Result<Document> parseDocument(std::string_view text, std::string_view name, LoadReport &report);

inline constexpr int kNewestSchemaMajor = 8;

} // namespace core::pt2
