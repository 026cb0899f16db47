// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/reports/report_facts.h"

#include <algorithm>

namespace views {

namespace {

using core::Value;

constexpr std::size_t kMostItems = 24; // objects of a list that are shown one by one
constexpr std::size_t kMostWords = 200;

bool isPlain(const Value &value)
{
    return !value.isList() && !value.isObject();
}

bool isPlainList(const Value &value)
{
    return value.isList() && std::all_of(value.toList().begin(), value.toList().end(), isPlain);
}

// ["torch.get_num_threads", "1"]: a name with its value.
bool isNamed(const Value &value)
{
    return value.isList() && value.toList().size() == 2 && value.toList().front().isString();
}

// ["+0.5", ...] and [[1, 16, 4], "ok"]: on one line.
bool isShort(const Value &value)
{
    return isPlainList(value) || (value.isList() && std::all_of(value.toList().begin(), value.toList().end(),
                                                                [](const Value &item) {
                                                                    return isPlain(item) || isPlainList(item);
                                                                }));
}

class FactWriter
{
public:
    explicit FactWriter(core::ReportTable &table) : m_table(table) {}

    void add(const std::string &name, const Value &value)
    {
        if (value.isObject()) {
            for (const auto &[key, inner] : value.toObject())
                add(name.empty() ? key : name + '.' + key, inner);
            if (value.toObject().empty())
                row(name, "none");
            return;
        }
        if (value.isList())
            return addList(name, value);
        row(name, value);
    }

private:
    void addList(const std::string &name, const Value &value)
    {
        const Value::List &items = value.toList();
        if (items.empty())
            return row(name, "none");
        if (std::all_of(items.begin(), items.end(), isNamed) && items.size() <= kMostWords) {
            for (const Value &item : items)
                add(name + '.' + item.toList().front().toString(), item.toList().back());
            return;
        }
        if (isPlainList(value) && items.size() <= kMostWords)
            return row(name, core::cellText(value));
        if (items.size() > kMostItems)
            return row(name, std::to_string(items.size()) + " entries");
        for (std::size_t i = 0; i < items.size(); ++i) {
            const std::string number = name + '.' + std::to_string(i + 1);
            isShort(items[i]) ? row(number, core::toJson(items[i])) : add(number, items[i]);
        }
    }

    void row(const std::string &name, Value value)
    {
        core::ReportRow row;
        row.cells = {name, std::move(value)};
        m_table.rows.push_back(std::move(row));
    }

    core::ReportTable &m_table;
};

} // namespace

core::ReportTable factsTable(const core::Report &report)
{
    core::ReportTable table;
    table.columns = {{"fact", core::CellKind::text, {}}, {"value", core::CellKind::text, {}}};
    FactWriter writer(table);
    for (const Value *part : {&report.result, &report.attrs})
        if (part->isObject() && !part->toObject().empty())
            writer.add({}, *part);
    return table;
}

} // namespace views
