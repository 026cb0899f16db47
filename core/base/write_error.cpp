// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/write_error.h"

#include <cerrno>
#include <cstring>

namespace core {

bool isNoRoom(int error)
{
    return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

Status writeError(std::string message, int error)
{
    Status status(ErrorCode::unreadable, message + ": " + std::strerror(error));
    if (!isNoRoom(error))
        return status;
    return std::move(status).withDetail(kNoRoom).withRemedy(
        error == EFBIG ? "raise the limit on the size of files (ulimit -f), or save less"
                       : "make room on the disk, write to another one, or save less");
}

} // namespace core
