// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/failure_cause.h"

#include <string_view>

namespace core {
namespace {

constexpr std::string_view kFailureCause = "failure_cause";

} // namespace

const std::string &failureCause(const TraceInfo &info)
{
    return info.attributes.at(kFailureCause).toString();
}

void setFailureCause(TraceInfo &info, const std::string &cause)
{
    if (!cause.empty())
        info.attributes.set(kFailureCause, cause);
}

} // namespace core
