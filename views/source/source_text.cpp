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
        result.note = result.differs ? words("embedded in the trace, differs on disk")
                      : disk         ? words("embedded in the trace, identical on disk")
                                     : words("embedded in the trace");
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
