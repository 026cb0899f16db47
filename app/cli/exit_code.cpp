// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/exit_code.h"

namespace app {

using core::ErrorCode;

ExitCode exitCodeOf(const core::Status &status)
{
    switch (status.code()) {
    case ErrorCode::none:
        return ExitCode::nothingFound;
    case ErrorCode::invalidArgument:
        return ExitCode::usage;
    case ErrorCode::notFound:
    case ErrorCode::unreadable:
    case ErrorCode::unknownFormat:
    case ErrorCode::unsupportedVersion:
    case ErrorCode::corrupt:
        return ExitCode::unreadable;
    case ErrorCode::limitExceeded: // of a file, or of the time of a run
        return status.detail() == "time_limit" ? ExitCode::notRun : ExitCode::unreadable;
    case ErrorCode::cancelled:
    case ErrorCode::workerCrashed:
    case ErrorCode::workerHung:
    case ErrorCode::protocol:
    case ErrorCode::modelFailed:
    case ErrorCode::unsupported:
    case ErrorCode::internal:
        return ExitCode::notRun;
    }
    return ExitCode::notRun;
}

std::string_view errorTypeOf(ErrorCode code)
{
    switch (code) {
    case ErrorCode::invalidArgument:
        return "InvalidArgumentError";
    case ErrorCode::notFound:
    case ErrorCode::unreadable:
    case ErrorCode::unknownFormat:
    case ErrorCode::unsupportedVersion:
    case ErrorCode::corrupt:
    case ErrorCode::limitExceeded:
        return "InputError";
    case ErrorCode::cancelled:
        return "CancelledError";
    case ErrorCode::modelFailed:
    case ErrorCode::workerCrashed:
    case ErrorCode::workerHung:
    case ErrorCode::protocol:
        return "CaptureError";
    case ErrorCode::unsupported:
        return "UnsupportedError";
    case ErrorCode::none:
    case ErrorCode::internal:
        break;
    }
    return "InternalError";
}

} // namespace app
