// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/ipc/frame.h"
#include "core/ipc/messages.h"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>
#include <thread>

namespace core {

// The worker's side of a conversation over two descriptors (standard input and output). Owned by the worker's
// main(). Two threads of its own: one reads frames into a queue and asks for a stop at the end of input
// (closing the worker's standard input is how it is cancelled, and how it notices that its parent died), one
// sends a heartbeat every 500 ms. send() may be called from any thread.
class Worker
{
public:
    // The descriptors stay the caller's.
    Worker(int input, int output, std::string_view program);
    ~Worker();
    Worker(const Worker &) = delete;
    Worker &operator=(const Worker &) = delete;

    // Sends this side's Hello, waits for the other's, starts the threads. protocol when they differ: the
    // sentence was then sent as a failed message and the worker should exit. Call once, first.
    Status start();

    // The next frame, nothing at the end of input, an error when the input is broken. Blocks.
    Result<std::optional<Frame>> next();

    Status send(std::uint16_t type, std::span<const std::byte> payload);
    Status send(MessageType type, std::span<const std::byte> payload)
    {
        return send(static_cast<std::uint16_t>(type), payload);
    }
    Status sendProgress(const Progress &progress)
    {
        return send(MessageType::progress, encodeProgress(progress));
    }
    Status sendFailed(const Status &status) { return send(MessageType::failed, encodeFailed(status)); }

    // Stop is requested at the end of input, so work in progress can be given up.
    std::stop_token stopToken() const { return m_stop.get_token(); }
    void requestStop() { m_stop.request_stop(); }

private:
    void readLoop();
    void beatLoop(const std::stop_token &token);

    int m_input;
    int m_output;
    HelloMessage m_hello;
    std::stop_source m_stop;

    std::mutex m_writeMutex;

    std::mutex m_queueMutex;
    std::condition_variable m_queueFilled;
    std::condition_variable m_queueDrained;
    std::deque<Frame> m_queue;
    Status m_inputStatus;
    bool m_inputEnded = false;

    int m_wakePipe[2] = {-1, -1}; // ends the read thread when the worker is destroyed before its input ends
    std::mutex m_beatMutex;
    std::condition_variable_any m_beatWake;
    std::jthread m_beat;
    std::jthread m_reader;
};

// Resident memory of this process in bytes, 0 when the system does not tell.
std::uint64_t residentBytes();

} // namespace core
