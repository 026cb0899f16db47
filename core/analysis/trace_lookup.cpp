// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/trace_lookup.h"

#include "core/analysis/report_parts.h"
#include "core/base/near_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

namespace core {
namespace {

std::string lowered(std::string_view text)
{
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
    return out;
}

class Lookup
{
public:
    Lookup(const Trace &trace, std::string_view key, bool anyCase)
        : m_trace(trace), m_key(anyCase ? lowered(key) : std::string(key)), m_anyCase(anyCase)
    {
        for (std::size_t i = 0; i < trace.ops().size(); ++i)
            collect(OpId(i));
        for (const ModuleRow &module : trace.modules())
            m_isModule =
                m_isModule || (!trace.string(module.address).empty() && is(trace.string(module.address)));
    }

    // ok with an invalid id: nothing of that name.
    Result<OpId> answer() const
    {
        if (!m_layer.empty()) {
            const OpId first = m_layer.front();
            if (m_trace.op(first).passCount == 1 || m_layer.size() == 1)
                return first;
            const std::string_view layer = m_trace.string(m_trace.op(first).layerLabel);
            return refuse("recurrent", fmt::format("'{}' is recurrent ({} passes); select a pass, e.g. {}:1",
                                                   layer, m_trace.op(first).passCount, layer));
        }
        if (m_exact.size() == 1)
            return *m_exact.begin();
        if (m_exact.size() > 1)
            return refuse("ambiguous",
                          fmt::format("'{}' names {} ops: {}", m_key, m_exact.size(), names(m_exact)));
        if (m_isModule)
            return refuse("unresolved", fmt::format("'{}' did not resolve to an op", m_key));
        return OpId();
    }

    Result<OpId> part() const
    {
        if (m_parts.size() == 1)
            return *m_parts.begin();
        if (m_parts.size() > 1)
            return refuse("ambiguous", fmt::format("'{}' is part of {} labels: {}", m_key, m_parts.size(),
                                                   names(m_parts)));
        return OpId();
    }

private:
    bool is(std::string_view text) const { return m_anyCase ? lowered(text) == m_key : text == m_key; }

    static Status refuse(std::string_view detail, std::string message)
    {
        return Status(ErrorCode::invalidArgument, std::move(message))
            .withDetail(std::string(detail))
            .withRemedy("use a label with its pass, an address with its call number, or a position");
    }

    std::string names(const std::set<OpId> &ops) const
    {
        std::vector<std::string> labels;
        for (const OpId op : ops)
            if (labels.size() < 8)
                labels.emplace_back(m_trace.label(op));
        return joined(labels) + (ops.size() > labels.size() ? ", ..." : "");
    }

    void collect(OpId op)
    {
        const OpRow &row = m_trace.op(op);
        const std::string_view label = m_trace.string(row.label);
        if (is(m_trace.string(row.layerLabel)))
            m_layer.push_back(op);
        const std::string shortLabel = fmt::format("{}_{}", m_trace.string(row.type), row.typeIndex);
        bool exact = is(label) || is(fmt::format("{}:{}", shortLabel, row.pass)) ||
                     (row.passCount == 1 && is(shortLabel)) || isRawLabel(row);
        exact = exact || isModuleReturn(row) || isRole(op);
        if (exact)
            m_exact.insert(op);
        if (m_anyCase && (lowered(label).find(m_key) != std::string::npos || isMisspeltPass(row)))
            m_parts.insert(op);
    }

    // "relu_1:2" for relu_1_2: the total index written as a pass.
    bool isMisspeltPass(const OpRow &row) const
    {
        std::string key = m_key;
        if (const auto colon = key.rfind(':'); colon != std::string::npos)
            key[colon] = '_';
        return row.passCount == 1 && key == lowered(m_trace.string(row.layerLabel));
    }

    bool isRawLabel(const OpRow &row) const
    {
        if (!row.attributesJson.isValid())
            return false;
        const auto attributes = parseJson(m_trace.string(row.attributesJson), "attributes");
        return attributes &&
               (is(attributes->at("raw_label").toString()) || is(attributes->at("_label_raw").toString()) ||
                is(attributes->at("label_raw").toString()));
    }

    bool isModuleReturn(const OpRow &row) const
    {
        for (const ModuleCallId id : m_trace.moduleCallIds(row.outputOf)) {
            const ModuleCallRow &call = m_trace.moduleCall(id);
            if (is(m_trace.string(call.label)) ||
                (is(m_trace.string(m_trace.module(call.module).address)) && calls(call.module) == 1))
                return true;
        }
        return false;
    }

    std::size_t calls(ModuleId module) const
    {
        return static_cast<std::size_t>(
            std::count_if(m_trace.moduleCalls().begin(), m_trace.moduleCalls().end(),
                          [module](const ModuleCallRow &call) { return call.module == module; }));
    }

    bool isRole(OpId op) const
    {
        const OpRow &row = m_trace.op(op);
        const std::string_view address = m_trace.string(m_trace.callOf(op).address);
        switch (row.kind) {
        case CallKind::buffer:
            return !address.empty() && is(address);
        case CallKind::input:
            return is(fmt::format("input.{}", address)) || (!address.empty() && is(address));
        case CallKind::output:
            return is(fmt::format("output.{}", address)) || (is("output") && outputs() == 1) ||
                   (!address.empty() && is(address));
        case CallKind::compute:
            break;
        }
        return false;
    }

    std::size_t outputs() const
    {
        return static_cast<std::size_t>(
            std::count_if(m_trace.ops().begin(), m_trace.ops().end(),
                          [](const OpRow &row) { return row.kind == CallKind::output; }));
    }

    const Trace &m_trace;
    std::string m_key;
    bool m_anyCase;
    bool m_isModule = false;
    std::vector<OpId> m_layer;
    std::set<OpId> m_exact;
    std::set<OpId> m_parts;
};

// Labels that TEXT may have meant: near ones, else the first ones of a type with a near name.
std::vector<std::string_view> nearLabels(const Trace &trace, std::string_view text)
{
    std::vector<std::string_view> labels;
    std::vector<std::string_view> types;
    for (std::size_t i = 0; i < trace.ops().size(); ++i) {
        labels.push_back(trace.publicLabel(OpId(i)));
        types.push_back(trace.string(trace.op(OpId(i)).type));
    }
    if (auto near = nearNames(text, labels); !near.empty())
        return near;
    const std::set<std::string_view> known(types.begin(), types.end());
    std::vector<std::string_view> found;
    for (const std::string_view type :
         nearNames(text, std::vector<std::string_view>(known.begin(), known.end())))
        found.push_back(
            labels[static_cast<std::size_t>(std::find(types.begin(), types.end(), type) - types.begin())]);
    return found;
}

Result<OpId> byPosition(const Trace &trace, std::int64_t position)
{
    const auto count = static_cast<std::int64_t>(trace.ops().size());
    const std::int64_t index = position < 0 ? position + count : position;
    if (index >= 0 && index < count)
        return OpId(static_cast<std::size_t>(index));
    return Status(ErrorCode::notFound,
                  fmt::format("position {} is not in the op list of {} ops", position, count))
        .withRemedy(fmt::format("pass a position from {} to {}", -count, count - 1));
}

} // namespace

Result<OpId> lookUpOp(const Trace &trace, const Value &key)
{
    if (key.isInt())
        return byPosition(trace, key.toInt());
    const std::string &text = key.toString();
    if (const OpId quick = trace.findLabel(text); quick.isValid())
        return quick;
    const auto exact = Lookup(trace, text, false).answer();
    if (!exact || exact->isValid())
        return exact;
    const Lookup anyCase(trace, text, true);
    const auto loose = anyCase.answer();
    if (!loose || loose->isValid())
        return loose;
    const auto part = anyCase.part();
    if (!part || part->isValid())
        return part;
    const auto near = nearLabels(trace, text);
    return Status(ErrorCode::notFound, fmt::format("op '{}' not found", text))
        .withDetail("op_not_found")
        .withRemedy(near.empty() ? "pass a label, a position or a module address"
                                 : fmt::format("did you mean {}?", fmt::join(near, ", ")));
}

} // namespace core
