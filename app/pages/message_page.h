// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "views/base/icon.h"

#include <QWidget>

#include <functional>
#include <vector>

class QHBoxLayout;
class QLabel;
class QProgressBar;
class QVBoxLayout;

namespace app {

// A way on from a message: the first one is the default.
struct MessageAction
{
    QString text;
    std::function<void()> run;
    bool isForBanner = false; // of use beside an open document too
};

// One state of the window in words: what is so, both numbers, what is still good, the ways on.
struct Message
{
    views::IconName icon = views::IconName::information;
    core::ColorToken tone = core::ColorToken::accent;
    QString title;
    QString body;
    std::vector<std::pair<QString, QString>> facts; // name and value, in a small table
    QString footnote;
    std::vector<MessageAction> actions;
    bool isBusy = false; // has a progress line
};

// What is said about a file that could not be opened: unknown format, damaged, unreadable, too new.
Message openFailureMessage(const QString &name, const core::Status &status);

// Shows one Message over the whole centre of the window: opening, a file that cannot be read, a damaged one.
// Owned by the main window.
class MessagePage : public QWidget
{
    Q_OBJECT

public:
    explicit MessagePage(const views::Theme &theme, QWidget *parent = nullptr);

    void setMessage(const Message &message);
    // STAGE in words; PERMILLE -1: how far is not known.
    void setProgress(const QString &stage, int permille);
    QString titleText() const;

private:
    void addFacts(const Message &message);
    void addActions(const Message &message);

    const views::Theme &m_theme;
    QVBoxLayout *m_column;
    QWidget *m_content = nullptr;
    QLabel *m_title = nullptr;
    QLabel *m_stage = nullptr;
    QProgressBar *m_progress = nullptr;
};

} // namespace app
