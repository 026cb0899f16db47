// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/canvas/box_words.h"

#include "views/base/formatting.h"

#include <QCoreApplication>

namespace views {

namespace {

QString boxWord(const char *text)
{
    return QCoreApplication::translate("views::PictureBox", text);
}

} // namespace

QStringList boxWords(const core::PictureBox &box)
{
    QStringList lines;
    const auto add = [&lines](std::string_view text) {
        if (!text.empty())
            lines.append(fromView(text));
    };
    add(box.fullName.empty() ? box.title : box.fullName);
    add(box.subtitle);
    add(box.place);
    for (const core::PictureBadge &badge : box.badges)
        add(badge.text);
    if (box.state != core::NodeState::clean)
        add(core::nodeStateName(box.state));
    if (box.bornInBackward)
        lines.append(boxWord("born in the backward pass"));
    if (box.unchecked)
        lines.append(boxWord("not saved: neither values nor statistics were kept"));
    else if (box.partlyUnchecked)
        lines.append(boxWord("some ops in it were not saved"));
    add(box.duration);
    return lines;
}

QString toolTipOfLines(const QStringList &lines)
{
    QStringList escaped;
    for (const QString &line : lines)
        escaped.append(line.toHtmlEscaped());
    return escaped.join(QStringLiteral("<br>"));
}

} // namespace views
