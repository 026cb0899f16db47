// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/settings.h"

#include <QFileInfo>
#include <QStandardPaths>

#include <algorithm>

namespace app {

namespace {

QString defaultPath()
{
    return QStandardPaths::writableLocation(QStandardPaths::GenericConfigLocation) +
           QStringLiteral("/opscope/opscope.ini");
}

} // namespace

Settings::Settings(const QString &path) : m_store(path.isEmpty() ? defaultPath() : path, QSettings::IniFormat)
{
}

void Settings::reset()
{
    m_store.clear();
}

views::ThemeMode Settings::themeMode() const
{
    return views::themeModeFromName(m_store.value(QStringLiteral("look/theme")).toString());
}

void Settings::setThemeMode(views::ThemeMode mode)
{
    m_store.setValue(QStringLiteral("look/theme"), views::themeModeName(mode));
}

int Settings::textPercent() const
{
    return m_store.value(QStringLiteral("look/textPercent"), 100).toInt();
}

void Settings::setTextPercent(int percent)
{
    m_store.setValue(QStringLiteral("look/textPercent"), percent);
}

bool Settings::useDesktopTitleBar() const
{
    return m_store.value(QStringLiteral("look/desktopTitleBar"), false).toBool();
}

void Settings::setUseDesktopTitleBar(bool use)
{
    m_store.setValue(QStringLiteral("look/desktopTitleBar"), use);
}

std::vector<RecentFile> Settings::recentFiles() const
{
    // QSettings has no const reading of arrays.
    auto &store = const_cast<QSettings &>(m_store);
    std::vector<RecentFile> files;
    const int count = store.beginReadArray(QStringLiteral("recent"));
    for (int i = 0; i < count; ++i) {
        store.setArrayIndex(i);
        RecentFile file;
        file.path = store.value(QStringLiteral("path")).toString();
        file.opened = QDateTime::fromString(store.value(QStringLiteral("opened")).toString(), Qt::ISODate);
        file.pinned = store.value(QStringLiteral("pinned")).toBool();
        file.badge = store.value(QStringLiteral("badge")).toString();
        if (!file.path.isEmpty())
            files.push_back(file);
    }
    store.endArray();
    std::stable_sort(files.begin(), files.end(), [](const RecentFile &a, const RecentFile &b) {
        return a.pinned != b.pinned ? a.pinned : a.opened > b.opened;
    });
    return files;
}

void Settings::addRecentFile(const QString &path, const QString &badge)
{
    const QString absolute = QFileInfo(path).absoluteFilePath();
    std::vector<RecentFile> files = recentFiles();
    RecentFile entry{absolute, QDateTime::currentDateTime(), false, badge};
    const auto known = std::find_if(files.begin(), files.end(),
                                    [&](const RecentFile &file) { return file.path == absolute; });
    if (known != files.end()) {
        entry.pinned = known->pinned;
        files.erase(known);
    }
    files.insert(files.begin(), entry);
    std::stable_sort(files.begin(), files.end(),
                     [](const RecentFile &a, const RecentFile &b) { return a.pinned && !b.pinned; });
    if (files.size() > kRecentLimit)
        files.resize(kRecentLimit);
    storeRecent(files);
}

void Settings::setPinned(const QString &path, bool pinned)
{
    std::vector<RecentFile> files = recentFiles();
    for (RecentFile &file : files)
        if (file.path == path)
            file.pinned = pinned;
    storeRecent(files);
}

void Settings::clearRecentFiles()
{
    std::vector<RecentFile> files = recentFiles();
    files.erase(
        std::remove_if(files.begin(), files.end(), [](const RecentFile &file) { return !file.pinned; }),
        files.end());
    storeRecent(files);
}

void Settings::storeRecent(const std::vector<RecentFile> &files)
{
    m_store.remove(QStringLiteral("recent"));
    m_store.beginWriteArray(QStringLiteral("recent"), static_cast<int>(files.size()));
    for (std::size_t i = 0; i < files.size(); ++i) {
        m_store.setArrayIndex(static_cast<int>(i));
        m_store.setValue(QStringLiteral("path"), files[i].path);
        m_store.setValue(QStringLiteral("opened"), files[i].opened.toString(Qt::ISODate));
        m_store.setValue(QStringLiteral("pinned"), files[i].pinned);
        m_store.setValue(QStringLiteral("badge"), files[i].badge);
    }
    m_store.endArray();
}

} // namespace app
