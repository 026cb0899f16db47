// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/model_run.h"
#include "core/base/units.h"
#include "core/io/model_hash.h"
#include "core/io/native_reader.h"
#include "core/io/native_tools.h"

#include <array>
#include <filesystem>

namespace app {
namespace {

using core::Result;
using core::Status;
using core::Value;

constexpr std::array<OptionSpec, 1> kOptions = {
    {{"replay", "MODEL",
      "also recompute every recorded op from its recorded inputs and compare bit for bit"}}};

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

// Whether MODEL is the file that TRACE was made of, by content: "same" is null where the trace does not say.
Result<Value> modelIdentity(const std::string &model, const std::string &trace, CommandContext &context)
{
    const auto opened = core::openNative(trace, context.job);
    if (!opened)
        return opened.error();
    const Result<std::string> hash = core::modelHash(model, context.job);
    if (!hash)
        return hash.error();
    const std::string &recorded = (*opened)->info().modelHash;
    return Value::object({{"path", model},
                          {"hash", *hash},
                          {"recorded_path", (*opened)->info().modelPath},
                          {"recorded_hash", recorded.empty() ? Value() : Value(recorded)},
                          {"same", recorded.empty() ? Value() : Value(*hash == recorded)}});
}

std::string identityText(const Value &model)
{
    if (model.at("same").toBool())
        return {};
    if (model.at("same").isNull())
        return "the trace does not say which file it was made of: whether it was " +
               model.at("path").toString() + " is not known\n";
    return model.at("path").toString() + " is not the file that the trace was made of, " +
           model.at("recorded_path").toString() + ": its content is " + model.at("hash").toString() +
           ", the trace has " + model.at("recorded_hash").toString() + "\n";
}

// What capture_worker says of a replay: ops, replayed, equal, rate, mismatches, skipped.
Result<Value> replay(const std::string &model, const std::string &trace, CommandContext &context)
{
    std::error_code error;
    core::CaptureRequest request;
    request.modelPath = model;
    request.task = "replay";
    request.options = Value::object({{"trace", std::filesystem::absolute(trace, error).string()}});
    const Result<core::CaptureOutcome> outcome = runModel(request, context);
    if (!outcome)
        return outcome.error();
    if (!outcome->error)
        return outcome->error;
    return outcome->summary;
}

std::string replayText(const Value &replay)
{
    const auto count = [&replay](std::string_view name) {
        return core::formatCount(static_cast<std::uint64_t>(replay.at(name).toInt()));
    };
    std::string out = "replay: " + count("equal") + " of " + count("replayed") +
                      " recomputed ops equal what is recorded, of " + count("ops") + " ops\n";
    for (const Value &mismatch : replay.at("mismatches").toList())
        out += "  " + mismatch.at("label").toString() + " (" + mismatch.at("op").toString() +
               "): largest difference " + core::toJson(mismatch.at("max_difference")) + "\n";
    for (const auto &[reason, skipped] : replay.at("skipped").toObject())
        out += "  skipped, " + reason + ": " + core::toJson(skipped) + "\n";
    return out;
}

Result<ExitCode> runVerify(const Arguments &arguments, CommandContext &context)
{
    const std::string &path = arguments.operand(0);
    const Result<core::VerifyResult> result = core::verifyTrace(path, context.job);
    if (!result)
        return result.error();
    Value document = verifyDocument(path, *result);
    bool found = !result->findings.empty();
    context.console.print(verifyText(path, *result));
    if (arguments.has("replay")) {
        const std::string model(arguments.text("replay"));
        Result<Value> identity = modelIdentity(model, path, context);
        if (!identity)
            return identity.error();
        Result<Value> replayed = replay(model, path, context);
        if (!replayed)
            return replayed.error();
        context.console.print(replayText(*replayed) + identityText(*identity));
        const bool isOther = identity->at("same").isBool() && !identity->at("same").toBool();
        found = found || isOther || replayed->at("equal") != replayed->at("replayed");
        replayed->set("model", std::move(*identity));
        document.set("replay", std::move(*replayed));
    }
    context.console.printDocument(document);
    return found ? ExitCode::found : ExitCode::nothingFound;
}

} // namespace

const CommandSpec kVerifyCommand{
    .name = "verify",
    .operands = "TRACE",
    .minOperands = 1,
    .maxOperands = 1,
    .summary = "read all of a trace file and check every checksum, record and reference",
    .options = kOptions,
    .example = "opscope-cli verify run.opscope\n"
               "opscope-cli verify --replay model.pt2 run.opscope",
    .run = runVerify,
};

} // namespace app
