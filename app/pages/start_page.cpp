// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/start_page.h"

#include "app/pages/recent_delegate.h"
#include "views/base/formatting.h"
#include "views/base/widgets.h"

#include <QDir>
#include <QFileInfo>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QLocale>
#include <QPushButton>
#include <QVBoxLayout>

namespace app {

namespace {

QString homeShortened(const QString &path)
{
    const QString home = QDir::homePath();
    return path.startsWith(home + QLatin1Char('/')) ? QLatin1Char('~') + path.mid(home.size()) : path;
}

QString ageText(const QDateTime &time)
{
    const qint64 days = time.date().daysTo(QDate::currentDate());
    if (days == 0)
        return StartPage::tr("today");
    if (days == 1)
        return StartPage::tr("yesterday");
    return QLocale().toString(time.date(), QStringLiteral("d MMM"));
}

QListWidgetItem *makeRecentItem(const RecentFile &file)
{
    const QFileInfo info(file.path);
    auto *item = new QListWidgetItem(info.fileName());
    const bool missing = !info.exists();
    const QString folder = homeShortened(info.absolutePath());
    const QString place = missing
                              ? StartPage::tr("%1 · moved or deleted").arg(folder)
                              : StartPage::tr("%1 · %2 · %3")
                                    .arg(folder, views::bytesText(static_cast<std::uint64_t>(info.size())),
                                         ageText(file.opened));
    item->setData(RecentDelegate::kPlaceRole, place);
    item->setData(RecentDelegate::kPathRole, file.path);
    item->setData(RecentDelegate::kBadgeRole, missing ? QString() : file.badge);
    item->setData(RecentDelegate::kPinnedRole, file.pinned);
    item->setData(RecentDelegate::kMissingRole, missing);
    item->setData(Qt::AccessibleTextRole, StartPage::tr("%1, %2").arg(info.fileName(), place));
    item->setToolTip(file.path);
    return item;
}

} // namespace

StartPage::StartPage(const views::Theme &theme, QWidget *parent) : QWidget(parent), m_theme(theme)
{
    setObjectName(QStringLiteral("page"));
    setAttribute(Qt::WA_StyledBackground);
    setAccessibleName(tr("Start page"));
    auto *row = new QHBoxLayout;
    row->setContentsMargins(30, 26, 30, 20);
    row->setSpacing(34);
    row->addWidget(makeLeft(), 14);
    row->addWidget(makeRight(), 10);
    // Wide windows keep the page at a readable width in the middle.
    auto *centre = new QWidget(this);
    centre->setLayout(row);
    centre->setMaximumSize(1040, 720);
    auto *outer = new QHBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->addStretch(1);
    outer->addWidget(centre, 40);
    outer->addStretch(1);
}

QWidget *StartPage::makeDropZone()
{
    m_dropZone = new QFrame(this);
    m_dropZone->setObjectName(QStringLiteral("dropZone"));
    m_dropZone->setAccessibleName(tr("Drop a file here"));
    auto *column = new QVBoxLayout(m_dropZone);
    column->setContentsMargins(16, 18, 16, 18);
    column->setSpacing(6);
    column->addStretch(1);
    column->addWidget(
        views::makeIconLabel(m_theme, views::IconName::folderOpen, core::ColorToken::accent, 26, m_dropZone),
        0, Qt::AlignHCenter);
    column->addSpacing(6);
    for (const QString &line :
         {tr("Traces: .opscope, .tlspec"), tr("Models: .pt (TorchScript), .pt2 (torch.export)")}) {
        QLabel *label = views::makeLabel(line, "second", m_dropZone);
        label->setAlignment(Qt::AlignCenter);
        column->addWidget(label);
    }
    column->addStretch(1);
    m_dropZone->setMinimumHeight(112);
    return m_dropZone;
}

QWidget *StartPage::makeLeft()
{
    auto *left = new QWidget(this);
    auto *column = new QVBoxLayout(left);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(12);
    column->addWidget(views::makeLabel(tr("Open a trace or a model"), "title", left));
    column->addWidget(views::makeLabel(tr("Drop a file anywhere in this window."), "second", left));
    column->addWidget(makeDropZone());
    auto *buttons = new QHBoxLayout;
    buttons->setSpacing(8);
    const auto addButton = [&](const QString &text, const char *kind, auto signal, int stretch) {
        QPushButton *button = views::makeButton(text, kind, left);
        button->setMinimumHeight(32);
        connect(button, &QPushButton::clicked, this, signal);
        buttons->addWidget(button, stretch);
        return button;
    };
    addButton(tr("Open…"), "primary", &StartPage::openRequested, 4)->setDefault(true);
    addButton(tr("Capture a model…"), "", &StartPage::captureRequested, 5);
    m_sample = addButton(tr("Open sample"), "", &StartPage::sampleRequested, 4);
    m_sample->hide();
    column->addLayout(buttons);
    column->addSpacing(4);
    addHint(column, views::IconName::document, tr("Open a trace"),
            tr("Look at a run that was recorded before. Needs no model code."));
    addHint(column, views::IconName::record, tr("Capture a model"),
            tr("Run it here, with a memory and time limit, and record each op."));
    column->addStretch(1);
    column->addWidget(views::makeLabel(
        tr("Nothing leaves this computer: no account, no network, no telemetry."), "caption", left));
    return left;
}

void StartPage::addHint(QVBoxLayout *column, views::IconName icon, const QString &title, const QString &text)
{
    auto *row = new QHBoxLayout;
    row->setSpacing(12);
    row->addWidget(views::makeIconLabel(m_theme, icon, core::ColorToken::accent, 15, this), 0, Qt::AlignTop);
    auto *words = new QVBoxLayout;
    words->setSpacing(1);
    words->addWidget(views::makeLabel(title, "strong", this));
    QLabel *body = views::makeLabel(text, "second", this);
    body->setWordWrap(true);
    words->addWidget(body);
    row->addLayout(words, 1);
    column->addLayout(row);
}

QWidget *StartPage::makeRight()
{
    auto *right = new QWidget(this);
    auto *column = new QVBoxLayout(right);
    column->setContentsMargins(0, 2, 0, 0);
    column->setSpacing(8);
    auto *head = new QHBoxLayout;
    head->addWidget(views::makeLabel(tr("Recent"), "heading", right));
    head->addStretch(1);
    m_clear = views::makeButton(tr("Clear"), "link", right);
    m_clear->setAccessibleName(tr("Clear the list of recent files"));
    connect(m_clear, &QPushButton::clicked, this, &StartPage::clearRecentRequested);
    head->addWidget(m_clear);
    column->addLayout(head);
    m_noRecent = views::makeLabel(tr("No file was opened yet."), "second", right);
    column->addWidget(m_noRecent);
    m_recent = new QListWidget(right);
    m_recent->setObjectName(QStringLiteral("recentList"));
    m_recent->setAccessibleName(tr("Recent files"));
    m_recent->setItemDelegate(new RecentDelegate(m_theme, m_recent));
    m_recent->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_recent->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_recent->setFrameShape(QFrame::NoFrame);
    column->addWidget(m_recent, 1);
    column->addStretch();
    m_howToOpen = views::makeLabel(tr("Enter opens the chosen entry"), "caption", right);
    column->addWidget(m_howToOpen);
    const auto open = [this](QListWidgetItem *item) {
        if (!item->data(RecentDelegate::kMissingRole).toBool())
            Q_EMIT fileRequested(item->data(RecentDelegate::kPathRole).toString());
    };
    connect(m_recent, &QListWidget::itemActivated, this, open);
    return right;
}

void StartPage::setRecentFiles(const std::vector<RecentFile> &files)
{
    m_recent->clear();
    m_clear->setVisible(!files.empty());
    for (const RecentFile &file : files)
        m_recent->addItem(makeRecentItem(file));
    m_recent->setVisible(!files.empty());
    m_howToOpen->setVisible(!files.empty());
    m_noRecent->setVisible(files.empty());
    if (!files.empty())
        m_recent->setCurrentRow(0);
}

void StartPage::setSampleAvailable(bool available)
{
    m_sample->setVisible(available);
}

void StartPage::setDropHot(bool hot)
{
    views::setStyleProperty(m_dropZone, "hot", hot);
}

} // namespace app
