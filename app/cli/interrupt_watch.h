// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <stop_token>
#include <thread>

namespace app {

// Turns SIGINT, SIGTERM and SIGHUP into a stop request: the first asks the running job to end, the second
// ends the program at once (exit code 130). Blocks them for the whole process, so it is made first in main(),
// before other threads; child processes inherit the blocked signals and are ended by the job instead.
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
    int m_signals = -1; // signalfd
    int m_end = -1;     // eventfd, written by the destructor
    std::jthread m_thread;
};

} // namespace app
