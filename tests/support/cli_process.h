// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QJsonValue>
#include <QString>
#include <QStringList>

namespace support {

// What one run of opscope-cli said.
struct CliResult
{
    int exitCode = -1; // -1: it did not start, was killed, or took over a minute
    QByteArray out;
    QByteArray messages; // standard error

    // The answer as JSON; undefined when standard output is not exactly one JSON document.
    QJsonValue document() const;
    QJsonObject object() const { return document().toObject(); }
};

// Runs PROGRAM with ARGUMENTS and waits for its end.
CliResult runCli(const QString &program, const QStringList &arguments);

// opscope-cli of this build.
CliResult cli(const QStringList &arguments);

// The JSON file at PATH; undefined when it cannot be read.
QJsonValue readJson(const QString &path);

} // namespace support
