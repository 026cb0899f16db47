// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <array>

namespace app {

// The arrangements of panes. The other four of the plan appear here with the views they are made of.
enum class Perspective { overview, nanHunt };

inline constexpr std::array kPerspectives = {Perspective::overview, Perspective::nanHunt};

QString perspectiveTitle(Perspective perspective); // "NaN hunt"
QString perspectiveKey(Perspective perspective);   // "nan-hunt", for settings

} // namespace app
