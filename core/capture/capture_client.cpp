// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture/capture_client.h"

#include "core/base/units.h"
#include "core/capture/capture_checks.h"
#include "core/capture/input_preparation.h"
#include "core/capture/live_helpers.h"
#include "core/capture/memory_group.h"
#include "core/capture/memory_limit.h"
#include "core/capture/sigpipe_blocked.h"
#include "core/capture/worker_process.h"
#include "core/io/native_journal.h"
#include "core/io/native_tools.h"
#include "core/trace/frame_text.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <optional>
#include <system_error>
#include <utility>

namespace core {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPoll{50};
// Between closing the input and killing; what a run has recorded is not to be lost to a slow disk.
constexpr std::chrono::seconds kGrace{2};
constexpr std::chrono::seconds kClosingGrace{20};
constexpr std::string_view kClosing = "closing"; // the stage in which the trace becomes whole

std::filesystem::path besideThisProgram()
{
    std::error_code error;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error)
        return "capture_worker";
    const std::filesystem::path beside = self.parent_path() / "capture_worker";
    // Tests stand in a folder beside that of the programs.
    if (!std::filesystem::exists(beside, error))
        if (const auto sibling = self.parent_path().parent_path() / "bin" / "capture_worker";
            std::filesystem::exists(sibling, error))
            return sibling;
    return beside;
}

// The conversation with one worker until it is gone.
class Conversation
{
public:
    Conversation(WorkerProcess &process, const TraceJournal &journal, const JobContext &context,
                 const CaptureClient::ProgressSink &progress)
        : m_process(process), m_journal(journal), m_context(context), m_progress(progress)
    {
    }

    // Until the worker is gone; one without a sign of life is killed when PATIENCE ends.
    Status talk(const CaptureRequest &request, const CaptureClient::Patience &patience)
    {
        const std::vector<std::byte> hello = HelloMessage::ofThisBuild("capture_client").encode();
        if (Status sent = m_process.send(static_cast<std::uint16_t>(MessageType::hello), hello); !sent)
            return sent;
        const std::vector<std::byte> start = encodeJson(toValue(request));
        if (Status sent = m_process.send(static_cast<std::uint16_t>(CaptureMessage::start), start); !sent)
            return sent;
        Clock::time_point looked = Clock::now();
        std::chrono::milliseconds silent{0};
        while (!m_process.ended() || m_more) {
            watchForStop();
            Result<std::optional<Frame>> frame = m_process.receive(kPoll);
            if (!frame)
                return frame.error();
            m_more = frame->has_value();
            // In looks and not by the clock: this process may have been stopped with the worker.
            const Clock::time_point now = Clock::now();
            const auto passed = std::min<Clock::duration>(now - std::exchange(looked, now), 2 * kPoll);
            silent += std::chrono::duration_cast<std::chrono::milliseconds>(passed);
            m_inStage += passed;
            watchTime(request.timeLimitSeconds);
            if (m_more) {
                silent = {};
                if (Status status = take(**frame); !status)
                    return status;
            } else if (!m_process.ended()) {
                watchSilence(silent, patience);
            }
        }
        return Status::ok();
    }

    std::optional<CaptureOutcome> outcome;
    bool wasStopped() const { return m_stoppedAt.has_value(); }
    // The time without a sign of life of a worker that was killed for it.
    std::optional<std::chrono::milliseconds> hung() const { return m_hung; }
    bool wasSuspended() const { return m_suspended; }
    // Its run was beyond the time limit and did not stop by itself.
    bool tookTooLong() const { return m_tookTooLong; }
    // Said by the worker last: "loading", "running"; empty: it had not even started.
    const std::string &stage() const { return m_last.stage; }

private:
    void watchSilence(std::chrono::milliseconds silent, const CaptureClient::Patience &patience)
    {
        if (m_hung)
            return;
        m_suspended = silent > patience.stopped && m_process.isStopped();
        if (!m_suspended && silent <= patience.silent)
            return;
        m_hung = m_suspended ? patience.stopped : patience.silent;
        m_process.kill();
    }

    // The worker ends a run at the next op when its time is over; a loop without ops has none.
    void watchTime(double limit)
    {
        const bool runs = !m_last.stage.empty() && m_last.stage != "loading" && m_last.stage != kClosing;
        if (limit <= 0.0 || !runs || m_stoppedAt || m_tookTooLong ||
            m_inStage <= std::chrono::duration<double>(limit) + kGrace)
            return;
        m_tookTooLong = true;
        m_process.kill();
    }

    void watchForStop()
    {
        if (!m_context.isCancelled())
            return;
        if (!m_stoppedAt) {
            m_stoppedAt = Clock::now();
            m_process.closeInput();
        } else if (Clock::now() - *m_stoppedAt > (m_last.stage == kClosing ? kClosingGrace : kGrace) &&
                   !m_killed) {
            m_process.kill();
            m_killed = true;
        }
    }

    Status take(const Frame &frame)
    {
        switch (frame.type) {
        case static_cast<std::uint16_t>(MessageType::hello): {
            const Result<HelloMessage> hello = HelloMessage::decode(frame.payload);
            if (!hello)
                return hello.error();
            return HelloMessage::ofThisBuild("capture_client").checkAgainst(*hello);
        }
        case static_cast<std::uint16_t>(MessageType::failed): {
            Status error;
            if (Status read = decodeFailed(frame.payload, error); !read)
                return read;
            return error;
        }
        case static_cast<std::uint16_t>(CaptureMessage::progress): {
            const Result<CaptureProgress> progress = CaptureProgress::decode(frame.payload);
            if (!progress)
                return progress.error();
            // A new stage comes without counts; those of the run stay.
            const CaptureProgress before = std::exchange(m_last, *progress);
            m_last.calls = std::max(m_last.calls, before.calls);
            m_last.bytes = std::max(m_last.bytes, before.bytes);
            if (m_last.firstBadOp.empty())
                m_last.firstBadOp = before.firstBadOp;
            // Stages of one run tell of its ops, the others of each run.
            if (m_last.stage != before.stage || (m_last.stage != "running" && m_last.stage != "backward"))
                m_inStage = {};
            tell();
            return Status::ok();
        }
        case static_cast<std::uint16_t>(MessageType::heartbeat):
            // The worker itself is silent while one op takes long.
            if (m_last.stage == "running")
                tell();
            return Status::ok();
        case static_cast<std::uint16_t>(CaptureMessage::outcomePart):
            return m_parts.add(frame.payload);
        case static_cast<std::uint16_t>(CaptureMessage::outcome): {
            Result<CaptureOutcome> ended = m_parts.finish(frame.payload);
            if (!ended)
                return ended.error();
            outcome = std::move(*ended);
            m_process.closeInput();
            return Status::ok();
        }
        default:
            return Status::ok(); // what later versions say beside
        }
    }

    // With the op that runs now: the journal names it. Its name may change under the look; it is only shown.
    void tell()
    {
        if (!m_progress)
            return;
        if (m_last.stage == "running" && m_last.op.empty())
            if (const auto running = m_journal.running()) {
                CaptureProgress now = m_last;
                now.op = running->op;
                m_progress(now);
                return;
            }
        m_progress(m_last);
    }

    WorkerProcess &m_process;
    const TraceJournal &m_journal;
    const JobContext &m_context;
    const CaptureClient::ProgressSink &m_progress;
    CaptureProgress m_last;
    OutcomeParts m_parts;
    std::optional<Clock::time_point> m_stoppedAt;
    Clock::duration m_inStage{0}; // or in this run of it
    bool m_tookTooLong = false;
    bool m_killed = false;
    bool m_suspended = false; // a signal had stopped it
    std::optional<std::chrono::milliseconds> m_hung;
    bool m_more = false;
};

struct WorkerEnd
{
    int exit = 0; // minus the signal
    bool stopped = false;
    std::optional<std::chrono::milliseconds> hung; // the time without a sign of life
    bool suspended = false;                        // by a signal, all that time
    std::string memory;                            // what memory the system ended it for want of, in words
    std::string stage;                             // what it was at; empty: it had not said a word
    std::string lastWords;                         // on its standard error
    std::uint64_t memoryLimit = 0;                 // that was asked for
    double timeLimit = 0.0;                        // that it was killed for, seconds; 0: it was not
};

std::string lastLine(std::string_view text)
{
    while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
        text.remove_suffix(1);
    return std::string(text.substr(text.rfind('\n') + 1));
}

// Why a cancelled worker had to be killed. It ends by itself between two ops only.
std::string cancelledWords(const WorkerEnd &end, const std::string &op)
{
    if (!op.empty())
        return "cancelled; " + op + " did not end within 2 s and the process was killed";
    if (end.stage == kClosing)
        return "cancelled; the trace was not closed within 20 s and the process was killed";
    return end.stage.empty() ? "cancelled while capture_worker was starting"
                             : "cancelled while " + end.stage +
                                   "; it did not end within 2 s and the process "
                                   "was killed";
}

// In words, for the trace and for people. OP: the one that ran, may be empty.
Status causeOf(const WorkerEnd &end, const std::string &op)
{
    if (end.stopped)
        return {ErrorCode::cancelled, cancelledWords(end, op)};
    if (end.timeLimit > 0.0) {
        const Status status = tookTooLong(end.timeLimit);
        return Status(status.code(),
                      status.message() + "; " +
                          (op.empty() ? "it was at no op that could be left" : op + " did not end") +
                          " and the process was killed")
            .withDetail(status.detail());
    }
    if (end.hung)
        return {ErrorCode::workerHung,
                std::string("capture_worker ") +
                    (end.suspended ? "was stopped by a signal for " : "gave no sign of life for ") +
                    formatNanoseconds(std::chrono::nanoseconds(*end.hung).count()) + " and was killed"};
    if (end.exit >= 0)
        return {ErrorCode::workerCrashed, "capture_worker ended with exit code " + std::to_string(end.exit) +
                                              (end.exit == 0 ? " before it had answered" : "")};
    // While ops run the one that ran says more.
    const bool saysStage = !end.stage.empty() && end.stage != "running" && end.stage != "backward";
    const std::string message =
        "capture_worker was ended by " + signalName(-end.exit) + (saysStage ? " while " + end.stage : "");
    // An allocator that throws where nothing can be said any more.
    if (end.exit == -SIGABRT && end.lastWords.find("std::bad_alloc") != std::string::npos) {
        const Status memory = memoryExplained({ErrorCode::workerCrashed, end.lastWords}, end.memoryLimit);
        return Status(ErrorCode::workerCrashed, memory.message())
            .withDetail(memory.detail())
            .withRemedy(memory.remedy());
    }
    if (end.exit != -SIGKILL)
        return {ErrorCode::workerCrashed, message};
    if (!end.memory.empty())
        return Status(ErrorCode::workerCrashed, message + ": " + end.memory)
            .withDetail("out_of_memory")
            .withRemedy("close other programs or raise that limit, give smaller inputs, or save less");
    return Status(ErrorCode::workerCrashed, message)
        .withRemedy("somebody ended it, or a limit on memory that is set from outside");
}

// What the system has done so far for want of memory.
class MemoryWatch
{
public:
    // What it ended a program of this group for since then; "": it did not.
    std::string wanted() const
    {
        const MemoryGroup now = MemoryGroup::read();
        // Where groups are not counted apart, the machine may have ended another program.
        const bool isKill =
            now.kills && m_group.kills ? *now.kills > *m_group.kills : machineKills() > m_machineKills;
        if (!isKill)
            return {};
        return now.limit > 0 && now.reached > m_group.reached
                   ? "the memory limit of " + formatBytes(now.limit) +
                         " that is set from outside (of a container, a service or a job) was reached"
                   : "the memory of this machine was used up";
    }

private:
    static std::uint64_t machineKills() { return numberIn("/proc/vmstat", "oom_kill ").value_or(0); }

    MemoryGroup m_group = MemoryGroup::read();
    std::uint64_t m_machineKills = machineKills();
};

// A worker of another build, or no worker at all.
Status notUnderstood(const Status &error)
{
    const bool isOfFrames = error.message().starts_with("frame: ");
    return Status(error.code(),
                  (isOfFrames ? "what capture_worker says cannot be read: " : "") + error.message())
        .withDetail(error.detail())
        .withRemedy(error.remedy().empty() ? "install capture_worker in the same folder, from the same build"
                                           : error.remedy());
}

// What is left of a worker that ended without a word. BEFORE: what stood at the output when it began.
Result<CaptureOutcome> crashed(const CaptureRequest &request, const FileStamp &before,
                               const TraceJournal &journal, const WorkerEnd &end)
{
    CaptureOutcome outcome;
    outcome.status = end.stopped           ? TraceStatus::cancelled
                     : end.timeLimit > 0.0 ? TraceStatus::failed
                                           : TraceStatus::crashed;
    if (const auto running = journal.running(); running && !running->ended)
        outcome.op = running->op;
    outcome.error = causeOf(end, outcome.op);
    CrashCause cause;
    cause.message = outcome.error.message();
    cause.word = outcome.error.detail();
    cause.isCancelled = end.stopped;
    if (end.exit < 0 && !end.stopped && end.timeLimit <= 0.0)
        cause.signal = signalName(-end.exit);
    outcome.signal = cause.signal;
    // A file of an earlier run is not this one's.
    if (const FileStamp now = FileStamp::of(request.outputPath); !now.exists || now == before) {
        outcome.status = TraceStatus::unknown;
        // It did not come as far as running anything: what the system says is the reason.
        if (!end.stopped && !end.lastWords.empty() && outcome.error.detail().empty())
            outcome.error = Status(outcome.error.code(), outcome.error.message() + ": " + end.lastWords)
                                .withDetail(outcome.error.detail())
                                .withRemedy(outcome.error.remedy());
        return outcome;
    }
    const auto place = completeCrashed(request.outputPath, journal, cause);
    if (!place)
        return place.status().prefixed(cause.message);
    for (const FrameRecord &frame : *place)
        outcome.stack.push_back(frameText(frame.file, frame.line, frame.function));
    return outcome;
}

} // namespace

std::string signalName(int number)
{
    const char *const name = sigabbrev_np(number);
    return name == nullptr ? "signal " + std::to_string(number) : std::string("SIG") + name;
}

CaptureClient::CaptureClient(std::filesystem::path worker)
    : m_worker(worker.empty() ? besideThisProgram() : std::move(worker))
{
}

Result<CaptureOutcome> CaptureClient::run(const CaptureRequest &request, const JobContext &context,
                                          const ProgressSink &progress)
{
    if (Status status = checkCaptureFiles(request); !status)
        return status;
    const Result<PreparedInputs> prepared = PreparedInputs::make(request, m_decoder);
    if (!prepared)
        return prepared.error();
    return runPrepared(prepared->request(), context, progress);
}

Result<CaptureOutcome> CaptureClient::runPrepared(const CaptureRequest &request, const JobContext &context,
                                                  const ProgressSink &progress)
{
    const SigpipeBlocked quiet;
    Result<std::unique_ptr<TraceJournal>> journal = TraceJournal::create();
    if (!journal)
        return journal.error();
    const FileStamp before = FileStamp::of(request.outputPath);
    const MemoryWatch memory;
    Result<WorkerProcess> process = WorkerProcess::start(m_worker, (*journal)->descriptor());
    if (!process)
        return process.error();
    m_processId = process->id();
    Conversation conversation(*process, **journal, context, progress);
    const Status talked = conversation.talk(request, m_patience);
    if (!talked && !conversation.outcome)
        process->closeInput();
    if (!talked && talked.code() == ErrorCode::protocol)
        process->kill();
    const int exit = process->reap();
    m_errorText = process->errorText();
    std::error_code error;
    if (!request.outputPath.empty())
        std::filesystem::remove(rerunPath(request.outputPath), error);
    if (conversation.outcome)
        return *std::move(conversation.outcome);
    // A pipe that broke is a sign of the death, not the news itself.
    if (!talked && talked.code() != ErrorCode::unreadable)
        return talked.code() == ErrorCode::protocol ? notUnderstood(talked) : talked;
    return crashed(request, before, **journal,
                   {exit, conversation.wasStopped(), conversation.hung(), conversation.wasSuspended(),
                    memory.wanted(), conversation.stage(), lastLine(m_errorText), request.memoryLimitBytes,
                    conversation.tookTooLong() ? request.timeLimitSeconds : 0.0});
}

} // namespace core
