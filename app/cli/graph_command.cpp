// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/open_trace.h"
#include "app/cli/picture_file.h"
#include "app/installation/layout_client.h"
#include "core/graph/graph_dot.h"
#include "core/graph/graph_draw.h"
#include "core/graph/graph_export.h"
#include "core/graph/graph_layout.h"
#include "core/io/draft_file.h"

#include <array>
#include <cstdint>
#include <limits>

namespace app {
namespace {

using core::Result;
using core::Status;
using core::Value;

constexpr std::array<OptionSpec, 6> kOptions = {{
    {"output", "FILE", "the picture to write", 'o'},
    {"format", "FORMAT", "svg, png or dot (default: by the name of FILE)"},
    {"depth", "N", "unfold modules to this depth (default: at most 40 boxes)"},
    {"boxes", "N", "fold to at most this many boxes (default 40)"},
    {"theme", "NAME", "light, dark or high-contrast (default light)"},
    {"scale", "N", "pixels of a PNG for each unit, 1 to 8 (default 2)"},
}};

constexpr std::int64_t kMostBoxes = std::numeric_limits<std::uint32_t>::max();

Result<core::GraphExportOptions> exportOptions(const Arguments &arguments)
{
    core::GraphExportOptions options;
    const Result<std::optional<std::int64_t>> depth = arguments.integer("depth", 0, kMostBoxes);
    const Result<std::optional<std::int64_t>> boxes = arguments.integer("boxes", 1, kMostBoxes);
    if (!depth || !boxes)
        return depth ? boxes.error() : depth.error();
    if (*depth)
        options.depth = static_cast<std::uint32_t>(**depth);
    options.boxes = static_cast<std::size_t>(boxes->value_or(core::kFirstPictureBoxes));
    return options;
}

Result<ExitCode> runGraph(const Arguments &arguments, CommandContext &context)
{
    const Result<PictureTarget> target = pictureTarget(arguments);
    if (!target)
        return target.error();
    const Result<core::GraphExportOptions> options = exportOptions(arguments);
    if (!options)
        return options.error();
    if (Status status = core::checkNotRead(target->path, arguments.operand(0)); !status)
        return status;
    const Result<std::shared_ptr<const core::Trace>> trace = openTraceFile(arguments.operand(0), context);
    if (!trace)
        return trace.error();
    const core::GraphSlice slice = core::exportSlice(*trace, {}, *options);
    const std::string title((*trace)->subject());
    Status status;
    if (target->format == PictureFormat::dot) {
        status = writeWhole(target->path, core::graphDot(slice.picture, title));
    } else {
        const Result<core::LayoutResult> placed =
            placeGraph(core::graphLayoutRequest(slice.picture, 1), context.programFolder, context.job);
        if (!placed)
            return placed.error();
        if (placed->simplified)
            context.console.warning("the layout is simplified: " + placed->note);
        core::GraphLook look;
        look.zoom = options->zoom;
        const core::DrawList drawn = core::drawGraph(slice.picture, *placed, look);
        status =
            writePicture(drawn, {title, core::exportFooter(**trace, slice.picture)}, *target, context.job);
    }
    if (!status)
        return status;
    context.console.print(target->path + ": " + std::to_string(slice.picture.boxes.size()) +
                          " boxes stand for " + std::to_string(slice.picture.totalOps) + " ops\n");
    context.console.printDocument(Value::object({{"file", target->path},
                                                 {"format", pictureFormatName(target->format)},
                                                 {"boxes", slice.picture.boxes.size()},
                                                 {"ops", slice.picture.totalOps}}));
    return ExitCode::nothingFound;
}

} // namespace

const CommandSpec kGraphCommand{
    .name = "graph",
    .operands = "TRACE",
    .minOperands = 1,
    .maxOperands = 1,
    .summary = "write the op graph of a trace as a picture",
    .options = kOptions,
    .example = "opscope-cli graph run.opscope --format svg -o run.svg",
    .run = runGraph,
};

} // namespace app
