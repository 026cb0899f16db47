// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/record_fields.h"

#include "core/io/record_json.h"
#include "core/trace/tensor_reader.h"

#include <array>
#include <limits>

namespace core::record_fields {
namespace {

using simdjson::SUCCESS;

// The enumerator among COUNT whose word is the element's text.
template <class Enum>
bool readWord(Element from, int count, std::string_view (*word)(Enum), Enum &to)
{
    std::string_view text;
    if (from.get(text) != SUCCESS)
        return false;
    for (int i = 0; i < count; ++i)
        if (word(static_cast<Enum>(i)) == text) {
            to = static_cast<Enum>(i);
            return true;
        }
    return false;
}

template <class Record>
bool readObject(Element from, std::span<const Field<Record>> fields, Record &to)
{
    simdjson::dom::object object;
    std::string_view badKey;
    return from.get(object) == SUCCESS && readFields(object, fields, to, badKey);
}

#define FIELD(RECORD, KEY, MEMBER)                                                                           \
    Field<RECORD>                                                                                            \
    {                                                                                                        \
        KEY, [](RECORD &record, Element from) { return read(from, record.MEMBER); }                          \
    }

constexpr std::array kStatsFields = {
    FIELD(TensorStats, "n", elements),
    FIELD(TensorStats, "nan", nan),
    FIELD(TensorStats, "pos_inf", posInf),
    FIELD(TensorStats, "neg_inf", negInf),
    FIELD(TensorStats, "zero", zero),
    FIELD(TensorStats, "subnormal", subnormal),
    FIELD(TensorStats, "min", min),
    FIELD(TensorStats, "max", max),
    FIELD(TensorStats, "abs_min", absMin),
    FIELD(TensorStats, "abs_max", absMax),
    FIELD(TensorStats, "mean", mean),
    FIELD(TensorStats, "std", std),
    FIELD(TensorStats, "first_nan", firstNan),
    FIELD(TensorStats, "first_pos_inf", firstPosInf),
    FIELD(TensorStats, "first_neg_inf", firstNegInf),
};

constexpr std::array kPayloadFields = {
    Field<PayloadRecord>{"state",
                         [](PayloadRecord &record, Element from) {
                             constexpr int kStates = static_cast<int>(PayloadState::unknown) + 1;
                             return readWord(from, kStates, payloadStateName, record.state);
                         }},
    FIELD(PayloadRecord, "entry", entry),
    FIELD(PayloadRecord, "offset", offset),
    FIELD(PayloadRecord, "bytes", bytes),
    FIELD(PayloadRecord, "contiguous", contiguous),
};

constexpr std::array kOperandsFields = {
    FIELD(OperandsAt, "at", at),
    FIELD(OperandsAt, "values", values),
};

constexpr std::array kArgumentFields = {
    FIELD(ArgumentRecord, "name", name),
    Field<ArgumentRecord>{"tensors",
                          [](ArgumentRecord &record, Element from) { return readIds(from, record.tensors); }},
    FIELD(ArgumentRecord, "list", isTensorList),
    FIELD(ArgumentRecord, "written", isWritten),
    FIELD(ArgumentRecord, "value", value),
};

constexpr std::array kImportedFields = {
    FIELD(ImportedRow, "label", label),
    FIELD(ImportedRow, "layer", layerLabel),
    FIELD(ImportedRow, "type", type),
    FIELD(ImportedRow, "raw_label", rawLabel),
    FIELD(ImportedRow, "type_index", typeIndex),
    FIELD(ImportedRow, "total_index", totalIndex),
    FIELD(ImportedRow, "pass", pass),
    FIELD(ImportedRow, "passes", passCount),
    FIELD(ImportedRow, "step", step),
    FIELD(ImportedRow, "parents", parents),
    FIELD(ImportedRow, "children", children),
    FIELD(ImportedRow, "flops_forward", flopsForward),
    FIELD(ImportedRow, "flops_backward", flopsBackward),
    FIELD(ImportedRow, "macs_forward", macsForward),
    FIELD(ImportedRow, "memory", memory),
    FIELD(ImportedRow, "atomic_module", atomicModule),
    FIELD(ImportedRow, "output_of", outputOfModuleCalls),
    FIELD(ImportedRow, "attributes", attributes),
};

#undef FIELD

} // namespace

bool read(Element from, bool &to)
{
    return from.get(to) == SUCCESS;
}

bool read(Element from, std::uint32_t &to)
{
    std::uint64_t value = 0;
    if (from.get(value) != SUCCESS || value > std::numeric_limits<std::uint32_t>::max())
        return false;
    to = static_cast<std::uint32_t>(value);
    return true;
}

bool read(Element from, std::uint64_t &to)
{
    return from.get(to) == SUCCESS;
}

bool read(Element from, std::int64_t &to)
{
    return from.get(to) == SUCCESS;
}

bool read(Element from, double &to)
{
    if (from.get(to) == SUCCESS)
        return true;
    std::string_view text;
    if (from.get(text) != SUCCESS)
        return false;
    if (text == "NaN")
        to = std::numeric_limits<double>::quiet_NaN();
    else if (text == "Infinity")
        to = std::numeric_limits<double>::infinity();
    else if (text == "-Infinity")
        to = -std::numeric_limits<double>::infinity();
    else
        return false;
    return true;
}

bool read(Element from, std::string &to)
{
    std::string_view text;
    if (from.get(text) != SUCCESS)
        return false;
    to.assign(text);
    return true;
}

bool read(Element from, Value &to)
{
    using simdjson::dom::element_type;
    switch (from.type()) {
    case element_type::ARRAY:
        for (const Element item : simdjson::dom::array(from.get_array().value_unsafe()))
            read(item, to.asList().emplace_back());
        to.asList();
        break;
    case element_type::OBJECT:
        for (const auto [key, item] : simdjson::dom::object(from.get_object().value_unsafe()))
            read(item, to.asObject().emplace_back(std::string(key), Value()).second);
        to.asObject();
        break;
    case element_type::INT64:
        to = Value(static_cast<long>(from.get_int64().value_unsafe()));
        break;
    case element_type::UINT64:
        to = Value(static_cast<double>(from.get_uint64().value_unsafe()));
        break;
    case element_type::DOUBLE:
        to = Value(from.get_double().value_unsafe());
        break;
    case element_type::STRING:
        to = Value(std::string_view(from.get_string().value_unsafe()));
        break;
    case element_type::BOOL:
        to = Value(bool(from.get_bool().value_unsafe()));
        break;
    case element_type::NULL_VALUE:
        to = Value();
        break;
    }
    return true;
}

bool read(Element from, DType &to)
{
    std::string_view text;
    if (from.get(text) != SUCCESS)
        return false;
    // A name of a later version stays unknown; the rest of the record is still good.
    to = dtypeFromName(text).value_or(DType::unknown);
    return true;
}

bool read(Element from, TensorStats &to)
{
    return readObject<TensorStats>(from, kStatsFields, to);
}

bool read(Element from, PayloadRecord &to)
{
    return readObject<PayloadRecord>(from, kPayloadFields, to);
}

bool read(Element from, OperandsAt &to)
{
    return readObject<OperandsAt>(from, kOperandsFields, to);
}

bool read(Element from, ArgumentRecord &to)
{
    return readObject<ArgumentRecord>(from, kArgumentFields, to);
}

bool read(Element from, ImportedRow &to)
{
    return readObject<ImportedRow>(from, kImportedFields, to);
}

bool read(Element from, GradEdge &to)
{
    simdjson::dom::array pair;
    return from.get(pair) == SUCCESS && pair.size() == 2 && readId(pair.at(0).value_unsafe(), to.node) &&
           read(pair.at(1).value_unsafe(), to.input);
}

bool read(Element from, FrameOrigin &to)
{
    return readWord(from, static_cast<int>(FrameOrigin::generated) + 1, frameOriginWord, to);
}

bool read(Element from, TensorRole &to)
{
    return readWord(from, static_cast<int>(TensorRole::gradient) + 1, tensorRoleWord, to);
}

bool read(Element from, CallKind &to)
{
    return readWord(from, static_cast<int>(CallKind::buffer) + 1, callKindWord, to);
}

bool readId(Element from, RecordId &to)
{
    if (from.is_null()) {
        to = kNoRecord;
        return true;
    }
    return read(from, to);
}

bool readIds(Element from, std::vector<RecordId> &to)
{
    simdjson::dom::array items;
    if (from.get(items) != SUCCESS)
        return false;
    to.clear();
    for (const Element item : items)
        if (!readId(item, to.emplace_back()))
            return false;
    return true;
}

bool isPossibleShape(std::span<const std::int64_t> shape)
{
    constexpr std::size_t kMostDimensions = 64;
    std::int64_t elements = 1;
    for (const std::int64_t extent : shape)
        if (extent < 0 || __builtin_mul_overflow(elements, extent == 0 ? 1 : extent, &elements))
            return false;
    return shape.size() <= kMostDimensions;
}

} // namespace core::record_fields
