// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/labeling.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace core {
namespace {

std::string typeOf(std::string_view func)
{
    std::string type;
    for (const char c : func)
        if (c != '_')
            type += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return type;
}

std::string_view kindWord(CallKind kind)
{
    switch (kind) {
    case CallKind::input:
        return "input";
    case CallKind::output:
        return "output";
    case CallKind::buffer:
        return "buffer";
    case CallKind::compute:
        break;
    }
    return "op";
}

void number(TraceTables &tables, OpRow &row, std::unordered_map<std::string, std::uint32_t> &counts,
            std::uint32_t &total)
{
    const CallRow &call = tables.calls[row.call.index()];
    const bool compute = row.kind == CallKind::compute;
    const std::string type =
        compute ? typeOf(tables.strings.view(call.func)) : std::string(kindWord(row.kind));
    row.type = tables.strings.intern(type);
    row.typeIndex = ++counts[type];
    std::string layer = type + '_' + std::to_string(row.typeIndex);
    if (compute) {
        row.totalIndex = ++total;
        layer += '_' + std::to_string(row.totalIndex);
    }
    row.layerLabel = tables.strings.intern(layer);
    row.label = tables.strings.intern(layer + ":1");
}

} // namespace

void labelOwnCapture(TraceTables &tables)
{
    std::unordered_map<std::string, std::uint32_t> counts;
    std::uint32_t total = 0;
    std::uint32_t step = 0;
    for (OpRow &row : tables.ops) {
        row.step = row.kind == CallKind::compute ? ++step : 0;
        number(tables, row, counts, total);
    }
    for (OpRow &row : tables.ops)
        if (row.kind == CallKind::output)
            row.step = step;
}

} // namespace core
