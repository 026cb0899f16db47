// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace core {

// How far a long operation is: a stage in words ("reading the index") and a count out of a total (0:
// unknown).
struct Progress
{
    std::string stage;
    std::uint64_t done = 0;
    std::uint64_t total = 0;
};

// What a long operation gets: a stop token to poll at least every 10 ms of work, a place to report progress,
// a place for warnings. Progress may be called from any thread of the operation; the sink is called under a
// lock.
class JobContext
{
public:
    using ProgressSink = std::function<void(const Progress &)>;

    JobContext() = default;
    explicit JobContext(std::stop_token token, ProgressSink sink = {}, unsigned threads = 1)
        : m_token(std::move(token)), m_sink(std::move(sink)), m_threads(threads == 0 ? 1 : threads)
    {
    }

    bool isCancelled() const { return m_token.stop_requested(); }
    const std::stop_token &token() const { return m_token; }
    unsigned threads() const { return m_threads; }

    // cancelled with WHAT in the message when a stop was asked for, else ok.
    Status checkpoint(std::string_view what) const;
    void report(std::string_view stage, std::uint64_t done, std::uint64_t total) const;

    void warn(std::string warning);
    std::vector<std::string> takeWarnings();

private:
    std::stop_token m_token;
    ProgressSink m_sink;
    unsigned m_threads = 1;
    mutable std::mutex m_mutex;
    std::vector<std::string> m_warnings;
};

} // namespace core
