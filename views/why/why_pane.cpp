// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/why/why_pane.h"

#include "core/base/value.h"
#include "views/base/fact_list.h"
#include "views/base/formatting.h"
#include "views/base/widgets.h"

#include <QApplication>
#include <QClipboard>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace views {

namespace {

using core::ColorToken;
using core::NodeState;

constexpr std::size_t kMostLeaves = 12; // that are named one by one

struct Look
{
    IconName icon;
    ColorToken tone;
    const char *badge; // kind of the badge
};

Look lookOf(NodeState state)
{
    switch (state) {
    case NodeState::origin:
        return {IconName::origin, ColorToken::nan, "solid"};
    case NodeState::cause:
        return {IconName::cause, ColorToken::inf, "inf"};
    case NodeState::propagated:
    case NodeState::spreads:
        return {IconName::propagated, ColorToken::nan, "nan"};
    case NodeState::reached:
        return {IconName::reached, ColorToken::nan, "nan"};
    case NodeState::sink:
        return {IconName::sink, ColorToken::warn, "warn"};
    case NodeState::healed:
        return {IconName::healed, ColorToken::ok, "plain"};
    case NodeState::clean:
        break;
    }
    return {IconName::dot, ColorToken::second, "plain"};
}

// "NaN 18,432 · −Inf 12"; "all finite".
QString kindsText(const core::TensorStats &stats)
{
    QStringList parts;
    const auto add = [&](const QString &name, std::uint64_t count) {
        if (count > 0)
            parts.push_back(QStringLiteral("%1 %2").arg(name, countText(count)));
    };
    add(QStringLiteral("NaN"), stats.nan);
    add(QStringLiteral("+Inf"), stats.posInf);
    add(QStringLiteral("−Inf"), stats.negInf);
    return parts.isEmpty() ? WhyPane::tr("all finite") : parts.join(QStringLiteral(" · "));
}

// JSON has no number for them.
bool isInfinityWord(const core::Value &value)
{
    return value.isString() &&
           (value.toString() == "Infinity" || value.toString() == "-Infinity" || value.toString() == "NaN");
}

struct Operand
{
    QString name;
    core::Value value;
    bool isValue = true; // what was computed with; no: a dimension, a size, a switch
};

// Whole numbers and switches say how an op works (dim, keepdim, k), but for those of these names.
bool isComputedWith(std::string_view name, const core::Value &value)
{
    constexpr std::string_view kNumbers[] = {"self", "other", "value",  "exponent",   "min",    "max",
                                             "base", "alpha", "lambda", "fill_value", "weight", "threshold"};
    const bool isWhole = value.isInt() || value.isBool();
    return !isWhole || std::find(std::begin(kNumbers), std::end(kNumbers), name) != std::end(kNumbers);
}

// The capture keeps one of VALUES for each tensor and each number among the arguments, in their order.
std::vector<Operand> operandsOf(const core::Trace &trace, core::CallId call, const core::Value::List &values)
{
    std::vector<Operand> operands;
    for (const core::ArgumentRow &argument : trace.arguments(call)) {
        if (operands.size() == values.size())
            break;
        const std::string_view name = trace.string(argument.name);
        const bool isTensor = argument.tensors.count > 0 && !argument.isTensorList;
        if (!isTensor) {
            const auto given = core::parseJson(trace.string(argument.valueJson), "argument");
            if (!given || !(given->isNumber() || given->isBool() || isInfinityWord(*given)))
                continue;
        }
        const core::Value &value = values[operands.size()];
        operands.push_back({fromView(name), value, isTensor || isComputedWith(name, value)});
    }
    // An importer may have left arguments out.
    while (operands.size() < values.size())
        operands.push_back({WhyPane::tr("operand %1").arg(operands.size() + 1), values[operands.size()]});
    return operands;
}

QString operandText(const core::Value &value)
{
    if (value.isNull())
        return WhyPane::tr("not known");
    if (value.isNumber())
        return numberText(value.toDouble());
    const QString text = fromView(value.isString() ? value.toString() : core::toJson(value));
    return text == QLatin1String("-Infinity")  ? QStringLiteral("−Inf")
           : text == QLatin1String("Infinity") ? QStringLiteral("+Inf")
                                               : text;
}

} // namespace

WhyPane::WhyPane(const PaneContext &context, QWidget *parent)
    : Pane(context, QStringLiteral("why"), tr("Why"), parent), m_list(new FactList(context.theme)),
      m_copy(makeIconButton(context.theme, IconName::copy, tr("Copy the answer"), this)),
      m_scroll(new QScrollArea(this))
{
    connect(m_copy, &QToolButton::clicked, this,
            [this] { QApplication::clipboard()->setText(answerText()); });
    m_scroll->setWidgetResizable(true);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_scroll->setAccessibleName(tr("Why the current op is as it is"));
    m_scroll->setWidget(m_list);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_scroll);
    setSubtitle(tr("follows the selection"));
}

QList<QWidget *> WhyPane::headerControls()
{
    return {m_copy};
}

void WhyPane::setFacts(std::shared_ptr<const TraceFacts> facts)
{
    m_facts = std::move(facts);
    showAgain();
}

void WhyPane::setTrail(std::shared_ptr<const NanTrail> trail)
{
    m_trail = std::move(trail);
    showAgain();
}

// The facts and the trail are both there, and of this trace.
bool WhyPane::isReady() const
{
    return trace() && m_facts && m_trail && m_trail->trace == trace();
}

void WhyPane::showItem()
{
    m_list->clear();
    m_told.clear();
    m_scroll->verticalScrollBar()->setValue(0);
    const auto *grad = std::get_if<GradItem>(&item());
    const core::OpId op = trace() ? opOf(*trace(), item()) : core::OpId();
    if (!trace())
        m_list->addText(tr("No trace is open."));
    else if (!isReady())
        m_list->addText(tr("Looking for NaN and Inf."));
    else if (!m_trail->failure.isOk())
        m_list->addText(tr("NaN and Inf were not followed: %1.").arg(fromView(m_trail->failure.message())));
    else if (grad != nullptr)
        showGrad(grad->node);
    else if (op.isValid())
        showOp(op);
    else
        m_list->addText(
            m_facts->isBad()
                ? tr("Select an op, or a step of the trail, to see why it is as it is.")
                : tr("There is nothing to explain: no NaN or Inf was found that is not by design."));
    m_list->finish();
    m_copy->setEnabled(!m_told.isEmpty());
}

const core::NonFiniteEntry *WhyPane::entryOf(core::OpId op) const
{
    const auto is = [op](const core::NonFiniteEntry &entry) { return entry.op == op; };
    const auto &births = m_facts->scan.births;
    if (const auto found = std::find_if(births.begin(), births.end(), is); found != births.end())
        return &*found;
    return m_facts->scan.nanBirth && m_facts->scan.nanBirth->op == op ? &*m_facts->scan.nanBirth : nullptr;
}

const TrailStep *WhyPane::stepOf(core::OpId op) const
{
    for (const TrailStep &step : m_trail->steps)
        if (step.pass == 0 && step.op == op && step.state != NodeState::propagated)
            return &step;
    return nullptr;
}

void WhyPane::showOp(core::OpId op)
{
    const NodeState state = m_facts->marks.of(op);
    const TrailStep *step = stepOf(op);
    const auto why = m_trail->whys.find(op);
    const TrailStep *born = bornBehind(op);
    const auto gradWhy = born != nullptr ? m_trail->gradWhys.find(born->node) : m_trail->gradWhys.end();
    const std::string bornWhy = gradWhy != m_trail->gradWhys.end() ? gradWhy->second : std::string();
    const QString module = fromView(trace()->moduleAddress(op));
    const QString tensor = tensorText(*trace(), trace()->op(op).tensor);
    const QString place = module.isEmpty() ? tensor : QStringLiteral("%1 · %2").arg(module, tensor);
    addHead(fromView(trace()->publicLabel(op)), place, step != nullptr ? step->state : state,
            step != nullptr             ? step->title
            : state == NodeState::clean ? QString()
                                        : fromView(core::nodeStateName(state)));
    if (entryOf(op) != nullptr)
        addReason(why != m_trail->whys.end() ? why->second : std::string(),
                  tr("Bad values come out of this op and none went in. The recorded values do not tell which "
                     "rule was broken."));
    else if (state == NodeState::propagated || state == NodeState::spreads)
        addReason({}, tr("This op carries on what came in bad."));
    else if (state == NodeState::sink)
        addReason({}, tr("NaN stops here: the result is finite, not sound."));
    else if (state == NodeState::reached)
        addReason({}, tr("What came in bad reaches an output of the model."));
    else if (core::isUnchecked(*trace(), op))
        addReason({}, tr("Neither values nor statistics of this op were kept, so nothing can be said."));
    else if (born != nullptr)
        addReason(bornWhy, tr("What this op made is finite. Its backward made NaN or Inf."));
    else
        addReason({}, tr("Nothing is wrong with this op: what it made is finite."));
    addBackward(op);
    if (born != nullptr)
        addLeaves(born->pass);
    addInputs(op);
    addOutput(op);
    addOperands(op);
    if (state == NodeState::propagated || state == NodeState::spreads || state == NodeState::reached ||
        state == NodeState::sink)
        addOrigins();
    addLine(op);
    addRemedy(whyWords(why != m_trail->whys.end() ? why->second : bornWhy).remedy);
}

bool WhyPane::isOfBackward(const TrailStep &step, core::OpId op) const
{
    return step.pass > 0 && step.op.isValid() && step.node.isValid() &&
           trace()->op(step.op).call == trace()->op(op).call;
}

const TrailStep *WhyPane::bornBehind(core::OpId op) const
{
    for (const TrailStep &step : m_trail->steps)
        if (step.state == NodeState::origin && isOfBackward(step, op))
            return &step;
    return nullptr;
}

// The parameters and inputs whose gradient came out bad in PASS.
void WhyPane::addLeaves(int pass)
{
    std::size_t count = 0;
    for (const BadLeaf &leaf : m_trail->badLeaves) {
        if (leaf.pass != pass)
            continue;
        if (++count == 1)
            m_list->addSection(tr("Gradients that came out bad"));
        if (count > kMostLeaves)
            continue;
        FactList::Entry entry;
        entry.icon = lookOf(NodeState::reached).icon;
        entry.iconTone = lookOf(NodeState::reached).tone;
        entry.name = leaf.name;
        entry.value = leaf.value;
        entry.activate = [this, node = leaf.node] { selection().select(GradItem{node}); };
        m_list->addEntry(entry);
        m_told.push_back(tr("gradient of %1: %2 bad").arg(leaf.name, leaf.value));
    }
    if (count > kMostLeaves)
        m_list->addText(tr("and %1 more").arg(countText(count - kMostLeaves)));
}

// A fact that is also part of the text of the answer.
void WhyPane::addFact(const QString &name, const QString &value, std::function<void()> activate)
{
    m_list->addFact(name, value, "", std::move(activate));
    m_told.push_back(QStringLiteral("%1: %2").arg(name, value));
}

// What the backward of the op did to NaN and Inf, each with the way to its reason.
void WhyPane::addBackward(core::OpId op)
{
    bool any = false;
    for (const TrailStep &step : m_trail->steps) {
        if (!isOfBackward(step, op))
            continue;
        if (!any)
            m_list->addSection(tr("Its backward pass"));
        any = true;
        FactList::Entry entry;
        entry.icon = lookOf(step.state).icon;
        entry.iconTone = lookOf(step.state).tone;
        entry.name = step.name;
        entry.detail = step.title;
        entry.value = step.value;
        entry.activate = [this, node = step.node] { selection().select(GradItem{node}); };
        m_list->addEntry(entry);
    }
}

void WhyPane::showGrad(core::GradNodeId node)
{
    const core::GradNodeRow &row = trace()->gradNode(node);
    const TrailStep *step = nullptr;
    for (const TrailStep &each : m_trail->steps)
        if (each.node == node)
            step = &each;
    const core::OpId op = row.call.isValid() && trace()->call(row.call).rows.count > 0
                              ? core::OpId(trace()->call(row.call).rows.begin)
                              : core::OpId();
    addHead(fromView(trace()->string(row.className)),
            op.isValid() ? tr("backward of %1").arg(fromView(trace()->publicLabel(op)))
                         : fromView(trace()->string(row.parameter)),
            step != nullptr ? step->state : NodeState::clean, step != nullptr ? step->title : QString());
    const auto why = m_trail->gradWhys.find(node);
    const auto &leaves = m_trail->badLeaves;
    const bool isLeaf =
        std::any_of(leaves.begin(), leaves.end(), [node](const BadLeaf &leaf) { return leaf.node == node; });
    const bool healed = step != nullptr && step->state == NodeState::healed;
    const bool carried = step != nullptr && step->state == NodeState::propagated;
    addReason(why != m_trail->gradWhys.end() ? why->second : std::string(),
              isLeaf ? tr("Bad values end as this gradient: a step of an optimiser writes them into what it "
                          "belongs to.")
              : healed ? tr("Bad gradients arrive and finite ones leave: the op drops them. That is no cure.")
              : carried ? tr("This grad function carries on what arrived bad.")
              : step != nullptr
                  ? tr("Bad gradients leave and none arrived. The recorded values do not tell which rule was "
                       "broken.")
                  : tr("Nothing is known against this grad function."));
    for (const core::GradFireRow &fire : trace()->gradFires()) {
        if (fire.node != node)
            continue;
        m_list->addSection(tr("Firing %1").arg(fire.order + 1),
                           tr("backward %1").arg(fire.backward.index() + 1));
        for (const core::TensorId tensor : trace()->tensorIds(fire.arriving))
            addMeasured(tr("arriving"), op, tensor);
        for (const core::TensorId tensor : trace()->tensorIds(fire.emitted))
            addMeasured(tr("emitted"), op, tensor);
    }
    if (step != nullptr && step->state == NodeState::origin)
        addLeaves(step->pass);
    if (op.isValid())
        addLine(op);
    if (why != m_trail->gradWhys.end())
        addRemedy(whyWords(why->second).remedy);
}

void WhyPane::addHead(const QString &name, const QString &place, NodeState state, const QString &badge)
{
    const Look look = lookOf(state);
    auto *head = new QWidget;
    auto *column = new QVBoxLayout(head);
    column->setContentsMargins(0, 0, 0, 2);
    column->setSpacing(2);
    auto *row = new QHBoxLayout;
    row->setSpacing(9);
    row->addWidget(makeIconLabel(theme(), look.icon, look.tone, 15, head));
    row->addWidget(makeElidedLabel(name, "monoTitle", head), 1);
    if (!badge.isEmpty())
        row->addWidget(makeBadge(badge, look.badge, head));
    column->addLayout(row);
    QLabel *where = makeElidedLabel(place, "monoSecond", head);
    where->setIndent(24);
    column->addWidget(where);
    m_list->addWidget(head);
    m_told.push_back(badge.isEmpty() ? QStringLiteral("%1 (%2)").arg(name, place)
                                     : QStringLiteral("%1 (%2): %3").arg(name, place, badge));
}

void WhyPane::addReason(const std::string &token, const QString &otherwise)
{
    const WhyWords words = whyWords(token);
    auto *reason = new QWidget;
    auto *column = new QVBoxLayout(reason);
    column->setContentsMargins(0, 4, 0, 2);
    column->setSpacing(3);
    QLabel *rule = makeLabel(words.rule.isEmpty() ? otherwise : words.rule, "strong", reason);
    rule->setWordWrap(true);
    column->addWidget(rule);
    if (!words.formula.isEmpty()) {
        QLabel *formula = makeLabel(words.formula, "monoSecond", reason);
        formula->setWordWrap(true);
        column->addWidget(formula);
    }
    m_list->addWidget(reason);
    m_told.push_back(rule->text());
    if (!words.formula.isEmpty())
        m_told.push_back(words.formula);
}

void WhyPane::addMeasured(const QString &name, core::OpId op, core::TensorId tensor)
{
    if (!tensor.isValid())
        return;
    const core::TensorStats *stats = statsOf(*trace(), m_facts.get(), tensor);
    FactList::Entry entry;
    entry.name = name;
    entry.detail = tensorText(*trace(), tensor);
    entry.value = stats == nullptr ? tr("not measured") : kindsText(*stats);
    const bool nan = stats != nullptr && stats->nan > 0;
    const bool bad = stats != nullptr && stats->nonFinite() > 0;
    entry.valueTone = nan ? "nan" : bad ? "inf" : "";
    entry.icon = stats == nullptr ? IconName::openDot : bad ? IconName::critical : IconName::healed;
    entry.iconTone = nan                ? ColorToken::nan
                     : bad              ? ColorToken::inf
                     : stats == nullptr ? ColorToken::second
                                        : ColorToken::ok;
    entry.activate = [this, op, tensor] { selection().select(TensorItem{op, tensor}); };
    m_list->addEntry(entry);
    m_told.push_back(QStringLiteral("%1 (%2): %3").arg(name, entry.detail, entry.value));
}

void WhyPane::addInputs(core::OpId op)
{
    bool any = false;
    for (const core::ArgumentRow &argument : trace()->arguments(trace()->op(op).call))
        for (const core::TensorId tensor : trace()->tensorIds(argument.tensors)) {
            if (!tensor.isValid())
                continue;
            if (!any)
                m_list->addSection(tr("What went in"));
            any = true;
            const core::OpId producer = trace()->producer(tensor);
            const QString made = producer.isValid()
                                     ? fromView(trace()->publicLabel(producer))
                                     : fromView(trace()->string(trace()->tensor(tensor).address));
            addMeasured(QStringLiteral("%1: %2").arg(fromView(trace()->string(argument.name)), made), op,
                        tensor);
        }
}

void WhyPane::addOutput(core::OpId op)
{
    const core::TensorId tensor = trace()->op(op).tensor;
    if (!tensor.isValid())
        return;
    m_list->addSection(tr("What came out"));
    addMeasured(tr("output"), op, tensor);
    const core::NonFiniteEntry *entry = entryOf(op);
    if (entry == nullptr || entry->firstIndex < 0)
        return;
    // A batch norm in training can write them into its running statistics alone.
    const core::TensorId bad = entry->tensor.isValid() ? entry->tensor : tensor;
    if (bad != tensor)
        addMeasured(tr("state it wrote"), op, bad);
    const auto index = static_cast<std::uint64_t>(entry->firstIndex);
    addFact(tr("First bad element"), indexText(trace()->shape(bad), index), [this, op, bad, index] {
        selection().select(ElementItem{op, bad, index});
    });
    addFact(tr("Bad elements"),
            tr("%1 of %2, %3")
                .arg(countText(entry->counts.nonFinite()), countText(entry->counts.elements),
                     shareText(entry->counts.nonFinite(), entry->counts.elements)));
}

// What the capture kept of the operands at the first bad element.
void WhyPane::addOperands(core::OpId op)
{
    const core::TensorId tensor = trace()->op(op).tensor;
    if (!tensor.isValid())
        return;
    const core::TensorRow &row = trace()->tensor(tensor);
    for (const core::StringId id : {row.operandsAtFirst, row.operandsAtFirstNan}) {
        if (!id.isValid())
            continue;
        const auto kept = core::parseJson(trace()->string(id), "operands");
        if (!kept || !kept->at("at").isInt())
            continue;
        const auto at = static_cast<std::uint64_t>(kept->at("at").toInt());
        const std::vector<Operand> operands =
            operandsOf(*trace(), trace()->op(op).call, kept->at("values").toList());
        for (const bool isValue : {true, false}) {
            bool any = false;
            for (const Operand &operand : operands) {
                if (operand.isValue != isValue)
                    continue;
                if (!std::exchange(any, true))
                    m_list->addSection(isValue
                                           ? tr("Operands at %1").arg(indexText(trace()->shape(tensor), at))
                                           : tr("Arguments"));
                addFact(operand.name, operandText(operand.value));
            }
        }
    }
}

void WhyPane::addOrigins()
{
    bool any = false;
    for (const TrailStep &step : m_trail->steps) {
        if (step.pass != 0 || !step.op.isValid() || step.state != NodeState::origin)
            continue;
        if (!any)
            m_list->addSection(tr("Where it was born"));
        any = true;
        FactList::Entry entry;
        entry.icon = IconName::origin;
        entry.iconTone = ColorToken::nan;
        entry.name = step.name;
        entry.value = lineText(*trace(), step.op);
        entry.valueTone = "accent";
        entry.activate = [this, op = step.op] { selection().select(OpItem{op}); };
        m_list->addEntry(entry);
    }
}

void WhyPane::addLine(core::OpId op)
{
    const QString line = lineText(*trace(), op);
    if (line.isEmpty())
        return;
    m_list->addSection(tr("Where"));
    addFact(tr("Source line"), line, [this, op] {
        const core::FrameRow &where = trace()->frame(trace()->sourceFrame(trace()->callOf(op).stack));
        selection().activate(LineItem{where.file, where.line});
    });
}

void WhyPane::addRemedy(const QString &remedy)
{
    if (remedy.isEmpty())
        return;
    auto *card = new QFrame;
    card->setProperty("card", "ok");
    card->setAccessibleName(tr("What helps"));
    auto *column = new QVBoxLayout(card);
    column->setContentsMargins(12, 8, 12, 10);
    column->setSpacing(4);
    auto *head = new QHBoxLayout;
    head->setSpacing(8);
    head->addWidget(makeIconLabel(theme(), IconName::healed, ColorToken::ok, 13, card));
    head->addWidget(makeLabel(tr("What helps"), "strong", card));
    head->addStretch(1);
    QPushButton *copy = makeButton(tr("Copy"), "link", card);
    copy->setAccessibleName(tr("Copy what helps"));
    connect(copy, &QPushButton::clicked, card, [remedy] { QApplication::clipboard()->setText(remedy); });
    head->addWidget(copy);
    column->addLayout(head);
    QLabel *text = makeLabel(remedy, "", card);
    text->setWordWrap(true);
    column->addWidget(text);
    m_list->addWidget(card);
    m_told.push_back(tr("What helps: %1").arg(remedy));
}

} // namespace views
