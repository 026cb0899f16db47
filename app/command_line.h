// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/theme.h"

#include <QSize>
#include <QStringList>

#include <optional>

namespace app {

// Where and when to save a picture of the window and end.
struct ScreenshotRequest
{
    QString path;        // empty: none
    QString perspective; // key of the one to show, empty: as remembered
    QString pane;        // id of a pane to bring to the front, empty: none
    QString select;      // label of an op, or "origin"
    QString report;      // a report to run and show, empty: none
    bool quit = false;   // end after the document is shown (and saved)

    bool isWanted() const { return !path.isEmpty() || quit; }
};

// What the program was started with. A message is printed and ends it with exitCode.
struct CommandLine
{
    QStringList files;
    QString settingsPath;
    bool resetSettings = false;
    bool printTimes = false; // of the first pictures, for the bench
    bool startEmpty = false; // without the documents of the last session
    std::optional<views::ThemeMode> theme;
    QSize windowSize;
    ScreenshotRequest screenshot;
    QString message;
    int exitCode = 0;
};

// Whether ARGUMENTS ask for the help or the version only.
bool isQuestion(int count, const char *const *arguments);
CommandLine readCommandLine(const QStringList &arguments);

// The bundled sample trace or model beside the program or in its data folder; empty when there is none.
QString samplePath();

} // namespace app
