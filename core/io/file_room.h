// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/write_error.h"

#include <cstdint>

namespace core {

// Sees to it that a file can grow: within this process's limit on the size of files, and in blocks that are
// set aside for it ahead of what is written, so that nobody else takes the last of a disk. The size of the
// file stays as it is. A file system that sets no blocks aside is taken to have them. Owned by the writer of
// the file; one thread.
class FileRoom
{
public:
    // That the file behind DESCRIPTOR may be END bytes long. 0 or the error number.
    int reach(int descriptor, std::uint64_t end);
    // The file was cut to END bytes: what was set aside after it is gone.
    void cutTo(std::uint64_t end) { m_end = end; }
    // What was set aside and not written belongs to the disk again.
    void giveBack(int descriptor);

private:
    std::uint64_t m_end = 0; // up to here blocks are set aside or written
    bool m_setsAside = true;
};

} // namespace core
