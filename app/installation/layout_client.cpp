// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/installation/layout_client.h"

#include "core/capture/sigpipe_blocked.h"
#include "core/capture/worker_process.h"
#include "core/ipc/messages.h"
#include "core/layout/hierarchy_layout.h"
#include "core/layout/layered_layouter.h"

#include <chrono>
#include <span>
#include <string>

namespace app {
namespace {

using core::ErrorCode;
using core::Frame;
using core::MessageType;
using core::Result;
using core::Status;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPoll{50};
constexpr std::chrono::duration<double> kAnswerWithin{core::kLayoutSecondsLimit};
constexpr std::chrono::seconds kSilentFor{5};

std::uint16_t number(MessageType type)
{
    return static_cast<std::uint16_t>(type);
}

// One question to one worker, which ends with this object.
class LayoutConversation
{
public:
    LayoutConversation(core::WorkerProcess process, const core::JobContext &job)
        : m_process(std::move(process)), m_job(job)
    {
    }

    // The answer to a question of TYPE: a result or a done message.
    Result<Frame> ask(std::uint16_t type, std::span<const std::byte> payload)
    {
        const core::SigpipeBlocked quiet;
        if (Status sent = m_process.send(number(MessageType::hello),
                                         core::HelloMessage::ofThisBuild("opscope-cli").encode());
            !sent)
            return notSent(sent);
        const Result<Frame> hello = wait([](const Frame &frame) {
            return frame.type == number(MessageType::hello) || frame.type == number(MessageType::failed);
        });
        if (!hello)
            return hello;
        if (Status agreed = greet(*hello); !agreed)
            return agreed;
        if (Status sent = m_process.send(type, payload); !sent)
            return notSent(sent);
        const Result<Frame> answer = wait([](const Frame &frame) {
            return frame.type == core::kLayoutResultFrame || frame.type == number(MessageType::done) ||
                   frame.type == number(MessageType::failed);
        });
        if (answer && answer->type == number(MessageType::failed))
            return failure(*answer);
        return answer;
    }

private:
    static Status failure(const Frame &frame)
    {
        Status told;
        const Status read = core::decodeFailed(frame.payload, told);
        return read ? told : read;
    }

    static Status greet(const Frame &frame)
    {
        if (frame.type == number(MessageType::failed))
            return failure(frame);
        const Result<core::HelloMessage> hello = core::HelloMessage::decode(frame.payload);
        return hello ? core::HelloMessage::ofThisBuild("opscope-cli").checkAgainst(*hello) : hello.error();
    }

    // A graph that no frame holds; else a pipe that broke, as a sign of the death.
    Status notSent(const Status &status)
    {
        return status.code() == ErrorCode::limitExceeded ? status : ended();
    }

    Status ended()
    {
        const int exit = m_process.reap();
        return {ErrorCode::workerCrashed,
                exit < 0 ? "layout_worker was ended by signal " + std::to_string(-exit)
                         : "layout_worker ended before it answered (exit code " + std::to_string(exit) + ")"};
    }

    template <typename Wanted>
    Result<Frame> wait(Wanted wanted)
    {
        const Clock::time_point began = Clock::now();
        Clock::time_point heard = began;
        for (;;) {
            if (m_job.isCancelled())
                return Status(ErrorCode::cancelled, "the layout was cancelled");
            Result<std::optional<Frame>> frame = m_process.receive(kPoll);
            if (!frame)
                return frame.error();
            const Clock::time_point now = Clock::now();
            if (frame->has_value()) {
                heard = now;
                if (wanted(**frame))
                    return **std::move(frame);
            } else if (m_process.ended()) {
                return ended();
            }
            if (now - began > kAnswerWithin)
                return Status(ErrorCode::workerHung, "the layout took longer than 10 s");
            if (now - heard > kSilentFor)
                return Status(ErrorCode::workerHung, "layout_worker was silent for 5 s");
        }
    }

    core::WorkerProcess m_process;
    const core::JobContext &m_job;
};

Result<Frame> askWorker(const std::filesystem::path &programFolder, std::uint16_t type,
                        std::span<const std::byte> payload, const core::JobContext &job)
{
    Result<core::WorkerProcess> process = core::WorkerProcess::start(programFolder / "layout_worker", -1);
    if (!process)
        return process.error();
    return LayoutConversation(std::move(*process), job).ask(type, payload);
}

Result<core::LayoutResult> workersLayout(const core::LayoutRequest &request,
                                         const std::filesystem::path &programFolder,
                                         const core::JobContext &job)
{
    const Result<Frame> frame =
        askWorker(programFolder, core::kLayoutRequestFrame, core::encodeLayoutRequest(request), job);
    if (!frame)
        return frame.error();
    Result<core::LayoutResult> result = core::decodeLayoutResult(frame->payload);
    if (!result)
        return result;
    if (Status good = core::checkLayoutResult(request, *result); !good)
        return good;
    return result;
}

} // namespace

Result<core::LayoutResult> placeGraph(const core::LayoutRequest &request,
                                      const std::filesystem::path &programFolder, core::JobContext &job)
{
    if (Status good = core::checkLayoutRequest(request); !good)
        return good;
    Result<core::LayoutResult> placed = workersLayout(request, programFolder, job);
    if (placed || placed.error().code() == ErrorCode::cancelled)
        return placed;
    core::LayeredLayouter layered;
    core::HierarchyLayout layout(layered);
    Result<core::LayoutResult> own = layout.layout(request, job);
    if (!own)
        return own;
    own->simplified = true;
    own->note = placed.error().message();
    return own;
}

Result<core::Value> layoutWorkerFacts(const std::filesystem::path &programFolder, const core::JobContext &job)
{
    const Clock::time_point began = Clock::now();
    const Result<Frame> frame = askWorker(programFolder, core::kLayoutAboutFrame, {}, job);
    if (!frame)
        return frame.error();
    const Result<core::DoneMessage> done = core::DoneMessage::decode(frame->payload);
    if (!done)
        return done.error();
    Result<core::Value> facts = core::parseJson(done->summary, "layout_worker");
    if (!facts)
        return facts;
    facts->set("milliseconds",
               std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began).count());
    return facts;
}

} // namespace app
