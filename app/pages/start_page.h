// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/settings.h"
#include "views/base/icon.h"

#include <QWidget>

class QFrame;
class QLabel;
class QListWidget;
class QPushButton;
class QVBoxLayout;

namespace app {

// What the window shows without a document: where to drop a file, three ways on, and the recent files. Owned
// by the main window.
class StartPage : public QWidget
{
    Q_OBJECT

public:
    explicit StartPage(const views::Theme &theme, QWidget *parent = nullptr);

    // Whether there is a bundled sample to open.
    void setSampleAvailable(bool available);

    void setRecentFiles(const std::vector<RecentFile> &files);
    // While a file is held over the window.
    void setDropHot(bool hot);

Q_SIGNALS:
    void openRequested();
    void captureRequested();
    void sampleRequested();
    void fileRequested(const QString &path);
    void clearRecentRequested();

private:
    QWidget *makeLeft();
    QWidget *makeRight();
    QWidget *makeDropZone();
    void addHint(QVBoxLayout *column, views::IconName icon, const QString &title, const QString &text);

    const views::Theme &m_theme;
    QFrame *m_dropZone = nullptr;
    QListWidget *m_recent = nullptr;
    QPushButton *m_clear = nullptr;
    QLabel *m_noRecent = nullptr;
    QLabel *m_howToOpen = nullptr;
    QPushButton *m_sample = nullptr;
};

} // namespace app
