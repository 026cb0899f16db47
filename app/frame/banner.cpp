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
      m_body(views::makeElidedLabel({}, "second", this)), m_buttons{views::makeButton({}, "link", this),
                                                                    views::makeButton({}, "link", this)}
{
    setProperty("card", "banner");
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(12, 5, 8, 5);
    row->setSpacing(10);
    row->addWidget(views::makeIconLabel(theme, views::IconName::warning, core::ColorToken::warn, 15, this));
    row->addWidget(m_title);
    row->addWidget(m_body, 1);
    for (QPushButton *button : m_buttons)
        row->addWidget(button);
    QToolButton *close = views::makeIconButton(theme, views::IconName::close, tr("Close this message"), this);
    row->addWidget(close);
    connect(close, &QToolButton::clicked, this, &Banner::dismiss);
    for (QPushButton *button : m_buttons)
        button->setAccessibleName(tr("Act on this message"));
    for (std::size_t i = 0; i < m_buttons.size(); ++i)
        connect(m_buttons[i], &QPushButton::clicked, this, [this, i] {
            // What it does may show another message.
            if (const std::function<void()> run = m_runs[i])
                run();
        });
    hide();
}

void Banner::showMessage(const QString &title, const QString &body, const std::vector<BannerAction> &actions)
{
    m_title->setText(title);
    m_body->setText(body);
    m_body->setToolTip(body);
    for (std::size_t i = 0; i < m_buttons.size(); ++i) {
        const BannerAction action = i < actions.size() ? actions[i] : BannerAction();
        m_buttons[i]->setText(action.text);
        m_buttons[i]->setAccessibleName(action.text);
        m_buttons[i]->setVisible(!action.text.isEmpty());
        m_runs[i] = action.run;
    }
    setAccessibleName(title);
    setAccessibleDescription(body);
    show();
}

void Banner::dismiss()
{
    hide();
}

} // namespace app
