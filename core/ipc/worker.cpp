// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ipc/worker.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <unistd.h>

namespace core {

namespace {

constexpr std::chrono::milliseconds kHeartbeatInterval(500);
constexpr std::chrono::seconds kOrphanGrace(10); // from the parent's death to this process' own
constexpr std::size_t kQueueLimit = 64;          // a flooding parent waits in its own pipe, not in our memory

} // namespace

std::uint64_t residentBytes()
{
    std::FILE *file = std::fopen("/proc/self/statm", "re");
    if (file == nullptr)
        return 0;
    unsigned long long total = 0;
    unsigned long long resident = 0;
    const int fields = std::fscanf(file, "%llu %llu", &total, &resident);
    std::fclose(file);
    return fields == 2 ? resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

Worker::Worker(int input, int output, std::string_view program)
    : m_input(input), m_output(output), m_hello(HelloMessage::ofThisBuild(program))
{
}

Worker::~Worker()
{
    if (m_wakePipe[1] >= 0) {
        ::close(m_wakePipe[1]);
        m_wakePipe[1] = -1;
    }
    {
        // A full queue must not keep the read thread.
        const std::lock_guard lock(m_queueMutex);
        m_inputEnded = true;
    }
    m_queueDrained.notify_all();
    m_beat.request_stop();
    if (m_reader.joinable())
        m_reader.join();
    if (m_beat.joinable())
        m_beat.join();
    if (m_wakePipe[0] >= 0)
        ::close(m_wakePipe[0]);
}

Status Worker::start()
{
    std::signal(SIGPIPE, SIG_IGN); // a closed pipe is a returned error here
    if (Status status = send(MessageType::hello, m_hello.encode()); !status)
        return status;
    Result<std::optional<Frame>> first = readFrame(m_input);
    if (!first)
        return first.error();
    if (!first->has_value())
        return {ErrorCode::cancelled, m_hello.program + ": input ended before the first message"};
    if ((*first)->type != static_cast<std::uint16_t>(MessageType::hello))
        return {ErrorCode::protocol, m_hello.program + ": first message is of type " +
                                         std::to_string((*first)->type) + ", a hello is needed"};
    const Result<HelloMessage> other = HelloMessage::decode((*first)->payload);
    const Status agreed = other ? m_hello.checkAgainst(*other) : other.error();
    if (!agreed) {
        if (Status sent = sendFailed(agreed); !sent)
            return sent;
        return agreed;
    }
    if (::pipe(m_wakePipe) != 0)
        return {ErrorCode::internal, m_hello.program + ": no pipe to wake the read thread"};
    m_reader = std::jthread([this] { readLoop(); });
    m_beat = std::jthread([this](const std::stop_token &token) { beatLoop(token); });
    return Status::ok();
}

void Worker::readLoop()
{
    for (;;) {
        pollfd waited[2] = {{m_input, POLLIN, 0}, {m_wakePipe[0], POLLIN, 0}};
        const int ready = ::poll(waited, 2, -1);
        if (ready < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (ready > 0 && waited[1].revents != 0)
            return;
        Result<std::optional<Frame>> frame =
            ready < 0 ? Result<std::optional<Frame>>(
                            Status(ErrorCode::unreadable, std::string("input: ") + std::strerror(errno)))
                      : readFrame(m_input);
        std::unique_lock lock(m_queueMutex);
        if (!frame || !frame->has_value()) {
            m_inputStatus = frame.status();
            m_inputEnded = true;
            lock.unlock();
            m_stop.request_stop();
            m_queueFilled.notify_all();
            return;
        }
        m_queueDrained.wait(lock, [this] { return m_queue.size() < kQueueLimit || m_inputEnded; });
        if (m_inputEnded)
            return;
        m_queue.push_back(std::move(**frame));
        m_queueFilled.notify_one();
    }
}

void Worker::beatLoop(const std::stop_token &token)
{
    HeartbeatMessage beat;
    std::unique_lock lock(m_beatMutex);
    while (!token.stop_requested()) {
        beat.residentBytes = residentBytes();
        if (!send(MessageType::heartbeat, beat.encode())) {
            // Nobody listens any more, and nobody would end what does not stop by itself.
            m_beatWake.wait_for(lock, token, kOrphanGrace, [] { return false; });
            if (!token.stop_requested())
                std::_Exit(EXIT_FAILURE);
            return;
        }
        ++beat.sequence;
        m_beatWake.wait_for(lock, token, kHeartbeatInterval, [] { return false; });
    }
}

Result<std::optional<Frame>> Worker::next()
{
    std::unique_lock lock(m_queueMutex);
    m_queueFilled.wait(lock, [this] { return !m_queue.empty() || m_inputEnded; });
    if (m_queue.empty()) {
        if (!m_inputStatus)
            return m_inputStatus;
        return std::optional<Frame>();
    }
    Frame frame = std::move(m_queue.front());
    m_queue.pop_front();
    m_queueDrained.notify_one();
    return std::optional<Frame>(std::move(frame));
}

Status Worker::send(std::uint16_t type, std::span<const std::byte> payload)
{
    const std::lock_guard lock(m_writeMutex);
    return writeFrame(m_output, type, payload);
}

} // namespace core
