// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/details/details_pane.h"

#include "views/base/composition.h"
#include "views/base/counted_text.h"
#include "views/base/fact_list.h"
#include "views/base/formatting.h"
#include "views/base/trace_facts.h"
#include "views/base/widgets.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>

#include <algorithm>

namespace views {

namespace {

constexpr std::size_t kShownConsumers = 40;
constexpr qsizetype kShownValue = 60;

// "NaN 18,432", "−Inf 88.5 %", empty when all is finite or not measured.
QString badText(const core::TensorStats *stats)
{
    if (stats == nullptr || stats->nonFinite() == 0)
        return {};
    if (stats->nan > 0)
        return QStringLiteral("NaN %1").arg(countText(stats->nan));
    const bool negative = stats->negInf > stats->posInf;
    return QStringLiteral("%1 %2").arg(negative ? QStringLiteral("−Inf") : QStringLiteral("+Inf"),
                                       shareText(negative ? stats->negInf : stats->posInf, stats->elements));
}

const char *badTone(const core::TensorStats *stats)
{
    return stats == nullptr || stats->nonFinite() == 0 ? "" : stats->nan > 0 ? "nan" : "inf";
}

QString roleText(const core::TensorRow &tensor)
{
    switch (tensor.role) {
    case core::TensorRole::parameter:
        return DetailsPane::tr("parameter");
    case core::TensorRole::buffer:
        return DetailsPane::tr("buffer");
    case core::TensorRole::constant:
        return DetailsPane::tr("constant");
    case core::TensorRole::input:
        return DetailsPane::tr("graph input");
    default:
        return {};
    }
}

QString yesNo(bool value)
{
    return value ? DetailsPane::tr("yes") : DetailsPane::tr("no");
}

} // namespace

DetailsPane::DetailsPane(const PaneContext &context, QWidget *parent)
    : Pane(context, QStringLiteral("details"), tr("Details"), parent), m_list(new FactList(context.theme))
{
    auto *scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setAccessibleName(tr("Details of the current op"));
    scroll->setWidget(m_list);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(scroll);
    showNothing();
}

void DetailsPane::setFacts(std::shared_ptr<const TraceFacts> facts)
{
    if (takeFacts(std::move(facts), m_facts))
        showAgain();
}

void DetailsPane::showNothing()
{
    m_list->clear();
    m_list->addText(trace() ? tr("Select an op, a module or a tensor to see what was recorded about it.")
                            : tr("No trace is open."));
    m_list->finish();
    setSubtitle({});
}

void DetailsPane::showItem()
{
    if (!trace())
        return showNothing();
    if (const auto *module = std::get_if<ModuleItem>(&item()))
        return showModule(module->module);
    const core::OpId op = opOf(*trace(), item());
    if (!op.isValid())
        return showNothing();
    showOp(op);
}

void DetailsPane::showOp(core::OpId op)
{
    m_list->clear();
    addHead(op);
    const core::TensorId tensor = trace()->op(op).tensor;
    if (tensor.isValid()) {
        auto *strip = new CompositionStrip(theme());
        const core::TensorStats *stats = statsOf(*trace(), m_facts.get(), tensor);
        strip->setComposition(stats != nullptr ? std::optional(Composition::of(*stats)) : std::nullopt);
        m_list->addSection(tr("Composition"),
                           stats != nullptr ? elementsText(trace()->tensor(tensor).dtype, stats->elements)
                                            : tr("not measured"));
        m_list->addWidget(strip);
    }
    addInputs(op);
    addOutputs(op);
    addGradients(op);
    addConsumers(op);
    addAttributes(op);
    addStack(op);
    m_list->finish();
    const std::uint64_t step = trace()->op(op).step;
    setSubtitle(step > 0 ? tr("step %1 of %2").arg(countText(step), countText(lastStep(*trace())))
                         : QString());
}

void DetailsPane::addHead(core::OpId op)
{
    const core::CallRow &call = trace()->callOf(op);
    const core::TensorId tensor = trace()->op(op).tensor;
    const core::TensorStats *stats = statsOf(*trace(), m_facts.get(), tensor);
    auto *head = new QWidget;
    auto *row = new QHBoxLayout(head);
    row->setContentsMargins(0, 0, 0, 0);
    QLabel *name = makeElidedLabel(fromView(trace()->publicLabel(op)), "monoTitle", head);
    row->addWidget(name, 1);
    if (const QString bad = badText(stats); !bad.isEmpty())
        row->addWidget(makeBadge(bad, badTone(stats), head));
    m_list->addWidget(head);
    m_list->addText(fromView(trace()->string(call.op)));
    if (call.moduleCall.isValid()) {
        const core::ModuleId module = trace()->moduleCall(call.moduleCall).module;
        m_list->addFact(tr("Module"), moduleText(*trace(), module), "",
                        [this, module] { selection().select(ModuleItem{module}); });
    }
    const core::FrameId frame = trace()->sourceFrame(call.stack);
    if (frame.isValid())
        m_list->addFact(tr("Source"), lineText(*trace(), op), "", [this, op] {
            const core::FrameRow &where = trace()->frame(trace()->sourceFrame(trace()->callOf(op).stack));
            selection().activate(LineItem{where.file, where.line});
        });
    else
        m_list->addFact(tr("Source"), tr("no line was recorded"), "muted");
    m_list->addFact(tr("Output"), tensorText(*trace(), tensor));
    m_list->addFact(tr("Duration"), durationText(call.durationNs));
    m_list->addFact(tr("Forward FLOPs"), flopsText(trace()->op(op).flopsForward));
    m_list->addFact(tr("In place, view"),
                    QStringLiteral("%1, %2").arg(yesNo(call.inPlace), yesNo(call.view)));
    m_list->addFact(tr("Draws random numbers"), yesNo(call.consumesRng));
}

void DetailsPane::addTensor(const QString &role, core::OpId op, core::TensorId tensor)
{
    const core::TensorRow &row = trace()->tensor(tensor);
    const core::TensorStats *stats = statsOf(*trace(), m_facts.get(), tensor);
    const bool saved = row.payload.state == core::PayloadState::saved;
    FactList::Entry entry;
    entry.name = role;
    entry.detail =
        QStringLiteral("%1 · %2").arg(tensorText(*trace(), tensor), payloadText(row.payload.state));
    entry.value = badText(stats);
    entry.valueTone = badTone(stats);
    entry.icon = stats != nullptr && stats->nan > 0           ? IconName::propagated
                 : stats != nullptr && stats->nonFinite() > 0 ? IconName::cause
                 : saved                                      ? IconName::dot
                                                              : IconName::openDot;
    entry.iconTone = stats != nullptr && stats->nan > 0           ? core::ColorToken::nan
                     : stats != nullptr && stats->nonFinite() > 0 ? core::ColorToken::inf
                                                                  : core::ColorToken::second;
    entry.isCurrent = tensorOf(*trace(), item()) == tensor && !std::holds_alternative<OpItem>(item());
    entry.activate = [this, op, tensor] { selection().select(TensorItem{op, tensor}); };
    m_list->addEntry(entry);
}

void DetailsPane::addInputs(core::OpId op)
{
    const auto arguments = trace()->arguments(trace()->op(op).call);
    if (arguments.empty())
        return;
    m_list->addSection(tr("Inputs"));
    for (const core::ArgumentRow &argument : arguments) {
        const QString name = fromView(trace()->string(argument.name));
        for (const core::TensorId tensor : trace()->tensorIds(argument.tensors)) {
            if (!tensor.isValid())
                continue;
            const core::OpId producer = trace()->producer(tensor);
            const QString made = producer.isValid()
                                     ? fromView(trace()->publicLabel(producer))
                                     : fromView(trace()->string(trace()->tensor(tensor).address));
            const QString role = roleText(trace()->tensor(tensor));
            addTensor(QStringLiteral("%1: %2 %3").arg(name, made, role).trimmed(), op, tensor);
        }
        if (argument.tensors.count == 0 && argument.valueJson.isValid())
            m_list->addFact(name, fromView(trace()->string(argument.valueJson)).left(kShownValue));
    }
}

void DetailsPane::addOutputs(core::OpId op)
{
    const core::CallRow &call = trace()->callOf(op);
    m_list->addSection(tr("Outputs"));
    bool any = false;
    for (std::uint32_t i = 0; i < call.rows.count; ++i) {
        const core::OpId row(call.rows.begin + i);
        if (!trace()->op(row).tensor.isValid())
            continue;
        any = true;
        addTensor(call.rows.count > 1 ? tr("output %1").arg(i) : tr("output"), row, trace()->op(row).tensor);
    }
    if (!any)
        m_list->addText(tr("This call returned no tensor."));
}

// What arrived at the output in each backward pass, and what the op's grad functions passed on.
void DetailsPane::addGradients(core::OpId op)
{
    const core::TensorId output = trace()->op(op).tensor;
    for (std::size_t i = 0; i < trace()->backwards().size() && output.isValid(); ++i) {
        const core::BackwardId pass(i);
        m_list->addSection(tr("Gradients"), tr("backward %1").arg(i + 1));
        const core::GradientRow *arrived = trace()->gradient(output, pass);
        if (arrived != nullptr && arrived->gradient.isValid())
            addTensor(tr("arriving"), op, arrived->gradient);
        else
            m_list->addText(arrived != nullptr ? tr("No gradient arrived at the output.")
                                               : tr("No gradient of the output was recorded."));
        addEmitted(op, pass);
    }
}

void DetailsPane::addEmitted(core::OpId op, core::BackwardId pass)
{
    const auto nodes = trace()->gradNodeIds(trace()->callOf(op).gradNodes);
    for (const core::GradFireRow &fire : trace()->gradFires()) {
        if (fire.backward != pass || std::find(nodes.begin(), nodes.end(), fire.node) == nodes.end())
            continue;
        const QString name = fromView(trace()->string(trace()->gradNode(fire.node).className));
        const auto emitted = trace()->tensorIds(fire.emitted);
        for (std::size_t i = 0; i < emitted.size(); ++i)
            if (emitted[i].isValid())
                addTensor(tr("emitted %1 by %2").arg(i).arg(name), op, emitted[i]);
    }
}

void DetailsPane::addConsumers(core::OpId op)
{
    const auto children = trace()->children(op);
    m_list->addSection(tr("Used by"), countedText(children.size(), "op", "ops"));
    for (std::size_t i = 0; i < children.size() && i < kShownConsumers; ++i) {
        FactList::Entry entry;
        entry.icon = IconName::propagated;
        entry.name = fromView(trace()->publicLabel(children[i]));
        entry.value = lineText(*trace(), children[i]);
        entry.activate = [this, child = children[i]] { selection().select(OpItem{child}); };
        m_list->addEntry(entry);
    }
    if (children.size() > kShownConsumers)
        m_list->addText(tr("and %1 more").arg(countText(children.size() - kShownConsumers)));
}

void DetailsPane::addAttributes(core::OpId op)
{
    const core::CallRow &call = trace()->callOf(op);
    m_list->addSection(tr("Attributes"));
    m_list->addFact(tr("Gradient mode"), call.gradEnabled ? tr("on") : tr("off"));
    if (const QString autocast = fromView(trace()->string(call.autocast)); !autocast.isEmpty())
        m_list->addFact(tr("Autocast"), autocast);
    if (const QString flow = fromView(trace()->string(call.controlFlow)); !flow.isEmpty())
        m_list->addFact(tr("Control flow"), flow);
    if (const QString node = fromView(trace()->string(call.nodeName)); !node.isEmpty())
        m_list->addFact(tr("Graph node"), node);
    const core::TensorId tensor = trace()->op(op).tensor;
    if (!tensor.isValid())
        return;
    const core::TensorRow &row = trace()->tensor(tensor);
    m_list->addFact(tr("Device"), fromView(trace()->string(row.device)));
    m_list->addFact(tr("Strides"),
                    row.strides.count == 0 ? tr("contiguous") : shapeText(trace()->strides(tensor)));
    m_list->addFact(tr("Bytes"), trace()->op(op).bytes < 0
                                     ? QStringLiteral("–")
                                     : bytesText(static_cast<std::uint64_t>(trace()->op(op).bytes)));
    m_list->addFact(tr("Requires gradient"), yesNo(row.requiresGrad));
}

void DetailsPane::addStack(core::OpId op)
{
    const core::StackId stack = trace()->callOf(op).stack;
    const auto frames = stack.isValid() ? trace()->frames(stack) : std::span<const core::FrameId>();
    m_list->addSection(tr("Stack, innermost first"), countedText(frames.size(), "frame", "frames"));
    const core::FrameId user = stack.isValid() ? trace()->sourceFrame(stack) : core::FrameId();
    for (std::size_t i = frames.size(); i-- > 0;) {
        const core::FrameRow &frame = trace()->frame(frames[i]);
        FactList::Entry entry;
        entry.icon = frames[i] == user ? IconName::flag : IconName::code;
        entry.iconTone = frames[i] == user ? core::ColorToken::accent : core::ColorToken::muted;
        entry.name = fromView(trace()->string(frame.function));
        entry.value =
            QStringLiteral("%1:%2").arg(fileNameText(trace()->string(frame.file))).arg(frame.line.oneBased());
        entry.valueTone = "accent";
        entry.activate = [this, file = frame.file, line = frame.line] {
            selection().activate(LineItem{file, line});
        };
        m_list->addEntry(entry);
    }
    if (frames.empty())
        m_list->addText(tr("The model file names no source for this op."));
}

void DetailsPane::showModule(core::ModuleId module)
{
    m_list->clear();
    const core::ModuleRow &row = trace()->module(module);
    m_list->addWidget(makeElidedLabel(moduleText(*trace(), module), "monoTitle"));
    m_list->addText(fromView(trace()->string(row.className)));
    if (row.parent.isValid())
        m_list->addFact(tr("Inside"), moduleText(*trace(), row.parent), "",
                        [this, parent = row.parent] { selection().select(ModuleItem{parent}); });
    m_list->addFact(tr("Mode"), row.training < 0 ? tr("not known") : row.training ? tr("train") : tr("eval"));
    std::size_t calls = 0;
    for (const core::ModuleCallRow &call : trace()->moduleCalls())
        calls += call.module == module ? 1 : 0;
    m_list->addFact(tr("Calls"), countText(calls));
    m_list->addSection(tr("Parameters and buffers"));
    const QString prefix = fromView(trace()->string(row.address));
    bool any = false;
    for (const core::ParamRow &param : trace()->params()) {
        const QString address = fromView(trace()->string(param.address));
        if (address.section(QLatin1Char('.'), 0, -2) != prefix || !param.tensor.isValid())
            continue;
        any = true;
        addTensor(address.section(QLatin1Char('.'), -1), {}, param.tensor);
    }
    if (!any)
        m_list->addText(tr("This module has none of its own."));
    m_list->finish();
    setSubtitle(tr("module"));
}

} // namespace views
