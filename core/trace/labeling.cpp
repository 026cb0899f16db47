// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/labeling.h"

#include "core/trace/op_names.h"
#include "core/trace/pass_grouping.h"

#include <string>
#include <unordered_map>

namespace core {
namespace {

std::string typeOf(const TraceTables &tables, const OpRow &row)
{
    switch (row.kind) {
    case CallKind::input:
        return "input";
    case CallKind::output:
        return "output";
    case CallKind::buffer:
        return "buffer";
    case CallKind::compute:
        break;
    }
    return labelType(tables.strings.view(tables.calls[row.call.index()].func));
}

void giveSteps(TraceTables &tables)
{
    std::uint32_t step = 0;
    for (OpRow &row : tables.ops)
        row.step = row.kind == CallKind::compute ? ++step : 0;
    for (OpRow &row : tables.ops)
        if (row.kind == CallKind::output)
            row.step = step;
}

class Numbering
{
public:
    explicit Numbering(TraceTables &tables) : m_tables(tables) {}

    // ROW opens a new layer.
    void open(OpRow &row)
    {
        const std::string type = typeOf(m_tables, row);
        row.type = m_tables.strings.intern(type);
        row.typeIndex = ++m_counts[type];
        std::string layer = type + '_' + std::to_string(row.typeIndex);
        if (row.kind == CallKind::compute) {
            row.totalIndex = ++m_total;
            layer += '_' + std::to_string(row.totalIndex);
        }
        row.layerLabel = m_tables.strings.intern(layer);
    }

private:
    TraceTables &m_tables;
    std::unordered_map<std::string, std::uint32_t> m_counts;
    std::uint32_t m_total = 0;
};

} // namespace

void labelOwnCapture(TraceTables &tables)
{
    giveSteps(tables);
    const std::vector<std::uint32_t> firsts = groupPasses(tables);
    std::vector<std::uint32_t> passes(tables.ops.size(), 0); // by first row
    Numbering numbering(tables);
    for (std::size_t i = 0; i < tables.ops.size(); ++i) {
        OpRow &row = tables.ops[i];
        const OpRow &first = tables.ops[firsts[i]];
        if (firsts[i] == i) {
            numbering.open(row);
        } else {
            row.type = first.type;
            row.typeIndex = first.typeIndex;
            row.totalIndex = first.totalIndex;
            row.layerLabel = first.layerLabel;
        }
        row.pass = ++passes[firsts[i]];
        row.label = tables.strings.intern(std::string(tables.strings.view(row.layerLabel)) + ':' +
                                          std::to_string(row.pass));
    }
    for (std::size_t i = 0; i < tables.ops.size(); ++i)
        tables.ops[i].passCount = passes[firsts[i]];
}

} // namespace core
