// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/render/input_image.h"

#include <QFile>
#include <QImage>
#include <QImageReader>

#include <algorithm>
#include <cmath>
#include <limits>

namespace render {
namespace {

constexpr qint64 kMaxPixels = 100'000'000;
constexpr int kMaxMegabytes = 512;

using core::ErrorCode;
using core::Status;

std::string sizeText(QSize size)
{
    return std::to_string(size.width()) + " x " + std::to_string(size.height());
}

// As torchvision's Resize: the longer side is rounded down. No side is beyond what an int holds.
QSize resizedSize(QSize size, int shorter)
{
    const int now = std::min(size.width(), size.height());
    if (shorter == 0 || now == shorter)
        return size;
    const auto longer = static_cast<int>(
        std::min<qint64>(std::numeric_limits<int>::max(),
                         static_cast<qint64>(std::max(size.width(), size.height())) * shorter / now));
    return size.width() <= size.height() ? QSize(shorter, longer) : QSize(longer, shorter);
}

QImage resized(const QImage &image, int shorter)
{
    const QSize size = resizedSize(image.size(), shorter);
    return size == image.size() ? image : image.scaled(size, Qt::IgnoreAspectRatio, Qt::SmoothTransformation);
}

} // namespace

core::Result<InputPixels> readInputPixels(const std::string &file, const ImageCut &cut)
{
    const QString name = QFile::decodeName(QByteArray::fromStdString(file));
    if (!QFile::exists(name))
        return Status(ErrorCode::notFound, file + " does not exist");
    QImageReader reader(name);
    reader.setAutoTransform(true);
    reader.setDecideFormatFromContent(true);
    const QSize stored = reader.size();
    if (stored.isValid() && static_cast<qint64>(stored.width()) * stored.height() > kMaxPixels)
        return Status(ErrorCode::limitExceeded, file + " has " + sizeText(stored) + " pixels, at most " +
                                                    std::to_string(kMaxPixels) + " are read");
    QImageReader::setAllocationLimit(kMaxMegabytes);
    QImage image = reader.read();
    if (image.isNull())
        return Status(ErrorCode::corrupt,
                      file + " is no image that can be read: " + reader.errorString().toStdString())
            .withDetail("bad_image");
    if (const QSize wished = resizedSize(image.size(), cut.shorterSide);
        static_cast<qint64>(wished.width()) * wished.height() > kMaxPixels)
        return Status(ErrorCode::limitExceeded,
                      file + " has " + sizeText(image.size()) + " pixels and would have " + sizeText(wished) +
                          " after resizing, at most " + std::to_string(kMaxPixels) + " are made");
    image = resized(image.convertToFormat(QImage::Format_RGB888), cut.shorterSide);
    const QSize whole(cut.width == 0 ? image.width() : cut.width,
                      cut.height == 0 ? image.height() : cut.height);
    if (whole.width() > image.width() || whole.height() > image.height())
        return Status(ErrorCode::invalidArgument, file + " has " + sizeText(image.size()) +
                                                      " pixels after resizing, less than the crop of " +
                                                      sizeText(whole));
    const auto middle = [](int all, int part) { return static_cast<int>(std::lround((all - part) / 2.0)); };
    image = image.copy(middle(image.width(), whole.width()), middle(image.height(), whole.height()),
                       whole.width(), whole.height());
    InputPixels pixels{whole.width(), whole.height(), {}};
    for (int row = 0; row < image.height(); ++row) {
        const uchar *const line = image.constScanLine(row);
        pixels.rgb.insert(pixels.rgb.end(), line, line + 3 * image.width());
    }
    return pixels;
}

} // namespace render
