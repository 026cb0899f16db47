// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture/memory_limit.h"

#include "core/base/units.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
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

// The number behind KEY in a file of lines "KEY NUMBER"; with an empty key the first number. None for a file
// or a number that is not there ("max").
std::optional<std::uint64_t> numberIn(const char *file, std::string_view key)
{
    std::ifstream in(file);
    std::string line;
    while (std::getline(in, line)) {
        if (!line.starts_with(key))
            continue;
        const std::size_t at = line.find_first_of("0123456789", key.size());
        std::uint64_t number = 0;
        if (at != std::string::npos &&
            std::from_chars(line.data() + at, line.data() + line.size(), number).ec == std::errc())
            return number;
        return std::nullopt;
    }
    return std::nullopt;
}

// Of this process' own data, from the pages that statm counts.
std::uint64_t dataBytes()
{
    std::ifstream in("/proc/self/statm");
    std::uint64_t pages = 0;
    for (int field = 0; field < 6; ++field)
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
    const auto group = numberIn("/sys/fs/cgroup/memory.max", {});
    const auto used = numberIn("/sys/fs/cgroup/memory.current", {});
    return group && used ? leftOf(there, *group, *used) : there;
}

std::uint64_t memoryThereIs()
{
    rlimit own{};
    return getrlimit(RLIMIT_DATA, &own) == 0 && own.rlim_cur != RLIM_INFINITY
               ? leftOf(freeMemory(), own.rlim_cur, dataBytes())
               : freeMemory();
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
    if (limit == 0)
        return Status(ErrorCode::modelFailed, "the memory of this machine does not suffice" + more)
            .withDetail("out_of_memory")
            .withRemedy("close other programs, or give smaller inputs");
    return Status(ErrorCode::modelFailed, "the memory limit of " + formatBytes(limit) + " was reached" + more)
        .withDetail("out_of_memory")
        .withRemedy("raise the memory limit (--memory-limit): LibTorch alone needs some 200 MiB");
}

} // namespace core
