// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/value.h"

#include <QTest>

#include <limits>

using core::Value;

class TestValue : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void printsJson()
    {
        const Value value = Value::object({{"b", true},
                                           {"n", nullptr},
                                           {"i", 3},
                                           {"x", 0.1},
                                           {"list", Value::list({1, "two\n\"q\"", 2.0})},
                                           {"nan", std::numeric_limits<double>::quiet_NaN()},
                                           {"inf", -std::numeric_limits<double>::infinity()}});
        QCOMPARE(
            core::toJson(value),
            std::string(
                "{\"b\": true, \"n\": null, \"i\": 3, \"x\": 0.1, \"list\": [1, \"two\\n\\\"q\\\"\", 2.0], "
                "\"nan\": \"NaN\", \"inf\": \"-Infinity\"}"));
    }

    void readsBackWhatItPrints()
    {
        const std::string text = "{\"a\": [1, 2.5, null, false, \"x\\\\y\"], \"b\": {\"c\": {}}}";
        const auto parsed = core::parseJson(text, "text");
        QVERIFY(parsed.isOk());
        QCOMPARE(core::toJson(*parsed), text);
    }

    void bytesThatAreNoTextBecomeReplacements()
    {
        const std::string printed = core::toJson(Value("caf\xe9/\xc3\xa9"));
        QCOMPARE(printed, std::string("\"caf\xef\xbf\xbd/\xc3\xa9\""));
        QVERIFY(core::parseJson(printed, "text").isOk());
    }

    void refusesBadTextWithTheName()
    {
        const auto parsed = core::parseJson("{\"a\": ", "records/1");
        QVERIFY(!parsed.isOk());
        QCOMPARE(parsed.error().code(), core::ErrorCode::corrupt);
        QVERIFY(parsed.error().message().starts_with("records/1: "));
    }

    void refusesDeepNesting()
    {
        const std::string deep = std::string(200, '[') + std::string(200, ']');
        const auto parsed = core::parseJson(deep, "deep");
        QVERIFY(!parsed.isOk());
        QCOMPARE(parsed.error().code(), core::ErrorCode::limitExceeded);
    }
};

QTEST_APPLESS_MAIN(TestValue)
#include "tst_value.moc"
