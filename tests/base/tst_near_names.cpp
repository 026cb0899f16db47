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
    void asksWhatWasMeant()
    {
        QCOMPARE(core::didYouMean({}), std::string());
        QCOMPARE(core::didYouMean(Names{"rtol"}, "--"), std::string("did you mean --rtol?"));
        QCOMPARE(core::didYouMean(Names{"a", "b"}, "\"", "\""), std::string("did you mean \"a\" or \"b\"?"));
        QCOMPARE(core::didYouMean(Names{"a", "b", "c"}), std::string("did you mean a, b or c?"));
    }
    void namesWhatThereIs()
    {
        QCOMPARE(core::knownNamesText("scors", Names{"scores", "loss"}, "its outputs are"),
                 std::string("did you mean scores? its outputs are scores, loss"));
        const Names many = {"a1", "b1", "c1", "d1", "e1", "f1", "g1",
                            "h1", "i1", "j1", "k1", "l1", "m1", "n1"};
        QCOMPARE(core::knownNamesText("zzzz", many, "there is"),
                 std::string("there is a1, b1, c1, d1, e1, f1, g1, h1, i1, j1, k1, l1 and 2 more"));
    }
    void respectsTheLimit()
    {
        const Names known = {"relu_1", "relu_2", "relu_3", "relu_4"};
        QCOMPARE(core::nearNames("relu_9", known, 2).size(), std::size_t(2));
    }
};

QTEST_APPLESS_MAIN(TestNearNames)
#include "tst_near_names.moc"
