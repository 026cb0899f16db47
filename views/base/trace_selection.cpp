// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/trace_selection.h"

#include <algorithm>
#include <string_view>

namespace views {

namespace {

core::OpId firstOpOfCall(const core::Trace &trace, core::CallId call)
{
    if (!call.isValid() || trace.call(call).rows.count == 0)
        return {};
    return core::OpId(trace.call(call).rows.begin);
}

bool isInside(std::string_view address, std::string_view module)
{
    return module.empty() || address == module ||
           (address.size() > module.size() && address.starts_with(module) && address[module.size()] == '.');
}

// What it computes first, itself or by a module in it; the buffers it reads are no ops.
core::OpId firstOpOfModule(const core::Trace &trace, core::ModuleId module)
{
    const std::string_view wanted = trace.string(trace.module(module).address);
    for (const core::OpId op : trace.orderedOps()) {
        const core::ModuleCallId call = trace.callOf(op).moduleCall;
        if (trace.callOf(op).kind == core::CallKind::compute && call.isValid() &&
            isInside(trace.string(trace.module(trace.moduleCall(call).module).address), wanted))
            return op;
    }
    return {};
}

core::OpId firstOpOfLine(const core::Trace &trace, const LineItem &line)
{
    for (const core::OpId op : trace.orderedOps()) {
        const core::FrameId frame = trace.sourceFrame(trace.callOf(op).stack);
        if (frame.isValid() && trace.frame(frame).file == line.file && trace.frame(frame).line == line.line)
            return op;
    }
    return {};
}

struct OpFinder
{
    const core::Trace &trace;

    core::OpId operator()(std::monostate) const { return {}; }
    core::OpId operator()(const OpItem &item) const { return item.op; }
    core::OpId operator()(const ModuleItem &item) const { return firstOpOfModule(trace, item.module); }
    core::OpId operator()(const TensorItem &item) const { return item.op; }
    core::OpId operator()(const ElementItem &item) const { return item.op; }
    core::OpId operator()(const LineItem &item) const { return firstOpOfLine(trace, item); }
    core::OpId operator()(const GradItem &item) const
    {
        return firstOpOfCall(trace, trace.gradNode(item.node).call);
    }
    core::OpId operator()(const ParamItem &) const { return {}; }
    core::OpId operator()(const RangeItem &item) const { return item.first; }
};

} // namespace

core::OpId opOf(const core::Trace &trace, const SelectedItem &item)
{
    return std::visit(OpFinder{trace}, item);
}

core::ModuleId moduleOf(const core::Trace &trace, const SelectedItem &item)
{
    if (const auto *module = std::get_if<ModuleItem>(&item))
        return module->module;
    const core::OpId op = opOf(trace, item);
    if (!op.isValid())
        return {};
    const core::ModuleCallId call = trace.callOf(op).moduleCall;
    return call.isValid() ? trace.moduleCall(call).module : core::ModuleId();
}

core::TensorId tensorOf(const core::Trace &trace, const SelectedItem &item)
{
    if (const auto *tensor = std::get_if<TensorItem>(&item))
        return tensor->tensor;
    if (const auto *element = std::get_if<ElementItem>(&item))
        return element->tensor;
    if (const auto *param = std::get_if<ParamItem>(&item))
        return trace.params()[param->param.index()].tensor;
    if (std::holds_alternative<ModuleItem>(item))
        return {};
    const core::OpId op = opOf(trace, item);
    return op.isValid() ? trace.op(op).tensor : core::TensorId();
}

std::optional<LineItem> lineOf(const core::Trace &trace, const SelectedItem &item)
{
    if (const auto *line = std::get_if<LineItem>(&item))
        return *line;
    if (std::holds_alternative<ModuleItem>(item))
        return std::nullopt;
    const core::OpId op = opOf(trace, item);
    if (!op.isValid())
        return std::nullopt;
    const core::FrameId frame = trace.sourceFrame(trace.callOf(op).stack);
    if (!frame.isValid())
        return std::nullopt;
    return LineItem{trace.frame(frame).file, trace.frame(frame).line};
}

TraceSelection::TraceSelection(QObject *parent) : QObject(parent) {}

core::OpId TraceSelection::op() const
{
    return m_trace ? opOf(*m_trace, m_item) : core::OpId();
}

core::ModuleId TraceSelection::module() const
{
    return m_trace ? moduleOf(*m_trace, m_item) : core::ModuleId();
}

core::TensorId TraceSelection::tensor() const
{
    return m_trace ? tensorOf(*m_trace, m_item) : core::TensorId();
}

std::optional<LineItem> TraceSelection::line() const
{
    return m_trace ? lineOf(*m_trace, m_item) : std::nullopt;
}

void TraceSelection::setTrace(std::shared_ptr<const core::Trace> trace, const SelectedItem &item)
{
    m_trace = std::move(trace);
    m_item = item;
    m_hovered = {};
    Q_EMIT traceChanged();
}

void TraceSelection::select(const SelectedItem &item)
{
    if (item == m_item)
        return;
    m_item = item;
    Q_EMIT changed();
}

void TraceSelection::hover(core::OpId op)
{
    if (op == m_hovered)
        return;
    m_hovered = op;
    Q_EMIT hoverChanged();
}

void TraceSelection::activate(const SelectedItem &item)
{
    select(item);
    Q_EMIT activated();
}

} // namespace views
