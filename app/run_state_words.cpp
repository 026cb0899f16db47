// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/run_state_words.h"

#include "core/trace/failure_cause.h"
#include "views/base/counted_text.h"
#include "views/base/formatting.h"
#include "views/base/trace_facts.h"

#include <QCoreApplication>

namespace app {

namespace {

QString told(const char *text)
{
    return QCoreApplication::translate("app::RunState", text);
}

// "The 44 ops before it are shown."
QString beforeText(std::size_t count)
{
    return count == 1   ? told("The 1 op before it is shown.")
           : count == 0 ? told("No op before it ended.")
                        : told("The %1 before it are shown.").arg(views::countedText(count, "op", "ops"));
}

void sayFailed(const core::TraceInfo &info, const QString &before, RunStateWords &said)
{
    const QString op = views::fromView(info.failure.op);
    const std::uint64_t limit = static_cast<std::uint64_t>(info.request.at("memory_limit").toInt());
    said.isMemoryLimit = limit > 0 && core::failureCause(info) == "out_of_memory";
    const bool isBackward = op.isEmpty() && !info.request.at("backward").isNull();
    if (said.isMemoryLimit)
        said.title = told("Stopped at the memory limit, %1").arg(views::bytesText(limit));
    else if (core::failureCause(info) == "no_room")
        said.title = told("The trace could not be written to its end");
    else if (isBackward)
        said.title = told("The backward pass did not run to its end");
    else
        said.title = op.isEmpty() ? told("The model stopped") : told("The model stopped in %1").arg(op);
    said.body = views::asSentence(said.message);
    if (!isBackward)
        said.body = QStringLiteral("%1 %2").arg(said.body, before);
}

} // namespace

RunStateWords runStateWords(const core::Trace &trace)
{
    const core::TraceInfo &info = trace.info();
    const std::size_t count = views::coverageOf(trace).opsFinished;
    const QString ops = views::countedText(count, "op", "ops");
    const QString op = views::fromView(info.failure.op);
    const QString signal = views::fromView(info.failure.signal);
    RunStateWords said;
    said.message = views::fromView(info.failure.message);
    switch (info.status) {
    case core::TraceStatus::crashed:
        said.title = op.isEmpty() ? told("The model stopped (%1)").arg(signal)
                                  : told("The model stopped in %1 (%2)").arg(op, signal);
        said.body = QStringLiteral("%1 %2").arg(beforeText(count), views::asSentence(said.message)).trimmed();
        break;
    case core::TraceStatus::failed:
        sayFailed(info, beforeText(count), said);
        break;
    case core::TraceStatus::cancelled:
        said.title = told("Stopped after %1").arg(ops);
        said.body =
            QStringLiteral("%1 %2").arg(views::asSentence(said.message), told("What is there can be used."));
        said.body = said.body.trimmed();
        break;
    case core::TraceStatus::unknown:
        said.title = told("This trace has no end");
        said.body = told("The run was not finished when the file was written last; %1 can be read.").arg(ops);
        break;
    case core::TraceStatus::finished:
    case core::TraceStatus::stoppedAtNonFinite:
        break;
    }
    return said;
}

} // namespace app
