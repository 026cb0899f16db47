// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/base/result.h"
#include "core/capture/capture_messages.h"
#include "core/capture/capture_request.h"
#include "core/capture/image_spec.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

namespace core {

// Runs capture_worker as a process of its own: starts it, gives it one request, watches it, and makes the
// trace whole when it dies. Used from a job's thread or the command line; blocks until the worker is gone.
class CaptureClient
{
public:
    using ProgressSink = std::function<void(const CaptureProgress &)>;

    // WORKER: the program; empty: capture_worker beside the running program.
    explicit CaptureClient(std::filesystem::path worker = {});

    // Without one an image among the inputs is refused.
    void setImageDecoder(ImageDecoder decoder) { m_decoder = std::move(decoder); }

    // Images and sounds are made into arrays first; then the worker runs. A stop closes the worker's input,
    // so that it ends at the next op; after two seconds it is killed. PROGRESS is called on this thread. The
    // outcome tells of crashes too (status crashed, signal). Errors are only of the conversation: notFound
    // (no program), protocol, workerHung (no sign of life for 120 s, or stopped by a signal for 10 s),
    // workerCrashed (before there was a trace).
    Result<CaptureOutcome> run(const CaptureRequest &request, const JobContext &context,
                               const ProgressSink &progress);

    // How long a worker may give no sign of life before it is killed.
    void setPatience(std::chrono::milliseconds patience) { m_patience.silent = patience; }
    // The same for one that a signal has stopped.
    void setPatienceWithStopped(std::chrono::milliseconds patience) { m_patience.stopped = patience; }

    // The end of what the worker printed to its standard error.
    const std::string &errorText() const { return m_errorText; }
    // Of the worker, while run() runs and after; -1 before. For tests that kill it.
    int processId() const { return m_processId; }

    struct Patience
    {
        // Loading LibTorch alone can take a minute on a busy machine.
        std::chrono::milliseconds silent = std::chrono::seconds(120);
        std::chrono::milliseconds stopped = std::chrono::seconds(10);
    };

private:
    Result<CaptureOutcome> runPrepared(const CaptureRequest &request, const JobContext &context,
                                       const ProgressSink &progress);

    std::filesystem::path m_worker;
    ImageDecoder m_decoder;
    std::string m_errorText;
    int m_processId = -1;
    Patience m_patience;
};

// "SIGKILL", "SIGSEGV"; "signal 99" for one without a name here.
std::string signalName(int number);

} // namespace core
