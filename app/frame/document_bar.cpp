// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/frame/document_bar.h"

#include "views/base/icon.h"
#include "views/base/scaled.h"
#include "views/base/theme.h"
#include "views/base/widgets.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QToolButton>

#include <algorithm>

namespace app {

namespace {

constexpr int kHeight = 28;
constexpr int kFewestCrumbs = 120;
constexpr int kCrumbMargin = 28;
constexpr int kCrumbGap = 22; // arrow, spacing and the padding of a part

} // namespace

DocumentBar::DocumentBar(const views::Theme &theme, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_tabs(new QTabBar(this)),
      m_open(views::makeIconButton(theme, views::IconName::plus, tr("Open another file"), this)),
      m_crumbs(new QWidget(this)), m_crumbLayout(new QHBoxLayout(m_crumbs))
{
    setObjectName(QStringLiteral("documentBar"));
    setAttribute(Qt::WA_StyledBackground);
    setAccessibleName(tr("Open documents"));
    views::keepScaledHeight(*this, theme, kHeight);
    m_tabs->setObjectName(QStringLiteral("documentTabs"));
    m_tabs->setAccessibleName(tr("Open documents"));
    m_tabs->setTabsClosable(false);
    m_tabs->setExpanding(false);
    m_tabs->setDrawBase(false);
    m_tabs->setElideMode(Qt::ElideMiddle);
    m_tabs->setIconSize(QSize(13, 13));
    m_crumbLayout->setContentsMargins(0, 0, 12, 0);
    m_crumbLayout->setSpacing(2);
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 1);
    layout->setSpacing(0);
    layout->addWidget(m_tabs, 0, Qt::AlignBottom);
    layout->addWidget(m_open);
    layout->addStretch(1);
    layout->addWidget(m_crumbs);
    connect(m_tabs, &QTabBar::currentChanged, this, &DocumentBar::documentRequested);
    connect(m_open, &QToolButton::clicked, this, &DocumentBar::openRequested);
}

void DocumentBar::setDocuments(const QStringList &titles, const QStringList &tooltips, int current)
{
    const QSignalBlocker blocker(m_tabs);
    while (m_tabs->count() > 0)
        m_tabs->removeTab(0);
    for (int i = 0; i < titles.size(); ++i) {
        m_tabs->addTab(themedIcon(m_theme, views::IconName::document, core::ColorToken::second), titles[i]);
        m_tabs->setTabToolTip(i, tooltips.value(i));
        QToolButton *close =
            views::makeIconButton(m_theme, views::IconName::close, tr("Close %1").arg(titles[i]), m_tabs);
        close->setMinimumSize(16, 16);
        close->setMaximumSize(18, 18);
        close->setIconSize(QSize(9, 9));
        connect(close, &QToolButton::clicked, this, [this, i] { Q_EMIT closeRequested(i); });
        m_tabs->setTabButton(i, QTabBar::RightSide, close);
    }
    m_tabs->setCurrentIndex(current);
    fitBreadcrumb();
}

void DocumentBar::setBreadcrumb(const QStringList &parts)
{
    if (parts == m_parts)
        return;
    m_parts = parts;
    m_shownFrom = -1;
    fitBreadcrumb();
}

// From the left parts give way to an ellipsis until the rest fits beside the tabs; the last one stays, if
// need be cut.
void DocumentBar::fitBreadcrumb()
{
    const int room = std::max(kFewestCrumbs, width() - m_tabs->sizeHint().width() -
                                                 m_open->sizeHint().width() - kCrumbMargin);
    const QFontMetrics metrics(m_theme.font(views::FontRole::monoDense));
    const auto widthOf = [&](int from) {
        int sum = from > 0 ? metrics.horizontalAdvance(QStringLiteral("…")) + kCrumbGap : 0;
        for (int i = from; i < m_parts.size(); ++i)
            sum += metrics.horizontalAdvance(m_parts[i]) + kCrumbGap;
        return sum;
    };
    int from = 0;
    while (from + 1 < m_parts.size() && widthOf(from) > room)
        ++from;
    m_crumbs->setMaximumWidth(room);
    if (from == m_shownFrom)
        return;
    m_shownFrom = from;
    buildBreadcrumb(from);
}

void DocumentBar::buildBreadcrumb(int from)
{
    while (QLayoutItem *item = m_crumbLayout->takeAt(0)) {
        if (item->widget() != nullptr)
            item->widget()->deleteLater();
        delete item;
    }
    const QString whole = m_parts.join(QStringLiteral(" › "));
    if (from > 0) {
        QLabel *more = views::makeLabel(QStringLiteral("…"), "monoMuted", m_crumbs);
        more->setToolTip(whole);
        m_crumbLayout->addWidget(more);
    }
    for (int i = from; i < m_parts.size(); ++i) {
        if (i > 0)
            m_crumbLayout->addWidget(views::makeIconLabel(m_theme, views::IconName::chevronRight,
                                                          core::ColorToken::muted, 10, m_crumbs));
        if (i + 1 == m_parts.size()) {
            QLabel *last = views::makeElidedLabel(m_parts[i], "monoDense", m_crumbs);
            last->setToolTip(whole);
            m_crumbLayout->addWidget(last);
            continue;
        }
        QPushButton *part = views::makeButton(m_parts[i], "crumb", m_crumbs);
        part->setFocusPolicy(Qt::TabFocus);
        connect(part, &QPushButton::clicked, this, [this, i] { Q_EMIT breadcrumbRequested(i); });
        m_crumbLayout->addWidget(part);
    }
}

void DocumentBar::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    fitBreadcrumb();
}

} // namespace app
