// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/report_value.h"

#include "core/analysis/report_parts.h"

namespace core {
namespace {

Value opValue(OpId op)
{
    return op.isValid() ? Value(op.value()) : Value();
}

OpId opFrom(const Value &value)
{
    return value.isInt() ? OpId(static_cast<std::size_t>(value.toInt())) : OpId();
}

std::vector<std::string> stringsFrom(const Value &value)
{
    std::vector<std::string> out;
    for (const Value &item : value.toList())
        out.push_back(item.toString());
    return out;
}

Value wholeFinding(const ReportFinding &finding)
{
    Value ops = Value::list();
    for (const OpId op : finding.ops)
        ops.append(opValue(op));
    return Value::object({{"severity", static_cast<int>(finding.severity)},
                          {"check", finding.check},
                          {"code", finding.code},
                          {"message", finding.message},
                          {"ops", std::move(ops)},
                          {"labels", labelList(finding.opLabels)},
                          {"modules", labelList(finding.modules)},
                          {"follow_up", finding.followUp},
                          {"values", finding.values}});
}

ReportFinding findingFrom(const Value &value)
{
    ReportFinding finding;
    const std::int64_t severity = value.at("severity").toInt();
    finding.severity = severity == 0   ? Severity::critical
                       : severity == 1 ? Severity::warning
                                       : Severity::info;
    finding.check = value.at("check").toString();
    finding.code = value.at("code").toString();
    finding.message = value.at("message").toString();
    for (const Value &op : value.at("ops").toList())
        finding.ops.push_back(opFrom(op));
    finding.opLabels = stringsFrom(value.at("labels"));
    finding.modules = stringsFrom(value.at("modules"));
    finding.followUp = value.at("follow_up").toString();
    finding.values = value.at("values");
    return finding;
}

Value tableValue(const ReportTable &table)
{
    Value columns = Value::list();
    for (const ReportColumn &column : table.columns)
        columns.append(Value::list({column.name, static_cast<int>(column.kind), column.unit}));
    Value rows = Value::list();
    for (const ReportRow &row : table.rows)
        rows.append(Value::list({Value(Value::List(row.cells)), opValue(row.op), opValue(row.otherOp)}));
    return Value::object({{"columns", std::move(columns)}, {"rows", std::move(rows)}});
}

Result<ReportTable> tableFrom(const Value &value)
{
    ReportTable table;
    for (const Value &column : value.at("columns").toList()) {
        const auto &parts = column.toList();
        if (parts.size() != 3 || parts[1].toInt() < 0 || parts[1].toInt() > static_cast<int>(CellKind::list))
            return Status(ErrorCode::protocol, "report: a column is not name, kind and unit");
        table.columns.push_back(
            {parts[0].toString(), static_cast<CellKind>(parts[1].toInt()), parts[2].toString()});
    }
    for (const Value &item : value.at("rows").toList()) {
        const auto &parts = item.toList();
        if (parts.size() != 3)
            return Status(ErrorCode::protocol, "report: a row is not cells, op and other op");
        ReportRow row;
        row.cells = parts[0].toList();
        row.op = opFrom(parts[1]);
        row.otherOp = opFrom(parts[2]);
        table.rows.push_back(std::move(row));
    }
    return table;
}

} // namespace

Value reportToValue(const Report &report)
{
    Value findings = Value::list();
    for (const ReportFinding &finding : report.findings)
        findings.append(wholeFinding(finding));
    Value value = Value::object({{"report_type", report.reportType},
                                 {"subject", report.subject},
                                 {"status", report.status},
                                 {"coverage", report.coverage},
                                 {"tabular", report.isTabular},
                                 {"found", report.found},
                                 {"table", tableValue(report.table)},
                                 {"result", report.result},
                                 {"findings_member", report.findingsMember},
                                 {"rows_member", report.rowsMember},
                                 {"attrs", report.attrs},
                                 {"findings", std::move(findings)},
                                 {"exits", labelList(report.exits)}});
    if (report.error)
        value.set("error", Value::object({{"type", report.error->type},
                                          {"code", report.error->code},
                                          {"message", report.error->message},
                                          {"remedy", report.error->remedy}}));
    return value;
}

Result<Report> reportFromValue(const Value &value)
{
    if (value.at("report_type").toString().empty())
        return Status(ErrorCode::protocol, "report: report_type is missing");
    Report report;
    report.reportType = value.at("report_type").toString();
    report.subject = value.at("subject").toString();
    report.status = value.at("status").toString();
    report.coverage = value.at("coverage").toString();
    report.isTabular = value.at("tabular").toBool();
    report.found = value.at("found").toBool();
    Result<ReportTable> table = tableFrom(value.at("table"));
    if (!table)
        return table.error();
    report.table = *std::move(table);
    report.result = value.at("result");
    report.findingsMember = value.at("findings_member").toString();
    report.rowsMember = value.at("rows_member").toString();
    report.attrs = value.at("attrs");
    for (const Value &finding : value.at("findings").toList())
        report.findings.push_back(findingFrom(finding));
    report.exits = stringsFrom(value.at("exits"));
    if (const Value &error = value.at("error"); error.isObject())
        report.error = ReportError{error.at("type").toString(), error.at("code").toString(),
                                   error.at("message").toString(), error.at("remedy").toString()};
    return report;
}

} // namespace core
