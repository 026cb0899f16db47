// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/box_text.h"

#include "core/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

namespace core {

namespace {

std::string opsWord(std::uint32_t count)
{
    return formatCount(count) + (count == 1 ? " op" : " ops");
}

std::string_view addressOf(const Trace &trace, ModuleCallId call)
{
    const ModuleId module = trace.moduleCall(call).module;
    return module.isValid() ? trace.string(trace.module(module).address) : std::string_view();
}

// Without the package: "Sequential".
std::string_view classOf(const Trace &trace, ModuleCallId call)
{
    const ModuleId module = trace.moduleCall(call).module;
    if (!module.isValid())
        return {};
    const std::string_view name = trace.string(trace.module(module).className);
    return name.substr(name.rfind('.') + 1); // the whole where there is no dot
}

// The address without that of the module it is drawn in: "attn" in h.7, "h.7" in the whole.
std::string localName(const GraphTree &tree, std::uint32_t group)
{
    const Trace &trace = tree.trace();
    const ModuleCallId call = tree.group(group).call;
    std::string_view name = addressOf(trace, call);
    const ModuleCallId outer = tree.group(tree.group(group).parent).call;
    const std::string_view around = outer.isValid() ? addressOf(trace, outer) : std::string_view();
    if (!around.empty() && name.size() > around.size() + 1 && name.starts_with(around) &&
        name[around.size()] == '.')
        name.remove_prefix(around.size() + 1);
    std::string out(name);
    if (out.empty())
        out = classOf(trace, call);
    if (trace.moduleCall(call).index > 1)
        out += ":" + std::to_string(trace.moduleCall(call).index);
    return out;
}

struct BadCounts
{
    std::uint64_t nan = 0;
    std::uint64_t posInf = 0;
    std::uint64_t negInf = 0;
    std::uint64_t elements = 0;
};

void addCounts(const GraphTree &tree, OpId op, BadCounts &counts)
{
    const TensorStats *stats = tree.stats(tree.trace().op(op).tensor);
    if (stats == nullptr)
        return;
    counts.nan += stats->nan;
    counts.posInf += stats->posInf;
    counts.negInf += stats->negInf;
    counts.elements += stats->elements;
}

std::string shareOrCount(std::uint64_t count, std::uint64_t elements)
{
    if (elements > 0 && count >= 1000000)
        return fmt::format("{:.1f} %", 100.0 * static_cast<double>(count) / static_cast<double>(elements));
    return formatCount(count);
}

void opBadges(const GraphTree &tree, CallId call, PictureBox &box)
{
    BadCounts counts;
    const Range rows = tree.trace().call(call).rows;
    for (std::uint32_t i = 0; i < rows.count; ++i)
        addCounts(tree, OpId(rows.begin + i), counts);
    const bool loud = box.state == NodeState::origin || box.state == NodeState::reached;
    if (counts.nan > 0)
        box.badges.push_back({counts.nan == counts.elements && counts.elements == 1
                                  ? "NaN"
                                  : "NaN " + shareOrCount(counts.nan, counts.elements),
                              loud ? BadgeTone::nanSolid : BadgeTone::nan});
    if (counts.negInf > 0)
        box.badges.push_back({"-Inf " + shareOrCount(counts.negInf, counts.elements), BadgeTone::inf});
    if (counts.posInf > 0)
        box.badges.push_back({"+Inf " + shareOrCount(counts.posInf, counts.elements), BadgeTone::inf});
    if (counts.elements > 0) {
        box.nanShare =
            static_cast<float>(static_cast<double>(counts.nan) / static_cast<double>(counts.elements));
        box.infShare = static_cast<float>(static_cast<double>(counts.posInf + counts.negInf) /
                                          static_cast<double>(counts.elements));
    }
}

std::string_view kindWord(const TensorStats &counts)
{
    return counts.nan > 0 ? "NaN" : "Inf";
}

// What the grad functions of the calls in [box.begin, box.end) made. First where nothing worse happened in
// the forward pass.
void backwardBadge(const GraphTree &tree, PictureBox &box)
{
    TensorStats born;
    std::uint64_t births = 0;
    for (std::uint32_t i = box.begin; i < box.end; ++i) {
        const Range rows = tree.trace().call(tree.calls()[i]).rows;
        for (std::uint32_t row = 0; row < rows.count; ++row)
            if (const TensorStats *one = tree.marks().bornBackwardOf(OpId(rows.begin + row))) {
                born.nan += one->nan;
                born.posInf += one->posInf;
                born.negInf += one->negInf;
                born.elements += one->elements;
                ++births;
            }
    }
    box.bornInBackward = births > 0;
    if (births == 0)
        return;
    const bool isFirst = box.state != NodeState::origin;
    std::string text = fmt::format("grad {}", kindWord(born));
    if (box.end - box.begin == 1) // of several ops each says its own
        text += " " + shareOrCount(born.nan > 0 ? born.nan : born.nonFinite(), born.elements);
    box.badges.insert(isFirst ? box.badges.begin() : box.badges.end(),
                      {std::move(text), isFirst ? BadgeTone::nanSolid : BadgeTone::nan});
}

// Marks of the calls in [box.begin, box.end): the worst state, whether anything was not looked at, whether
// any value is bad at all.
void summariseCalls(const GraphTree &tree, PictureBox &box)
{
    const Trace &trace = tree.trace();
    std::uint32_t unchecked = 0;
    std::uint32_t ops = 0;
    bool anyNan = false;
    bool anyInf = false;
    bool allStatisticsOnly = true;
    for (std::uint32_t i = box.begin; i < box.end; ++i) {
        const CallId call = tree.calls()[i];
        box.state = std::max(box.state, tree.stateOf(call));
        ops += trace.call(call).kind == CallKind::compute ? 1 : 0;
        unchecked += tree.isUnchecked(call) ? 1 : 0;
        const Range rows = trace.call(call).rows;
        for (std::uint32_t row = 0; row < rows.count; ++row) {
            const TensorId tensor = trace.op(OpId(rows.begin + row)).tensor;
            const TensorStats *stats = tree.stats(tensor);
            anyNan = anyNan || (stats != nullptr && stats->nan > 0);
            anyInf = anyInf || (stats != nullptr && stats->posInf + stats->negInf > 0);
            if (tensor.isValid() && trace.tensor(tensor).payload.state == PayloadState::saved)
                allStatisticsOnly = false;
        }
    }
    box.opCount = ops;
    box.unchecked = unchecked > 0 && unchecked == box.end - box.begin;
    box.partlyUnchecked = unchecked > 0 && !box.unchecked;
    box.statisticsOnly = allStatisticsOnly && unchecked == 0;
    if (box.kind == BoxKind::op || box.kind == BoxKind::input || box.kind == BoxKind::output)
        return;
    if (anyNan)
        box.badges.push_back({"NaN", box.state == NodeState::origin ? BadgeTone::nanSolid : BadgeTone::nan});
    else if (anyInf)
        box.badges.push_back({"Inf", BadgeTone::inf});
    if (unchecked > 0)
        box.badges.push_back({formatCount(unchecked) + " not saved", BadgeTone::neutral});
}

void describeCall(const GraphTree &tree, CallId id, PictureBox &box)
{
    const Trace &trace = tree.trace();
    const CallRow &call = trace.call(id);
    box.op = OpId(call.rows.begin);
    const OpRow &row = trace.op(box.op);
    if (row.tensor.isValid())
        box.subtitle = tensorWords(trace, row.tensor);
    if (call.rows.count > 1)
        box.subtitle += fmt::format(" and {} more", call.rows.count - 1);
    if (!call.finished)
        box.subtitle = "was running when the run ended";
    if (call.durationNs >= 0)
        box.duration = formatNanoseconds(call.durationNs);
    box.inPlace = call.inPlace;
    box.view = call.view;
    box.place = std::string(trace.moduleAddress(box.op));
    if (const auto line = trace.sourceLine(box.op)) {
        const std::size_t slash = line->rfind('/');
        box.place += (box.place.empty() ? "" : " \u00b7 ") +
                     (slash == std::string::npos ? *line : line->substr(slash + 1));
    }
}

void describeOp(const GraphTree &tree, CallId id, PictureBox &box)
{
    const Trace &trace = tree.trace();
    describeCall(tree, id, box);
    box.fullName = trace.label(box.op);
    const CallKind kind = trace.call(id).kind;
    if (kind == CallKind::input || kind == CallKind::output) {
        box.kind = kind == CallKind::input ? BoxKind::input : BoxKind::output;
        const std::string_view address = trace.string(trace.call(id).address);
        box.title = address.empty() ? std::string(trace.publicLabel(box.op)) : std::string(address);
        // A place in a tuple is no name.
        if (kind == CallKind::output && !address.empty() &&
            std::all_of(address.begin(), address.end(), [](char c) { return c >= '0' && c <= '9'; }))
            box.title = fmt::format("output [{}]", address);
    } else {
        box.title = valueName(trace, box.op); // a buffer that was written by its name
    }
    opBadges(tree, id, box);
}

void describeStack(const GraphTree &tree, const SliceItem &item, PictureBox &box)
{
    const auto entries = tree.entries(tree.group(item.owner));
    box.memberCount = item.pastEntry - item.firstEntry;
    const std::string first = localName(tree, item.group);
    const std::string last = localName(tree, entries[item.pastEntry - 1].value);
    box.title = first + " \u2013 " + last;
    box.fullName = box.title;
    box.moduleCall = tree.group(item.group).call;
    box.subtitle =
        fmt::format("{} identical \u00b7 {} each", box.memberCount, opsWord(tree.group(item.group).ops));
    box.place = classOf(tree.trace(), box.moduleCall);
}

// "ln_2, mlp, add, 6 kinds more": what a run of mixed things is called.
std::string runTitle(const GraphTree &tree, const SliceItem &item)
{
    const auto entries = tree.entries(tree.group(item.owner));
    std::vector<std::string> names;
    std::set<std::string> seen;
    for (std::uint32_t i = item.firstEntry; i < item.pastEntry && seen.size() < 50; ++i) {
        std::string name =
            entries[i].isGroup
                ? localName(tree, entries[i].value)
                : std::string(tree.trace().string(
                      tree.trace().op(OpId(tree.trace().call(entries[i].call()).rows.begin)).type));
        if (name.empty() || !seen.insert(name).second)
            continue;
        if (names.size() < 3)
            names.push_back(std::move(name));
    }
    std::string title;
    for (const std::string &name : names)
        title += (title.empty() ? "" : ", ") + name;
    return seen.size() > names.size() ? title + ", \u2026" : title;
}

std::string runRange(const GraphTree &tree, std::uint32_t begin, std::uint32_t end)
{
    const Trace &trace = tree.trace();
    const auto step = [&](std::uint32_t at) {
        return trace.op(OpId(trace.call(tree.calls()[at]).rows.begin)).step;
    };
    return fmt::format("ops {} \u2013 {}", formatCount(step(begin)), formatCount(step(end - 1)));
}

} // namespace

std::string dtypeWord(DType dtype)
{
    switch (dtype) {
    case DType::float16:
        return "fp16";
    case DType::bfloat16:
        return "bf16";
    case DType::float32:
        return "fp32";
    case DType::float64:
        return "fp64";
    default:
        return std::string(dtypeName(dtype));
    }
}

std::string tensorWords(const Trace &trace, TensorId id)
{
    const TensorRow &tensor = trace.tensor(id);
    std::string out = tensor.dtype == DType::unknown ? std::string() : dtypeWord(tensor.dtype);
    if (!tensor.shapeKnown)
        return out;
    out += out.empty() ? "[" : " [";
    bool first = true;
    for (const std::int64_t size : trace.shape(id)) {
        out += (first ? "" : ", ") + std::to_string(size);
        first = false;
    }
    return out + "]";
}

std::string shortLabel(const Trace &trace, OpId op)
{
    const OpRow &row = trace.op(op);
    std::string label(trace.string(row.layerLabel));
    const std::string number = "_" + std::to_string(row.totalIndex);
    if (row.totalIndex > 0 && label.size() > number.size() && label.ends_with(number) &&
        label.find('_') < label.size() - number.size())
        label.resize(label.size() - number.size());
    if (row.passCount > 1)
        label += ":" + std::to_string(row.pass);
    return label;
}

std::string valueName(const Trace &trace, OpId op)
{
    const std::string_view address = trace.string(trace.callOf(op).address);
    const CallKind kind = trace.op(op).kind;
    if (address.empty() || kind == CallKind::compute)
        return shortLabel(trace, op);
    const std::size_t dot = kind == CallKind::buffer ? address.rfind('.') : std::string_view::npos;
    return std::string(dot == std::string_view::npos ? address : address.substr(dot + 1));
}

void describeBox(const GraphTree &tree, const SliceItem &item, PictureBox &box)
{
    const Trace &trace = tree.trace();
    box.kind = item.kind;
    box.foldKey = item.key;
    if (item.kind == BoxKind::op) {
        box.state = tree.stateOf(item.call);
        describeOp(tree, item.call, box);
        summariseCalls(tree, box);
        backwardBadge(tree, box);
        return;
    }
    summariseCalls(tree, box);
    box.canUnfold = item.kind != BoxKind::module || !item.call.isValid();
    box.op = OpId(trace.call(tree.calls()[box.begin]).rows.begin);
    if (item.kind == BoxKind::stack) {
        describeStack(tree, item, box);
    } else if (item.kind == BoxKind::run) {
        box.title = runTitle(tree, item);
        box.fullName = runRange(tree, box.begin, box.end);
        box.subtitle = fmt::format("{} \u00b7 {}", opsWord(box.opCount), box.fullName);
    } else {
        box.moduleCall = tree.group(item.group).call;
        box.title = localName(tree, item.group);
        box.fullName = addressOf(trace, box.moduleCall);
        box.subtitle = fmt::format("{} \u00b7 {}", classOf(trace, box.moduleCall), opsWord(box.opCount));
        if (item.call.isValid()) { // its only op speaks for it
            const std::vector<PictureBadge> plain = std::move(box.badges);
            box.badges.clear();
            opBadges(tree, item.call, box);
            describeCall(tree, item.call, box);
            box.fullName = trace.label(box.op);
        }
    }
    backwardBadge(tree, box);
}

void describeCluster(const GraphTree &tree, const SliceItem &item, PictureCluster &cluster)
{
    cluster.foldKey = item.key;
    PictureBox inside;
    inside.kind = item.kind;
    inside.begin = cluster.begin;
    inside.end = cluster.end;
    summariseCalls(tree, inside);
    cluster.state = inside.state;
    backwardBadge(tree, inside);
    cluster.bornInBackward = inside.bornInBackward;
    if (item.kind == BoxKind::run) {
        cluster.title = runTitle(tree, item);
        cluster.subtitle =
            fmt::format("{} \u00b7 {}", opsWord(inside.opCount), runRange(tree, cluster.begin, cluster.end));
        return;
    }
    cluster.moduleCall = tree.group(item.group).call;
    cluster.title = localName(tree, item.group);
    cluster.subtitle =
        fmt::format("{} \u00b7 {}", classOf(tree.trace(), cluster.moduleCall), opsWord(inside.opCount));
}

} // namespace core
