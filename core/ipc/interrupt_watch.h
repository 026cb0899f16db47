// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <stop_token>
#include <thread>

namespace core {

// Turns SIGINT, SIGTERM and SIGHUP into a stop request: the first asks the running job to end, one that comes
// half a second later or more ends the program at once (exit code 130); some senders send the same one to the
// process and to its group. Blocks them for the whole process, so it is made first in main(), before other
// threads; child processes inherit the blocked signals. Uses no descriptors: there may be none left.
class InterruptWatch
{
public:
    InterruptWatch();
    ~InterruptWatch();
    InterruptWatch(const InterruptWatch &) = delete;
    InterruptWatch &operator=(const InterruptWatch &) = delete;

    std::stop_token token() const { return m_stop.get_token(); }

private:
    void watch();

    std::stop_source m_stop;
    std::atomic<bool> m_ended = false;
    std::jthread m_thread;
};

} // namespace core
