// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/trace_lookup.h"

#include "core/analysis/report_parts.h"
#include "core/base/near_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace core {
namespace {

using OpSet = std::set<OpId>;

std::string lowered(std::string_view text)
{
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(),
                   [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
    return out;
}

// "relu_1:2" -> "relu_1"; empty when what follows the last colon is no whole number.
std::string_view withoutPass(std::string_view text)
{
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos)
        return {};
    const std::string_view pass = text.substr(colon + 1);
    const bool isNumber = !pass.empty() && pass.find_first_not_of("0123456789") == std::string_view::npos;
    return isNumber ? text.substr(0, colon) : std::string_view();
}

Status refuse(std::string_view detail, std::string message)
{
    return Status(ErrorCode::invalidArgument, std::move(message))
        .withDetail(std::string(detail))
        .withRemedy("use a label with its pass, an address with its call number, or a position");
}

// All names of all ops, and the steps in which the original looks for one (docs: reports.md section 8.1): a
// layer; a name that several ops have; a name; modules, parameters and buffers, which are no ops; the same
// without regard to case; a part of the names of one op.
class Lookup
{
public:
    Lookup(const Trace &trace, std::string_view key)
        : m_trace(trace), m_key(key), m_lower(lowered(key)), m_moduleCalls(trace.modules().size(), 0)
    {
        for (const ModuleCallRow &call : trace.moduleCalls())
            ++m_moduleCalls[call.module.index()];
        std::unordered_map<std::string_view, std::uint32_t> reads; // of each buffer so far
        for (std::size_t i = 0; i < trace.ops().size(); ++i)
            collect(OpId(i), reads);
        // An own capture's inputs are asked for by their bare names, too, where these name nothing else.
        for (const OpId input : m_namedInputs)
            if (const std::string_view name = trace.string(trace.callOf(input).address);
                m_names.count(std::string(name)) == 0)
                add(name, input, false);
    }

    // ok with an invalid id: nothing of that name.
    Result<OpId> find() const
    {
        if (const auto layer = m_layers.find(m_key); layer != m_layers.end())
            return layerOp(layer->second);
        if (const auto name = m_names.find(m_key); name != m_names.end())
            return named(name->second);
        if (const OpId layer = layerOfPass(); layer.isValid())
            return layerOp(layer);
        if (isOtherThing(m_key, true))
            return unresolved();
        return findInAnyCase();
    }

private:
    struct Name
    {
        OpId op;       // that the original's table has for it
        OpSet sharing; // all ops of that name when there are several
    };

    Result<OpId> findInAnyCase() const
    {
        for (std::size_t i = 0; i < m_trace.ops().size(); ++i)
            if (lowered(m_trace.label(OpId(i))) == m_lower)
                return OpId(i);
        if (isModuleCall(m_lower, false))
            return unresolved();
        for (const auto &[label, op] : m_layers)
            if (lowered(label) == m_lower)
                return layerOp(op);
        if (isOtherThing(m_lower, false))
            return unresolved();
        OpSet parts;
        for (const auto *entry : m_order) {
            const std::string text = lowered(entry->first);
            if (text == m_lower)
                return named(entry->second);
            if (text.find(m_lower) != std::string::npos)
                parts.insert(entry->second.op);
        }
        if (parts.size() > 1)
            return refuse("ambiguous", fmt::format("'{}' is part of the names of {} ops: {}", m_key,
                                                   parts.size(), labels(parts)));
        return parts.empty() ? OpId() : *parts.begin();
    }

    Result<OpId> named(const Name &name) const
    {
        if (name.sharing.size() > 1)
            return refuse("ambiguous", fmt::format("'{}' names {} ops: {}", m_key, name.sharing.size(),
                                                   labels(name.sharing)));
        return name.op;
    }

    Result<OpId> layerOp(OpId first) const
    {
        const OpRow &row = m_trace.op(first);
        const std::string_view layer = m_trace.string(row.layerLabel);
        if (row.passCount == 1 || m_layerRows.at(layer) == 1)
            return first;
        return refuse("recurrent", fmt::format("'{}' is recurrent ({} passes); select a pass, e.g. {}:1",
                                               layer, row.passCount, layer));
    }

    Status unresolved() const
    {
        return refuse("unresolved", fmt::format("'{}' did not resolve to an op", m_key));
    }

    // A pass that a layer does not have still names the layer, by its short label too.
    OpId layerOfPass() const
    {
        const std::string_view base = withoutPass(m_key);
        if (base.empty())
            return {};
        if (const auto layer = m_layers.find(base); layer != m_layers.end())
            return layer->second;
        const auto layer = m_shortLayers.find(std::string(base));
        return layer != m_shortLayers.end() ? layer->second : OpId();
    }

    bool isModuleCall(std::string_view key, bool exact) const
    {
        const auto is = [&](std::string_view text) { return exact ? text == key : lowered(text) == key; };
        return is("self:1") ||
               std::any_of(m_trace.moduleCalls().begin(), m_trace.moduleCalls().end(),
                           [&](const ModuleCallRow &call) { return is(m_trace.string(call.label)); });
    }

    // Module calls, modules, parameters and buffers; their short names too where EXACT.
    bool isOtherThing(std::string_view key, bool exact) const
    {
        const auto is = [&](std::string_view text) { return exact ? text == key : lowered(text) == key; };
        if (key.empty() || is("self") || isModuleCall(key, exact))
            return true;
        for (const ModuleRow &module : m_trace.modules())
            if (is(m_trace.string(module.address)) || (exact && isAlias(module.aliases, key)))
                return true;
        const std::string_view base = exact ? withoutPass(key) : std::string_view();
        return isParameter(key, exact) || (!base.empty() && isParameter(base, true));
    }

    bool isParameter(std::string_view key, bool exact) const
    {
        std::size_t sameName[2] = {0, 0}; // parameters, buffers
        for (const ParamRow &row : m_trace.params()) {
            const std::string_view address = m_trace.string(row.address);
            if (exact ? address == key || isAlias(row.aliases, key) : lowered(address) == key)
                return true;
            sameName[row.isBuffer ? 1 : 0] += address.substr(address.rfind('.') + 1) == key ? 1 : 0;
        }
        return exact && (sameName[0] == 1 || sameName[1] == 1);
    }

    bool isAlias(Range aliases, std::string_view key) const
    {
        const auto ids = m_trace.stringIds(aliases);
        return std::any_of(ids.begin(), ids.end(), [&](StringId id) { return m_trace.string(id) == key; });
    }

    std::string labels(const OpSet &ops) const
    {
        std::vector<std::string> some;
        for (const OpId op : ops)
            if (some.size() < 8)
                some.emplace_back(m_trace.label(op));
        return joined(some) + (ops.size() > some.size() ? ", ..." : "");
    }

    void collect(OpId op, std::unordered_map<std::string_view, std::uint32_t> &reads)
    {
        const OpRow &row = m_trace.op(op);
        const std::string_view layer = m_trace.string(row.layerLabel);
        m_layers.emplace(layer, op);
        ++m_layerRows[layer];
        const std::string shortLayer = fmt::format("{}_{}", m_trace.string(row.type), row.typeIndex);
        if (row.kind == CallKind::compute)
            m_shortLayers.emplace(shortLayer, op);
        if (collectRecorded(op))
            return;
        add(m_trace.string(row.label), op, true);
        add(layer, op, true);
        if (row.kind == CallKind::compute) {
            add(shortLayer, op, true);
            add(fmt::format("{}:{}", shortLayer, row.pass), op, true);
        }
        addPosition(std::to_string(op.index()), op);
        addPosition(fmt::format("-{}", m_trace.ops().size() - op.index()), op);
        collectPlaces(op, reads);
    }

    // The module calls that returned the op's tensor, its role, its buffer.
    void collectPlaces(OpId op, std::unordered_map<std::string_view, std::uint32_t> &reads)
    {
        const OpRow &row = m_trace.op(op);
        for (const ModuleCallId id : m_trace.moduleCallIds(row.outputOf)) {
            const ModuleCallRow &call = m_trace.moduleCall(id);
            add(m_trace.string(call.label), op, false);
            if (m_moduleCalls[call.module.index()] == 1)
                add(m_trace.string(m_trace.module(call.module).address), op, false);
        }
        const std::string_view address = m_trace.string(m_trace.callOf(op).address);
        if (row.kind == CallKind::buffer) {
            add(fmt::format("{}:{}", address, ++reads[address]), op, false);
            add(address, op, false);
        } else if (row.kind != CallKind::compute) {
            const std::string_view role = row.kind == CallKind::input ? "input" : "output";
            add(address.empty() ? std::string(role) : fmt::format("{}.{}", role, address), op, false);
            if (row.kind == CallKind::input)
                m_namedInputs.push_back(op);
        }
    }

    // A bundle says by which names its ops can be asked for.
    bool collectRecorded(OpId op)
    {
        const OpRow &row = m_trace.op(op);
        if (!row.attributesJson.isValid())
            return false;
        const auto attributes = parseJson(m_trace.string(row.attributesJson), "attributes");
        const Value *names = attributes ? attributes->find("lookup_keys") : nullptr;
        if (names == nullptr || names->toList().empty())
            return false;
        const std::string shortLabel = attributes->at("label_short").toString();
        const std::string shortLayer = attributes->at("layer_label_short").toString();
        for (const Value &name : names->toList()) {
            const std::string text = name.isString() ? name.toString() : toJson(name);
            if (!name.isString()) {
                addPosition(text, op);
                continue;
            }
            const bool isPrimary = text == m_trace.string(row.label) || text == shortLabel ||
                                   text == m_trace.string(row.layerLabel) || text == shortLayer;
            add(text, op, isPrimary);
        }
        return true;
    }

    // Of several ops with one name the first has it; the last when it is a label.
    void add(std::string_view text, OpId op, bool isPrimary)
    {
        if (text.empty())
            return;
        const auto [entry, isNew] = m_names.try_emplace(std::string(text), Name{op, {}});
        if (isNew) {
            m_order.push_back(&*entry);
            return;
        }
        if (entry->second.op == op && entry->second.sharing.empty())
            return;
        entry->second.sharing.insert({entry->second.op, op});
        if (isPrimary)
            entry->second.op = op;
    }

    // A number is no name; written as a text it is looked at last.
    void addPosition(std::string text, OpId op)
    {
        const auto [entry, isNew] = m_positions.try_emplace(std::move(text), Name{op, {}});
        if (isNew)
            m_order.push_back(&*entry);
    }

    const Trace &m_trace;
    std::string m_key;
    std::string m_lower;
    std::vector<OpId> m_namedInputs;
    std::vector<std::uint32_t> m_moduleCalls;            // how often each module was called
    std::unordered_map<std::string_view, OpId> m_layers; // the first row of each
    std::unordered_map<std::string_view, std::size_t> m_layerRows;
    std::unordered_map<std::string, OpId> m_shortLayers;
    std::unordered_map<std::string, Name> m_names;
    std::unordered_map<std::string, Name> m_positions;
    std::vector<const std::pair<const std::string, Name> *> m_order; // of both, as they came
};

// Whether a module call or a buffer has the name TEXT, which is also the label of an op.
bool namesSomethingElse(const Trace &trace, std::string_view text)
{
    for (const ModuleCallRow &call : trace.moduleCalls())
        if (trace.string(call.label) == text)
            return true;
    const std::string_view base = withoutPass(text);
    return std::any_of(trace.params().begin(), trace.params().end(), [&](const ParamRow &row) {
        return row.isBuffer && trace.string(row.address) == base;
    });
}

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
    const OpId quick = trace.findLabel(text);
    if (quick.isValid() &&
        (trace.string(trace.op(quick).layerLabel) == text || !namesSomethingElse(trace, text)))
        return quick;
    const auto found = Lookup(trace, text).find();
    if (!found || found->isValid())
        return found;
    const auto near = nearLabels(trace, text);
    return Status(ErrorCode::notFound, fmt::format("op '{}' not found", text))
        .withDetail("op_not_found")
        .withRemedy(near.empty() ? "pass a label, a position or a module address" : didYouMean(near));
}

} // namespace core
