// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/canvas/viewport.h"

#include <QtTest>

using namespace views;

class TestViewport : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void zoomKeepsThePointUnderThePointer();
    void zoomIsClamped();
    void fitShowsEverything();
    void fitOfATallSceneStartsAtItsTop();
    void panMovesByPixels();
    void ensureVisibleMovesNoMoreThanNeeded();
};

void TestViewport::zoomKeepsThePointUnderThePointer()
{
    Viewport view;
    view.resize(800, 600);
    view.setZoom(0.7, {123, 456});
    for (const double factor : {1.2, 0.3, 5.0, 0.9}) {
        const core::Point before = view.toScene({321, 123});
        view.zoomAt({321, 123}, factor);
        const core::Point after = view.toScene({321, 123});
        QVERIFY(std::abs(before.x - after.x) < 1e-9);
        QVERIFY(std::abs(before.y - after.y) < 1e-9);
    }
}

void TestViewport::zoomIsClamped()
{
    Viewport view;
    view.zoomAt({0, 0}, 1e9);
    QCOMPARE(view.zoom(), kLargestZoom);
    view.zoomAt({0, 0}, 1e-12);
    QCOMPARE(view.zoom(), kSmallestZoom);
}

void TestViewport::fitShowsEverything()
{
    Viewport view;
    view.resize(800, 600);
    const core::Rect scene = {-100, 50, 4000, 1000};
    view.fit(scene, 20);
    const core::Rect visible = view.visible();
    QVERIFY(visible.x <= scene.x && visible.right() >= scene.right());
    QVERIFY(visible.y <= scene.y && visible.bottom() >= scene.bottom());
    QCOMPARE(view.zoom(), 760.0 / 4000.0);
    view.fit({0, 0, 10, 10}, 20);
    QCOMPARE(view.zoom(), 1.0);
}

void TestViewport::fitOfATallSceneStartsAtItsTop()
{
    Viewport view;
    view.resize(800, 600);
    view.fit({0, 0, 400, 10000}, 20, 0.3);
    QCOMPARE(view.zoom(), 0.3);
    QCOMPARE(view.toWindow({0, 0}).y, 20.0);
}

void TestViewport::panMovesByPixels()
{
    Viewport view;
    view.resize(800, 600);
    view.setZoom(0.5, {0, 0});
    view.pan(10, -20);
    QVERIFY((view.toWindow({0, 0}) == core::Point{10, -20}));
}

void TestViewport::ensureVisibleMovesNoMoreThanNeeded()
{
    Viewport view;
    view.resize(800, 600);
    const Viewport before = view;
    view.ensureVisible({100, 100, 50, 50}, 10);
    QVERIFY(view == before);
    view.ensureVisible({900, 100, 50, 50}, 10);
    QCOMPARE(view.visible().right(), 960.0);
    QCOMPARE(view.origin().y, 0.0);
    view.ensureVisible({0, 0, 5000, 50}, 10);
    QCOMPARE(view.visible().center().x, 2500.0);
}

QTEST_APPLESS_MAIN(TestViewport)
#include "tst_viewport.moc"
