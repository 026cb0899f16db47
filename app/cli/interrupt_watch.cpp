// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/interrupt_watch.h"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace app {

InterruptWatch::InterruptWatch()
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP); // under nohup it is ignored and never comes
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    m_signals = signalfd(-1, &set, SFD_CLOEXEC);
    m_end = eventfd(0, EFD_CLOEXEC);
    m_thread = std::jthread([this] { watch(); });
}

InterruptWatch::~InterruptWatch()
{
    const std::uint64_t one = 1;
    const ssize_t written = write(m_end, &one, sizeof one);
    static_cast<void>(written); // an eventfd takes 8 bytes or is not there, and then nobody waits for it
    m_thread.join();
    close(m_signals);
    close(m_end);
}

void InterruptWatch::watch()
{
    pollfd waiting[2] = {{m_signals, POLLIN, 0}, {m_end, POLLIN, 0}};
    while (poll(waiting, 2, -1) >= 0 || errno == EINTR) {
        if (waiting[1].revents != 0)
            return;
        if ((waiting[0].revents & POLLIN) == 0)
            continue;
        signalfd_siginfo info;
        if (read(m_signals, &info, sizeof info) != sizeof info)
            return;
        if (!m_stop.request_stop())
            _exit(130);
    }
}

} // namespace app
