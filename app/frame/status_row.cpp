// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/frame/status_row.h"

#include "views/base/elided_label.h"
#include "views/base/scaled.h"
#include "views/base/widgets.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>

namespace app {

namespace {

constexpr int kHeight = 24;
constexpr int kProgressWidth = 120;
constexpr int kFileWidth = 240; // where the row is short of room

} // namespace

StatusRow::StatusRow(const views::Theme &theme, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_file(views::makeElidedLabel({}, "strong", this)),
      m_size(views::makeLabel({}, "mono", this)), m_job(views::makeElidedLabel({}, "dense", this)),
      m_progress(new QProgressBar(this)), m_cancel(views::makeButton(tr("Cancel"), "link", this)),
      m_selection(views::makeElidedLabel({}, "mono", this)), m_op(views::makeLabel({}, "mono", this)),
      m_zoom(views::makeLabel({}, "mono", this)), m_counts(views::makeLabel({}, "mono", this))
{
    setObjectName(QStringLiteral("statusRow"));
    setAttribute(Qt::WA_StyledBackground);
    setAccessibleName(tr("Status"));
    views::keepScaledHeight(*this, theme, kHeight);
    setLayout(new QHBoxLayout);
    auto *row = static_cast<QHBoxLayout *>(layout());
    row->setContentsMargins(10, 0, 12, 0);
    row->setSpacing(8);
    row->addWidget(
        views::makeIconLabel(theme, views::IconName::document, core::ColorToken::second, 13, this));
    views::elideInTheMiddle(m_file);
    views::elideInTheMiddle(m_job);
    row->addWidget(m_file);
    row->addWidget(m_size);
    m_outputs = addPart();
    m_gradients = addPart();
    m_source = addPart();
    row->addStretch(1);
    m_progress->setFixedWidth(kProgressWidth);
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(tr("Progress of the running job"));
    m_cancel->setAccessibleName(tr("Cancel the running job"));
    for (QWidget *widget :
         std::initializer_list<QWidget *>{m_job, m_progress, m_cancel, m_selection, m_op, m_zoom, m_counts})
        row->addWidget(widget);
    views::setStyleProperty(m_file, "tone", QStringLiteral("strong"));
    views::setStyleProperty(m_selection, "tone", QStringLiteral("strong"));
    connect(m_cancel, &QPushButton::clicked, this, &StatusRow::cancelRequested);
    setJob({}, -1);
    setFacts({});
}

StatusRow::Part StatusRow::addPart()
{
    auto *row = static_cast<QHBoxLayout *>(layout());
    Part part;
    part.icon = views::makeIconLabel(m_theme, views::IconName::dot, core::ColorToken::second, 12, this);
    part.label = views::makeLabel({}, "dense", this);
    row->addSpacing(8);
    row->addWidget(part.icon);
    row->addWidget(part.label);
    return part;
}

// A filled dot is for complete coverage only: nothing unchecked looks clean.
void StatusRow::setPart(Part &part, const QString &text, const QString &brief, bool complete)
{
    part.text = text;
    part.brief = brief;
    part.icon->setVisible(!text.isEmpty());
    part.icon->setToolTip(text);
    part.label->setToolTip(text);
    part.label->setAccessibleName(complete ? tr("%1, complete").arg(text) : text);
    views::setTone(part.label, complete ? "" : "warn");
    shorten(part, false);
}

void StatusRow::shorten(const Part &part, bool brief)
{
    const QString text = brief ? part.brief : part.text;
    part.label->setText(text);
    part.label->setVisible(!text.isEmpty());
}

int StatusRow::neededWidth() const
{
    const auto *row = static_cast<const QHBoxLayout *>(layout());
    const QMargins margins = row->contentsMargins();
    int width = margins.left() + margins.right();
    for (int i = 0; i < row->count(); ++i) {
        QLayoutItem *item = row->itemAt(i);
        if (item->isEmpty() && item->widget() != nullptr)
            continue;
        width += item->sizeHint().width() + (item->widget() != nullptr ? row->spacing() : 0);
    }
    return width;
}

void StatusRow::fit()
{
    if (layout() == nullptr)
        return;
    for (const Part &part : {m_outputs, m_gradients, m_source})
        shorten(part, false);
    m_counts->setVisible(m_hasCounts);
    m_file->setMaximumWidth(QWIDGETSIZE_MAX);
    if (neededWidth() <= width())
        return;
    m_file->setMaximumWidth(kFileWidth);
    if (neededWidth() <= width())
        return;
    shorten(m_outputs, true);
    shorten(m_gradients, true);
    if (neededWidth() <= width())
        return;
    m_counts->hide();
    if (neededWidth() > width())
        shorten(m_source, true);
}

void StatusRow::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    fit();
}

bool StatusRow::event(QEvent *event)
{
    const bool handled = QWidget::event(event);
    // Other fonts, or a label that came or went.
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange)
        fit();
    return handled;
}

void StatusRow::setFacts(const StatusFacts &facts)
{
    setVisible(!facts.file.isEmpty());
    m_file->setText(facts.file);
    m_size->setText(facts.size);
    const auto brief = [](QString text) { return text.remove(tr(" saved")); };
    setPart(m_outputs, facts.outputs, brief(facts.outputs), facts.outputsComplete);
    setPart(m_gradients, facts.gradients, brief(facts.gradients), facts.gradientsComplete);
    setPart(m_source, facts.source, {}, facts.sourceComplete);
    fit();
}

void StatusRow::setSelectionText(const QString &text)
{
    m_selection->setText(text);
    m_selection->setAccessibleName(tr("Selection: %1").arg(text));
    fit();
}

void StatusRow::setOpText(const QString &text)
{
    m_op->setText(text);
    m_op->setVisible(!text.isEmpty());
    fit();
}

void StatusRow::setZoomText(const QString &text)
{
    m_zoom->setText(text);
    m_zoom->setVisible(!text.isEmpty());
    fit();
}

void StatusRow::setCountsText(const QString &text)
{
    m_counts->setText(text);
    m_hasCounts = !text.isEmpty();
    fit();
}

void StatusRow::setJob(const QString &title, int permille)
{
    const bool shown = !title.isEmpty();
    m_job->setText(title);
    m_job->setVisible(shown);
    m_cancel->setVisible(shown);
    m_progress->setVisible(shown && permille >= 0);
    m_progress->setRange(0, 1000);
    m_progress->setValue(permille);
    fit();
}

} // namespace app
