// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace core {

// What the system allows the group of this process and those around it: a container, a service, a job of a
// batch system. A value.
struct MemoryGroup
{
    std::uint64_t limit = 0;            // bytes, the one that leaves least; 0: none is set
    std::uint64_t left = 0;             // bytes below that limit, counting what can be taken back from files
    std::uint64_t reached = 0;          // how often one of the limits was
    std::optional<std::uint64_t> kills; // programs of this very group that were ended for want of memory

    // Of this process. OWN and ROOT: where the system says so, in the form of either version of groups.
    static MemoryGroup read(const std::filesystem::path &own = "/proc/self/cgroup",
                            const std::filesystem::path &root = "/sys/fs/cgroup");
};

// The number behind KEY in a file of lines "KEY NUMBER"; with an empty key the first number. None for a file
// or a number that is not there ("max").
std::optional<std::uint64_t> numberIn(const std::filesystem::path &file, std::string_view key);

} // namespace core
