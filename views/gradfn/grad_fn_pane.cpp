// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/gradfn/grad_fn_pane.h"

#include "views/base/combo_arrow.h"
#include "views/base/counted_text.h"
#include "views/base/formatting.h"
#include "views/base/widgets.h"

#include <QButtonGroup>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

#include <algorithm>

namespace views {

namespace {

// What can be read; the ceiling of the walk itself is twenty thousand.
constexpr std::int64_t kFirstNodes = 400;

} // namespace

GradFnPane::GradFnPane(const PaneContext &context, QWidget *parent)
    : PicturePane(context, QStringLiteral("gradFn"), tr("grad_fn"), tr("Graph of grad functions"), parent),
      m_nodes(kFirstNodes)
{
    setBar(buildBar());
    view().setWords(tr("No trace is open"), {});
}

QWidget *GradFnPane::buildBar()
{
    auto *bar = new QWidget(this);
    auto *row = new QHBoxLayout(bar);
    row->setContentsMargins(10, 5, 8, 5);
    row->setSpacing(4);
    row->addWidget(makeLabel(tr("From"), "dense", bar));
    auto *group = new QButtonGroup(this);
    const auto chip = [&](const QString &text, const QString &name) {
        QToolButton *button = makeChip(text, name, bar);
        group->addButton(button);
        row->addWidget(button);
        connect(button, &QToolButton::clicked, this, &GradFnPane::ask);
        return button;
    };
    m_outputs = chip(tr("Outputs"), tr("Walk from the outputs of the model"));
    m_selected = chip(tr("Selected op"), tr("Walk from the selected op"));
    m_outputs->setChecked(true);
    row->addSpacing(8);
    m_passLabel = makeLabel(tr("Pass"), "dense", bar);
    m_passes = new QComboBox(bar);
    addComboArrow(theme(), m_passes);
    m_passes->setAccessibleName(tr("Backward pass whose states are shown"));
    m_passLabel->setBuddy(m_passes);
    row->addWidget(m_passLabel);
    row->addWidget(m_passes);
    connect(m_passes, &QComboBox::currentIndexChanged, this, &GradFnPane::ask);
    m_counts = makeElidedLabel({}, "monoSecond", bar);
    m_counts->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    row->addWidget(m_counts, 1);
    return bar;
}

bool GradFnPane::startsAtSelection() const
{
    return m_selected->isChecked();
}

void GradFnPane::setStartsAtSelection(bool selected)
{
    (selected ? m_selected : m_outputs)->setChecked(true);
    ask();
}

void GradFnPane::fillPasses()
{
    const QSignalBlocker silent(m_passes);
    m_passes->clear();
    const std::size_t passes = trace() ? trace()->backwards().size() : 0;
    m_passes->addItem(tr("all passes"));
    for (std::size_t i = 0; i < passes; ++i)
        m_passes->addItem(tr("backward %1").arg(i + 1));
    m_passes->setCurrentIndex(passes == 1 ? 1 : 0);
    m_passes->setVisible(passes > 1);
    m_passLabel->setVisible(passes > 1);
}

void GradFnPane::showTrace()
{
    m_nodes = kFirstNodes;
    m_wish = {};
    // The boxes of the former trace must not be clicked.
    view().setWords(tr("No trace is open"), {});
    fillPasses();
    ask();
}

void GradFnPane::ask()
{
    m_counts->setText({});
    setSubtitle({});
    if (!trace()) {
        view().setWords(tr("No trace is open"), {});
        return;
    }
    if (trace()->gradNodes().empty()) {
        view().setWords(tr("This trace holds no autograd graph"),
                        tr("Capture the model again with a backward pass to record it."));
        return;
    }
    GradFnWish wish;
    wish.trace = trace();
    wish.nodes = m_nodes;
    const core::OpId op = opOf(*trace(), item());
    if (startsAtSelection()) {
        if (!op.isValid()) {
            view().setWords(tr("No op is selected"),
                            tr("Select the op whose gradient path you want to see."));
            return;
        }
        wish.from = {op};
    }
    if (m_passes->currentIndex() > 0)
        wish.backward = core::BackwardId(static_cast<std::size_t>(m_passes->currentIndex() - 1));
    m_wish = wish;
    Q_EMIT pictureWished(wish);
}

void GradFnPane::setPicture(const GradFnAnswer &answer)
{
    if (!(answer.wish == m_wish))
        return;
    if (!answer.status) {
        view().setWords(tr("There is nothing to walk"),
                        fromView(answer.status.message()) +
                            (answer.status.remedy().empty()
                                 ? QString()
                                 : QStringLiteral("\n") + fromView(answer.status.remedy())));
        return;
    }
    const std::size_t boxes = answer.picture.boxes.size();
    view().setNotice(answer.truncated ? tr("Cut at %1 grad functions; the graph has %2.")
                                            .arg(countText(static_cast<std::uint64_t>(answer.wish.nodes)),
                                                 countText(trace()->gradNodes().size()))
                                      : QString(),
                     answer.truncated && m_nodes < core::kMaxGradFnNodes
                         ? tr("Show up to %1").arg(countText(core::kMaxGradFnNodes))
                         : QString());
    m_counts->setText(countedText(boxes, "grad function", "grad functions"));
    m_counts->setToolTip(countedText(answer.picture.edges.size(), "edge", "edges"));
    setSubtitle(trace()->backwards().empty() ? tr("structure only, no backward pass") : QString());
    view().setPicture(answer.picture, boxes == 0 ? 0 : static_cast<std::uint32_t>(boxes - 1));
}

void GradFnPane::showItem()
{
    if (startsAtSelection() && !isOwnChange())
        ask();
    else
        showSelected();
}

// The node itself when a grad function is selected, else all nodes of the selected op.
void GradFnPane::showSelected()
{
    std::vector<std::uint32_t> boxes;
    const auto *grad = std::get_if<GradItem>(&item());
    const core::OpId op = trace() ? opOf(*trace(), item()) : core::OpId();
    const auto &all = view().picture().boxes;
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        const bool same = grad != nullptr ? all[i].gradNode == grad->node : op.isValid() && all[i].op == op;
        if (same)
            boxes.push_back(i);
    }
    // An output of the model has a box of its own beside its grad function: the function is the current one.
    std::stable_partition(boxes.begin(), boxes.end(),
                          [&](std::uint32_t box) { return all[box].gradNode.isValid(); });
    view().setSelected(boxes);
    if (!boxes.empty())
        view().showBox(boxes.front(), false);
}

void GradFnPane::pick(std::uint32_t box, bool activate)
{
    if (box >= view().picture().boxes.size())
        return;
    const core::PictureBox &what = view().picture().boxes[box];
    if (activate && what.op.isValid())
        selectItem(OpItem{what.op}, true);
    else if (what.gradNode.isValid())
        selectItem(GradItem{what.gradNode}, false);
    else if (what.op.isValid())
        selectItem(OpItem{what.op}, false);
    view().setSelected({box});
}

void GradFnPane::askMore()
{
    m_nodes = core::kMaxGradFnNodes;
    ask();
}

QString GradFnPane::exportName() const
{
    return m_wish.from.empty()
               ? QStringLiteral("grad_fn")
               : QStringLiteral("grad_fn-") + fromView(trace()->publicLabel(m_wish.from.front()));
}

std::vector<std::string> GradFnPane::exportFooter() const
{
    std::vector<std::string> lines = {m_counts->text().toStdString()};
    if (m_wish.backward.isValid())
        lines.push_back("states of backward " + std::to_string(m_wish.backward.index() + 1));
    if (!view().noticeText().isEmpty())
        lines.push_back(view().noticeText().toStdString());
    return lines;
}

} // namespace views
