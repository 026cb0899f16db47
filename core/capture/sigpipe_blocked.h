// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <csignal>
#include <ctime>

namespace core {

// A pipe whose reader died must not end this process. The block is this thread's and is undone after.
class SigpipeBlocked
{
public:
    SigpipeBlocked()
    {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &set, &m_before);
    }
    ~SigpipeBlocked()
    {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGPIPE);
        const timespec now = {0, 0};
        while (sigtimedwait(&set, nullptr, &now) > 0) {
        }
        pthread_sigmask(SIG_SETMASK, &m_before, nullptr);
    }
    SigpipeBlocked(const SigpipeBlocked &) = delete;
    SigpipeBlocked &operator=(const SigpipeBlocked &) = delete;

private:
    sigset_t m_before;
};

} // namespace core
