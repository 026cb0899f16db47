// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session_store.h"

#include "app/settings.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <QVariantList>
#include <QVariantMap>

namespace app {

namespace {

const QString kDocuments = QStringLiteral("session/documents");
const QString kRunning = QStringLiteral("session/running");
const QString kProcess = QStringLiteral("session/process");

} // namespace

std::vector<StoredDocument> storedDocuments(const Settings &settings)
{
    std::vector<StoredDocument> documents;
    for (const QVariant &entry : settings.value(kDocuments).toList()) {
        const QVariantMap map = entry.toMap();
        StoredDocument document;
        document.path = map.value(QStringLiteral("path")).toString();
        if (document.path.isEmpty() || !QFileInfo::exists(document.path))
            continue;
        for (const Perspective perspective : kPerspectives)
            if (perspectiveKey(perspective) == map.value(QStringLiteral("perspective")).toString())
                document.perspective = perspective;
        document.op = map.value(QStringLiteral("op")).toString();
        document.isCurrent = map.value(QStringLiteral("current")).toBool();
        documents.push_back(document);
    }
    return documents;
}

void storeDocuments(Settings &settings, const std::vector<StoredDocument> &documents)
{
    QVariantList list;
    for (const StoredDocument &document : documents)
        list.push_back(QVariantMap{{QStringLiteral("path"), document.path},
                                   {QStringLiteral("perspective"), perspectiveKey(document.perspective)},
                                   {QStringLiteral("op"), document.op},
                                   {QStringLiteral("current"), document.isCurrent}});
    settings.setValue(kDocuments, list);
}

bool lastSessionEndedWell(const Settings &settings)
{
    return !settings.value(kRunning).toBool();
}

// The number of a program that ended may be another's by now.
bool isSessionOfAnotherWindow(const Settings &settings)
{
    const qint64 process = settings.value(kProcess).toLongLong();
    if (!settings.value(kRunning).toBool() || process <= 0 || process == QCoreApplication::applicationPid())
        return false;
    const QString program = QFile::symLinkTarget(QStringLiteral("/proc/%1/exe").arg(process));
    return QFileInfo(program).fileName() == QFileInfo(QCoreApplication::applicationFilePath()).fileName();
}

void setSessionRunning(Settings &settings, bool running)
{
    // That of another window is that window's to begin and to end.
    if (isSessionOfAnotherWindow(settings))
        return;
    settings.setValue(kRunning, running);
    settings.setValue(kProcess, QCoreApplication::applicationPid());
}

} // namespace app
