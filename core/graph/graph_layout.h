// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/geometry.h"
#include "core/draw/text_metrics.h"
#include "core/graph/graph_picture.h"
#include "core/layout/layout_types.h"

#include <span>
#include <vector>

namespace core {

// Sizes of the visual language in pixels at 100 %.
inline constexpr double kBoxHeight = 46.0;
inline constexpr double kStubHeight = 20.0;
inline constexpr double kStubGap = 24.0;
// From this zoom on text has its full size on screen, so that boxes are measured for it.
inline constexpr double kTextZoom = 0.84;
inline constexpr TextStyle kTitleFont = {FontFamily::words, FontWeight::semibold, 13.0F};
inline constexpr TextStyle kDetailFont = {FontFamily::mono, FontWeight::regular, 12.0F};
inline constexpr TextStyle kBadgeFont = {FontFamily::mono, FontWeight::medium, 10.0F};
inline constexpr TextStyle kStubFont = {FontFamily::mono, FontWeight::regular, 11.0F};

// The width of a box alone: one of four steps, by its text.
double boxWidth(const PictureBox &box);
// How many small marks stand in its second row: it can be unfolded, works in place, is a view, bears NaN or
// Inf in the backward pass.
int markCount(const PictureBox &box);
// Stubs of one box; PICTURE keeps them in the order of boxes.
std::span<const PictureStub> stubsOf(const GraphPicture &picture, std::uint32_t box);
double stubWidth(const PictureStub &stub);

// A node of the request is a box with its stubs; the box stands in its middle, so that a trunk of boxes stays
// straight whatever stubs they have.
LayoutRequest graphLayoutRequest(const GraphPicture &picture, std::uint64_t id);
// All boxes, then all pills.
std::vector<Rect> placedRects(const GraphPicture &picture, const LayoutResult &layout);
// Where the box itself, and a pill beside it, stand in a layout of that request.
Rect boxRect(const GraphPicture &picture, const LayoutResult &layout, std::uint32_t box);
Rect stubRect(const GraphPicture &picture, const LayoutResult &layout, const PictureStub &stub);

} // namespace core
