// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/model_run.h"

#include "app/installation/image_decoder.h"

namespace app {

core::Result<core::CaptureOutcome> runModel(const core::CaptureRequest &request, CommandContext &context)
{
    core::CaptureClient client(context.programFolder / "capture_worker");
    client.setImageDecoder(imageDecoder());
    const auto progress = [&context](const core::CaptureProgress &now) {
        context.console.progress({now.stage + " " + now.op, now.calls, 0});
    };
    core::Result<core::CaptureOutcome> outcome = client.run(request, context.job, progress);
    if (!outcome && !client.errorText().empty())
        context.console.message(client.errorText());
    return outcome;
}

void tellFailure(const core::CaptureOutcome &outcome, Console &console)
{
    console.message(outcome.error.message());
    if (!outcome.signal.empty() && !outcome.op.empty())
        console.message("while " + outcome.op + " ran" + (outcome.stack.empty() ? "" : ":"));
    for (const std::string &frame : outcome.stack)
        console.message("  " + frame);
    if (!outcome.error.remedy().empty())
        console.message(outcome.error.remedy());
}

ExitCode failedRunCode(const core::CaptureOutcome &outcome)
{
    const core::ErrorCode code = outcome.error.code();
    const bool isTraces = code == core::ErrorCode::unreadable || code == core::ErrorCode::invalidArgument;
    return outcome.error || (outcome.hasTrace() && !isTraces) ? ExitCode::notRun : exitCodeOf(outcome.error);
}

core::Value stackValue(const core::CaptureOutcome &outcome)
{
    core::Value stack = core::Value::list();
    for (const std::string &frame : outcome.stack)
        stack.append(frame);
    return stack;
}

} // namespace app
