// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/findings/findings_source.h"

#include "views/base/formatting.h"
#include "views/base/severity_look.h"
#include "views/base/sort_key.h"

#include <QCoreApplication>

namespace views {

namespace {

QString words(const char *text)
{
    return QCoreApplication::translate("views::FindingsSource", text);
}

} // namespace

QString severityText(core::Severity severity)
{
    switch (severity) {
    case core::Severity::critical:
        return words("Critical");
    case core::Severity::warning:
        return words("Warning");
    case core::Severity::info:
        return words("Note");
    }
    return {};
}

FindingsSource::FindingsSource(std::shared_ptr<const core::Trace> trace,
                               std::shared_ptr<const TraceFacts> facts)
    : m_trace(std::move(trace)),
      m_facts(std::move(facts)), m_columns{
                                     {QStringLiteral("severity"), words("Severity"), 92, false, false},
                                     {QStringLiteral("check"), words("Check"), 158, false, true},
                                     {QStringLiteral("finding"), words("Finding"), 380, false, false, true},
                                     {QStringLiteral("op"), words("Op"), 130, false, true},
                                     {QStringLiteral("module"), words("Module"), 96, false, true},
                                     {QStringLiteral("elements"), words("Elements"), 88, true, true},
                                     {QStringLiteral("source"), words("Source"), 138, false, true}}
{
    for (const FindingRow &row : m_facts->findings) {
        m_texts.push_back(row.text.toStdString());
        m_checks.push_back(row.check.toStdString());
        m_lines.push_back(lineKey(*m_trace, row.op));
    }
}

QString FindingsSource::text(std::size_t row, std::size_t column) const
{
    const FindingRow &found = finding(row);
    switch (column) {
    case severity_:
        return severityText(found.severity);
    case check_:
        return found.check;
    case text_:
        return found.text;
    case elements_:
        return found.elements;
    default:
        break;
    }
    if (!found.op.isValid())
        return QStringLiteral("–");
    if (column == op_)
        return fromView(m_trace->publicLabel(found.op));
    if (column == source_)
        return lineText(*m_trace, found.op);
    const QString module = fromView(m_trace->moduleAddress(found.op));
    return module.isEmpty() ? QStringLiteral("–") : module;
}

double FindingsSource::number(std::size_t row, std::size_t) const
{
    return static_cast<double>(finding(row).elementCount);
}

std::string_view FindingsSource::key(std::size_t row, std::size_t column) const
{
    const FindingRow &found = finding(row);
    if (column == check_)
        return m_checks[row];
    if (column == source_)
        return m_lines[row];
    if (column == severity_)
        return found.severity == core::Severity::critical  ? "0"
               : found.severity == core::Severity::warning ? "1"
                                                           : "2";
    if (column == op_ && found.op.isValid())
        return m_trace->label(found.op);
    if (column == module_ && found.op.isValid())
        return m_trace->moduleAddress(found.op);
    return column == text_ ? std::string_view(m_texts[row]) : std::string_view();
}

CellLook FindingsSource::look(std::size_t row, std::size_t column) const
{
    CellLook look;
    look.isStrong = column == text_ || column == severity_;
    if (column == severity_) {
        const SeverityLook shown = severityLook(finding(row).severity);
        look.icon = shown.icon;
        look.iconTone = shown.tone;
    }
    return look;
}

} // namespace views
