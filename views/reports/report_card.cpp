// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/reports/report_card.h"

#include "views/base/formatting.h"
#include "views/base/widgets.h"
#include "views/reports/finding_button.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

namespace views {

namespace {

const char *cardKind(const ReportWords &words)
{
    switch (words.tone) {
    case core::ColorToken::nan:
        return "nan";
    case core::ColorToken::warn:
        return "warn";
    case core::ColorToken::ok:
        return "ok";
    default:
        return "plain";
    }
}

} // namespace

ReportCard::ReportCard(const Theme &theme, QWidget *parent) : QWidget(parent), m_theme(theme)
{
    auto *outer = new QVBoxLayout(this);
    outer->setContentsMargins(10, 8, 10, 8);
    setAccessibleName(tr("Card of the report"));
}

void ReportCard::setEntry(const ReportEntry *entry)
{
    delete m_body;
    m_working = nullptr;
    auto *frame = new QFrame(this);
    m_body = frame;
    const ReportWords words = entry != nullptr ? stateWords(*entry) : ReportWords();
    frame->setProperty("card", entry != nullptr ? cardKind(words) : "plain");
    m_column = new QVBoxLayout(frame);
    m_column->setContentsMargins(12, 10, 12, 10);
    m_column->setSpacing(5);
    auto *outer = static_cast<QVBoxLayout *>(layout());
    outer->insertWidget(0, frame);
    if (outer->count() == 1)
        outer->addStretch(1);
    if (entry == nullptr) {
        addText(tr("No trace is open."), "second");
        return;
    }
    addVerdict(*entry);
    if (entry->state == ReportState::failed) {
        addText(asSentence(fromView(entry->failure.message())), "");
        if (!entry->failure.remedy().empty())
            addText(asSentence(fromView(entry->failure.remedy())), "dense");
    } else if (entry->state == ReportState::notApplicable || entry->state == ReportState::notRun) {
        addText(fromView(entry->definition->description) + QLatin1Char('.'), "");
    }
    if (entry->report && entry->state == ReportState::done)
        entry->report->error ? addRefusal(*entry->report) : addAnswer(*entry->report);
}

void ReportCard::addVerdict(const ReportEntry &entry)
{
    const ReportWords words = stateWords(entry);
    m_body->setAccessibleName(QStringLiteral("%1: %2").arg(entry.name(), words.text));
    auto *row = new QHBoxLayout;
    row->setSpacing(8);
    row->addWidget(makeIconLabel(m_theme, words.icon, words.tone, 15, m_body));
    QString text = words.text;
    if (!text.isEmpty())
        text[0] = text[0].toUpper();
    QLabel *title = makeLabel(text, "heading", m_body);
    title->setWordWrap(true);
    row->addWidget(title, 1);
    if (entry.state == ReportState::running) {
        m_working = makeLabel(tr("working"), "monoDense", m_body);
        row->addWidget(m_working);
    } else if (entry.report && entry.state == ReportState::done) {
        row->addWidget(makeBadge(fromView(entry.report->status), "plain", m_body));
    }
    m_column->addLayout(row);
}

void ReportCard::setElapsed(int seconds)
{
    if (m_working != nullptr)
        m_working->setText(tr("working, %1 s").arg(seconds));
}

void ReportCard::addAnswer(const core::Report &report)
{
    const std::string &message = report.result.at("message").toString();
    const bool told = message.empty() || message == report.coverage ||
                      (!report.findings.empty() && report.findings.front().message == message);
    if (!told)
        addText(asSentence(withShortPlaces(fromView(message))), "");
    if (!report.coverage.empty())
        addText(tr("Coverage: %1").arg(fromView(report.coverage)), "dense");
    const std::size_t shown = std::min(core::kCardFindings, report.findings.size());
    for (std::size_t i = 0; i < shown; ++i)
        addFinding(report.findings[i]);
    if (report.findings.size() > shown)
        addText(tr("%1 more findings in the table").arg(countText(report.findings.size() - shown)), "dense");
}

void ReportCard::addRefusal(const core::Report &report)
{
    addText(asSentence(fromView(report.error->message)), "");
    if (!report.error->remedy.empty())
        addText(asSentence(fromView(report.error->remedy)), "dense");
    const QString code =
        report.error->code.empty()
            ? fromView(report.error->type)
            : QStringLiteral("%1 · %2").arg(fromView(report.error->type), fromView(report.error->code));
    addText(code, "monoMuted");
}

void ReportCard::addFinding(const core::ReportFinding &finding)
{
    auto *button =
        new FindingButton(m_theme, finding.severity, withShortPlaces(fromView(finding.message)), m_body);
    const core::OpId op = finding.ops.empty() ? core::OpId() : finding.ops.front();
    button->setEnabled(op.isValid());
    connect(button, &FindingButton::clicked, this, [this, op] { Q_EMIT opPicked(op); });
    connect(button, &FindingButton::activated, this, [this, op] { Q_EMIT opActivated(op); });
    m_column->addWidget(button);
}

void ReportCard::addText(const QString &text, const char *role, const char *tone)
{
    QLabel *label = makeLabel(text, role, m_body);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    if (*tone != '\0')
        setTone(label, tone);
    m_column->addWidget(label);
}

} // namespace views
