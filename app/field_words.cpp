// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/field_words.h"

#include <QCoreApplication>
#include <QRegularExpression>

#include <utility>

namespace app {

namespace {

// What the dialog calls the place of an option; empty for one it has no field of.
QString fieldOf(const QString &option)
{
    static const std::pair<const char *, const char *> kFields[] = {
        {"input", QT_TRANSLATE_NOOP("app::CaptureDialog", "Inputs")},
        {"input-grad", QT_TRANSLATE_NOOP("app::CaptureDialog", "input gradients")},
        {"backward", QT_TRANSLATE_NOOP("app::CaptureDialog", "Backward")},
        {"memory-limit", QT_TRANSLATE_NOOP("app::CaptureDialog", "Limits")},
        {"time-limit", QT_TRANSLATE_NOOP("app::CaptureDialog", "Limits")},
        {"threads", QT_TRANSLATE_NOOP("app::CaptureDialog", "Run")},
        {"train", QT_TRANSLATE_NOOP("app::CaptureDialog", "Mode")}};
    for (const auto &[name, field] : kFields)
        if (option == QLatin1String(name))
            return QCoreApplication::translate("app::CaptureDialog", field);
    return {};
}

} // namespace

QString inWindowWords(const QString &text)
{
    // With the placeholder behind it: "with --backward RULE:PATH".
    static const QRegularExpression kWith(QStringLiteral("\\bwith --([a-z-]+)((?: [a-z]*:?[A-Z:]+)?)\\b"));
    static const QRegularExpression kAside(QStringLiteral(" \\(--[a-z-]+\\)"));
    static const QRegularExpression kBare(QStringLiteral("--([a-z-]+) "));
    QString words = text;
    words.remove(kAside);
    for (QRegularExpressionMatch found = kWith.match(words); found.hasMatch(); found = kWith.match(words)) {
        const QString field = fieldOf(found.captured(1));
        if (field.isEmpty())
            break;
        words.replace(found.capturedStart(), found.capturedLength(),
                      QCoreApplication::translate("app::CaptureDialog", "under %1").arg(field));
    }
    for (QRegularExpressionMatch found = kBare.match(words); found.hasMatch(); found = kBare.match(words)) {
        if (fieldOf(found.captured(1)).isEmpty())
            break;
        words.remove(found.capturedStart(), found.capturedLength());
    }
    return words;
}

} // namespace app
