// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <QtGlobal>

#include <memory>

class QGuiApplication;

namespace app {

// What Qt needs for painting text and looking at fonts: an application, but no display, whichever platform
// QT_QPA_PLATFORM names. Qt's remarks on the surroundings (no runtime folder, no locale) are not the user's
// affair and are left out while it lives; what ends the program is still printed. One at a time, on the main
// thread.
class OffscreenApplication
{
public:
    // limitExceeded when the process may not open the files that Qt needs.
    static core::Result<std::unique_ptr<OffscreenApplication>> start();
    ~OffscreenApplication();
    OffscreenApplication(const OffscreenApplication &) = delete;
    OffscreenApplication &operator=(const OffscreenApplication &) = delete;

private:
    OffscreenApplication();

    QtMessageHandler m_handlerBefore;
    // Qt keeps both for as long as the application lives.
    char m_name[12] = "opscope-cli";
    char *m_words[2] = {m_name, nullptr};
    int m_count = 1;
    std::unique_ptr<QGuiApplication> m_application;
};

} // namespace app
