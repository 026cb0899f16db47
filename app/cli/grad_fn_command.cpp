// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/open_trace.h"
#include "app/cli/picture_file.h"
#include "app/installation/layout_client.h"
#include "core/analysis/grad_fn_walk.h"
#include "core/analysis/trace_lookup.h"
#include "core/graph/graph_draw.h"
#include "core/graph/graph_layout.h"
#include "core/io/draft_file.h"

#include <array>

namespace app {
namespace {

using core::GradFnKind;
using core::GradFnNode;
using core::GradFnSketch;
using core::Result;
using core::Status;
using core::Value;

constexpr std::array<OptionSpec, 6> kOptions = {{
    {"output", "FILE", "the picture to write", 'o'},
    {"format", "FORMAT", "svg, png or dot (default: by the name of FILE)"},
    {"outputs", "OP", "an op to start from (default: the outputs of the model)", 0, true},
    {"max-nodes", "N", "ceiling of nodes that are followed (default 20000)"},
    {"theme", "NAME", "light, dark or high-contrast (default light)"},
    {"scale", "N", "pixels of a PNG for each unit, 1 to 8 (default 2)"},
}};

std::string sizeText(const GradFnNode &node)
{
    const std::string shape = node.shape.isNull() ? std::string() : core::toJson(node.shape);
    return node.dtype.empty() ? shape : node.dtype + (shape.empty() ? "" : " ") + shape;
}

core::PictureBox boxOf(const GradFnNode &node, const core::Trace &trace)
{
    core::PictureBox box;
    box.gradNode = node.node;
    box.op = node.op;
    box.title = node.paramName.empty() ? node.name : node.paramName;
    box.fullName = node.name;
    switch (node.kind) {
    case GradFnKind::root:
        box.kind = core::BoxKind::output;
        box.subtitle = node.dtype;
        break;
    case GradFnKind::leaf:
        box.kind = core::BoxKind::parameter;
        box.subtitle = sizeText(node);
        if (node.requiresGrad == 0)
            box.badges.push_back({"frozen", core::BadgeTone::neutral});
        break;
    case GradFnKind::op:
        box.kind = core::BoxKind::gradient;
        if (node.op.isValid())
            box.subtitle = trace.publicLabel(node.op);
        break;
    }
    return box;
}

core::GraphPicture pictureOf(const GradFnSketch &sketch, const core::Trace &trace)
{
    core::GraphPicture picture;
    for (const GradFnNode &node : sketch.nodes)
        picture.boxes.push_back(boxOf(node, trace));
    for (const auto &[from, to] : sketch.edges) {
        core::PictureEdge edge;
        edge.from = from;
        edge.to = to;
        edge.kind = core::EdgeKind::data; // forward direction, producer to consumer
        picture.edges.push_back(std::move(edge));
    }
    picture.totalOps = static_cast<std::uint32_t>(sketch.nodes.size());
    return picture;
}

// The lines below the picture.
std::vector<std::string> legend(const GradFnSketch &sketch)
{
    std::vector<std::string> lines = {"structure only: no values, no times"};
    if (sketch.truncated)
        lines.push_back("cut at " + std::to_string(sketch.nodes.size()) +
                        " nodes; what lies further back is not drawn");
    return lines;
}

Result<GradFnSketch> sketchOf(const Arguments &arguments, const core::Trace &trace)
{
    const Result<std::optional<std::int64_t>> most = arguments.integer("max-nodes", 1);
    if (!most)
        return most.error();
    std::vector<core::OpId> ops;
    for (const std::string &key : arguments.texts("outputs")) {
        const Result<core::OpId> op = core::lookUpOp(trace, Value(key));
        if (!op)
            return op.error();
        ops.push_back(*op);
    }
    return core::walkGradFn(trace, ops, most->value_or(core::kMaxGradFnNodes));
}

// The picture, and in NOTE why it is simplified.
Status drawSketch(const GradFnSketch &sketch, const core::Trace &trace, const PictureTarget &target,
                  CommandContext &context, std::string &note)
{
    const core::GraphPicture picture = pictureOf(sketch, trace);
    const Result<core::LayoutResult> placed =
        placeGraph(core::graphLayoutRequest(picture, 1), context.programFolder, context.job);
    if (!placed)
        return placed.error();
    note = placed->simplified ? placed->note : std::string();
    const core::DrawList drawn = core::drawGraph(picture, *placed, core::GraphLook());
    return writePicture(drawn, {std::string(trace.subject()), legend(sketch)}, target, context.job);
}

void tellSketch(const GradFnSketch &sketch, const PictureTarget &target, const std::string &note,
                Console &console)
{
    if (!note.empty())
        console.warning("the layout is simplified: " + note);
    if (sketch.truncated)
        console.warning("the graph is cut at " + std::to_string(sketch.nodes.size()) + " nodes");
    console.print(target.path + ": " + std::to_string(sketch.nodes.size()) + " nodes, " +
                  std::to_string(sketch.edges.size()) + " edges\n");
    console.printDocument(Value::object({{"file", target.path},
                                         {"format", pictureFormatName(target.format)},
                                         {"n_nodes", sketch.nodes.size()},
                                         {"n_edges", sketch.edges.size()},
                                         {"truncated", sketch.truncated},
                                         {"simplified", note.empty() ? Value() : Value(note)}}));
}

Result<ExitCode> runGradFn(const Arguments &arguments, CommandContext &context)
{
    const Result<PictureTarget> target = pictureTarget(arguments);
    if (!target)
        return target.error();
    if (Status status = core::checkNotRead(target->path, arguments.operand(0)); !status)
        return status;
    const Result<std::shared_ptr<const core::Trace>> trace = openTraceFile(arguments.operand(0), context);
    if (!trace)
        return trace.error();
    const Result<GradFnSketch> sketch = sketchOf(arguments, **trace);
    if (!sketch)
        return sketch.error();
    std::string note;
    const Status written = target->format == PictureFormat::dot
                               ? writeWhole(target->path, core::sketchDot(*sketch))
                               : drawSketch(*sketch, **trace, *target, context, note);
    if (!written)
        return written;
    tellSketch(*sketch, *target, note, context.console);
    return ExitCode::nothingFound;
}

} // namespace

const CommandSpec kGradFnCommand{
    .name = "grad-fn",
    .operands = "TRACE",
    .minOperands = 1,
    .maxOperands = 1,
    .summary = "write the autograd graph of a trace as a picture",
    .details = "Structure only: nodes, edges in forward direction and the names of leaves, no values.\n"
               "\"opscope-cli report walk_grad_fn TRACE\" lists the same nodes and edges.",
    .options = kOptions,
    .example = "opscope-cli grad-fn run.opscope --format svg -o grad.svg\n"
               "opscope-cli grad-fn run.opscope --outputs linear_1_1 -o grad.png",
    .run = runGradFn,
};

} // namespace app
