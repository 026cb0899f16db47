// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/near_names.h"

#include <QtTest>

using Names = std::vector<std::string_view>;

class TestNearNames : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void ordersByDistance()
    {
        const Names known = {"find_nan", "bisect_nan", "find_nans", "lineage"};
        QCOMPARE(core::nearNames("find_nan", known), (Names{"find_nan", "find_nans"}));
    }
    void countsSwappedNeighboursAsOneChange()
    {
        const Names known = {"dump", "info"};
        QCOMPARE(core::nearNames("dmup", known), (Names{"dump"}));
    }
    void takesNamesThatContainTheWord()
    {
        const Names known = {"softmax_3_17", "linear_1_1"};
        QCOMPARE(core::nearNames("softmax", known), (Names{"softmax_3_17"}));
    }
    void givesNothingForAFarName()
    {
        const Names known = {"lineage", "compare"};
        QVERIFY(core::nearNames("zzzzzzzz", known).empty());
        QVERIFY(core::nearNames("", known).empty());
    }
    void respectsTheLimit()
    {
        const Names known = {"relu_1", "relu_2", "relu_3", "relu_4"};
        QCOMPARE(core::nearNames("relu_9", known, 2).size(), std::size_t(2));
    }
};

QTEST_APPLESS_MAIN(TestNearNames)
#include "tst_near_names.moc"
