// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture/memory_limit.h"

#include "core/base/units.h"

#include <charconv>
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

} // namespace

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
