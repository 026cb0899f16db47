// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/source/source_pane.h"

#include "views/base/formatting.h"
#include "views/base/trace_facts.h"
#include "views/base/widgets.h"
#include "views/source/code_view.h"

#include <QLabel>
#include <QListWidget>
#include <QScopedValueRollback>
#include <QSplitter>
#include <QVBoxLayout>

namespace views {

namespace {

constexpr int kFileRole = Qt::UserRole + 1;
constexpr int kLineRole = Qt::UserRole + 2;

} // namespace

SourcePane::SourcePane(const PaneContext &context, QWidget *parent)
    : Pane(context, QStringLiteral("source"), tr("Source"), parent), m_code(new CodeView(context.theme)),
      m_note(makeElidedLabel({}, "caption")), m_stackTitle(makeLabel(tr("Call stack"), "strong")),
      m_frames(new QListWidget)
{
    auto *left = new QWidget;
    auto *leftColumn = new QVBoxLayout(left);
    leftColumn->setContentsMargins(0, 0, 0, 0);
    leftColumn->setSpacing(0);
    leftColumn->addWidget(m_code, 1);
    m_note->setContentsMargins(10, 3, 10, 3);
    leftColumn->addWidget(m_note);
    auto *right = new QWidget;
    auto *rightColumn = new QVBoxLayout(right);
    rightColumn->setContentsMargins(0, 6, 0, 0);
    m_stackTitle->setContentsMargins(10, 0, 0, 0);
    rightColumn->addWidget(m_stackTitle);
    rightColumn->addWidget(m_frames, 1);
    m_frames->setAccessibleName(tr("Call stack, innermost first"));
    m_frames->setIconSize(QSize(12, 12));
    m_frames->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    auto *splitter = new QSplitter(this);
    splitter->addWidget(left);
    splitter->addWidget(right);
    splitter->setStretchFactor(0, 7);
    splitter->setStretchFactor(1, 3);
    splitter->setSizes({700, 300});
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(splitter);
    connect(m_code, &CodeView::linePicked, this, &SourcePane::pickLine);
    connect(m_frames, &QListWidget::currentItemChanged, this, [this](QListWidgetItem *current) {
        if (m_showing || current == nullptr)
            return;
        // A frame is shown here and is no new selection: the current op stays.
        showLine(core::StringId(current->data(kFileRole).toUInt()),
                 core::LineNumber::fromOneBased(current->data(kLineRole).toUInt()));
    });
}

void SourcePane::showTrace()
{
    m_file = {};
    m_loaded = {};
    m_line = {};
    m_code->setCode({});
    m_frames->clear();
    m_note->setText(trace() ? tr("Select an op to see its source line.") : tr("No trace is open."));
    setSubtitle({});
}

void SourcePane::showItem()
{
    if (!trace())
        return;
    const core::OpId op = opOf(*trace(), item());
    showFrames(op);
    if (const auto line = lineOf(*trace(), item())) {
        showLine(line->file, line->line);
    } else {
        m_code->clearMarks(CodeView::LineMark::current);
        m_note->setText(op.isValid() ? tr("The model file names no source line for this op.")
                                     : tr("Select an op to see its source line."));
    }
}

void SourcePane::showFrames(core::OpId op)
{
    const QScopedValueRollback<bool> guard(m_showing, true);
    m_frames->clear();
    m_stackTitle->setText(op.isValid() ? tr("Call stack of %1").arg(fromView(trace()->publicLabel(op)))
                                       : tr("Call stack"));
    if (!op.isValid() || !trace()->callOf(op).stack.isValid())
        return;
    const core::StackId stack = trace()->callOf(op).stack;
    const core::FrameId user = trace()->sourceFrame(stack);
    const auto frames = trace()->frames(stack);
    for (std::size_t i = frames.size(); i-- > 0;) {
        const core::FrameRow &frame = trace()->frame(frames[i]);
        const QString place =
            QStringLiteral("%1:%2").arg(fileNameText(trace()->string(frame.file))).arg(frame.line.oneBased());
        auto *item = new QListWidgetItem(
            QStringLiteral("%1   %2").arg(fromView(trace()->string(frame.function)), place), m_frames);
        item->setIcon(themedIcon(theme(), frames[i] == user ? IconName::flag : IconName::code,
                                 frames[i] == user ? core::ColorToken::accent : core::ColorToken::muted));
        item->setToolTip(fromView(trace()->string(frame.file)));
        item->setData(kFileRole, frame.file.value());
        item->setData(kLineRole, frame.line.oneBased());
        if (frames[i] == user)
            m_frames->setCurrentItem(item);
    }
}

void SourcePane::showLine(core::StringId file, core::LineNumber line)
{
    m_file = file;
    m_line = line;
    setSubtitle(fileNameText(trace()->string(file)));
    if (m_loaded == file) {
        markLine();
        return;
    }
    m_note->setText(tr("Reading %1").arg(fromView(trace()->string(file))));
    Q_EMIT textRequested(file);
}

void SourcePane::setText(core::StringId file, const SourceText &text)
{
    if (file != m_file || !trace())
        return;
    m_loaded = file;
    m_code->setCode(text.text);
    m_note->setText(QStringLiteral("%1 · %2").arg(fromView(trace()->string(file)), text.note));
    setTone(m_note, text.differs ? "warn" : "");
    markOps();
    markLine();
}

void SourcePane::markLine()
{
    m_code->clearMarks(CodeView::LineMark::current);
    if (!m_line.isKnown())
        return;
    m_code->addMark(CodeView::LineMark::current, static_cast<int>(m_line.oneBased()));
    m_code->centerLine(static_cast<int>(m_line.oneBased()));
}

// Lines whose ops have NaN, or Inf and no NaN.
void SourcePane::markOps()
{
    m_code->clearMarks(CodeView::LineMark::nan);
    m_code->clearMarks(CodeView::LineMark::inf);
    for (const core::OpId op : trace()->computeOps()) {
        const core::TensorId tensor = trace()->op(op).tensor;
        const core::TensorStats *stats = statsOf(*trace(), m_facts.get(), tensor);
        const core::FrameId frame = trace()->sourceFrame(trace()->callOf(op).stack);
        if (stats == nullptr || stats->nonFinite() == 0 || !frame.isValid() ||
            trace()->frame(frame).file != m_file)
            continue;
        m_code->addMark(stats->nan > 0 ? CodeView::LineMark::nan : CodeView::LineMark::inf,
                        static_cast<int>(trace()->frame(frame).line.oneBased()));
    }
}

void SourcePane::setFacts(std::shared_ptr<const TraceFacts> facts)
{
    if (takeFacts(std::move(facts), m_facts) && trace() && m_loaded.isValid())
        markOps();
}

void SourcePane::pickLine(int line)
{
    if (trace() && m_loaded.isValid())
        selection().select(
            LineItem{m_loaded, core::LineNumber::fromOneBased(static_cast<std::uint32_t>(line))});
}

void SourcePane::themeChanged()
{
    m_code->applyTheme();
    markLine();
}

} // namespace views
