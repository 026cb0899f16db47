// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/audit/audit_pane.h"

#include "views/base/counted_text.h"
#include "views/base/fact_list.h"
#include "views/base/formatting.h"
#include "views/base/severity_look.h"
#include "views/base/widgets.h"

#include <QDateTime>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

namespace views {

AuditPane::AuditPane(const PaneContext &context, QWidget *parent)
    : Pane(context, QStringLiteral("audit"), tr("Audit"), parent), m_list(new FactList(context.theme))
{
    auto *scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setAccessibleName(tr("Audit of the trace"));
    scroll->setWidget(m_list);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(scroll);
}

void AuditPane::setFacts(std::shared_ptr<const TraceFacts> facts)
{
    m_facts = std::move(facts);
    showAgain();
}

void AuditPane::showTrace()
{
    m_list->clear();
    if (!trace()) {
        m_list->addText(tr("No trace is open."));
        m_list->finish();
        setSubtitle({});
        return;
    }
    if (m_facts) {
        addVerdict();
        addChecks();
    } else {
        m_list->addText(tr("Looking for NaN and Inf."));
    }
    addCoverage();
    addRun();
    m_list->finish();
}

void AuditPane::addVerdict()
{
    const bool found = m_facts->isBad();
    const TraceCoverage &coverage = m_facts->coverage;
    const bool partial = coverage.outputsUnchecked > 0 || coverage.outputs == 0 || stoppedShort(*trace()) ||
                         m_facts->hasOtherFinding() || !m_facts->failure.isOk();
    auto *card = new QFrame;
    card->setProperty("card", found ? "nan" : partial ? "warn" : "ok");
    card->setAccessibleName(m_facts->verdict);
    auto *column = new QVBoxLayout(card);
    column->setContentsMargins(12, 12, 12, 12);
    column->setSpacing(6);
    auto *head = new QHBoxLayout;
    head->setSpacing(9);
    head->addWidget(makeIconLabel(theme(),
                                  found     ? IconName::origin
                                  : partial ? IconName::notRun
                                            : IconName::healed,
                                  found     ? core::ColorToken::nan
                                  : partial ? core::ColorToken::warn
                                            : core::ColorToken::ok,
                                  15, card));
    QLabel *title = makeLabel(m_facts->verdict, "title", card);
    title->setWordWrap(true);
    head->addWidget(title, 1);
    column->addLayout(head);
    if (m_facts->headline.isValid()) {
        QStringList place = {fromView(trace()->publicLabel(m_facts->headline)),
                             fromView(trace()->moduleAddress(m_facts->headline)),
                             lineText(*trace(), m_facts->headline)};
        place.removeAll(QString());
        column->addWidget(makeElidedLabel(place.join(QStringLiteral(" · ")), "monoSecond", card));
    }
    QLabel *detail = makeLabel(m_facts->verdictDetail, "", card);
    detail->setWordWrap(true);
    column->addWidget(detail);
    m_list->addWidget(card);
    if (!m_facts->headline.isValid())
        return;
    auto *buttons = new QWidget;
    auto *row = new QHBoxLayout(buttons);
    row->setContentsMargins(0, 4, 0, 0);
    QPushButton *hunt = makeButton(tr("Open NaN hunt"), "primary", buttons);
    connect(hunt, &QPushButton::clicked, this, [this] {
        selection().activate(OpItem{m_facts->headline});
        Q_EMIT huntRequested();
    });
    row->addWidget(hunt);
    row->addStretch(1);
    m_list->addWidget(buttons);
}

void AuditPane::addChecked(bool found, const QString &name, const QString &value, core::OpId op, bool noted)
{
    FactList::Entry entry;
    // Where there was nothing to look at, nothing was found clean.
    const bool looked = m_facts->coverage.outputs > m_facts->coverage.outputsUnchecked;
    const SeverityLook fault = severityLook(noted ? core::Severity::info : core::Severity::critical);
    entry.icon = found ? fault.icon : looked ? IconName::healed : IconName::notRun;
    entry.iconTone = found ? fault.tone : looked ? core::ColorToken::ok : core::ColorToken::second;
    entry.name = name;
    entry.value = found || looked ? value : tr("had nothing to look at");
    if (op.isValid())
        entry.activate = [this, op] { selection().select(OpItem{op}); };
    m_list->addEntry(entry);
}

// A report or a helper of that name can be opened from its row.
void AuditPane::addNotRun(const QString &name, const QString &reason)
{
    FactList::Entry entry;
    entry.icon = IconName::notRun;
    entry.name = name;
    entry.value = reason;
    entry.valueTone = "accent";
    entry.activate = [this, name] { Q_EMIT reportRequested(name); };
    m_list->addEntry(entry);
}

// Why the audit or all checks are missing, where they are.
int AuditPane::addFailures()
{
    int missing = 0;
    const auto add = [&](const QString &name, const core::Status &failure) {
        if (failure.isOk())
            return;
        addNotRun(name, fromView(failure.message()));
        ++missing;
    };
    add(QStringLiteral("find_nan"), m_facts->failure);
    add(QStringLiteral("audit"), m_facts->failure.isOk() ? m_facts->auditFailure : m_facts->failure);
    return missing;
}

void AuditPane::addChecks()
{
    int ran = 0;
    if (m_facts->failure.isOk())
        ran = addChecksThatRan();
    m_list->addSection(tr("Did not run, and why"));
    int skipped = 2 + addFailures();
    for (const auto &[name, reason] : m_facts->skippedChecks()) {
        addNotRun(name, reason);
        ++skipped;
    }
    addNotRun(QStringLiteral("bisect_precision"), tr("runs the model again"));
    addNotRun(QStringLiteral("check_determinism"), tr("runs the model again"));
    setSubtitle(tr("%1 ran, %2 did not")
                    .arg(countedText(static_cast<std::uint64_t>(ran), "check", "checks"))
                    .arg(skipped));
}

int AuditPane::addChecksThatRan()
{
    const core::NonFiniteScan &scan = m_facts->scan;
    m_list->addSection(tr("Checks that ran"),
                       QLocale().toString(m_facts->seconds, 'f', 2) + QStringLiteral(" s"));
    addChecked(m_facts->hasFinding(), QStringLiteral("find_nan"),
               tr("%1 · %2 · %3")
                   .arg(countedText(m_facts->births, "birth", "births"),
                        countedText(scan.badOutputs, "bad output", "bad outputs"),
                        countedText(scan.sinks.size(), "sink", "sinks")),
               m_facts->hasFinding() ? m_facts->headline : core::OpId());
    const auto first = [&](const std::optional<core::NonFiniteEntry> &entry, const QString &name) {
        addChecked(entry.has_value() && !entry->byDesign, name,
                   entry ? (entry->byDesign ? tr("%1, by design") : tr("%1"))
                               .arg(fromView(trace()->publicLabel(entry->op)))
                         : tr("none"),
                   entry ? entry->op : core::OpId());
    };
    if (!trace()->backwards().empty())
        addChecked(m_facts->badPasses > 0, QStringLiteral("bisect_nan_backward"),
                   countedText(m_facts->badPasses, "bad pass", "bad passes"),
                   m_facts->hasFinding() ? core::OpId() : m_facts->headline);
    first(scan.firstInf, tr("first Inf"));
    first(scan.firstNan, tr("first NaN"));
    const int beside = trace()->backwards().empty() ? 0 : 1;
    return beside + (m_facts->audit ? addAuditChecks(*m_facts->audit) : 1);
}

// What the audit ran besides find_nan, each with the number of its findings.
int AuditPane::addAuditChecks(const core::Report &audit)
{
    const core::Value::List &checks = audit.result.at("checks_run").toList();
    for (const core::Value &check : checks) {
        if (check.toString() == "find_nan")
            continue;
        std::size_t count = 0;
        bool noted = true;
        core::OpId first;
        for (const core::ReportFinding &finding : audit.findings) {
            if (finding.check != check.toString() && finding.followUp != check.toString())
                continue;
            count += 1;
            noted = noted && finding.severity == core::Severity::info;
            if (!first.isValid() && !finding.ops.empty())
                first = finding.ops.front();
        }
        addChecked(count > 0, fromView(check.toString()),
                   count == 0 ? tr("no further finding") : countedText(count, "finding", "findings"), first,
                   count > 0 && noted);
    }
    return static_cast<int>(checks.size());
}

void AuditPane::addCoverage()
{
    const TraceCoverage coverage = m_facts ? m_facts->coverage : coverageOf(*trace());
    m_list->addSection(tr("Coverage"));
    m_list->addBar(tr("Outputs measured"), coverage.outputs - coverage.outputsUnchecked, coverage.outputs);
    m_list->addBar(tr("Outputs saved"), coverage.outputsSaved, coverage.outputs);
    if (coverage.fires > 0)
        m_list->addBar(tr("Gradient fires"), coverage.firesSaved, coverage.fires);
    m_list->addBar(tr("Ops with source line"), coverage.opsWithLine, coverage.ops);
    if (coverage.sources > 0)
        m_list->addBar(tr("Sources embedded"), coverage.sourcesEmbedded, coverage.sources);
}

void AuditPane::addRun()
{
    const core::TraceInfo &info = trace()->info();
    m_list->addSection(tr("Run"));
    const auto fact = [this](const QString &name, const QString &value) {
        if (!value.isEmpty())
            m_list->addFact(name, value);
    };
    const QString kind = fromView(info.modelKind);
    fact(tr("Model"), kind.isEmpty() ? fromView(info.modelName)
                                     : QStringLiteral("%1 (%2)").arg(fromView(info.modelName), kind));
    fact(tr("Class"), fromView(info.modelClass));
    const QDateTime created = QDateTime::fromString(fromView(info.createdUtc), Qt::ISODate);
    fact(tr("Captured"), created.isValid() ? QLocale().toString(created.toLocalTime(), QLocale::ShortFormat)
                                           : fromView(info.createdUtc));
    fact(tr("Ended"), fromView(core::traceStatusName(info.status)));
    fact(tr("Written by"), fromView(info.producer));
    std::int64_t time = 0;
    std::int64_t flops = 0;
    std::uint64_t bytes = 0;
    for (const core::CallRow &call : trace()->calls())
        time += std::max<std::int64_t>(call.durationNs, 0);
    for (const core::OpRow &op : trace()->ops()) {
        flops += std::max<std::int64_t>(op.flopsForward, 0);
        bytes += static_cast<std::uint64_t>(std::max<std::int64_t>(op.bytes, 0));
    }
    fact(tr("Time in ops"), time > 0 ? durationText(time) : QString());
    fact(tr("Activations"), bytes > 0 ? bytesText(bytes) : QString());
    fact(tr("Forward FLOPs"), flops > 0 ? flopsText(flops) : QString());
}

} // namespace views
