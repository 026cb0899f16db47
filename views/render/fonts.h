// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace render {

// Loads the bundled fonts; must run once after the QGuiApplication is made. Returns false when a font could
// not be read.
bool loadBundledFonts();

} // namespace render
