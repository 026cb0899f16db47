// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture/memory_limit.h"
#include "core/capture_torch/capture_task.h"
#include "core/ipc/interrupt_watch.h"
#include "core/ipc/worker.h"

#include <charconv>
#include <csignal>
#include <cstdio>
#include <stop_token>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>

namespace {

using namespace core;

int journalDescriptor(int count, char **arguments)
{
    constexpr std::string_view kOption = "--journal=";
    for (int i = 1; i < count; ++i) {
        const std::string_view argument = arguments[i];
        int descriptor = -1;
        if (argument.starts_with(kOption) &&
            std::from_chars(argument.data() + kOption.size(), argument.data() + argument.size(), descriptor)
                    .ec == std::errc())
            return descriptor;
    }
    return -1;
}

// The heap and other anonymous memory, not the mapped libraries: LibTorch maps 425 MB of files.
void limitMemory(std::uint64_t bytes)
{
    if (bytes == 0)
        return;
    const rlimit limit = {bytes, bytes};
    setrlimit(RLIMIT_DATA, &limit);
}

Status work(Worker &worker, const Frame &frame, int journal)
{
    if (frame.type != static_cast<std::uint16_t>(CaptureMessage::start))
        return {ErrorCode::protocol,
                "capture_worker: message type " + std::to_string(frame.type) + " is not known"};
    const Result<Value> document = decodeJson(frame.payload);
    if (!document)
        return document.error();
    const Result<CaptureRequest> request = captureRequestFromValue(*document);
    if (!request)
        return request.error();
    limitMemory(request->memoryLimitBytes);
    TaskContext context;
    context.stop = worker.stopToken();
    context.journal = journal;
    context.progress = [&worker](const CaptureProgress &progress) {
        // A parent that went away is noticed at the end of input.
        (void)worker.send(static_cast<std::uint16_t>(CaptureMessage::progress), progress.encode());
    };
    CaptureOutcome outcome = runTask(*request, context);
    outcome.error = memoryExplained(std::move(outcome.error), request->memoryLimitBytes);
    return sendOutcome(outcome, [&worker](CaptureMessage type, std::span<const std::byte> payload) {
        return worker.send(static_cast<std::uint16_t>(type), payload);
    });
}

} // namespace

// Runs one model for the window or the command line: one request in, progress and one outcome out. Closing
// its standard input cancels the run at the next op, and so do the signals that ask a program to end.
int main(int count, char **arguments)
{
    core::tuneHeap();
    const core::InterruptWatch interrupts;
    const rlimit noCore = {0, 0};
    setrlimit(RLIMIT_CORE, &noCore);
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN); // a file beyond the limit is an error, not the end
    core::Worker worker(STDIN_FILENO, STDOUT_FILENO, "capture_worker");
    const std::stop_callback asked(interrupts.token(), [&worker] { worker.requestStop(); });
    if (core::Status status = worker.start(); !status) {
        std::fprintf(stderr, "%s\n", status.message().c_str());
        return 2;
    }
    core::Result<std::optional<core::Frame>> frame = worker.next();
    if (!frame || !frame->has_value())
        return frame ? 0 : 2;
    if (core::Status status = work(worker, **frame, journalDescriptor(count, arguments)); !status) {
        (void)worker.sendFailed(status);
        return 2;
    }
    return 0;
}
