// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/render/image_writer.h"

#include "core/base/write_error.h"
#include "views/render/draw_painter.h"

#include <QPainter>

#include <zlib.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace render {

namespace {

constexpr double kLargestImage = 16000.0;
constexpr int kStripPixels = 4 << 20; // of one strip

QImage paintPart(const core::DrawList &list, DrawPainter &painter, const QRect &pixels, double scale)
{
    QImage image(pixels.size(), QImage::Format_RGB32);
    image.fill(Qt::white);
    image.setDevicePixelRatio(scale);
    QPainter target(&image);
    target.setRenderHint(QPainter::TextAntialiasing);
    const core::Rect bounds = list.bounds();
    const QPointF offset(-bounds.x - pixels.x() / scale, -bounds.y - pixels.y() / scale);
    painter.paint(target, list, offset, QRectF(0.0, 0.0, pixels.width() / scale, pixels.height() / scale));
    return image;
}

// Writes the chunks of a PNG of 8-bit RGB rows that come one after the other.
class PngFile
{
public:
    PngFile() = default;
    ~PngFile()
    {
        if (m_deflating)
            deflateEnd(&m_stream);
        if (m_file != nullptr)
            std::fclose(m_file);
    }
    PngFile(const PngFile &) = delete;
    PngFile &operator=(const PngFile &) = delete;

    bool open(const std::filesystem::path &path, std::uint32_t width, std::uint32_t height)
    {
        m_file = std::fopen(path.c_str(), "wbe");
        m_error = m_file == nullptr ? errno : 0;
        m_deflating = m_file != nullptr && deflateInit(&m_stream, 6) == Z_OK;
        if (!m_deflating)
            return false;
        static constexpr std::array<unsigned char, 8> kSignature = {0x89, 'P',  'N',  'G',
                                                                    '\r', '\n', 0x1a, '\n'};
        m_good = true;
        keep(std::fwrite(kSignature.data(), 1, kSignature.size(), m_file) == kSignature.size());
        std::vector<unsigned char> header;
        bigEndian(header, width);
        bigEndian(header, height);
        header.insert(header.end(), {8, 2, 0, 0, 0});
        chunk("IHDR", header);
        return m_good;
    }

    void row(const std::vector<unsigned char> &filtered) { feed(filtered, Z_NO_FLUSH); }

    bool finish()
    {
        feed({}, Z_FINISH);
        flushOutput();
        chunk("IEND", {});
        keep(std::fclose(m_file) == 0);
        m_file = nullptr;
        return m_good;
    }

    bool isGood() const { return m_good; }
    // The first thing that went wrong with the file at PATH.
    core::Status failure(const std::filesystem::path &path) const
    {
        const std::string message = path.string() + " cannot be written";
        return m_error == 0 ? core::Status(core::ErrorCode::unreadable, message + ": out of memory")
                            : core::writeError(message, m_error);
    }

private:
    void keep(bool good)
    {
        if (!good && m_good)
            m_error = errno;
        m_good = m_good && good;
    }

    static void bigEndian(std::vector<unsigned char> &out, std::uint32_t value)
    {
        for (int shift = 24; shift >= 0; shift -= 8)
            out.push_back(static_cast<unsigned char>(value >> static_cast<unsigned>(shift)));
    }

    void chunk(const char *type, const std::vector<unsigned char> &data)
    {
        std::vector<unsigned char> bytes;
        bigEndian(bytes, static_cast<std::uint32_t>(data.size()));
        bytes.insert(bytes.end(), type, type + 4);
        bytes.insert(bytes.end(), data.begin(), data.end());
        bigEndian(bytes, static_cast<std::uint32_t>(
                             crc32(0, bytes.data() + 4, static_cast<uInt>(bytes.size() - 4))));
        keep(std::fwrite(bytes.data(), 1, bytes.size(), m_file) == bytes.size());
    }

    void flushOutput()
    {
        if (!m_output.empty())
            chunk("IDAT", m_output);
        m_output.clear();
    }

    void feed(const std::vector<unsigned char> &bytes, int flush)
    {
        std::array<unsigned char, 65536> buffer;
        m_stream.next_in = const_cast<unsigned char *>(bytes.data());
        m_stream.avail_in = static_cast<uInt>(bytes.size());
        do {
            m_stream.next_out = buffer.data();
            m_stream.avail_out = static_cast<uInt>(buffer.size());
            deflate(&m_stream, flush);
            m_output.insert(m_output.end(), buffer.begin(), buffer.end() - m_stream.avail_out);
            if (m_output.size() > (1U << 20U))
                flushOutput();
        } while (m_stream.avail_out == 0);
    }

    std::FILE *m_file = nullptr;
    z_stream m_stream = {};
    bool m_deflating = false;
    bool m_good = false;
    int m_error = 0;
    std::vector<unsigned char> m_output;
};

// Filter "up" against the row before: flat areas become zeros.
void writeStrip(PngFile &file, const QImage &strip, std::vector<unsigned char> &above)
{
    std::vector<unsigned char> row(above.size());
    std::vector<unsigned char> filtered(above.size() + 1);
    for (int y = 0; y < strip.height(); ++y) {
        const auto *pixels = reinterpret_cast<const QRgb *>(strip.constScanLine(y));
        for (int x = 0; x < strip.width(); ++x) {
            const auto at = static_cast<std::size_t>(x) * 3;
            row[at] = static_cast<unsigned char>(qRed(pixels[x]));
            row[at + 1] = static_cast<unsigned char>(qGreen(pixels[x]));
            row[at + 2] = static_cast<unsigned char>(qBlue(pixels[x]));
        }
        filtered[0] = 2;
        for (std::size_t i = 0; i < row.size(); ++i)
            filtered[i + 1] = static_cast<unsigned char>(row[i] - above[i]);
        file.row(filtered);
        above.swap(row);
    }
}

} // namespace

core::Result<QImage> imageOf(const core::DrawList &list, core::ThemeScheme scheme, double scale)
{
    const double width = std::ceil(list.bounds().width * scale);
    const double height = std::ceil(list.bounds().height * scale);
    if (width > kLargestImage || height > kLargestImage)
        return core::Status(core::ErrorCode::limitExceeded,
                            "picture: is " + std::to_string(static_cast<long>(width)) + " x " +
                                std::to_string(static_cast<long>(height)) +
                                " pixels, one image holds 16,000 a side");
    DrawPainter painter(scheme);
    return paintPart(list, painter,
                     {0, 0, std::max(1, static_cast<int>(width)), std::max(1, static_cast<int>(height))},
                     scale);
}

core::Status writePng(const core::DrawList &list, core::ThemeScheme scheme, double scale,
                      const std::filesystem::path &path, core::JobContext &context)
{
    const double width = std::max(1.0, std::ceil(list.bounds().width * scale));
    const double height = std::max(1.0, std::ceil(list.bounds().height * scale));
    if (width > 2147483647.0 || height > 2147483647.0)
        return {core::ErrorCode::limitExceeded, path.string() + ": the picture is " + std::to_string(width) +
                                                    " x " + std::to_string(height) +
                                                    " pixels, a PNG holds 2147483647 a side"};
    PngFile file;
    if (!file.open(path, static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height)))
        return file.failure(path);
    DrawPainter painter(scheme);
    std::vector<unsigned char> above(static_cast<std::size_t>(width) * 3, 0);
    const int rows = std::clamp(kStripPixels / static_cast<int>(width), 1, 4096);
    for (int top = 0; top < static_cast<int>(height); top += rows) {
        if (core::Status status = context.checkpoint("writing " + path.string()); !status)
            return status;
        context.report("painting rows", static_cast<std::uint64_t>(top), static_cast<std::uint64_t>(height));
        const int count = std::min(rows, static_cast<int>(height) - top);
        writeStrip(file, paintPart(list, painter, {0, top, static_cast<int>(width), count}, scale), above);
        if (!file.isGood())
            break;
    }
    if (!file.finish())
        return file.failure(path);
    return core::Status::ok();
}

} // namespace render
