// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report.h"
#include "core/draw/color_token.h"
#include "views/base/icon.h"

namespace views {

// The sign of a finding and its colour.
struct SeverityLook
{
    IconName icon;
    core::ColorToken tone;
};

inline SeverityLook severityLook(core::Severity severity)
{
    switch (severity) {
    case core::Severity::critical:
        return {IconName::critical, core::ColorToken::nan};
    case core::Severity::warning:
        return {IconName::warning, core::ColorToken::warn};
    case core::Severity::info:
        break;
    }
    return {IconName::information, core::ColorToken::accent};
}

} // namespace views
