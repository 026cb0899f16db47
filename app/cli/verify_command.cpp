// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "core/base/units.h"
#include "core/io/native_tools.h"

namespace app {
namespace {

using core::Result;
using core::Value;

Value verifyDocument(const std::string &path, const core::VerifyResult &result)
{
    Value findings = Value::list();
    for (const core::VerifyFinding &finding : result.findings)
        findings.append(Value::object(
            {{"token", finding.token}, {"subject", finding.subject}, {"message", finding.message}}));
    return Value::object({{"trace", path},
                          {"status", result.findings.empty() ? "ok" : "findings"},
                          {"entries", result.entries},
                          {"records", result.records},
                          {"payload_bytes", result.payloadBytes},
                          {"has_index", result.hasIndex},
                          {"has_final", result.hasFinal},
                          {"findings", std::move(findings)}});
}

std::string verifyText(const std::string &path, const core::VerifyResult &result)
{
    std::string out = path + ": " + core::formatCount(result.entries) + " entries, " +
                      core::formatCount(result.records) + " records, " +
                      core::formatBytes(result.payloadBytes) + " of values, ";
    out += result.findings.empty() ? "all whole\n"
                                   : core::formatCount(result.findings.size()) + " things are not right\n";
    for (const core::VerifyFinding &finding : result.findings)
        out += "  " + finding.token + ": " + finding.message + "\n";
    return out;
}

Result<ExitCode> runVerify(const Arguments &arguments, CommandContext &context)
{
    const std::string &path = arguments.operand(0);
    const Result<core::VerifyResult> result = core::verifyTrace(path, context.job);
    if (!result)
        return result.error();
    context.console.print(verifyText(path, *result));
    context.console.printDocument(verifyDocument(path, *result));
    return result->findings.empty() ? ExitCode::nothingFound : ExitCode::found;
}

} // namespace

const CommandSpec kVerifyCommand{
    .name = "verify",
    .operands = "TRACE",
    .minOperands = 1,
    .maxOperands = 1,
    .summary = "read all of a trace file and check every checksum, record and reference",
    .example = "opscope-cli verify run.opscope",
    .run = runVerify,
};

} // namespace app
