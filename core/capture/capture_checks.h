// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/capture/capture_request.h"

#include <cstdint>
#include <string>

namespace core {

// Tells a file from the one that stood there before: another file, or written to since.
struct FileStamp
{
    bool exists = false;
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    std::int64_t changedNs = 0;

    static FileStamp of(const std::string &path);
    bool operator==(const FileStamp &) const = default;
};

// What can be told of a request's files before a process is started: that the model is one, with what the
// file is when it is not (the errors of identifyFile, unknown_format), and that the output may be written and
// is none of the inputs (invalidArgument, unreadable). The request of the task "doctor" may name any file.
Status checkCaptureFiles(const CaptureRequest &request);

// limitExceeded (time_limit): a run took longer than SECONDS.
Status tookTooLong(double seconds);

} // namespace core
