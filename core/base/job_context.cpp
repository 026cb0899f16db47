// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/job_context.h"

namespace core {

Status JobContext::checkpoint(std::string_view what) const
{
    if (!isCancelled())
        return Status::ok();
    return {ErrorCode::cancelled, std::string(what) + " was cancelled"};
}

void JobContext::report(std::string_view stage, std::uint64_t done, std::uint64_t total) const
{
    if (!m_sink)
        return;
    const std::lock_guard lock(m_mutex);
    m_sink({std::string(stage), done, total});
}

void JobContext::warn(std::string warning)
{
    const std::lock_guard lock(m_mutex);
    m_warnings.push_back(std::move(warning));
}

std::vector<std::string> JobContext::takeWarnings()
{
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_warnings, {});
}

} // namespace core
