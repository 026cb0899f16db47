// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ipc/messages.h"

#ifndef OPSCOPE_BUILD_ID
#error "the build passes OPSCOPE_BUILD_ID to this file"
#endif

namespace core {

std::string_view buildId()
{
    return OPSCOPE_BUILD_ID;
}

} // namespace core
