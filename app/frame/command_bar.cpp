// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/frame/command_bar.h"

#include "app/frame/command_bar_parts.h"
#include "views/base/scaled.h"
#include "views/base/theme.h"
#include "views/base/widgets.h"

#include <QAction>
#include <QHBoxLayout>
#include <QToolButton>

namespace app {

namespace {

constexpr int kHeight = 40;

} // namespace

CommandBar::CommandBar(const views::Theme &theme, const Actions &actions, QWidget *parent)
    : QWidget(parent), m_palette(new PaletteField(theme, this)), m_jobs(new JobLight(theme, this))
{
    setObjectName(QStringLiteral("commandBar"));
    setAttribute(Qt::WA_StyledBackground);
    setAccessibleName(tr("Command bar"));
    views::keepScaledHeight(*this, theme, kHeight);
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(8, 0, 12, 1);
    layout->setSpacing(4);
    for (QAction *action : {actions.back, actions.forward}) {
        QToolButton *button = actionButton(theme, action);
        button->setProperty("kind", "framed");
        button->setFixedSize(28, 28);
        layout->addWidget(button);
    }
    layout->addSpacing(8);
    addPerspectives(theme, layout);
    layout->addSpacing(8);
    layout->addWidget(m_palette, 1);
    layout->addSpacing(8);
    for (QAction *action : {actions.exportGraph, actions.theme, actions.settings})
        if (action != nullptr)
            layout->addWidget(actionButton(theme, action));
    layout->addSpacing(4);
    layout->addWidget(m_jobs);
    connect(m_palette, &QAbstractButton::clicked, this, &CommandBar::paletteRequested);
    connect(m_jobs, &QAbstractButton::clicked, this, &CommandBar::jobsRequested);
}

QToolButton *CommandBar::actionButton(const views::Theme &, QAction *action)
{
    auto *button = new QToolButton(this);
    button->setDefaultAction(action);
    button->setIconSize(QSize(14, 14));
    button->setMinimumSize(28, 28);
    button->setFocusPolicy(Qt::TabFocus);
    button->setAccessibleName(action->text().remove(QLatin1Char('&')).remove(QStringLiteral("…")));
    return button;
}

void CommandBar::addPerspectives(const views::Theme &theme, QHBoxLayout *layout)
{
    int number = 0;
    for (const Perspective perspective : kPerspectives) {
        auto *button = new PerspectiveButton(theme, perspectiveTitle(perspective), this);
        button->setToolTip(tr("%1 (Alt+%2)").arg(perspectiveTitle(perspective)).arg(++number));
        connect(button, &QAbstractButton::clicked, this,
                [this, perspective] { Q_EMIT perspectiveRequested(perspective); });
        layout->addWidget(button);
        m_perspectives[perspective] = button;
    }
}

void CommandBar::setPerspective(Perspective perspective)
{
    for (const auto &[key, button] : m_perspectives)
        button->setChecked(key == perspective);
}

void CommandBar::setBadge(Perspective perspective, int count)
{
    m_perspectives.at(perspective)->setBadge(count);
}

void CommandBar::setJobs(const QString &text, bool busy)
{
    m_jobs->setState(text, busy);
}

} // namespace app
