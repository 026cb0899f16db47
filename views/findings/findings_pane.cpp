// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/findings/findings_pane.h"

#include "views/base/counted_text.h"
#include "views/base/fact_list.h"
#include "views/base/formatting.h"
#include "views/base/table_view.h"
#include "views/findings/findings_source.h"

#include <QHBoxLayout>
#include <QScrollArea>
#include <QStackedWidget>
#include <QVBoxLayout>

namespace views {

FindingsPane::FindingsPane(const PaneContext &context, QWidget *parent)
    : Pane(context, QStringLiteral("findings"), tr("Findings"), parent),
      m_table(new TableView(context.theme, m_model, this)), m_stack(new QStackedWidget(this)),
      m_checked(new FactList(context.theme)), m_unchecked(new FactList(context.theme))
{
    m_table->setAccessibleName(tr("Findings"));
    auto *lists = new QWidget;
    auto *row = new QHBoxLayout(lists);
    row->setContentsMargins(4, 0, 4, 0);
    row->addWidget(m_checked, 1);
    row->addWidget(m_unchecked, 1);
    // Long lists scroll: they must not make a small window larger than its screen.
    auto *scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setAccessibleName(tr("What was checked and what was not"));
    scroll->setWidget(lists);
    m_stack->addWidget(m_table);
    m_stack->addWidget(scroll);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_stack);
    connect(m_table, &TableView::rowsPicked, this, [this](const std::vector<std::size_t> &rows) {
        const FindingRow &found = m_source->finding(rows.front());
        if (found.op.isValid())
            selection().select(OpItem{found.op});
    });
    connect(m_table, &TableView::menuWanted, this, &Pane::menuWanted);
    connect(m_table, &TableView::rowActivated, this, [this](std::size_t sourceRow) {
        const FindingRow &found = m_source->finding(sourceRow);
        if (found.op.isValid())
            selection().activate(OpItem{found.op});
    });
}

void FindingsPane::setFacts(std::shared_ptr<const TraceFacts> facts)
{
    m_facts = std::move(facts);
    showAgain();
}

void FindingsPane::showTrace()
{
    const bool first = m_model.source() == nullptr;
    m_source = trace() && m_facts ? std::make_shared<const FindingsSource>(trace(), m_facts) : nullptr;
    m_model.setSource(m_source);
    if (first && m_source) {
        m_table->resetWidths();
        m_table->setStateKey(QStringLiteral("findings"));
    }
    const bool hasRows = m_source && m_source->rowCount() > 0;
    m_stack->setCurrentIndex(hasRows ? 0 : 1);
    if (!hasRows)
        showChecked();
    setSubtitle(hasRows ? tr("Sorted by severity, then execution order") : QString());
}

// Zero findings is no proof: what was looked at stands beside what was not.
void FindingsPane::showChecked()
{
    m_checked->clear();
    m_unchecked->clear();
    if (!m_facts) {
        m_checked->addText(trace() ? tr("Looking for NaN and Inf.") : tr("No trace is open."));
        m_checked->finish();
        m_unchecked->finish();
        return;
    }
    const TraceCoverage &coverage = m_facts->coverage;
    m_checked->addSection(tr("Checked"));
    FactList::Entry entry;
    if (!m_facts->failure.isOk()) {
        m_checked->addText(tr("Nothing was looked for."));
        m_checked->finish();
        m_unchecked->addSection(tr("Not checked"));
        m_unchecked->addText(fromView(m_facts->failure.message()));
        m_unchecked->finish();
        return;
    }
    if (coverage.outputs == coverage.outputsUnchecked) {
        m_checked->addText(tr("There was no value to look at."));
        addUnchecked();
        return;
    }
    entry.icon = IconName::healed;
    entry.iconTone = core::ColorToken::ok;
    entry.name = QStringLiteral("find_nan");
    entry.value = tr("%1, 0 NaN, 0 Inf")
                      .arg(countedText(coverage.outputs - coverage.outputsUnchecked, "output", "outputs"));
    m_checked->addEntry(entry);
    if (m_facts->audit)
        for (const core::Value &check : m_facts->audit->result.at("checks_run").toList()) {
            if (check.toString() == "find_nan")
                continue;
            entry.name = fromView(check.toString());
            entry.value = tr("no finding");
            m_checked->addEntry(entry);
        }
    if (!trace()->backwards().empty()) {
        entry.name = QStringLiteral("bisect_nan_backward");
        entry.value = tr("no finding");
        m_checked->addEntry(entry);
    }
    addUnchecked();
}

void FindingsPane::addUnchecked()
{
    const TraceCoverage &coverage = m_facts->coverage;
    m_unchecked->addSection(tr("Not checked"));
    FactList::Entry entry;
    entry.icon = IconName::notRun;
    entry.iconTone = core::ColorToken::second;
    if (coverage.outputsUnchecked > 0) {
        entry.name = countedText(coverage.outputsUnchecked, "output", "outputs");
        entry.value = tr("neither saved nor measured");
        m_unchecked->addEntry(entry);
    }
    if (!m_facts->auditFailure.isOk()) {
        entry.name = QStringLiteral("audit");
        entry.value = fromView(m_facts->auditFailure.message());
        m_unchecked->addEntry(entry);
    }
    for (const auto &[name, reason] : m_facts->skippedChecks()) {
        entry.name = name;
        entry.value = reason;
        m_unchecked->addEntry(entry);
    }
    entry.name = tr("Other inputs");
    entry.value = tr("a run shows what happened for its own input");
    m_unchecked->addEntry(entry);
    m_checked->finish();
    m_unchecked->finish();
}

void FindingsPane::showItem()
{
    if (!m_source)
        return;
    const core::OpId op = opOf(*trace(), item());
    std::optional<std::size_t> row;
    for (std::size_t i = 0; i < m_source->rowCount() && !row && op.isValid(); ++i)
        if (m_source->finding(i).op == op)
            row = i;
    m_table->showSourceRow(row);
}

void FindingsPane::themeChanged()
{
    m_table->viewport()->update();
}

} // namespace views
