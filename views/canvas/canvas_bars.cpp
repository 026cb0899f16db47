// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/canvas/canvas_bars.h"

#include "views/base/counted_text.h"
#include "views/base/widgets.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>

#include <cmath>

namespace views {

namespace {

constexpr int kLateMs = 2500;
constexpr int kLateStepMs = 500;

void dress(QFrame *frame)
{
    frame->setObjectName(QStringLiteral("overlay"));
    frame->setAttribute(Qt::WA_StyledBackground);
}

} // namespace

ZoomBar::ZoomBar(const Theme &theme, QWidget *parent) : QFrame(parent)
{
    dress(this);
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(4, 2, 4, 2);
    row->setSpacing(2);
    auto *out = makeIconButton(theme, IconName::minus, tr("Zoom out"), this);
    auto *in = makeIconButton(theme, IconName::plus, tr("Zoom in"), this);
    auto *fit = makeIconButton(theme, IconName::fit, tr("Fit the graph (F)"), this);
    m_percent = makeButton(QStringLiteral("100 %"), "link", this);
    m_percent->setFlat(true);
    m_percent->setMinimumWidth(54);
    m_percent->setToolTip(tr("Zoom to 100 %"));
    m_percent->setAccessibleName(tr("Zoom"));
    for (QWidget *widget : {static_cast<QWidget *>(out), static_cast<QWidget *>(m_percent),
                            static_cast<QWidget *>(in), static_cast<QWidget *>(fit)})
        row->addWidget(widget);
    connect(out, &QToolButton::clicked, this, [this] { Q_EMIT zoomWanted(1.0 / 1.25); });
    connect(in, &QToolButton::clicked, this, [this] { Q_EMIT zoomWanted(1.25); });
    connect(fit, &QToolButton::clicked, this, &ZoomBar::fitWanted);
    connect(m_percent, &QPushButton::clicked, this, &ZoomBar::actualSizeWanted);
}

void ZoomBar::setZoom(double zoom)
{
    const double percent = zoom * 100.0;
    m_percent->setText(percent < 10.0 ? tr("%1 %").arg(percent, 0, 'f', 1)
                                      : tr("%1 %").arg(std::lround(percent)));
}

NoticeBar::NoticeBar(QWidget *parent) : QFrame(parent)
{
    dress(this);
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(12, 4, 6, 4);
    row->setSpacing(12);
    m_text = makeElidedLabel(QString(), "dense", this);
    m_action = makeButton(QString(), "link", this);
    m_action->setAccessibleName(tr("Act on this notice"));
    row->addWidget(m_text);
    row->addWidget(m_action);
    connect(m_action, &QPushButton::clicked, this, &NoticeBar::actionWanted);
    hide();
}

void NoticeBar::showNotice(const QString &text, const QString &action)
{
    m_text->setText(text);
    m_action->setText(action);
    m_action->setVisible(!action.isEmpty());
    adjustSize();
    show();
    raise();
}

QString NoticeBar::text() const
{
    return m_text->text();
}

LayoutNotice::LayoutNotice(QWidget *parent) : NoticeBar(parent)
{
    m_timer.setInterval(kLateStepMs);
    connect(&m_timer, &QTimer::timeout, this, &LayoutNotice::tick);
    connect(this, &NoticeBar::actionWanted, this, [this] {
        if (m_timer.isActive())
            Q_EMIT cancelWanted();
        else
            Q_EMIT retryWanted();
    });
}

void LayoutNotice::wait(std::size_t boxes)
{
    m_boxes = boxes;
    m_since.start();
    m_timer.start();
}

void LayoutNotice::tick()
{
    if (m_since.elapsed() >= kLateMs)
        say(tr("Laying out %1, %2 s").arg(countedText(m_boxes, "box", "boxes")).arg(m_since.elapsed() / 1000),
            tr("Cancel"));
}

void LayoutNotice::showResult(const core::LayoutResult &layout)
{
    if (!layout.simplified)
        return clear();
    m_timer.stop();
    say(tr("Simplified layout: %1").arg(QString::fromStdString(layout.note)), tr("Try again"));
}

void LayoutNotice::showFailure(const QString &reason)
{
    m_timer.stop();
    say(tr("No layout: %1").arg(reason), tr("Try again"));
}

void LayoutNotice::clear()
{
    m_timer.stop();
    hide();
    Q_EMIT changed();
}

void LayoutNotice::say(const QString &text, const QString &action)
{
    showNotice(text, action);
    Q_EMIT changed();
}

} // namespace views
