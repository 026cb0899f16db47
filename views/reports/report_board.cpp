// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/reports/report_board.h"

#include "views/base/counted_text.h"
#include "views/base/formatting.h"

#include <QCoreApplication>

#include <algorithm>

namespace views {

namespace {

using core::ColorToken;

QString words(const char *text)
{
    return QCoreApplication::translate("views::ReportBoard", text);
}

bool isOneOf(std::string_view name, std::initializer_list<std::string_view> names)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

std::size_t realFindings(const core::Report &report)
{
    return static_cast<std::size_t>(
        std::count_if(report.findings.begin(), report.findings.end(), [](const core::ReportFinding &finding) {
            return finding.severity != core::Severity::info;
        }));
}

ReportWords foundWords(const core::Report &report)
{
    const bool critical =
        std::any_of(report.findings.begin(), report.findings.end(), [](const core::ReportFinding &finding) {
            return finding.severity == core::Severity::critical;
        });
    const std::size_t count = realFindings(report);
    return {count > 0 ? countedText(count, "finding", "findings") : words("found"),
            critical ? IconName::critical : IconName::warning, critical ? ColorToken::nan : ColorToken::warn};
}

// Verdicts that are words of their own; only those that say so are clean.
ReportWords verdictWords(const std::string &status)
{
    if (isOneOf(status, {"ok", "clean"}))
        return {words("clean"), IconName::healed, ColorToken::ok};
    if (status == "match")
        return {words("no difference"), IconName::healed, ColorToken::ok};
    if (status == "agree")
        return {words("the counts agree"), IconName::healed, ColorToken::ok};
    if (status == "differ")
        return {words("the counts differ"), IconName::warning, ColorToken::warn};
    if (status == "repeatable_under_test")
        return {words("repeatable in these runs"), IconName::healed, ColorToken::ok};
    return {fromView(status).replace(QLatin1Char('_'), QLatin1Char(' ')), IconName::notRun, ColorToken::warn};
}

} // namespace

const ReportEntry *ReportBoard::find(const QString &name) const
{
    for (const ReportEntry &entry : entries)
        if (entry.name() == name)
            return &entry;
    return nullptr;
}

QString whyNotApplicable(const core::ReportDefinition &report, const core::Trace &trace)
{
    const bool hasOps = !trace.ops().empty();
    if (isOneOf(report.name, {"bisect_nan_backward", "grad_health"}) && trace.backwards().empty())
        return words("no backward pass in this trace");
    if (isOneOf(report.name, {"walk_grad_fn", "sketch_grad_fn"}) && trace.gradNodes().empty())
        return words("no autograd graph in this trace");
    if (isOneOf(report.name, {"param_health", "compare_params"}) && trace.params().empty())
        return words("no parameter in this trace");
    const bool needsOps =
        report.subject == core::ReportSubject::trace || report.subject == core::ReportSubject::twoTraces;
    if (needsOps && !hasOps)
        return words("no op in this trace");
    return {};
}

ReportWords answerWords(const core::Report &report)
{
    const std::string &status = report.status;
    if (report.error)
        return {words("refused"), IconName::notRun, ColorToken::warn};
    if (report.found)
        return foundWords(report);
    // Nothing unchecked looks clean.
    if (isOneOf(status,
                {"clean_among_checked", "incomplete", "incomparable", "unknown_scale", "unavailable"}))
        return {fromView(status).replace(QLatin1Char('_'), QLatin1Char(' ')), IconName::notRun,
                ColorToken::warn};
    if (isOneOf(status, {"warnings", "errors"}))
        return {fromView(status), IconName::warning, ColorToken::warn};
    if (status == "truncated")
        return {words("cut at the ceiling"), IconName::warning, ColorToken::warn};
    if (report.reportType == "guess_input_shape" && status == "found")
        return {words("an input was found"), IconName::healed, ColorToken::ok};
    if (status == "counted")
        return {words("counted"), IconName::information, ColorToken::accent};
    if (isOneOf(status, {"ranked", "found", "hint"}))
        return {report.table.rows.empty() ? words("answered")
                                          : countedText(report.table.rows.size(), "row", "rows"),
                IconName::information, ColorToken::accent};
    if (status == "empty")
        return {words("nothing to list"), IconName::notRun, ColorToken::second};
    return verdictWords(status);
}

ReportWords stateWords(const ReportEntry &entry)
{
    switch (entry.state) {
    case ReportState::notRun:
        return {words("not run"), IconName::openDot, ColorToken::muted};
    case ReportState::running:
        return {words("running"), IconName::play, ColorToken::accent};
    case ReportState::failed:
        return {words("stopped"), IconName::notRun, ColorToken::warn};
    case ReportState::notApplicable:
        return {words("not applicable: %1").arg(entry.reason), IconName::notRun, ColorToken::muted};
    case ReportState::done:
        break;
    }
    return entry.report ? answerWords(*entry.report)
                        : ReportWords{words("not run"), IconName::openDot, ColorToken::muted};
}

} // namespace views
