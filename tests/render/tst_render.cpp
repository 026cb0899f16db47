// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/render/draw_painter.h"
#include "views/render/fonts.h"
#include "views/render/image_writer.h"
#include "views/render/svg_writer.h"

#include <QElapsedTimer>
#include <QGuiApplication>
#include <QImageReader>
#include <QPainter>
#include <QTemporaryDir>
#include <QXmlStreamReader>
#include <QtTest>

#include <algorithm>
#include <set>

using namespace core;

namespace {

DrawList sample()
{
    DrawList list;
    Paint paint;
    paint.fill = ColorToken::nan;
    list.rect({0, 0, 40, 20}, paint);
    paint.fill = ColorToken::node;
    paint.hatch = Hatch::sparse;
    paint.hatchColor = ColorToken::muted;
    paint.stroke = ColorToken::nodeb;
    list.rect({50, 0, 40, 20}, paint, 6.0F);
    list.text({0, 24, 90, 16}, "a < b & c", {FontFamily::mono, FontWeight::regular, 12.0F}, ColorToken::text);
    list.glyph({60, 24, 14, 14}, Glyph::ringCheck, ColorToken::ok);
    Paint line;
    line.stroke = ColorToken::grad;
    line.dash = Dash::dashed;
    list.line({0, 44}, {90, 44}, line);
    return list;
}

} // namespace

class TestRender : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void colorsAreThoseOfTheScheme();
    void hatchShowsInGrey();
    void svgIsWellFormedAndKeepsText();
    void pngOfATallPictureIsNotCut();
    void pngIsCancelled();
    void textHasTheMeasuredWidth();
    void fiftyThousandBarsInAFrame();
};

void TestRender::initTestCase()
{
    QVERIFY(render::loadBundledFonts());
}

void TestRender::colorsAreThoseOfTheScheme()
{
    for (const ThemeScheme scheme : {ThemeScheme::dark, ThemeScheme::light, ThemeScheme::highContrast}) {
        const Result<QImage> image = render::imageOf(sample(), scheme, 2.0);
        QVERIFY(image.isOk());
        QCOMPARE(image->width(), 180);
        QCOMPARE(image->pixel(20, 20) & 0xffffffU, themeRgb(scheme, ColorToken::nan));
    }
}

void TestRender::hatchShowsInGrey()
{
    const Result<QImage> image = render::imageOf(sample(), ThemeScheme::light, 1.0);
    QVERIFY(image.isOk());
    std::set<int> greys;
    for (int x = 56; x < 84; ++x)
        greys.insert(qGray(image->pixel(x, 10)) / 16);
    QVERIFY(greys.size() >= 2);
}

void TestRender::svgIsWellFormedAndKeepsText()
{
    const std::string svg = render::svgText(
        render::framedPicture(sample(), {"vit_b_16 <graph>", {"3 boxes stand for 9 ops"}, 24.0}),
        ThemeScheme::light);
    QXmlStreamReader reader(QByteArray::fromStdString(svg));
    QStringList texts;
    int patterns = 0;
    while (!reader.atEnd()) {
        reader.readNext();
        if (reader.isStartElement() && reader.name() == QLatin1String("text"))
            texts.append(reader.readElementText());
        else if (reader.isStartElement() && reader.name() == QLatin1String("pattern"))
            ++patterns;
    }
    QVERIFY2(!reader.hasError(), qPrintable(reader.errorString()));
    QCOMPARE(texts, (QStringList{"vit_b_16 <graph>", "a < b & c", "3 boxes stand for 9 ops"}));
    QCOMPARE(patterns, 1);
}

void TestRender::pngOfATallPictureIsNotCut()
{
    DrawList list;
    Paint paint;
    for (int i = 0; i < 300; ++i) {
        paint.fill = i % 2 == 0 ? ColorToken::nan : ColorToken::ok;
        list.rect({0, i * 100.0, 30, 100}, paint);
    }
    QTemporaryDir folder;
    const std::filesystem::path path = folder.filePath("tall.png").toStdString();
    JobContext context;
    QVERIFY(render::imageOf(list, ThemeScheme::light, 1.0).error().code() == ErrorCode::limitExceeded);
    QVERIFY(render::writePng(list, ThemeScheme::light, 1.0, path, context).isOk());
    QImageReader::setAllocationLimit(0);
    const QImage image(QString::fromStdString(path.string()));
    QCOMPARE(image.size(), QSize(30, 30000));
    for (int i = 0; i < 300; ++i)
        QCOMPARE(image.pixel(15, i * 100 + 50) & 0xffffffU,
                 themeRgb(ThemeScheme::light, i % 2 == 0 ? ColorToken::nan : ColorToken::ok));
}

void TestRender::pngIsCancelled()
{
    std::stop_source stop;
    stop.request_stop();
    JobContext context(stop.get_token());
    QTemporaryDir folder;
    const Status status =
        render::writePng(sample(), ThemeScheme::dark, 1.0, folder.filePath("x.png").toStdString(), context);
    QVERIFY(status.code() == ErrorCode::cancelled);
    JobContext free;
    const std::string nowhere = folder.filePath("nowhere/x.png").toStdString();
    QVERIFY(render::writePng(sample(), ThemeScheme::dark, 1.0, nowhere, free).code() ==
            ErrorCode::unreadable);
}

// What core measures without fonts is what the fonts need, or a little more.
void TestRender::textHasTheMeasuredWidth()
{
    for (const TextStyle style : {TextStyle{FontFamily::words, FontWeight::regular, 12.0F},
                                  TextStyle{FontFamily::words, FontWeight::semibold, 13.0F},
                                  TextStyle{FontFamily::mono, FontWeight::regular, 11.0F}}) {
        for (const char *text :
             {"softmax_8", "fp16 [4, 12, 256, 256]", "7 identical", "LocalSelfAttention"}) {
            const double real =
                QFontMetricsF(render::fontOf(style)).horizontalAdvance(QString::fromUtf8(text));
            const double measured = textWidth(text, style);
            QVERIFY2(std::abs(real - measured) <= 0.04 * real + 1.0,
                     qPrintable(QString("%1: %2 measured, %3 real").arg(text).arg(measured).arg(real)));
        }
    }
}

void TestRender::fiftyThousandBarsInAFrame()
{
    DrawList list;
    Paint paint;
    paint.fill = ColorToken::nodeb;
    for (int i = 0; i < 50000; ++i)
        list.rect({(i % 250) * 6.0, (i / 250) * 4.0, 4.5, 2.0}, paint);
    QImage image(1600, 1000, QImage::Format_RGB32);
    render::DrawPainter painter(ThemeScheme::dark);
    std::vector<qint64> times;
    for (int i = 0; i < 7; ++i) {
        image.fill(Qt::black);
        QPainter target(&image);
        QElapsedTimer timer;
        timer.start();
        painter.paint(target, list, {0, 0}, QRectF(image.rect()));
        times.push_back(timer.nsecsElapsed());
    }
    std::sort(times.begin(), times.end());
    qInfo("50,000 bars: %.2f ms", times[3] / 1e6);
    QVERIFY(times[0] < 1000000000); // a bound against a slow path, not the figure
}

QTEST_MAIN(TestRender)
#include "tst_render.moc"
