// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/message_page.h"

#include "views/base/formatting.h"
#include "views/base/theme.h"
#include "views/base/widgets.h"

#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

namespace app {

Message openFailureMessage(const QString &name, const core::Status &status)
{
    Message message;
    message.icon = views::IconName::warning;
    message.tone = core::ColorToken::warn;
    message.body = views::fromView(status.message());
    const QString remedy = views::fromView(status.remedy());
    if (!remedy.isEmpty())
        message.body += QLatin1Char('\n') + remedy;
    switch (status.code()) {
    case core::ErrorCode::unknownFormat:
        message.title = MessagePage::tr("%1 is not a trace or model this version reads").arg(name);
        break;
    case core::ErrorCode::unsupportedVersion:
        message.title = MessagePage::tr("%1 was written by a version this one does not know").arg(name);
        break;
    case core::ErrorCode::corrupt:
        message.title = MessagePage::tr("%1 is damaged").arg(name);
        break;
    case core::ErrorCode::notFound:
        message.title = MessagePage::tr("%1 is not there any more").arg(name);
        break;
    case core::ErrorCode::limitExceeded:
        message.title = MessagePage::tr("%1 is larger than a limit").arg(name);
        break;
    default:
        message.title = MessagePage::tr("%1 cannot be read").arg(name);
    }
    return message;
}

MessagePage::MessagePage(const views::Theme &theme, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_column(new QVBoxLayout)
{
    setObjectName(QStringLiteral("page"));
    setAttribute(Qt::WA_StyledBackground);
    auto *outer = new QHBoxLayout(this);
    outer->setContentsMargins(30, 26, 30, 20);
    outer->addStretch(1);
    outer->addLayout(m_column, 40);
    outer->addStretch(1);
}

void MessagePage::setMessage(const Message &message)
{
    delete m_content;
    m_content = new QWidget(this);
    m_content->setMaximumWidth(860);
    auto *column = new QVBoxLayout(m_content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(12);
    auto *head = new QHBoxLayout;
    head->setSpacing(12);
    head->addWidget(views::makeIconLabel(m_theme, message.icon, message.tone, 22, m_content), 0,
                    Qt::AlignTop);
    m_title = views::makeLabel(message.title, "title", m_content);
    m_title->setWordWrap(true);
    head->addWidget(m_title, 1);
    column->addLayout(head);
    QLabel *body = views::makeLabel(message.body, "second", m_content);
    body->setWordWrap(true);
    body->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    column->addWidget(body);
    m_stage = views::makeLabel({}, "monoSecond", m_content);
    m_progress = new QProgressBar(m_content);
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(message.title);
    column->addWidget(m_progress);
    column->addWidget(m_stage);
    m_stage->setVisible(message.isBusy);
    m_progress->setVisible(false);
    m_column->addWidget(m_content);
    addFacts(message);
    column->addStretch(1);
    addActions(message);
    setAccessibleName(message.title);
    setAccessibleDescription(message.body);
}

void MessagePage::addFacts(const Message &message)
{
    if (message.facts.empty())
        return;
    auto *grid = new QGridLayout;
    grid->setHorizontalSpacing(18);
    grid->setVerticalSpacing(6);
    int row = 0;
    for (const auto &[name, value] : message.facts) {
        grid->addWidget(views::makeLabel(name, "second", m_content), row, 0, Qt::AlignTop);
        QLabel *label = views::makeLabel(value, "monoDense", m_content);
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        grid->addWidget(label, row++, 1);
    }
    grid->setColumnStretch(1, 1);
    static_cast<QVBoxLayout *>(m_content->layout())->addLayout(grid);
}

void MessagePage::addActions(const Message &message)
{
    auto *row = new QHBoxLayout;
    row->setSpacing(8);
    bool first = true;
    for (const MessageAction &action : message.actions) {
        QPushButton *button =
            views::makeButton(action.text, first && !message.isBusy ? "primary" : "", m_content);
        button->setMinimumHeight(30);
        connect(button, &QPushButton::clicked, this, action.run);
        if (first)
            button->setFocus();
        row->addWidget(button);
        first = false;
    }
    row->addStretch(1);
    row->addWidget(views::makeLabel(message.footnote, "caption", m_content));
    static_cast<QVBoxLayout *>(m_content->layout())->addLayout(row);
}

void MessagePage::setProgress(const QString &stage, int permille)
{
    if (m_stage == nullptr)
        return;
    m_stage->setText(stage);
    m_progress->setVisible(permille >= 0);
    m_progress->setRange(0, 1000);
    m_progress->setValue(permille);
}

QString MessagePage::titleText() const
{
    return m_title != nullptr ? m_title->text() : QString();
}

} // namespace app
