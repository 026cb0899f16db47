// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/pass_grouping.h"

#include "core/trace/op_names.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace core {
namespace {

using Row = std::uint32_t;
constexpr std::uint32_t kNone = 0xffffffffU;

class UnionFind
{
public:
    explicit UnionFind(std::size_t size) : m_parent(size) { std::iota(m_parent.begin(), m_parent.end(), 0U); }

    std::uint32_t find(std::uint32_t at)
    {
        while (m_parent[at] != at)
            at = m_parent[at] = m_parent[m_parent[at]];
        return at;
    }
    void unite(std::uint32_t a, std::uint32_t b)
    {
        a = find(a);
        b = find(b);
        m_parent[std::max(a, b)] = std::min(a, b);
    }

private:
    std::vector<std::uint32_t> m_parent;
};

// Equivalence classes of rows: the class number of each, the members of each class in order.
struct Classes
{
    std::vector<std::uint32_t> of;
    std::vector<std::vector<Row>> members;
    std::vector<bool> usesParameters; // by class
};

void appendNumber(std::string &key, std::uint32_t number)
{
    key.append(reinterpret_cast<const char *>(&number), sizeof number);
}

// The parameters a call uses (addresses where they have one), in order.
std::vector<std::uint32_t> parametersOf(const TraceTables &tables, const CallRow &call)
{
    std::vector<std::uint32_t> found;
    for (std::uint32_t i = 0; i < call.arguments.count; ++i) {
        const Range tensors = tables.arguments[call.arguments.begin + i].tensors;
        for (std::uint32_t k = 0; k < tensors.count; ++k) {
            const TensorId id = tables.tensorIds[tensors.begin + k];
            if (!id.isValid() || tables.tensors[id.index()].role != TensorRole::parameter)
                continue;
            const StringId address = tables.tensors[id.index()].address;
            found.push_back(address.isValid() ? address.value() : id.value() | 0x80000000U);
        }
    }
    return found;
}

std::string classKey(const TraceTables &tables, const OpRow &row, Row index,
                     const std::vector<std::uint32_t> &parameters)
{
    const CallRow &call = tables.calls[row.call.index()];
    std::string key(1, static_cast<char>('0' + static_cast<int>(row.kind)));
    if (row.kind == CallKind::input || row.kind == CallKind::output) {
        appendNumber(key, index); // never the same as another
        return key;
    }
    appendNumber(key, call.func.value());
    appendNumber(key, row.slot);
    if (row.kind == CallKind::buffer) {
        appendNumber(key, call.address.value());
        return key;
    }
    for (const std::uint32_t parameter : parameters)
        appendNumber(key, parameter);
    if (!parameters.empty())
        return key;
    key += call.inPlace ? 'i' : 'o';
    for (std::uint32_t i = 0; i < call.arguments.count; ++i) {
        const ArgumentRow &argument = tables.arguments[call.arguments.begin + i];
        appendNumber(key, argument.valueJson.value());
        appendNumber(key, argument.tensors.count);
    }
    const ModuleCallId inner = call.moduleCall;
    appendNumber(key, inner.isValid() ? tables.moduleCalls[inner.index()].module.value() : kNone);
    return key;
}

Classes classify(const TraceTables &tables)
{
    Classes classes;
    std::unordered_map<std::string, std::uint32_t> numbers;
    for (Row row = 0; row < tables.ops.size(); ++row) {
        const OpRow &op = tables.ops[row];
        const auto parameters = parametersOf(tables, tables.calls[op.call.index()]);
        const auto [found, isNew] = numbers.try_emplace(classKey(tables, op, row, parameters),
                                                        static_cast<std::uint32_t>(numbers.size()));
        if (isNew) {
            classes.members.emplace_back();
            classes.usesParameters.push_back(!parameters.empty());
        }
        classes.of.push_back(found->second);
        classes.members[found->second].push_back(row);
    }
    return classes;
}

// Grows equivalent bodies outwards from all rows of one class at once. Each start row has a body; rows that
// match in several bodies form a match; bodies that run into each other at matching rows are neighbours.
class BodyGrowth
{
public:
    BodyGrowth(const TraceTables &tables, const Classes &classes, const std::vector<Row> &starts)
        : m_tables(tables), m_classes(classes), m_neighbours(starts.size()), m_parameterLinks(starts.size()),
          m_bodySize(starts.size(), 0)
    {
        for (std::uint32_t body = 0; body < starts.size(); ++body)
            place(starts[body], body, 0);
        m_matches.push_back(starts);
        for (std::uint32_t body = 0; body < starts.size(); ++body)
            ++m_bodySize[body];
    }

    void run()
    {
        for (std::size_t next = 0; next < m_matches.size(); ++next)
            if (m_matches[next].size() > 1)
                step(std::vector<Row>(m_matches[next]), next == 0);
        linkSharedParameters();
    }

    // Sets of rows that are passes of one layer.
    std::vector<std::vector<Row>> layers()
    {
        std::vector<std::vector<Row>> result;
        for (const std::vector<Row> &match : m_matches)
            if (match.size() > 1)
                split(match, result);
        return result;
    }

private:
    struct Place
    {
        std::uint32_t body = kNone;
        std::uint32_t match = kNone;
    };

    void place(Row row, std::uint32_t body, std::uint32_t match)
    {
        m_places[row] = {body, match};
        m_bodyMatches.insert((std::uint64_t(body) << 32) | match);
    }

    void meet(std::uint32_t body, Row other)
    {
        const Place &there = m_places.at(other);
        if (m_bodyMatches.contains((std::uint64_t(body) << 32) | there.match))
            m_neighbours.unite(body, there.body);
    }

    // New rows next to ROWS, as (class and direction) -> rows of each body, in order of first appearance.
    void step(const std::vector<Row> &rows, bool isFirst)
    {
        struct Candidates
        {
            std::vector<std::pair<std::uint32_t, std::vector<Row>>> byBody;
        };
        std::vector<Candidates> found;
        std::unordered_map<std::uint64_t, std::size_t> index;
        const auto look = [&](Row row, Range neighbours, bool parents) {
            const std::uint32_t body = m_places.at(row).body;
            for (std::uint32_t i = 0; i < neighbours.count; ++i) {
                const Row next = m_tables.opIds[neighbours.begin + i].value();
                if (const auto known = m_places.find(next); known != m_places.end()) {
                    if (known->second.body != body)
                        meet(body, next);
                    continue;
                }
                const std::uint64_t key = (std::uint64_t(m_classes.of[next]) << 1) | (parents ? 1 : 0);
                const auto [at, isNew] = index.try_emplace(key, found.size());
                if (isNew)
                    found.emplace_back();
                auto &byBody = found[at->second].byBody;
                if (byBody.empty() || byBody.back().first != body)
                    byBody.emplace_back(body, std::vector<Row>());
                byBody.back().second.push_back(next);
            }
        };
        for (const Row row : rows) {
            look(row, m_tables.ops[row].children, false);
            if (!isFirst)
                look(row, m_tables.ops[row].parents, true);
        }
        for (const auto &candidates : found)
            for (std::size_t round = 0;; ++round) {
                std::vector<std::pair<Row, std::uint32_t>> match;
                for (const auto &[body, list] : candidates.byBody)
                    if (round < list.size())
                        match.emplace_back(list[round], body);
                if (match.empty())
                    break;
                addMatch(std::move(match));
            }
    }

    // A row that several bodies claim belongs to none of them.
    void addMatch(std::vector<std::pair<Row, std::uint32_t>> match)
    {
        std::sort(match.begin(), match.end());
        std::vector<Row> rows;
        std::vector<std::uint32_t> bodies;
        for (std::size_t i = 0; i < match.size(); ++i) {
            const bool shared = (i > 0 && match[i - 1].first == match[i].first) ||
                                (i + 1 < match.size() && match[i + 1].first == match[i].first);
            if (shared || m_places.contains(match[i].first))
                continue;
            rows.push_back(match[i].first);
            bodies.push_back(match[i].second);
        }
        if (rows.empty())
            return;
        const auto number = static_cast<std::uint32_t>(m_matches.size());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            place(rows[i], bodies[i], number);
            m_bodySize[bodies[i]] += rows.size() > 1 ? 1 : 0;
        }
        m_matches.push_back(std::move(rows));
    }

    void linkSharedParameters()
    {
        std::unordered_map<std::uint32_t, std::uint32_t> firstBody;
        for (const auto &[row, where] : m_places) {
            if (!m_classes.usesParameters[m_classes.of[row]])
                continue;
            const auto [found, isNew] = firstBody.try_emplace(m_classes.of[row], where.body);
            if (!isNew)
                m_parameterLinks.unite(found->second, where.body);
        }
    }

    bool mayRepeatNextTo(Row row, std::uint32_t body) const
    {
        const OpRow &op = m_tables.ops[row];
        if (m_bodySize[body] > 1 || op.kind == CallKind::buffer)
            return true;
        const ModuleCallId inner = m_tables.calls[op.call.index()].moduleCall;
        if (!inner.isValid())
            return false;
        const ModuleRow &module = m_tables.modules[m_tables.moduleCalls[inner.index()].module.index()];
        return !m_tables.strings.view(module.address).empty();
    }

    void split(const std::vector<Row> &match, std::vector<std::vector<Row>> &result)
    {
        UnionFind rows(match.size());
        std::unordered_map<std::uint32_t, std::uint32_t> byParameters;
        std::unordered_map<std::uint32_t, std::uint32_t> byNeighbours;
        for (std::uint32_t i = 0; i < match.size(); ++i) {
            const std::uint32_t body = m_places.at(match[i]).body;
            const auto join = [&](auto &firsts, std::uint32_t key) {
                const auto [found, isNew] = firsts.try_emplace(key, i);
                if (!isNew)
                    rows.unite(found->second, i);
            };
            join(byParameters, m_parameterLinks.find(body));
            if (mayRepeatNextTo(match[i], body))
                join(byNeighbours, m_neighbours.find(body));
        }
        std::unordered_map<std::uint32_t, std::vector<Row>> sets;
        for (std::uint32_t i = 0; i < match.size(); ++i)
            sets[rows.find(i)].push_back(match[i]);
        for (std::uint32_t i = 0; i < match.size(); ++i)
            if (const auto found = sets.find(i); found != sets.end() && found->second.size() > 1)
                result.push_back(std::move(found->second));
    }

    const TraceTables &m_tables;
    const Classes &m_classes;
    UnionFind m_neighbours;
    UnionFind m_parameterLinks;
    std::vector<std::uint32_t> m_bodySize;
    std::unordered_map<Row, Place> m_places;
    std::unordered_set<std::uint64_t> m_bodyMatches;
    std::vector<std::vector<Row>> m_matches;
};

// The rows of each layer so far; a later finding replaces an earlier one only when it is not smaller.
class Layers
{
public:
    explicit Layers(std::size_t rows) : m_first(rows), m_size(rows, 1)
    {
        std::iota(m_first.begin(), m_first.end(), 0U);
    }

    std::size_t sizeOf(Row row) const { return m_size[row]; }
    void assign(std::vector<Row> rows)
    {
        for (const Row row : rows)
            if (rows.size() < m_size[row])
                return;
        const Row first = *std::min_element(rows.begin(), rows.end());
        for (const Row row : rows) {
            m_first[row] = first;
            m_size[row] = static_cast<std::uint32_t>(rows.size());
        }
    }
    // Rows whose first has gone to another layer stand for themselves again, each under its earliest
    // remaining row.
    std::vector<std::uint32_t> firsts() const
    {
        std::vector<std::uint32_t> result(m_first.size());
        std::unordered_map<Row, Row> replaced;
        for (Row row = 0; row < m_first.size(); ++row) {
            const Row first = m_first[row];
            result[row] = m_first[first] == first ? first : replaced.try_emplace(first, row).first->second;
        }
        return result;
    }

private:
    std::vector<Row> m_first;
    std::vector<std::uint32_t> m_size;
};

} // namespace

std::vector<std::uint32_t> groupPasses(const TraceTables &tables)
{
    const Classes classes = classify(tables);
    Layers layers(tables.ops.size());
    std::vector<bool> classSeen(classes.members.size(), false);
    std::vector<bool> queued(tables.ops.size(), false);
    std::priority_queue<Row, std::vector<Row>, std::greater<>> next;
    for (Row row = 0; row < tables.ops.size(); ++row)
        if (tables.ops[row].parents.count == 0) {
            queued[row] = true;
            next.push(row);
        }
    while (!next.empty()) {
        const Row row = next.top();
        next.pop();
        const std::uint32_t kind = classes.of[row];
        if (classSeen[kind])
            continue;
        classSeen[kind] = true;
        const std::vector<Row> &members = classes.members[kind];
        for (const Row member : members) {
            const Range children = tables.ops[member].children;
            for (std::uint32_t i = 0; i < children.count; ++i) {
                const Row child = tables.opIds[children.begin + i].value();
                if (!queued[child]) {
                    queued[child] = true;
                    next.push(child);
                }
            }
        }
        if (members.size() == 1 || layers.sizeOf(row) == members.size())
            continue;
        BodyGrowth growth(tables, classes, members);
        growth.run();
        for (std::vector<Row> &layer : growth.layers())
            layers.assign(std::move(layer));
    }
    return layers.firsts();
}

} // namespace core
