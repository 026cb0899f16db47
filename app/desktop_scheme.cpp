// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/desktop_scheme.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusPendingCallWatcher>
#include <QDBusPendingReply>
#include <QDBusVariant>
#include <QGuiApplication>
#include <QPalette>

namespace app {

namespace {

const QString kService = QStringLiteral("org.freedesktop.portal.Desktop");
const QString kPath = QStringLiteral("/org/freedesktop/portal/desktop");
const QString kInterface = QStringLiteral("org.freedesktop.portal.Settings");
const QString kGroup = QStringLiteral("org.freedesktop.appearance");
const QString kKey = QStringLiteral("color-scheme");
constexpr int kTimeoutMs = 2000;

// The reply is a variant inside a variant.
unsigned schemeOf(QVariant value)
{
    while (value.canConvert<QDBusVariant>())
        value = value.value<QDBusVariant>().variant();
    return value.toUInt();
}

} // namespace

DesktopScheme::DesktopScheme(QObject *parent)
    : QObject(parent), m_dark(QGuiApplication::palette().color(QPalette::Window).lightness() < 128)
{
    ask();
}

void DesktopScheme::ask()
{
    QDBusConnection bus = QDBusConnection::sessionBus();
    if (!bus.isConnected())
        return;
    bus.connect(kService, kPath, kInterface, QStringLiteral("SettingChanged"), this,
                SLOT(settingChanged(QString, QString, QDBusVariant)));
    QDBusMessage call = QDBusMessage::createMethodCall(kService, kPath, kInterface, QStringLiteral("Read"));
    call << kGroup << kKey;
    auto *watcher = new QDBusPendingCallWatcher(bus.asyncCall(call, kTimeoutMs), this);
    connect(watcher, &QDBusPendingCallWatcher::finished, this, [this, watcher] {
        const QDBusPendingReply<QDBusVariant> reply = *watcher;
        if (reply.isValid())
            take(schemeOf(reply.value().variant()));
        watcher->deleteLater();
    });
}

void DesktopScheme::settingChanged(const QString &group, const QString &key, const QDBusVariant &value)
{
    if (group == kGroup && key == kKey)
        take(schemeOf(value.variant()));
}

// 1 prefers dark, 2 prefers light, 0 has no preference.
void DesktopScheme::take(unsigned scheme)
{
    if (scheme == 0)
        return;
    const bool dark = scheme == 1;
    if (dark == m_dark)
        return;
    m_dark = dark;
    Q_EMIT changed(dark);
}

} // namespace app
