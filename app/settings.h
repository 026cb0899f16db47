// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/theme.h"

#include <QByteArray>
#include <QDateTime>
#include <QSettings>
#include <QString>
#include <QVariant>

#include <vector>

namespace app {

// One line of the list of recent files.
struct RecentFile
{
    QString path;
    QDateTime opened;
    bool pinned = false;
    QString badge; // "1 NaN birth", empty when nothing was found or looked for
};

// What the window remembers, in one INI file in the XDG place (or where --config says). Owned by main, handed
// down by reference; nobody below `app` sees it. GUI thread.
class Settings
{
public:
    static constexpr std::size_t kRecentLimit = 20;

    // An empty PATH is the XDG place.
    explicit Settings(const QString &path = {});

    void reset();
    QString filePath() const { return m_store.fileName(); }

    views::ThemeMode themeMode() const;
    void setThemeMode(views::ThemeMode mode);
    int textPercent() const;
    void setTextPercent(int percent);
    // The window draws its own title row unless the desktop's is asked for.
    bool useDesktopTitleBar() const;
    void setUseDesktopTitleBar(bool use);

    bool reducedMotion() const { return m_store.value(QStringLiteral("look/reducedMotion")).toBool(); }
    void setReducedMotion(bool reduced) { m_store.setValue(QStringLiteral("look/reducedMotion"), reduced); }
    // Whether the documents of the last session are opened again.
    bool restoresDocuments() const { return m_store.value(QStringLiteral("session/restore"), true).toBool(); }
    void setRestoresDocuments(bool restore) { m_store.setValue(QStringLiteral("session/restore"), restore); }

    // Pinned first, then newest first.
    std::vector<RecentFile> recentFiles() const;
    void addRecentFile(const QString &path, const QString &badge = {});
    void setPinned(const QString &path, bool pinned);
    void clearRecentFiles(); // keeps the pinned ones

    QByteArray bytes(const QString &key) const { return m_store.value(key).toByteArray(); }
    void setBytes(const QString &key, const QByteArray &value) { m_store.setValue(key, value); }
    QVariant value(const QString &key) const { return m_store.value(key); }
    void setValue(const QString &key, const QVariant &value) { m_store.setValue(key, value); }
    void remove(const QString &key) { m_store.remove(key); }

private:
    void storeRecent(const std::vector<RecentFile> &files);

    QSettings m_store;
};

} // namespace app
