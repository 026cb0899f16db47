// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/ops/op_table_source.h"

#include "views/base/formatting.h"
#include "views/base/sort_key.h"
#include "views/base/trace_facts.h"

#include <QCoreApplication>

#include <cmath>

namespace views {

namespace {

QString words(const char *text)
{
    return QCoreApplication::translate("views::OpTableSource", text);
}

std::vector<TableColumn> makeColumns()
{
    return {{QStringLiteral("number"), words("Step"), 64, true, true},
            {QStringLiteral("op"), words("Op"), 190, false, true},
            {QStringLiteral("module"), words("Module"), 160, false, true},
            {QStringLiteral("shape"), words("Shape"), 150, false, true},
            {QStringLiteral("dtype"), words("dtype"), 66, false, true},
            {QStringLiteral("values"), words("Values"), 130, false, false},
            {QStringLiteral("nan"), words("NaN"), 86, true, true},
            {QStringLiteral("inf"), words("Inf"), 86, true, true},
            {QStringLiteral("min"), words("Min"), 96, true, true},
            {QStringLiteral("max"), words("Max"), 96, true, true},
            {QStringLiteral("time_ns"), words("Time"), 86, true, true},
            {QStringLiteral("source"), words("Source"), 140, false, true}};
}

double notKnown()
{
    return std::nan("");
}

} // namespace

OpTableSource::OpTableSource(std::shared_ptr<const core::Trace> trace,
                             std::shared_ptr<const TraceFacts> facts)
    : m_trace(std::move(trace)), m_facts(std::move(facts)), m_ops(m_trace->orderedOps()),
      m_rows(m_trace->ops().size(), 0xffffffffU), m_columns(makeColumns())
{
    for (std::size_t i = 0; i < m_ops.size(); ++i)
        m_rows[m_ops[i].index()] = static_cast<std::uint32_t>(i);
}

std::optional<std::size_t> OpTableSource::rowOf(core::OpId op) const
{
    if (!op.isValid() || op.index() >= m_rows.size() || m_rows[op.index()] == 0xffffffffU)
        return std::nullopt;
    return m_rows[op.index()];
}

const core::TensorRow *OpTableSource::tensor(std::size_t row) const
{
    const core::TensorId id = m_trace->op(m_ops[row]).tensor;
    return id.isValid() ? &m_trace->tensor(id) : nullptr;
}

const core::TensorStats *OpTableSource::stats(std::size_t row) const
{
    const core::TensorId id = m_trace->op(m_ops[row]).tensor;
    return statsOf(*m_trace, m_facts.get(), id);
}

QString OpTableSource::statText(std::size_t row, std::size_t column) const
{
    const core::TensorStats *s = stats(row);
    if (s == nullptr)
        return QStringLiteral("–");
    if (column == nan_)
        return countText(s->nan);
    if (column == inf_)
        return countText(s->posInf + s->negInf);
    return s->hasFinite() ? numberText(column == min_ ? s->min : s->max) : QStringLiteral("–");
}

QString OpTableSource::text(std::size_t row, std::size_t column) const
{
    const core::OpId op = m_ops[row];
    switch (column) {
    case number_:
        return countText(m_trace->op(op).step);
    case op_:
        return fromView(m_trace->publicLabel(op));
    case module_:
        return moduleText(*m_trace, m_trace->callOf(op).moduleCall.isValid()
                                        ? m_trace->moduleCall(m_trace->callOf(op).moduleCall).module
                                        : core::ModuleId());
    case shape_:
        return tensor(row) && tensor(row)->shapeKnown ? shapeText(m_trace->shape(m_trace->op(op).tensor))
                                                      : QStringLiteral("–");
    case dtype_:
        return tensor(row) ? dtypeText(tensor(row)->dtype) : QStringLiteral("–");
    case saved_:
        if (tensor(row) == nullptr)
            return words("no tensor");
        if (tensor(row)->payload.state != core::PayloadState::saved && stats(row) != nullptr)
            return words("statistics only");
        return payloadText(tensor(row)->payload.state);
    case time_:
        return durationText(m_trace->callOf(op).durationNs);
    case source_:
        return lineText(*m_trace, op);
    default:
        return statText(row, column);
    }
}

double OpTableSource::number(std::size_t row, std::size_t column) const
{
    if (column == number_)
        return static_cast<double>(row);
    if (column == time_) {
        const std::int64_t ns = m_trace->callOf(m_ops[row]).durationNs;
        return ns < 0 ? notKnown() : static_cast<double>(ns);
    }
    const core::TensorStats *s = stats(row);
    if (s == nullptr)
        return notKnown();
    if (column == nan_)
        return static_cast<double>(s->nan);
    if (column == inf_)
        return static_cast<double>(s->posInf + s->negInf);
    if (!s->hasFinite())
        return notKnown();
    return column == min_ ? s->min : s->max;
}

std::string_view OpTableSource::key(std::size_t row, std::size_t column) const
{
    const core::OpId op = m_ops[row];
    switch (column) {
    case op_:
        return m_trace->label(op);
    case module_:
        return m_trace->moduleAddress(op);
    case dtype_:
        return tensor(row) ? core::dtypeName(tensor(row)->dtype) : std::string_view();
    case saved_:
        return tensor(row) ? (tensor(row)->payload.state == core::PayloadState::saved ? "0" : "1") : "2";
    case source_:
        return lineKeyOf(row);
    case shape_:
        return shapeKeyOf(row);
    default:
        return {};
    }
}

std::string_view OpTableSource::shapeKeyOf(std::size_t row) const
{
    if (m_shapeKeys.empty())
        for (const core::OpId op : m_ops)
            m_shapeKeys.push_back(shapeKey(*m_trace, m_trace->op(op).tensor));
    return m_shapeKeys[row];
}

std::string_view OpTableSource::lineKeyOf(std::size_t row) const
{
    if (m_lineKeys.empty())
        for (const core::OpId op : m_ops)
            m_lineKeys.push_back(lineKey(*m_trace, op));
    return m_lineKeys[row];
}

CellLook OpTableSource::look(std::size_t row, std::size_t column) const
{
    CellLook look;
    const core::TensorStats *s = stats(row);
    if (column == nan_ && s != nullptr && s->nan > 0)
        look.tone = core::ColorToken::nan;
    else if (column == inf_ && s != nullptr && s->posInf + s->negInf > 0)
        look.tone = core::ColorToken::inf;
    else if (column == nan_ || column == inf_ || column == number_ || column == dtype_)
        look.tone = core::ColorToken::second;
    if (column == saved_) {
        const bool saved = tensor(row) && tensor(row)->payload.state == core::PayloadState::saved;
        look.icon = saved ? IconName::dot : IconName::openDot;
        look.tone = look.iconTone = core::ColorToken::second;
    }
    return look;
}

QString OpTableSource::exactText(std::size_t row, std::size_t column) const
{
    if (column == number_)
        return QString::number(m_trace->op(m_ops[row]).step);
    if (column == time_) {
        const std::int64_t ns = m_trace->callOf(m_ops[row]).durationNs;
        return ns < 0 ? QString() : QString::number(ns);
    }
    if (column < nan_ || column > max_)
        return text(row, column);
    const core::TensorStats *s = stats(row);
    if (s == nullptr)
        return {};
    if (column == nan_)
        return QString::number(s->nan);
    if (column == inf_)
        return QString::number(s->posInf + s->negInf);
    return s->hasFinite() ? exactNumber(column == min_ ? s->min : s->max) : QString();
}

} // namespace views
