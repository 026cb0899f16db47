// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session_store.h"

#include "app/settings.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileInfo>
#include <QSettings>
#include <QStringList>
#include <QVariantList>
#include <QVariantMap>

#include <algorithm>

namespace app {

namespace {

const QString kLastDocuments = QStringLiteral("session/documents");
const QString kSessions = QStringLiteral("sessions");

// "PROCESS-START" of a running process: a number alone may be another's after its program ended. Empty when
// there is none.
QString processName(qint64 process)
{
    constexpr qsizetype kStartTime = 19; // field 22; the first two end with the last bracket
    QFile file(QStringLiteral("/proc/%1/stat").arg(process));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    const QString text = QString::fromLatin1(file.readAll());
    const QStringList fields = text.mid(text.lastIndexOf(QLatin1Char(')')) + 2).split(QLatin1Char(' '));
    return fields.size() > kStartTime ? QStringLiteral("%1-%2").arg(process).arg(fields[kStartTime])
                                      : QString();
}

QString ownSession()
{
    return processName(QCoreApplication::applicationPid());
}

QString keyOf(const QString &session, const char *member)
{
    return QStringLiteral("%1/%2/%3").arg(kSessions, session, QLatin1String(member));
}

bool hasBegun(const Settings &settings, const QString &session)
{
    return settings.value(keyOf(session, "running")).toBool();
}

bool isThere(const QString &session)
{
    return processName(session.section(QLatin1Char('-'), 0, 0).toLongLong()) == session;
}

// Of all programs, as the file says now.
QStringList sessionsIn(const Settings &settings)
{
    QSettings store(settings.filePath(), QSettings::IniFormat);
    store.beginGroup(kSessions);
    return store.childGroups();
}

QVariantList listOf(const std::vector<StoredDocument> &documents)
{
    QVariantList list;
    for (const StoredDocument &document : documents)
        list.push_back(QVariantMap{{QStringLiteral("path"), document.path},
                                   {QStringLiteral("perspective"), perspectiveKey(document.perspective)},
                                   {QStringLiteral("op"), document.op},
                                   {QStringLiteral("current"), document.isCurrent}});
    return list;
}

std::vector<StoredDocument> documentsIn(const QVariant &list)
{
    std::vector<StoredDocument> documents;
    for (const QVariant &entry : list.toList()) {
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

} // namespace

void beginSession(Settings &settings)
{
    settings.setValue(keyOf(ownSession(), "running"), true);
}

void endSession(Settings &settings)
{
    const QString own = ownSession();
    if (!hasBegun(settings, own))
        return;
    if (const QVariant documents = settings.value(keyOf(own, "documents")); documents.isValid())
        settings.setValue(kLastDocuments, documents);
    settings.remove(kSessions + QLatin1Char('/') + own);
}

bool isAnotherSessionRunning(const Settings &settings)
{
    const QStringList sessions = sessionsIn(settings);
    return std::any_of(sessions.begin(), sessions.end(), [own = ownSession()](const QString &session) {
        return session != own && isThere(session);
    });
}

void storeDocuments(Settings &settings, const std::vector<StoredDocument> &documents)
{
    const QString own = ownSession();
    settings.setValue(hasBegun(settings, own) ? keyOf(own, "documents") : kLastDocuments, listOf(documents));
}

std::vector<StoredDocument> storedDocuments(const Settings &settings)
{
    return documentsIn(settings.value(kLastDocuments));
}

std::vector<StoredDocument> takeKilledDocuments(Settings &settings)
{
    std::vector<StoredDocument> documents;
    for (const QString &session : sessionsIn(settings)) {
        if (isThere(session))
            continue;
        for (StoredDocument &document : documentsIn(settings.value(keyOf(session, "documents")))) {
            const auto isSame = [&document](const StoredDocument &known) {
                return known.path == document.path;
            };
            if (std::none_of(documents.begin(), documents.end(), isSame))
                documents.push_back(std::move(document));
        }
        settings.remove(kSessions + QLatin1Char('/') + session);
    }
    return documents;
}

} // namespace app
