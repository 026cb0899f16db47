// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/frame/pane_header.h"

#include "views/base/pane.h"
#include "views/base/scaled.h"
#include "views/base/widgets.h"

#include <QDockWidget>
#include <QHBoxLayout>
#include <QLabel>
#include <QMouseEvent>
#include <QToolButton>

namespace app {

namespace {

constexpr int kHeight = 28;

} // namespace

PaneControls::PaneControls(const views::Theme &theme, views::Pane &pane, QDockWidget *dock, QWidget *parent)
    : QWidget(parent), m_pane(pane), m_subtitle(views::makeElidedLabel({}, "dense", this)),
      m_pin(views::makeIconButton(theme, views::IconName::pin, tr("Keep showing this item"), this))
{
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 4, 0);
    row->setSpacing(2);
    row->addWidget(m_subtitle, 1);
    for (QWidget *control : pane.headerControls())
        row->addWidget(control);
    m_pin->setCheckable(true);
    m_pin->setVisible(pane.canBePinned());
    row->addWidget(m_pin);
    QToolButton *detach =
        views::makeIconButton(theme, views::IconName::detach, tr("Float %1").arg(pane.title()), this);
    QToolButton *close =
        views::makeIconButton(theme, views::IconName::close, tr("Close %1").arg(pane.title()), this);
    close->setIconSize(QSize(10, 10));
    row->addWidget(detach);
    row->addWidget(close);
    connect(m_pin, &QToolButton::clicked, &pane, &views::Pane::setPinned);
    connect(detach, &QToolButton::clicked, dock, [dock] { dock->setFloating(!dock->isFloating()); });
    connect(close, &QToolButton::clicked, dock, &QDockWidget::close);
    connect(&pane, &views::Pane::headerChanged, this, &PaneControls::refresh);
    refresh();
}

void PaneControls::refresh()
{
    m_subtitle->setText(m_pane.isPinned() ? tr("pinned · %1").arg(m_pane.subtitle()) : m_pane.subtitle());
    m_pin->setChecked(m_pane.isPinned());
    m_pin->setToolTip(m_pane.isPinned() ? tr("Follow the selection again") : tr("Keep showing this item"));
    m_pin->setAccessibleName(m_pin->toolTip());
}

PaneHeader::PaneHeader(const views::Theme &theme, views::Pane &pane, QDockWidget *dock)
    : QWidget(dock), m_theme(theme), m_controls(new PaneControls(theme, pane, dock, this))
{
    connect(&theme, &views::Theme::changed, this, [this] { setTabbed(m_tabbed); });
    setObjectName(QStringLiteral("paneHeader"));
    setAttribute(Qt::WA_StyledBackground);
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(10, 0, 0, 1);
    row->setSpacing(8);
    QLabel *title = views::makeLabel(pane.title(), "strong", this);
    title->setObjectName(QStringLiteral("paneTitle"));
    row->addWidget(title);
    row->addWidget(m_controls, 1);
}

QSize PaneHeader::sizeHint() const
{
    return {80, m_tabbed ? 0 : views::scaledToText(m_theme, kHeight)};
}

void PaneHeader::setTabbed(bool tabbed)
{
    m_tabbed = tabbed;
    setMaximumHeight(sizeHint().height());
    updateGeometry();
    if (!tabbed)
        lendControls(nullptr);
}

void PaneHeader::lendControls(QWidget *host)
{
    if (host == nullptr && m_controls->parentWidget() != this) {
        static_cast<QHBoxLayout *>(layout())->addWidget(m_controls, 1);
        m_controls->show();
    } else if (host != nullptr && m_controls->parentWidget() != host) {
        layout()->removeWidget(m_controls);
        m_controls->setParent(host);
        m_controls->show();
    }
}

void PaneHeader::mousePressEvent(QMouseEvent *event)
{
    event->ignore();
}

} // namespace app
