// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/report_parts.h"

namespace core {

std::string torchDTypeName(DType dtype)
{
    return "torch." + std::string(dtypeName(dtype));
}

Value shapeValue(std::span<const std::int64_t> shape)
{
    Value::List sizes;
    sizes.reserve(shape.size());
    for (const std::int64_t size : shape)
        sizes.emplace_back(size);
    return Value(std::move(sizes));
}

Value labelList(const std::vector<std::string> &labels)
{
    Value::List names;
    names.reserve(labels.size());
    for (const std::string &label : labels)
        names.emplace_back(label);
    return Value(std::move(names));
}

std::string joined(const std::vector<std::string> &words, std::string_view separator)
{
    std::string text;
    for (const std::string &word : words) {
        if (!text.empty())
            text += separator;
        text += word;
    }
    return text;
}

Value moduleValue(const Trace &trace, OpId op)
{
    if (const std::string_view atomic = trace.string(trace.op(op).atomicModule); !atomic.empty())
        return atomic;
    const std::string_view address = trace.moduleAddress(op);
    return address.empty() ? Value() : Value(address);
}

Value sourceLineValue(const Trace &trace, OpId op)
{
    const auto line = trace.sourceLine(op);
    return line ? Value(*line) : Value();
}

std::string whereText(const Trace &trace, OpId op)
{
    std::string text;
    if (const auto line = trace.sourceLine(op))
        text += " at " + *line;
    if (const Value module = moduleValue(trace, op); !module.isNull())
        text += " in " + module.toString();
    return text;
}

Value honestyValue(const Trace &trace)
{
    if (!trace.info().honesty.isNull())
        return trace.info().honesty;
    return Value::object({{"schema", "torchlens.capture_honesty.v1"},
                          {"capture_status", captureStatusWord(trace.info().status)},
                          {"capture_verified", nullptr},
                          {"capture_verification_reason", nullptr},
                          {"rescue_rerun", false},
                          {"structure_only", false},
                          {"poisoned", false}});
}

Report startReport(std::string reportType, std::string subject)
{
    Report report;
    report.reportType = std::move(reportType);
    report.subject = std::move(subject);
    report.attrs = Value::object();
    return report;
}

Report refusedReport(std::string reportType, std::string subject, ReportError error)
{
    Report report = startReport(std::move(reportType), std::move(subject));
    report.status = "refused";
    report.error = std::move(error);
    return report;
}

ReportError invalidArgument(std::string code, std::string message, std::string remedy)
{
    return {"InvalidArgumentError", std::move(code), std::move(message), std::move(remedy)};
}

Value FirstBadThing::toValue() const
{
    return Value::object({{"found", found},
                          {"tool", tool},
                          {"kind", kind},
                          {"label", label},
                          {"label_status", labelStatus},
                          {"module", module},
                          {"source_line", sourceLine},
                          {"backward_pass", backwardPass},
                          {"coverage", coverage},
                          {"uncertainty_zone", labelList(uncertaintyZone)},
                          {"detection_basis", detectionBasis},
                          {"message", message}});
}

} // namespace core
