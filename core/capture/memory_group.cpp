// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture/memory_group.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

namespace core {
namespace {

// The files that tell of one group.
struct GroupFiles
{
    const char *limit;
    const char *used;
    const char *files; // the key in memory.stat of what is kept of files and not in use
    const char *events;
    const char *reachedIn;
    const char *reached; // the key there
};
constexpr GroupFiles kVersion1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ",
                                  "memory.oom_control",    "memory.failcnt",        ""};
constexpr GroupFiles kVersion2 = {"memory.max",    "memory.current", "inactive_file ",
                                  "memory.events", "memory.events",  "oom "};

// "/a/b" of the line "0::/a/b", or of "4:memory:/a/b" for version 1.
std::optional<std::string> groupPath(const std::filesystem::path &own, bool isVersion1)
{
    std::ifstream in(own);
    std::string line;
    while (std::getline(in, line)) {
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos)
            continue;
        const std::string names = ',' + line.substr(first + 1, second - first - 1) + ',';
        if (isVersion1 ? names.find(",memory,") != std::string::npos : line.starts_with("0::"))
            return line.substr(second + 1);
    }
    return std::nullopt;
}

// FOLDER is that of one of the groups.
void addGroup(MemoryGroup &group, const std::filesystem::path &folder, const GroupFiles &names)
{
    constexpr std::uint64_t kNone = std::uint64_t(1) << 62U; // version 1 says a huge number for none
    group.reached += numberIn(folder / names.reachedIn, names.reached).value_or(0);
    const auto limit = numberIn(folder / names.limit, {});
    const auto used = numberIn(folder / names.used, {});
    if (!limit || !used || *limit >= kNone)
        return;
    const std::uint64_t files = numberIn(folder / "memory.stat", names.files).value_or(0);
    const std::uint64_t held = *used - std::min(files, *used);
    const std::uint64_t left = *limit - std::min(held, *limit);
    if (group.limit == 0 || left < group.left) {
        group.limit = *limit;
        group.left = left;
    }
}

} // namespace

std::optional<std::uint64_t> numberIn(const std::filesystem::path &file, std::string_view key)
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

MemoryGroup MemoryGroup::read(const std::filesystem::path &own, const std::filesystem::path &root)
{
    MemoryGroup group;
    const auto version1 = groupPath(own, true);
    const auto path = version1 ? version1 : groupPath(own, false);
    if (!path)
        return group;
    const GroupFiles &names = version1 ? kVersion1 : kVersion2;
    const std::filesystem::path top = version1 ? root / "memory" : root;
    // Inside a container the way may start outside of what is seen there: those groups have no files.
    for (std::filesystem::path way = std::filesystem::path(*path).relative_path();; way = way.parent_path()) {
        addGroup(group, top / way, names);
        if (!group.kills)
            group.kills = numberIn(top / way / names.events, "oom_kill ");
        if (way.empty())
            return group;
    }
}

} // namespace core
