// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/value.h"
#include "core/trace/records.h"

#include <simdjson.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// From parsed JSON to the members of records: one read() a type, and tables of them. Internal to the native
// reader.
namespace core::record_fields {

using Element = simdjson::dom::element;

// False when the element is of another type or out of the member's range; the member is then untouched.
bool read(Element from, bool &to);
bool read(Element from, std::uint32_t &to);
bool read(Element from, std::uint64_t &to);
bool read(Element from, std::int64_t &to);
bool read(Element from, double &to); // also "NaN", "Infinity", "-Infinity"
bool read(Element from, std::string &to);
bool read(Element from, Value &to);
bool read(Element from, DType &to);
bool read(Element from, TensorStats &to);
bool read(Element from, PayloadRecord &to);
bool read(Element from, OperandsAt &to);
bool read(Element from, ArgumentRecord &to);
bool read(Element from, ImportedRow &to);
bool read(Element from, GradEdge &to);
bool read(Element from, FrameOrigin &to);
bool read(Element from, TensorRole &to);
bool read(Element from, CallKind &to);
bool readId(Element from, RecordId &to); // a number or null
bool readIds(Element from, std::vector<RecordId> &to);

template <class T>
bool read(Element from, std::optional<T> &to)
{
    return read(from, to.emplace());
}

template <class T>
bool read(Element from, std::vector<T> &to)
{
    simdjson::dom::array items;
    if (from.get(items) != simdjson::SUCCESS)
        return false;
    to.clear();
    for (const Element item : items)
        if (!read(item, to.emplace_back()))
            return false;
    return true;
}

// One member of a record: its key and what takes it.
template <class Record>
struct Field
{
    std::string_view key;
    bool (*set)(Record &record, Element from);
};

// Sets the members that FIELDS knows. Keys mostly come in the order of the table, so the search goes on where
// the last one ended. False with BADKEY set when a member does not fit.
template <class Record>
bool readFields(simdjson::dom::object from, std::span<const Field<Record>> fields, Record &record,
                std::string_view &badKey)
{
    std::size_t next = 0;
    for (const auto [key, element] : from) {
        for (std::size_t tried = 0; tried < fields.size(); ++tried) {
            const std::size_t at = next + tried < fields.size() ? next + tried : next + tried - fields.size();
            if (fields[at].key != key)
                continue;
            if (!fields[at].set(record, element)) {
                badKey = fields[at].key;
                return false;
            }
            next = at + 1 == fields.size() ? 0 : at + 1;
            break;
        }
    }
    return true;
}

// At most 64 dimensions, none negative, an element count that fits.
bool isPossibleShape(std::span<const std::int64_t> shape);

} // namespace core::record_fields
