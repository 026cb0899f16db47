// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/lane.h"

#include "core/base/units.h"

#include <algorithm>
#include <cmath>

namespace core {

namespace {

constexpr std::size_t kMostBands = 40;

LaneCell tensorCell(const GraphTree &tree, TensorId tensor)
{
    LaneCell cell;
    const TensorStats *stats = tree.stats(tensor);
    if (stats != nullptr && stats->elements > 0) {
        cell.height =
            laneHeight(static_cast<double>(stats->nonFinite()) / static_cast<double>(stats->elements));
        cell.inf = stats->nan == 0 && stats->nonFinite() > 0;
    }
    return cell;
}

class LaneBuilder
{
public:
    explicit LaneBuilder(const GraphTree &tree) : m_tree(tree), m_trace(tree.trace()) {}

    LaneModel build()
    {
        m_model.cellByOp.assign(m_trace.ops().size(), LaneModel::kNoCell);
        for (const CallId call : m_tree.calls())
            addCall(call);
        if (!m_trace.backwards().empty())
            addBackward();
        addBands();
        return std::move(m_model);
    }

private:
    void addCall(CallId call)
    {
        const Range rows = m_trace.call(call).rows;
        if (rows.count == 0)
            return;
        const auto index = static_cast<std::uint32_t>(m_model.forward.size());
        LaneCell cell;
        cell.op = OpId(rows.begin);
        for (std::uint32_t i = 0; i < rows.count; ++i) {
            const OpId op(rows.begin + i);
            m_model.cellByOp[op.index()] = index;
            const LaneCell one = tensorCell(m_tree, m_trace.op(op).tensor);
            if (one.height > cell.height) {
                cell.height = one.height;
                cell.inf = one.inf;
            }
        }
        m_model.ops += m_trace.call(call).kind == CallKind::compute ? 1 : 0;
        cell.state = m_tree.stateOf(call);
        cell.unchecked = m_tree.isUnchecked(call);
        m_model.forward.push_back(cell);
    }

    // The gradient of each op's output in the last backward pass.
    void addBackward()
    {
        const BackwardId pass(m_trace.backwards().size() - 1);
        for (const LaneCell &forward : m_model.forward) {
            const TensorId tensor = m_trace.op(forward.op).tensor;
            const GradientRow *gradient = tensor.isValid() ? m_trace.gradient(tensor, pass) : nullptr;
            LaneCell cell;
            if (gradient != nullptr && gradient->gradient.isValid()) {
                cell = tensorCell(m_tree, gradient->gradient);
                cell.unchecked = m_tree.stats(gradient->gradient) == nullptr;
                cell.state = cell.height > 0.0F ? NodeState::propagated : NodeState::clean;
            } else {
                cell.gap = true;
            }
            cell.op = forward.op;
            addBackwardBirth(m_trace.op(forward.op).call, cell);
            m_model.backward.push_back(cell);
        }
    }

    // Its sign stands under the op, the bad gradients under the ops it hands them to.
    void addBackwardBirth(CallId call, LaneCell &cell) const
    {
        const Range rows = m_trace.call(call).rows;
        for (std::uint32_t i = 0; i < rows.count; ++i)
            if (const TensorStats *born = m_tree.marks().bornBackwardOf(OpId(rows.begin + i))) {
                cell.state = NodeState::origin;
                cell.inf = cell.inf || (cell.height <= 0.0F && born->nan == 0);
            }
    }

    // The deepest level of modules that still gives few bands, and above it the modules that go no deeper.
    void addBands()
    {
        std::vector<std::size_t> byDepth;
        std::vector<bool> hasInner(m_tree.groups().size(), false);
        for (const GraphGroup &group : m_tree.groups()) {
            byDepth.resize(std::max<std::size_t>(byDepth.size(), group.depth + 1), 0);
            ++byDepth[group.depth];
            hasInner[group.parent] = true;
        }
        std::size_t depth = 1;
        while (depth + 1 < byDepth.size() && byDepth[depth + 1] <= kMostBands)
            ++depth;
        for (std::size_t i = 1; i < m_tree.groups().size(); ++i) {
            const GraphGroup &group = m_tree.group(static_cast<std::uint32_t>(i));
            const bool isBand = group.depth == depth || (group.depth < depth && !hasInner[i]);
            if (isBand && group.begin < group.end)
                addBand(group);
        }
        std::sort(m_model.bands.begin(), m_model.bands.end(),
                  [](const LaneBand &a, const LaneBand &b) { return a.begin < b.begin; });
        joinCalls();
    }

    // Calls of one module that follow each other are one band: a loop over a layer names it once.
    void joinCalls()
    {
        std::vector<LaneBand> joined;
        for (LaneBand &band : m_model.bands) {
            if (joined.empty() || band.title.empty() || joined.back().title != band.title) {
                joined.push_back(std::move(band));
                continue;
            }
            joined.back().end = std::max(joined.back().end, band.end);
            joined.back().state = std::max(joined.back().state, band.state);
            joined.back().bornInBackward = joined.back().bornInBackward || band.bornInBackward;
        }
        m_model.bands = std::move(joined);
    }

    void addBand(const GraphGroup &group)
    {
        LaneBand band;
        const ModuleId module = m_trace.moduleCall(group.call).module;
        if (module.isValid())
            band.title = m_trace.string(m_trace.module(module).address);
        band.begin = cellAt(group.begin);
        band.end = cellAt(group.end - 1) + 1;
        band.state = group.state;
        band.bornInBackward = group.bornInBackward;
        m_model.bands.push_back(std::move(band));
    }

    std::uint32_t cellAt(std::uint32_t position) const
    {
        return m_model.cellByOp[m_trace.call(m_tree.calls()[position]).rows.begin];
    }

    const GraphTree &m_tree;
    const Trace &m_trace;
    LaneModel m_model;
};

struct Row
{
    double top = 0.0;
    double height = 0.0;
};

class LaneDrawing
{
public:
    LaneDrawing(const LaneModel &model, const LaneLook &look) : m_model(model), m_look(look)
    {
        m_scale = (look.width - kLaneCaption) / std::max(1.0, look.count);
        const double rows = model.backward.empty() ? 1.0 : 2.0;
        const double top = 22.0;
        const double gap = look.tall ? 16.0 : 7.0;
        const double height = std::max(10.0, (look.height - top - 6.0 - gap * (rows - 1.0)) / rows);
        m_forward = {top, std::min(height, rows > 1.0 ? 30.0 : 40.0)};
        m_backward = {top + m_forward.height + gap, m_forward.height};
    }

    DrawList draw()
    {
        drawCaption("Forward", m_model.ops, " op", m_forward);
        drawBands();
        drawRow(m_model.forward, m_forward, LaneHit::forward);
        if (!m_model.backward.empty()) {
            std::size_t gradients = 0;
            for (const LaneCell &cell : m_model.backward)
                gradients += cell.gap ? 0 : 1;
            drawCaption("Backward", gradients, " gradient", m_backward);
            drawRow(m_model.backward, m_backward, LaneHit::backward);
        }
        drawSelection();
        return std::move(m_list);
    }

private:
    double xOf(double cell) const { return kLaneCaption + (cell - m_look.first) * m_scale; }

    void drawCaption(const char *name, std::size_t count, const char *unit, const Row &row)
    {
        const TextStyle font = {FontFamily::words, FontWeight::semibold, 12.0F};
        const TextStyle small = {FontFamily::mono, FontWeight::regular, 11.0F};
        const double middle = row.top + row.height / 2.0;
        m_list.text({12.0, middle - (m_look.tall ? 16.0 : 8.0), 76.0, 16.0}, name, font, ColorToken::text);
        if (!m_look.tall)
            return;
        std::string words = formatCount(count);
        if (const std::string all = words + unit + (count == 1 ? "" : "s"); textWidth(all, small) <= 78.0)
            words = all;
        m_list.text({12.0, middle, 76.0, 14.0}, words, small, ColorToken::muted);
    }

    void drawBands();
    void drawRow(const std::vector<LaneCell> &cells, const Row &row, LaneHit kind);
    void drawColumns(const std::vector<LaneCell> &cells, const Row &row);
    void drawRun(double from, double to, const LaneCell &cell, const Row &row);
    void drawSigns(const std::vector<LaneCell> &cells, const Row &row);
    void drawHalo(const Rect &box);
    void drawSelection();
    LaneCell worst(const std::vector<LaneCell> &cells, std::uint32_t begin, std::uint32_t end) const;

    const LaneModel &m_model;
    const LaneLook &m_look;
    double m_scale = 1.0;
    Row m_forward;
    Row m_backward;
    DrawList m_list;
};

void LaneDrawing::drawBands()
{
    const TextStyle font = {FontFamily::mono, FontWeight::regular, 11.0F};
    const TextStyle small = {FontFamily::mono, FontWeight::regular, 10.0F};
    m_list.text({12.0, 3.0, 80.0, 16.0}, "execution order", {FontFamily::words, FontWeight::regular, 11.0F},
                ColorToken::muted);
    double free = kLaneCaption + 12.0; // clear of the caption
    for (std::uint32_t i = 0; i < m_model.bands.size(); ++i) {
        const LaneBand &band = m_model.bands[i];
        const double left = std::max(xOf(band.begin), kLaneCaption);
        const double right = std::min(xOf(band.end), m_look.width);
        if (right <= left)
            continue;
        const double middle = (left + right) / 2.0;
        const double width = textWidth(band.title, font);
        const bool current =
            m_look.current != LaneModel::kNoCell && m_look.current >= band.begin && m_look.current < band.end;
        if (middle - width / 2.0 >= free && middle + width / 2.0 <= m_look.width) {
            const bool bad = band.state == NodeState::origin || band.bornInBackward;
            m_list.text({middle - width / 2.0 - 2.0, 3.0, width + 4.0, 16.0}, band.title,
                        width < 200.0 ? font : small,
                        bad       ? ColorToken::nan
                        : current ? ColorToken::accent
                                  : ColorToken::second,
                        TextAlign::center);
            free = middle + width / 2.0 + 10.0;
        }
        m_list.hit({static_cast<std::uint16_t>(LaneHit::band), i}, {left, 0.0, right - left, 20.0});
    }
}

LaneCell LaneDrawing::worst(const std::vector<LaneCell> &cells, std::uint32_t begin, std::uint32_t end) const
{
    LaneCell out = cells[begin];
    for (std::uint32_t i = begin + 1; i < end; ++i) {
        const LaneCell &cell = cells[i];
        if (cell.height > out.height) {
            out.height = cell.height;
            out.inf = cell.inf;
        }
        out.state = std::max(out.state, cell.state);
        out.unchecked = out.unchecked || cell.unchecked;
        out.gap = out.gap && cell.gap;
    }
    return out;
}

void LaneDrawing::drawRun(double from, double to, const LaneCell &cell, const Row &row)
{
    if (cell.unchecked) {
        Paint paint;
        paint.hatch = Hatch::sparse;
        paint.hatchColor = ColorToken::muted;
        m_list.rect({from, row.top, to - from, row.height}, paint);
    }
    if (cell.height <= 0.0F)
        return;
    const double height = std::max(3.0, static_cast<double>(cell.height) * (row.height - 1.0));
    const ColorToken color = cell.inf ? ColorToken::inf : ColorToken::nan;
    const Rect bar = {from, row.top + row.height - height, std::max(2.0, to - from), height};
    Paint paint;
    paint.fill = cell.inf && to - from < 4.0 ? color : cell.inf ? ColorToken::infbg : ColorToken::nanbg;
    if (paint.fill != color) {
        paint.hatch = Hatch::dense;
        paint.hatchColor = color;
    }
    m_list.rect(bar, paint);
    Paint edge;
    edge.stroke = color;
    edge.strokeWidth = 1.5F;
    m_list.line({bar.x, bar.y}, {bar.right(), bar.y}, edge);
}

// Cells that look the same side by side are one shape.
void LaneDrawing::drawColumns(const std::vector<LaneCell> &cells, const Row &row)
{
    const auto count = static_cast<std::uint32_t>(cells.size());
    const auto begin =
        static_cast<std::uint32_t>(std::clamp(std::floor(m_look.first), 0.0, static_cast<double>(count)));
    const auto end = static_cast<std::uint32_t>(
        std::clamp(std::ceil(m_look.first + m_look.count), 0.0, static_cast<double>(count)));
    const auto step = static_cast<std::uint32_t>(std::max(1.0, std::ceil(1.0 / std::max(m_scale, 1e-9))));
    const auto same = [](const LaneCell &a, const LaneCell &b) {
        return a.height == b.height && a.inf == b.inf && a.unchecked == b.unchecked && a.gap == b.gap;
    };
    Paint base;
    base.stroke = ColorToken::nodeb;
    for (std::uint32_t at = begin; at < end;) {
        const LaneCell cell = worst(cells, at, std::min(end, at + step));
        std::uint32_t next = std::min(end, at + step);
        while (next < end) {
            const std::uint32_t past = std::min(end, next + step);
            if (!same(worst(cells, next, past), cell))
                break;
            next = past;
        }
        const double from = std::max(kLaneCaption, xOf(at));
        const double to = std::min(m_look.width, xOf(next));
        if (to > from && !cell.gap) {
            base.dash = cell.height > 0.0F ? Dash::solid : Dash::dotted;
            m_list.line({from, row.top + row.height}, {to, row.top + row.height}, base);
            drawRun(from, to, cell, row);
        }
        at = next;
    }
}

// Behind a diamond that stands on a bar of its own colour.
void LaneDrawing::drawHalo(const Rect &box)
{
    const Point middle = box.center();
    const std::vector<Point> diamond = {
        {middle.x, box.y}, {box.right(), middle.y}, {middle.x, box.bottom()}, {box.x, middle.y}};
    Paint ground;
    ground.fill = ColorToken::input;
    m_list.polygon(diamond, ground);
}

void LaneDrawing::drawSigns(const std::vector<LaneCell> &cells, const Row &row)
{
    for (std::uint32_t i = 0; i < cells.size(); ++i) {
        const NodeState state = cells[i].state;
        if (state != NodeState::origin && state != NodeState::sink && state != NodeState::cause)
            continue;
        const double x = xOf(i + 0.5);
        if (x < kLaneCaption - 6.0 || x > m_look.width + 6.0)
            continue;
        const Rect box = {x - 6.0, row.top + 1.0, 12.0, 12.0};
        if (state == NodeState::origin && cells[i].height > 0.0F)
            drawHalo(box.expanded(2.5));
        if (state == NodeState::origin)
            m_list.glyph(box, Glyph::diamond, cells[i].inf ? ColorToken::inf : ColorToken::nan);
        else if (state == NodeState::sink)
            m_list.glyph(box, Glyph::stopBar, ColorToken::warn);
        else if (m_scale > 3.0)
            m_list.glyph(box, Glyph::dottedDiamond, ColorToken::inf);
    }
}

void LaneDrawing::drawRow(const std::vector<LaneCell> &cells, const Row &row, LaneHit kind)
{
    Paint ground;
    ground.fill = ColorToken::input;
    m_list.rect({kLaneCaption, row.top, m_look.width - kLaneCaption, row.height}, ground);
    drawColumns(cells, row);
    drawSigns(cells, row);
    m_list.hit({static_cast<std::uint16_t>(kind), 0},
               {kLaneCaption, row.top, m_look.width - kLaneCaption, row.height});
}

void LaneDrawing::drawSelection()
{
    const double bottom =
        m_model.backward.empty() ? m_forward.top + m_forward.height : m_backward.top + m_backward.height;
    if (m_look.rangeFirst != LaneModel::kNoCell && m_look.rangeLast != LaneModel::kNoCell) {
        Paint range;
        range.stroke = ColorToken::accent;
        range.strokeWidth = 1.5F;
        m_list.rect({xOf(m_look.rangeFirst), m_forward.top - 2.0,
                     std::max(3.0, xOf(m_look.rangeLast + 1.0) - xOf(m_look.rangeFirst)),
                     bottom - m_forward.top + 4.0},
                    range, 3.0F);
    }
    for (const std::uint32_t cell : m_look.matches) {
        Paint mark;
        mark.fill = ColorToken::accent;
        const double x = xOf(cell + 0.5);
        if (x >= kLaneCaption && x <= m_look.width)
            m_list.rect({x - 1.0, bottom + 1.0, 2.0, 4.0}, mark);
    }
    if (m_look.current == LaneModel::kNoCell)
        return;
    const double x = xOf(m_look.current + 0.5);
    if (x < kLaneCaption || x > m_look.width)
        return;
    Paint line;
    line.stroke = ColorToken::accent;
    line.strokeWidth = 1.0F;
    m_list.line({x, m_forward.top - 2.0}, {x, bottom}, line);
    Paint head;
    head.fill = ColorToken::accent;
    const std::vector<Point> triangle = {
        {x - 5.0, m_forward.top - 8.0}, {x + 5.0, m_forward.top - 8.0}, {x, m_forward.top - 1.0}};
    m_list.polygon(triangle, head);
}

} // namespace

float laneHeight(double badShare)
{
    if (!(badShare > 0.0))
        return 0.0F;
    // Six decades; the lowest still an eighth of the row.
    const double decades = std::clamp(1.0 + std::log10(std::min(badShare, 1.0)) / 6.0, 0.0, 1.0);
    return static_cast<float>(0.125 + 0.875 * decades);
}

std::uint32_t LaneModel::cellOf(OpId op) const
{
    return op.isValid() && op.index() < cellByOp.size() ? cellByOp[op.index()] : kNoCell;
}

LaneModel laneModel(const GraphTree &tree)
{
    return LaneBuilder(tree).build();
}

DrawList drawLane(const LaneModel &model, const LaneLook &look)
{
    return LaneDrawing(model, look).draw();
}

std::uint32_t laneCellAt(const LaneModel &model, const LaneLook &look, double x)
{
    if (x < kLaneCaption || x >= look.width || model.forward.empty() || look.count <= 0.0)
        return LaneModel::kNoCell;
    const double cell = look.first + (x - kLaneCaption) * look.count / (look.width - kLaneCaption);
    if (cell < 0.0)
        return LaneModel::kNoCell;
    const auto index = static_cast<std::uint32_t>(cell);
    return index < model.forward.size() ? index : LaneModel::kNoCell;
}

} // namespace core
