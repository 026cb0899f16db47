// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/draw/draw_list.h"
#include "core/draw/glyph_paths.h"

#include <QtTest>

using namespace core;

class TestDrawList : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void printsWhatWasDrawn();
    void topmostRegionAnswers();
    void linesAnswerNearBy();
    void appendMovesEverything();
    void textIsMeasuredAndCut();
    void everyGlyphHasPathsInItsBox();
    void tokensHaveNames();
};

void TestDrawList::printsWhatWasDrawn()
{
    DrawList list;
    Paint paint;
    paint.fill = ColorToken::nanbg;
    paint.stroke = ColorToken::nan;
    paint.strokeWidth = 2.0F;
    paint.hatch = Hatch::dense;
    paint.hatchColor = ColorToken::nan;
    list.rect({1, 2, 30, 10}, paint, 6.0F);
    list.text({4, 2, 20, 10}, "relu", {FontFamily::words, FontWeight::semibold, 13.0F}, ColorToken::text);
    list.glyph({0, 0, 12, 12}, Glyph::diamond, ColorToken::nan);
    Paint line;
    line.stroke = ColorToken::edge;
    line.dash = Dash::dotted;
    list.line({0, 0}, {5, 5}, line);
    list.hit({1, 4}, {1, 2, 30, 10});
    QCOMPARE(QString::fromStdString(printDrawList(list)),
             QString("rect 1.0,2.0 30.0x10.0 r=6.0 fill=nanbg hatch=dense:nan stroke=nan/2.0\n"
                     "text 4.0,2.0 20.0x10.0 \"relu\" words 13.0 semibold text\n"
                     "glyph diamond 0.0,0.0 12.0x12.0 fill=nan\n"
                     "polyline 0.0,0.0 5.0,5.0 stroke=edge/1.0 dotted\n"
                     "hit 1:4 1.0,2.0 30.0x10.0\n"));
    QCOMPARE(list.bounds(), (Rect{0, 0, 31, 12}));
}

void TestDrawList::topmostRegionAnswers()
{
    DrawList list;
    list.hit({1, 0}, {0, 0, 100, 100});
    list.hit({2, 5}, {10, 10, 20, 20});
    QVERIFY((list.hitTest({15, 15}, 4) == HitId{2, 5}));
    QVERIFY((list.hitTest({50, 50}, 4) == HitId{1, 0}));
    QVERIFY(list.hitTest({150, 50}, 4).isNothing());
}

void TestDrawList::linesAnswerNearBy()
{
    DrawList list;
    const std::vector<Point> bent = {{0, 0}, {50, 0}, {50, 50}};
    const std::vector<Point> other = {{0, 8}, {40, 8}};
    list.hitLine({3, 1}, bent);
    list.hitLine({3, 2}, other);
    QVERIFY((list.hitTest({20, 2}, 5) == HitId{3, 1}));
    QVERIFY((list.hitTest({20, 7}, 5) == HitId{3, 2}));
    QVERIFY((list.hitTest({53, 30}, 5) == HitId{3, 1}));
    QVERIFY(list.hitTest({60, 30}, 5).isNothing());
    list.hit({1, 9}, {15, 0, 10, 4});
    QVERIFY((list.hitTest({20, 2}, 5) == HitId{1, 9}));
}

void TestDrawList::appendMovesEverything()
{
    DrawList inner;
    Paint paint;
    paint.stroke = ColorToken::edge;
    inner.line({0, 0}, {1, 1}, paint);
    inner.text({0, 0, 9, 9}, "ab", {}, ColorToken::text);
    inner.hit({1, 1}, {0, 0, 9, 9});
    DrawList outer;
    outer.text({0, 0, 9, 9}, "xyz", {}, ColorToken::text);
    outer.append(inner, 10, 20);
    QCOMPARE(outer.textOf(outer.items()[2]), std::string_view("ab"));
    QVERIFY((outer.points(outer.items()[1])[1] == Point{11, 21}));
    QVERIFY((outer.hitTest({12, 22}, 1) == HitId{1, 1}));
}

void TestDrawList::textIsMeasuredAndCut()
{
    const TextStyle mono = {FontFamily::mono, FontWeight::regular, 10.0F};
    QCOMPARE(textWidth("abcd", mono), 24.0);
    QCOMPARE(elidedRight("abcdefgh", mono, 30.0), std::string("abcd\u2026"));
    QCOMPARE(elidedRight("abcd", mono, 24.0), std::string("abcd"));
    QCOMPARE(elidedMiddle("layers.0.attn", mono, 42.0), std::string("lay\u2026ttn"));
    QCOMPARE(elidedRight("abcd", mono, 7.0), std::string());
    QVERIFY(textWidth("WWW", {FontFamily::words, FontWeight::semibold, 13.0F}) >
            textWidth("iii", {FontFamily::words, FontWeight::semibold, 13.0F}));
    QCOMPARE(elidedRight("\u00e9\u00e9\u00e9\u00e9", mono, 18.0), std::string("\u00e9\u00e9\u2026"));
}

void TestDrawList::everyGlyphHasPathsInItsBox()
{
    for (int i = 0; i <= static_cast<int>(Glyph::info); ++i) {
        const auto glyph = static_cast<Glyph>(i);
        QVERIFY(glyphName(glyph) != "unknown");
        const std::vector<GlyphPath> paths = glyphPaths(glyph);
        QVERIFY(!paths.empty());
        for (const GlyphPath &path : paths)
            for (const Point &point : path.points)
                QVERIFY((Rect{0, 0, kGlyphBox + 0.01, kGlyphBox + 0.01}.contains(point)));
    }
}

void TestDrawList::tokensHaveNames()
{
    QCOMPARE(colorTokenName(ColorToken::none), std::string_view("none"));
    QCOMPARE(colorTokenName(ColorToken::okbg), std::string_view("okbg"));
    QCOMPARE(colorTokenName(ColorToken::codeComment), std::string_view("codeComment"));
}

QTEST_APPLESS_MAIN(TestDrawList)
#include "tst_draw_list.moc"
