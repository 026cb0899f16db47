// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ipc/interrupt_watch.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <pthread.h>
#include <unistd.h>

namespace core {
namespace {

constexpr std::chrono::milliseconds kSamePress{500};
constexpr int kEndedAtOnce = 130;

// Sent by the destructor to the thread that waits.
int wakeSignal()
{
    return SIGRTMIN;
}

sigset_t watchedSignals()
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP); // under nohup it is ignored and never comes
    sigaddset(&set, wakeSignal());
    return set;
}

} // namespace

InterruptWatch::InterruptWatch()
{
    const sigset_t set = watchedSignals();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    m_thread = std::jthread([this] { watch(); });
}

InterruptWatch::~InterruptWatch()
{
    m_ended = true;
    pthread_kill(m_thread.native_handle(), wakeSignal());
    m_thread.join();
}

void InterruptWatch::watch()
{
    using Clock = std::chrono::steady_clock;
    const sigset_t set = watchedSignals();
    Clock::time_point first;
    for (;;) {
        const int signal = sigwaitinfo(&set, nullptr);
        if (m_ended)
            return;
        if (signal < 0 && errno != EINTR)
            return;
        if (signal < 0 || signal == wakeSignal())
            continue;
        if (m_stop.request_stop())
            first = Clock::now();
        else if (Clock::now() - first >= kSamePress)
            _exit(kEndedAtOnce);
    }
}

} // namespace core
