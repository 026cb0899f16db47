// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/frame/banner.h"

#include "views/base/widgets.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QToolButton>

namespace app {

Banner::Banner(const views::Theme &theme, QWidget *parent)
    : QFrame(parent), m_title(views::makeLabel({}, "strong", this)),
      m_body(views::makeElidedLabel({}, "second", this)), m_action(views::makeButton({}, "link", this))
{
    setProperty("card", "banner");
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(12, 5, 8, 5);
    row->setSpacing(10);
    row->addWidget(views::makeIconLabel(theme, views::IconName::warning, core::ColorToken::warn, 15, this));
    row->addWidget(m_title);
    row->addWidget(m_body, 1);
    row->addWidget(m_action);
    QToolButton *close = views::makeIconButton(theme, views::IconName::close, tr("Close this message"), this);
    row->addWidget(close);
    connect(close, &QToolButton::clicked, this, &Banner::dismiss);
    connect(m_action, &QPushButton::clicked, this, [this] {
        if (m_run)
            m_run();
    });
    m_action->setAccessibleName(tr("Act on this message"));
    hide();
}

void Banner::showMessage(const QString &title, const QString &body, const QString &action,
                         std::function<void()> run)
{
    m_title->setText(title);
    m_body->setText(body);
    m_body->setToolTip(body);
    m_action->setText(action);
    m_action->setAccessibleName(action);
    m_action->setVisible(!action.isEmpty());
    m_run = std::move(run);
    setAccessibleName(title);
    setAccessibleDescription(body);
    show();
}

void Banner::dismiss()
{
    hide();
}

} // namespace app
