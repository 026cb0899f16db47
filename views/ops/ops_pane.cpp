// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/ops/ops_pane.h"

#include "views/base/counted_text.h"
#include "views/base/filter_line.h"
#include "views/base/formatting.h"
#include "views/base/table_view.h"
#include "views/base/trace_facts.h"
#include "views/ops/op_table_source.h"

#include <QClipboard>
#include <QGuiApplication>
#include <QVBoxLayout>

#include <algorithm>
#include <array>

namespace views {

namespace {

// "69 ops, 40 buffers, 1 input, 1 output": each has rows.
QString contentsText(const core::Trace &trace)
{
    std::array<std::uint64_t, 4> counts{};
    for (const core::CallRow &call : trace.calls())
        ++counts[static_cast<std::size_t>(call.kind)];
    const auto count = [&counts](core::CallKind kind) { return counts[static_cast<std::size_t>(kind)]; };
    QStringList parts = {countedText(count(core::CallKind::compute), "op", "ops")};
    if (const std::uint64_t inputs = count(core::CallKind::input); inputs > 0)
        parts.push_back(countedText(inputs, "input", "inputs"));
    if (const std::uint64_t buffers = count(core::CallKind::buffer); buffers > 0)
        parts.push_back(countedText(buffers, "buffer", "buffers"));
    if (const std::uint64_t outputs = count(core::CallKind::output); outputs > 0)
        parts.push_back(countedText(outputs, "output", "outputs"));
    return parts.join(QStringLiteral(", "));
}

} // namespace

OpsPane::OpsPane(const PaneContext &context, QWidget *parent)
    : Pane(context, QStringLiteral("ops"), tr("Ops"), parent), m_filter(new FilterLine(context.theme, this)),
      m_table(new TableView(context.theme, m_model, this))
{
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_filter);
    column->addWidget(m_table, 1);
    m_filter->setUnit("row", "rows");
    m_table->setAccessibleName(tr("Ops of the trace"));
    connect(m_filter, &FilterLine::filterChanged, this, &OpsPane::applyFilter);
    connect(m_table, &TableView::rowsPicked, this, &OpsPane::pick);
    connect(m_table, &TableView::menuWanted, this, &Pane::menuWanted);
    connect(m_table, &TableView::rowActivated, this,
            [this](std::size_t row) { selection().activate(OpItem{m_source->op(row)}); });
}

void OpsPane::setFacts(std::shared_ptr<const TraceFacts> facts)
{
    if (takeFacts(std::move(facts), m_facts))
        showAgain();
}

void OpsPane::showTrace()
{
    m_source = trace() ? std::make_shared<const OpTableSource>(trace(), m_facts) : nullptr;
    const bool first = m_model.source() == nullptr;
    m_model.setSource(m_source);
    if (first && m_source) {
        m_table->resetWidths();
        m_table->setStateKey(QStringLiteral("ops"));
    }
    if (m_source) {
        const OpFilter::Parsed parsed = OpFilter::parse(m_filter->text());
        if (!parsed.problem)
            applyFilter(parsed.filter);
    }
    updateCounts();
}

void OpsPane::showItem()
{
    if (!m_source)
        return;
    const core::OpId op = opOf(*trace(), item());
    m_table->showSourceRow(m_source->rowOf(op));
}

void OpsPane::themeChanged()
{
    m_table->viewport()->update();
}

void OpsPane::applyFilter(const OpFilter &filter)
{
    if (!m_source)
        return;
    if (filter.isEmpty())
        m_model.setFilter(std::nullopt);
    else
        m_model.setFilter(filter.matching({*trace(), m_facts.get()}, trace()->orderedOps()));
    updateCounts();
    showItem();
}

void OpsPane::pick(const std::vector<std::size_t> &rows)
{
    if (rows.size() == 1) {
        selection().select(OpItem{m_source->op(rows.front())});
        return;
    }
    const auto [first, last] = std::minmax_element(rows.begin(), rows.end());
    selection().select(RangeItem{m_source->op(*first), m_source->op(*last)});
}

void OpsPane::copyCurrentRow() const
{
    if (!m_source)
        return;
    const auto row = m_source->rowOf(opOf(*trace(), item()));
    if (row && m_model.rowOf(*row) >= 0)
        QGuiApplication::clipboard()->setText(m_model.copyText({m_model.rowOf(*row)}));
}

void OpsPane::updateCounts()
{
    const auto shown = static_cast<std::size_t>(m_model.rowCount());
    m_filter->setCounts(shown, m_source ? m_source->rowCount() : 0);
    setSubtitle(m_source ? contentsText(*trace()) : QString());
}

} // namespace views
