// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/formatting.h"

#include "core/base/units.h"
#include "core/base/value.h"

#include <QCoreApplication>
#include <QLocale>
#include <QRegularExpression>

#include <cmath>

namespace views {

namespace {

QString words(const char *text)
{
    return QCoreApplication::translate("views", text);
}

QString withUnit(double value, const char *unit)
{
    const int decimals = value >= 100.0 ? 0 : value >= 10.0 ? 1 : 2;
    return QLocale().toString(value, 'f', decimals) + QLatin1Char(' ') + QString::fromUtf8(unit);
}

} // namespace

QString fromView(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString countText(std::uint64_t count)
{
    return QLocale().toString(static_cast<qulonglong>(count));
}

QString shareText(std::uint64_t part, std::uint64_t whole)
{
    if (part == 0 || whole == 0)
        return QStringLiteral("0 %");
    const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
    if (percent < 0.01)
        return QStringLiteral("< 0.01 %");
    // Never rounded up to a whole that it is not.
    if (part < whole && percent > 99.99)
        return QStringLiteral("> 99.99 %");
    return QLocale().toString(percent, 'f', percent >= 10.0 ? 1 : 2) + QStringLiteral(" %");
}

QString bytesText(std::uint64_t bytes)
{
    return fromView(core::formatBytes(bytes));
}

QString durationText(std::int64_t ns)
{
    if (ns < 0)
        return QStringLiteral("–");
    const double value = static_cast<double>(ns);
    if (value < 1e3)
        return QLocale().toString(static_cast<qlonglong>(ns)) + QStringLiteral(" ns");
    if (value < 1e6)
        return withUnit(value / 1e3, "µs");
    if (value < 1e9)
        return withUnit(value / 1e6, "ms");
    return withUnit(value / 1e9, "s");
}

QString flopsText(std::int64_t flops)
{
    if (flops < 0)
        return QStringLiteral("–");
    const double value = static_cast<double>(flops);
    if (value < 1e3)
        return QLocale().toString(static_cast<qlonglong>(flops));
    for (const auto &[limit, unit] : {std::pair{1e6, "k"}, {1e9, "M"}, {1e12, "G"}})
        if (value < limit)
            return withUnit(value / (limit / 1e3), unit);
    return withUnit(value / 1e12, "T");
}

QString numberText(double value, int digits)
{
    if (std::isnan(value))
        return QStringLiteral("NaN");
    if (std::isinf(value))
        return value > 0 ? QStringLiteral("+Inf") : QStringLiteral("−Inf");
    return fromView(core::formatNumber(value, digits));
}

QString exactNumber(double value)
{
    return fromView(core::formatDouble(value));
}

QString dtypeText(core::DType dtype)
{
    switch (dtype) {
    case core::DType::float16:
        return QStringLiteral("fp16");
    case core::DType::float32:
        return QStringLiteral("fp32");
    case core::DType::float64:
        return QStringLiteral("fp64");
    case core::DType::bfloat16:
        return QStringLiteral("bf16");
    default:
        return fromView(core::dtypeName(dtype));
    }
}

QString shapeText(std::span<const std::int64_t> shape)
{
    QString text = QStringLiteral("[");
    for (std::size_t i = 0; i < shape.size(); ++i)
        text += (i == 0 ? QString() : QStringLiteral(", ")) + QString::number(shape[i]);
    return text + QLatin1Char(']');
}

QString tensorText(const core::Trace &trace, core::TensorId tensor)
{
    if (!tensor.isValid())
        return words("no tensor");
    const core::TensorRow &row = trace.tensor(tensor);
    const QString shape = row.shapeKnown ? shapeText(trace.shape(tensor)) : words("shape not known");
    return dtypeText(row.dtype) + QLatin1Char(' ') + shape;
}

QString indexText(std::span<const std::int64_t> shape, std::uint64_t flat)
{
    std::vector<std::int64_t> index(shape.size());
    for (std::size_t axis = shape.size(); axis-- > 0;) {
        const auto size = static_cast<std::uint64_t>(std::max<std::int64_t>(shape[axis], 1));
        index[axis] = static_cast<std::int64_t>(flat % size);
        flat /= size;
    }
    return shapeText(index);
}

QString moduleText(const core::Trace &trace, core::ModuleId module)
{
    if (!module.isValid())
        return {};
    const core::ModuleRow &row = trace.module(module);
    const QString address = fromView(trace.string(row.address));
    if (!address.isEmpty())
        return address;
    const QString className = fromView(trace.string(row.className));
    const qsizetype dot = className.lastIndexOf(QLatin1Char('.'));
    return className.isEmpty() ? words("model") : className.mid(dot + 1);
}

std::uint64_t lastStep(const core::Trace &trace)
{
    return trace.computeOps().empty() ? 0 : trace.op(trace.computeOps().back()).step;
}

QString lineText(const core::Trace &trace, core::OpId op)
{
    const core::FrameId frame = trace.sourceFrame(trace.callOf(op).stack);
    if (!frame.isValid())
        return {};
    const core::FrameRow &row = trace.frame(frame);
    const QString file = fileNameText(trace.string(row.file));
    return row.line.isKnown() ? file + QLatin1Char(':') + QString::number(row.line.oneBased()) : file;
}

QString withShortPlaces(const QString &text)
{
    static const QRegularExpression kPlace(QStringLiteral("(?<![^\\s(\"'])/(?:[^\\s/:]+/)+([^\\s/:]+:\\d+)"));
    return QString(text).replace(kPlace, QStringLiteral("\\1"));
}

QString asSentence(const QString &message)
{
    static const QRegularExpression kPlainWord(QStringLiteral("^[a-z]+(?=[ ,;]|: |$)"));
    QString sentence = message.trimmed();
    if (sentence.isEmpty())
        return sentence;
    if (kPlainWord.match(sentence).hasMatch())
        sentence[0] = sentence[0].toUpper();
    if (!QStringLiteral(".!?\"”»").contains(sentence.back()))
        sentence += QLatin1Char('.');
    return sentence;
}

QString fileNameText(std::string_view path)
{
    const QString text = fromView(path);
    return text.mid(std::max(text.lastIndexOf(QLatin1Char('/')), text.lastIndexOf(QLatin1Char('\\'))) + 1);
}

QString payloadText(core::PayloadState state)
{
    switch (state) {
    case core::PayloadState::saved:
        return words("saved");
    case core::PayloadState::notSaved:
        return words("not saved");
    case core::PayloadState::tooLarge:
        return words("larger than the save limit");
    case core::PayloadState::meta:
        return words("has no data");
    case core::PayloadState::sparse:
        return words("sparse, not saved");
    case core::PayloadState::quantized:
        return words("quantized, not saved");
    case core::PayloadState::uninitialised:
        return words("memory nobody has written yet");
    case core::PayloadState::undefined:
        return words("no tensor");
    case core::PayloadState::unsupported:
        return words("kind not supported");
    case core::PayloadState::dropped:
        return words("lost");
    case core::PayloadState::unknown:
        return words("not known");
    }
    return {};
}

QString payloadRemedy(core::PayloadState state)
{
    switch (state) {
    case core::PayloadState::saved:
        return {};
    case core::PayloadState::notSaved:
        return words("The save policy left the values out. Capture again with “Save all”, or with this "
                     "module chosen.");
    case core::PayloadState::tooLarge:
        return words(
            "The tensor is larger than the limit of bytes a tensor. Capture again with a higher limit.");
    case core::PayloadState::meta:
        return words("A meta tensor has a shape and no data by nature.");
    case core::PayloadState::sparse:
        return words("Sparse layouts are recorded by shape only.");
    case core::PayloadState::quantized:
        return words("Quantized layouts are recorded by shape only.");
    case core::PayloadState::uninitialised:
        return words("The memory was allocated and not written yet; its values mean nothing.");
    case core::PayloadState::undefined:
        return words("This output held no tensor.");
    case core::PayloadState::unsupported:
        return words("The layout or type could not be stored.");
    case core::PayloadState::dropped:
        return words("The values were recorded and are not in this file any more.");
    case core::PayloadState::unknown:
        return words("The file does not say whether the values were saved.");
    }
    return {};
}

} // namespace views
