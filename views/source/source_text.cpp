// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/source/source_text.h"

#include "views/base/formatting.h"

#include <QCoreApplication>
#include <QFile>

#include <optional>

namespace views {

namespace {

constexpr qint64 kLargestSource = 8 << 20;

QString words(const char *text)
{
    return QCoreApplication::translate("views::SourceText", text);
}

std::optional<QString> fromTrace(const core::Trace &trace, core::StringId file)
{
    for (const core::SourceRow &source : trace.sources()) {
        if (source.file != file || trace.string(source.entry).empty())
            continue;
        const auto text =
            trace.store().text(trace.string(source.entry), static_cast<std::uint64_t>(kLargestSource));
        if (text)
            return QString::fromStdString(*text);
    }
    return std::nullopt;
}

std::optional<QString> fromDisk(const core::Trace &trace, core::StringId file)
{
    QFile disk(fromView(trace.string(file)));
    if (disk.size() > kLargestSource || !disk.open(QIODevice::ReadOnly))
        return std::nullopt;
    return QString::fromUtf8(disk.readAll());
}

// What the frames themselves quote of a file that exists nowhere any more: single lines at their places.
QString fromFrames(const core::Trace &trace, core::StringId file)
{
    QStringList lines;
    for (const core::FrameRow &frame : trace.tables().frames) {
        const auto line = static_cast<qsizetype>(frame.line.oneBased());
        if (frame.file != file || line == 0 || line > 100000 || trace.string(frame.text).empty())
            continue;
        while (lines.size() < line)
            lines.push_back({});
        lines[line - 1] = fromView(trace.string(frame.text));
    }
    return lines.join(QLatin1Char('\n'));
}

// Whether TEXT has no line that no frame quotes: then it was put together of those, with nothing between.
bool isOfFramesAlone(const core::Trace &trace, core::StringId file, const QString &text)
{
    const QStringList quoted = fromFrames(trace, file).split(QLatin1Char('\n'));
    const QStringList lines = text.split(QLatin1Char('\n'));
    for (qsizetype i = 0; i < lines.size(); ++i)
        if (!lines[i].trimmed().isEmpty() && lines[i].trimmed() != quoted.value(i).trimmed())
            return false;
    return true;
}

QString noteOf(const QString &embedded, const std::optional<QString> &disk)
{
    if (!disk)
        return words("embedded in the trace");
    return *disk != embedded ? words("embedded in the trace, differs on disk")
                             : words("embedded in the trace, identical on disk");
}

} // namespace

SourceText readSourceText(const core::Trace &trace, core::StringId file, const core::JobContext &job)
{
    SourceText result;
    const std::optional<QString> embedded = fromTrace(trace, file);
    if (job.isCancelled())
        return result;
    const std::optional<QString> disk = fromDisk(trace, file);
    if (embedded) {
        result.origin = SourceText::Origin::trace;
        result.text = *embedded;
        result.differs = disk && *disk != *embedded;
        result.note = !disk && isOfFramesAlone(trace, file, *embedded)
                          ? words("only the lines that the run passed through; the model holds no others")
                          : noteOf(*embedded, disk);
    } else if (disk) {
        result.origin = SourceText::Origin::disk;
        result.text = *disk;
        result.note = words("from disk; the trace holds no text to compare with");
    } else {
        result.text = fromFrames(trace, file);
        result.note = result.text.isEmpty() ? words("the text is neither in the trace nor on this computer")
                                            : words("only the lines that the run passed through; the file is "
                                                    "neither in the trace nor on this computer");
    }
    return result;
}

} // namespace views
