// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/cli_process.h"

#include <QFile>
#include <QProcess>

namespace support {

QJsonValue CliResult::document() const
{
    QJsonParseError error;
    const QJsonDocument document = QJsonDocument::fromJson(out, &error);
    if (error.error != QJsonParseError::NoError)
        return QJsonValue(QJsonValue::Undefined);
    return document.isArray() ? QJsonValue(document.array()) : QJsonValue(document.object());
}

CliResult runCli(const QString &program, const QStringList &arguments)
{
    QProcess process;
    process.start(program, arguments);
    CliResult result;
    if (!process.waitForFinished(60000)) {
        process.kill();
        process.waitForFinished(5000);
        return result;
    }
    result.exitCode = process.exitStatus() == QProcess::NormalExit ? process.exitCode() : -1;
    result.out = process.readAllStandardOutput();
    result.messages = process.readAllStandardError();
    return result;
}

CliResult cli(const QStringList &arguments)
{
    return runCli(QStringLiteral(OPSCOPE_BIN_DIR "/opscope-cli"), arguments);
}

QJsonValue readJson(const QString &path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return QJsonValue(QJsonValue::Undefined);
    const QJsonDocument document = QJsonDocument::fromJson(file.readAll());
    return document.isArray() ? QJsonValue(document.array()) : QJsonValue(document.object());
}

} // namespace support
