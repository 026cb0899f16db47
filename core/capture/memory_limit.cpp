// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture/memory_limit.h"

#include "core/base/units.h"
#include "core/capture/memory_group.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

namespace core {
namespace {

std::uint64_t bytesAskedFor(std::string_view message)
{
    constexpr std::string_view kBefore = "tried to allocate ";
    const std::size_t at = message.find(kBefore);
    std::uint64_t bytes = 0;
    if (at != std::string_view::npos)
        std::from_chars(message.data() + at + kBefore.size(), message.data() + message.size(), bytes);
    return bytes;
}

// A limit of this process itself and the bytes it has of that kind, from the pages that statm counts.
struct OwnLimit
{
    __rlimit_resource resource;
    int field; // of statm, from 1
};
constexpr std::array kOwnLimits = {OwnLimit{RLIMIT_AS, 1}, OwnLimit{RLIMIT_DATA, 6}};

std::optional<std::uint64_t> ownLimitBytes(const OwnLimit &limit)
{
    rlimit own{};
    return getrlimit(limit.resource, &own) == 0 && own.rlim_cur != RLIM_INFINITY
               ? std::optional<std::uint64_t>(own.rlim_cur)
               : std::nullopt;
}

std::uint64_t bytesBelow(const OwnLimit &limit)
{
    std::ifstream in("/proc/self/statm");
    std::uint64_t pages = 0;
    for (int field = 0; field < limit.field; ++field)
        in >> pages;
    return in ? pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

// Of THERE at most what LIMIT leaves.
std::uint64_t leftOf(std::uint64_t there, std::uint64_t limit, std::uint64_t used)
{
    const std::uint64_t left = limit > used ? limit - used : 1;
    return there == 0 ? left : std::min(there, left);
}

} // namespace

std::uint64_t freeMemory()
{
    constexpr std::uint64_t kKibi = 1024;
    const std::uint64_t there = numberIn("/proc/meminfo", "MemAvailable:").value_or(0) * kKibi;
    const MemoryGroup group = MemoryGroup::read();
    return group.limit > 0 ? leftOf(there, group.left, 0) : there;
}

std::uint64_t memoryThereIs()
{
    std::uint64_t there = freeMemory();
    for (const OwnLimit &limit : kOwnLimits)
        if (const auto bytes = ownLimitBytes(limit))
            there = leftOf(there, *bytes, bytesBelow(limit));
    return there;
}

double tensorBytes(const TensorSpec &spec)
{
    double bytes = static_cast<double>(itemSize(spec.dtype));
    for (const std::int64_t size : spec.shape)
        bytes *= static_cast<double>(size);
    return bytes;
}

std::string bytesText(double bytes)
{
    constexpr double kMost = 9e18;
    return (bytes > kMost ? "more than " : "") +
           formatBytes(static_cast<std::uint64_t>(std::min(bytes, kMost)));
}

Status memoryExplained(Status error, std::uint64_t limit)
{
    const std::string &message = error.message();
    if (error.isOk() || (message.find("std::bad_alloc") == std::string::npos &&
                         message.find("can't allocate memory") == std::string::npos))
        return error;
    const std::uint64_t bytes = bytesAskedFor(message);
    const std::string more = bytes == 0 ? "" : ": " + formatBytes(bytes) + " more were asked for";
    for (const OwnLimit &own : kOwnLimits)
        if (const auto outside = limit == 0 ? ownLimitBytes(own) : std::nullopt)
            return Status(ErrorCode::modelFailed, "the memory limit of " + formatBytes(*outside) +
                                                      " that was set from outside was reached" + more)
                .withDetail("out_of_memory")
                .withRemedy("raise that limit (ulimit), or give smaller inputs");
    if (limit == 0)
        return Status(ErrorCode::modelFailed, "the memory of this machine does not suffice" + more)
            .withDetail("out_of_memory")
            .withRemedy("close other programs, or give smaller inputs");
    return Status(ErrorCode::modelFailed, "the memory limit of " + formatBytes(limit) + " was reached" + more)
        .withDetail("out_of_memory")
        .withRemedy("raise the memory limit (--memory-limit): LibTorch alone needs some 200 MiB");
}

} // namespace core
