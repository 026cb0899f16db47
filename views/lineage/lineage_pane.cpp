// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/lineage/lineage_pane.h"

#include "views/base/counted_text.h"
#include "views/base/formatting.h"
#include "views/base/widgets.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QJsonDocument>
#include <QJsonObject>
#include <QKeyEvent>
#include <QLabel>
#include <QToolButton>

#include <limits>

namespace views {

namespace {

constexpr std::size_t kFirstBoxes = 200;
constexpr std::size_t kMostBoxes = 1000; // what a layout by Graphviz takes
constexpr int kDeepest = 99;

} // namespace

LineagePane::LineagePane(const PaneContext &context, QWidget *parent)
    : PicturePane(context, QStringLiteral("lineage"), tr("Lineage"), tr("Lineage of an op"), parent),
      m_boxes(kFirstBoxes)
{
    setBar(buildBar());
    sayNothingSelected();
    updateBar();
}

void LineagePane::sayNothingSelected()
{
    view().setWords(tr("No op is selected"), tr("Select an op anywhere to see where its value comes from."));
}

QWidget *LineagePane::buildBar()
{
    auto *bar = new QWidget(this);
    auto *row = new QHBoxLayout(bar);
    row->setContentsMargins(10, 5, 8, 5);
    row->setSpacing(4);
    auto *group = new QButtonGroup(this);
    const QString names[] = {tr("Ancestors"), tr("Both"), tr("Descendants")};
    for (int i = 0; i < 3; ++i) {
        QToolButton *chip = makeChip(names[i], tr("Direction: %1").arg(names[i]), bar);
        group->addButton(chip);
        row->addWidget(chip);
        connect(chip, &QToolButton::clicked, this, [this, i] { setDirection(static_cast<Direction>(i)); });
        m_directions[i] = chip;
    }
    row->addSpacing(8);
    auto *less = makeIconButton(theme(), IconName::minus, tr("One step less ([)"), bar);
    auto *more = makeIconButton(theme(), IconName::plus, tr("One step more (])"), bar);
    m_depthLabel = makeLabel({}, "monoDense", bar);
    m_all = makeChip(tr("All"), tr("As many steps as there are"), bar);
    connect(less, &QToolButton::clicked, this, [this] { setDepth(std::max(1, m_depth - 1)); });
    connect(more, &QToolButton::clicked, this, [this] { setDepth(m_depth == 0 ? 0 : m_depth + 1); });
    connect(m_all, &QToolButton::clicked, this, [this](bool on) { setDepth(on ? 0 : 3); });
    row->addWidget(less);
    row->addWidget(m_depthLabel);
    row->addWidget(more);
    row->addWidget(m_all);
    m_startLabel = makeElidedLabel({}, "monoSecond", bar);
    m_startLabel->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    row->addWidget(m_startLabel, 1);
    return bar;
}

void LineagePane::setMarks(core::GraphMarks marks)
{
    m_marks = std::move(marks);
    m_tree.reset();
    if (!isVisible())
        showAgain();
    else if (m_start.isValid())
        ask();
}

void LineagePane::showTrace()
{
    m_tree.reset();
    m_start = {};
    m_boxes = kFirstBoxes;
    if (trace())
        sayNothingSelected();
    else
        view().setWords(tr("No trace is open"), {});
    updateBar();
}

void LineagePane::showItem()
{
    if (!trace())
        return;
    const core::OpId op = opOf(*trace(), item());
    if (!op.isValid() || isOwnChange() || (op == m_start && view().hasPicture())) {
        showSelected();
        return;
    }
    askFrom(op);
}

void LineagePane::askFrom(core::OpId op)
{
    m_start = op;
    m_boxes = kFirstBoxes;
    ask();
}

core::LineageOptions LineagePane::options() const
{
    const std::uint32_t steps =
        m_depth == 0 ? std::numeric_limits<std::uint32_t>::max() - 1 : static_cast<std::uint32_t>(m_depth);
    core::LineageOptions options;
    options.start = m_start;
    options.up = m_direction == Direction::descendants ? 0 : steps;
    options.down = m_direction == Direction::ancestors ? 0 : steps;
    options.boxes = m_boxes;
    return options;
}

void LineagePane::ask()
{
    updateBar();
    if (trace() && m_start.isValid())
        Q_EMIT lineageWished({trace(), m_tree, m_marks, options()});
}

void LineagePane::setLineage(const LineageAnswer &answer)
{
    // An answer to an older question, or about a trace that was closed.
    if (!answer.tree || answer.tree->sharedTrace() != trace() || answer.options.start != m_start)
        return;
    m_tree = answer.tree;
    const core::GraphPicture &picture = answer.lineage.picture;
    if (picture.boxes.empty()) {
        view().setWords(tr("%1 has no box of its own").arg(fromView(trace()->publicLabel(m_start))),
                        tr("It is the read of a buffer; select the op that uses it."));
        return;
    }
    view().setNotice(
        answer.lineage.truncated
            ? tr("The nearest %1 ops are shown; more are within reach.").arg(countText(picture.boxes.size()))
            : QString(),
        m_boxes < kMostBoxes ? tr("Show up to %1").arg(countText(kMostBoxes)) : QString());
    view().setHint(tr("%1 of %2 ops").arg(countText(picture.boxes.size()), countText(picture.totalOps)));
    view().setPicture(picture, answer.lineage.startBox);
    setSubtitle(tr("of %1").arg(fromView(trace()->publicLabel(m_start))));
}

// Boxes that stand for the selected op; they are known once the picture is placed.
void LineagePane::showSelected()
{
    std::vector<std::uint32_t> boxes;
    const core::OpId op = trace() ? opOf(*trace(), item()) : core::OpId();
    if (op.isValid())
        for (std::uint32_t i = 0; i < view().picture().boxes.size(); ++i)
            if (trace()->op(view().picture().boxes[i].op).call == trace()->op(op).call)
                boxes.push_back(i);
    view().setSelected(boxes);
    if (!boxes.empty())
        view().showBox(boxes.front(), false);
}

void LineagePane::pick(std::uint32_t box, bool activate)
{
    if (box >= view().picture().boxes.size())
        return;
    const core::OpId op = view().picture().boxes[box].op;
    selectItem(OpItem{op}, activate);
    if (activate && op != m_start && !isPinned())
        askFrom(op);
    else
        showSelected();
}

void LineagePane::askMore()
{
    m_boxes = kMostBoxes;
    ask();
}

QString LineagePane::exportName() const
{
    return QStringLiteral("lineage-") + fromView(trace()->publicLabel(m_start));
}

std::vector<std::string> LineagePane::exportFooter() const
{
    static constexpr const char *kDirections[] = {"ancestors", "ancestors and descendants", "descendants"};
    std::string line = kDirections[static_cast<int>(m_direction)];
    line += " of " + std::string(trace()->publicLabel(m_start));
    line += m_depth == 0 ? ", all steps"
                         : ", up to " + std::to_string(m_depth) + (m_depth == 1 ? " step" : " steps");
    std::vector<std::string> lines = {std::move(line)};
    if (!view().noticeText().isEmpty())
        lines.push_back(view().noticeText().toStdString());
    return lines;
}

void LineagePane::setDirection(Direction direction)
{
    if (direction == m_direction)
        return;
    m_direction = direction;
    ask();
    Q_EMIT viewStateChanged();
}

void LineagePane::setDepth(int depth)
{
    depth = std::clamp(depth, 0, kDeepest);
    if (depth == m_depth)
        return;
    m_depth = depth;
    ask();
    Q_EMIT viewStateChanged();
}

void LineagePane::updateBar()
{
    for (int i = 0; i < 3; ++i)
        m_directions[i]->setChecked(static_cast<int>(m_direction) == i);
    m_all->setChecked(m_depth == 0);
    m_depthLabel->setText(m_depth == 0 ? tr("all steps")
                                       : countedText(static_cast<std::uint64_t>(m_depth), "step", "steps"));
    m_startLabel->setText(trace() && m_start.isValid() ? fromView(trace()->publicLabel(m_start)) : QString());
    if (!m_start.isValid())
        setSubtitle({});
}

void LineagePane::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_BracketLeft)
        setDepth(std::max(1, m_depth - 1));
    else if (event->key() == Qt::Key_BracketRight && m_depth != 0)
        setDepth(m_depth + 1);
    else
        Pane::keyPressEvent(event);
}

QByteArray LineagePane::viewState() const
{
    return QJsonDocument(QJsonObject{{QStringLiteral("direction"), static_cast<int>(m_direction)},
                                     {QStringLiteral("depth"), m_depth}})
        .toJson(QJsonDocument::Compact);
}

void LineagePane::restoreViewState(const QByteArray &state)
{
    const QJsonObject root = QJsonDocument::fromJson(state).object();
    if (root.isEmpty())
        return;
    m_direction = static_cast<Direction>(std::clamp(root.value(QLatin1String("direction")).toInt(1), 0, 2));
    m_depth = std::clamp(root.value(QLatin1String("depth")).toInt(3), 0, kDeepest);
    ask();
}

} // namespace views
