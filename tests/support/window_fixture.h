// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/main_window.h"
#include "app/session.h"
#include "app/settings.h"
#include "views/base/theme.h"

#include <QAbstractButton>
#include <QDir>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

namespace support {

// The whole window as a test of it needs it: settings in a folder of the test, theme, session, window. A test
// class derives from it beside QObject and makes the window in its init().
class WindowFixture
{
protected:
    static constexpr int kRunMs = 120000; // a busy machine loads LibTorch for long
    static constexpr int kOpenMs = 120000;

    // With the settings that are there; on screen when it returns true.
    bool makeWindow(QSize size = {})
    {
        m_settings = std::make_unique<app::Settings>(m_folder.filePath("opscope.ini"));
        m_theme = std::make_unique<views::Theme>();
        m_session = std::make_unique<app::Session>(*m_settings);
        m_window = std::make_unique<app::MainWindow>(*m_session, *m_theme);
        if (!size.isEmpty())
            m_window->resize(size);
        m_window->show();
        return QTest::qWaitForWindowExposed(m_window.get());
    }
    // As it starts for the first time.
    bool makeFirstWindow(QSize size = {})
    {
        app::Settings(m_folder.filePath("opscope.ini")).reset();
        return makeWindow(size);
    }
    void dropWindow()
    {
        m_window.reset();
        m_session.reset();
        m_theme.reset();
        m_settings.reset();
    }

    // Opens the trace at PATH; true when the window has looked at it.
    bool open(const QString &path)
    {
        m_window->openFile(path);
        return QTest::qWaitFor(
            [&] {
                const app::Document *current = m_session->current();
                return current != nullptr && QFileInfo(current->path) == QFileInfo(path) && current->facts;
            },
            kOpenMs);
    }
    // A run that goes on left its trace, and the window has looked at it.
    bool waitForTrace() const
    {
        return QTest::qWaitFor(
            [this] { return m_session->current() != nullptr && m_session->current()->facts; }, kRunMs);
    }

    // A file of the corpus; the bundle of a golden, empty when there is none.
    static QString model(const QString &name) { return QStringLiteral(OPSCOPE_CORPUS_DIR "/") + name; }
    static QString goldenTrace(const QString &golden = QStringLiteral("01_zero_over_zero"))
    {
        const QDir folder(QStringLiteral(OPSCOPE_GOLDENS_DIR "/") + golden);
        const QStringList bundles = folder.entryList({"*.tlspec"}, QDir::Files | QDir::Dirs);
        return bundles.isEmpty() ? QString() : folder.filePath(bundles.front());
    }

    // The dialog or page of this type that is on screen; nullptr when none is.
    template <class Widget>
    Widget *visible() const
    {
        for (Widget *found : m_window->findChildren<Widget *>())
            if (found->isVisible())
                return found;
        return nullptr;
    }
    template <class Widget>
    static Widget *named(const QWidget &parent, const QString &name)
    {
        for (Widget *found : parent.findChildren<Widget *>())
            if (found->accessibleName() == name)
                return found;
        return nullptr;
    }
    static QAbstractButton *button(const QWidget &parent, const QString &text)
    {
        for (QAbstractButton *found : parent.findChildren<QAbstractButton *>())
            if (found->text() == text && !found->isHidden())
                return found;
        return nullptr;
    }

    QTemporaryDir m_folder;
    std::unique_ptr<app::Settings> m_settings;
    std::unique_ptr<views::Theme> m_theme;
    std::unique_ptr<app::Session> m_session;
    std::unique_ptr<app::MainWindow> m_window;
};

} // namespace support
