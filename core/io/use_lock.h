// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>

namespace core {

// A lock that says that who made a file or folder still uses it: nobody holds that of what a program that was
// killed left behind. Seen by every program that sees the file, also from another container or, where the
// file system knows locks, host. Given back when this is destroyed. Owned by one thread.
class UseLock
{
public:
    UseLock() = default; // of nothing
    // Not held when PATH is in use or somebody else's, or its file system has no locks.
    static UseLock take(const std::filesystem::path &path);
    ~UseLock() { release(); }
    UseLock(UseLock &&other) noexcept;
    UseLock &operator=(UseLock &&other) noexcept;

    bool isHeld() const { return m_descriptor >= 0; }
    void release();

private:
    int m_descriptor = -1;
};

// Removes PATH, with all in it, if it was left behind: it is this user's, nobody uses it, and nobody has
// touched it for ten minutes (who makes one locks it a moment later, and some hosts do not see each other's
// locks).
void removeIfLeft(const std::filesystem::path &path);

} // namespace core
