// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/frame/title_bar.h"

#include "views/base/elided_label.h"
#include "views/base/icon.h"
#include "views/base/scaled.h"
#include "views/base/theme.h"
#include "views/base/widgets.h"

#include <QHBoxLayout>
#include <QMenuBar>
#include <QMouseEvent>
#include <QToolButton>
#include <QWindow>

#include <algorithm>

namespace app {

namespace {

constexpr int kHeight = 30;
constexpr int kGap = 16;

} // namespace

TitleBar::TitleBar(const views::Theme &theme, QWidget *window)
    : QWidget(window), m_window(window), m_menuBar(new QMenuBar(this)),
      m_title(new views::ElidedLabel({}, this))
{
    setObjectName(QStringLiteral("titleBar"));
    setAttribute(Qt::WA_StyledBackground);
    views::keepScaledHeight(*this, theme, kHeight);
    m_title->setObjectName(QStringLiteral("titleText"));
    m_title->setTextFormat(Qt::PlainText);
    views::elideInTheMiddle(m_title);
    m_title->setAttribute(Qt::WA_TransparentForMouseEvents);
    m_title->setAlignment(Qt::AlignCenter);
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(10, 0, 6, 0);
    layout->setSpacing(2);
    layout->addWidget(
        views::makeIconLabel(theme, views::IconName::appMark, core::ColorToken::accent, 15, this));
    layout->addSpacing(4);
    m_menuBar->setAccessibleName(tr("Menus"));
    m_menuBar->setNativeMenuBar(false);
    m_menuBar->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Preferred);
    layout->addWidget(m_menuBar, 0, Qt::AlignVCenter);
    layout->addStretch(1);
    const auto addButton = [&](views::IconName icon, const QString &name) {
        QToolButton *button = views::makeIconButton(theme, icon, name, this);
        button->setFocusPolicy(Qt::NoFocus);
        layout->addWidget(button);
        m_buttons.push_back(button);
        return button;
    };
    connect(addButton(views::IconName::minimize, tr("Minimise")), &QToolButton::clicked, window,
            &QWidget::showMinimized);
    connect(addButton(views::IconName::maximize, tr("Maximise or restore")), &QToolButton::clicked, window,
            [window] { window->isMaximized() ? window->showNormal() : window->showMaximized(); });
    connect(addButton(views::IconName::close, tr("Close the window")), &QToolButton::clicked, window,
            &QWidget::close);
}

void TitleBar::setTitle(const QString &title)
{
    m_title->setText(title);
    placeTitle();
}

void TitleBar::setWindowButtonsShown(bool shown)
{
    for (QToolButton *button : m_buttons)
        button->setVisible(shown);
}

void TitleBar::resizeEvent(QResizeEvent *)
{
    placeTitle();
}

// In the middle of the window, or between menus and buttons where the middle has no room.
void TitleBar::placeTitle()
{
    const int left = m_menuBar->x() + m_menuBar->sizeHint().width() + kGap;
    const int right = m_buttons.front()->isHidden() ? width() - kGap : m_buttons.front()->x() - kGap;
    const int wanted = m_title->fontMetrics().horizontalAdvance(m_title->text()) + 4;
    const int room = std::max(0, right - left);
    const int taken = std::min(wanted, room);
    const int x = std::clamp((width() - taken) / 2, left, std::max(left, right - taken));
    m_title->setGeometry(x, 0, taken, height() - 1);
}

void TitleBar::mousePressEvent(QMouseEvent *event)
{
    if (event->button() == Qt::LeftButton && m_window->windowHandle() != nullptr)
        m_window->windowHandle()->startSystemMove();
}

void TitleBar::mouseDoubleClickEvent(QMouseEvent *event)
{
    if (event->button() == Qt::LeftButton)
        m_window->isMaximized() ? m_window->showNormal() : m_window->showMaximized();
}

} // namespace app
