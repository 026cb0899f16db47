// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/doctor.h"

#include <QTest>

#include <algorithm>
#include <set>

using namespace core;

namespace {

DoctorFacts healthy()
{
    DoctorFacts facts;
    Value flags = Value::object();
    const Value snapshot = capabilitySnapshot(facts);
    for (const auto &[name, available] : snapshot.toObject())
        flags.set(name, true);
    facts.torch = Value::object({{"torch_version", "2.15.0"},
                                 {"flags", flags},
                                 {"fingerprint", "0123456789abcdef0123"},
                                 {"cuda", Value::object({{"available", false}, {"devices", 0}})},
                                 {"interception", Value::object({{"checked", 4}, {"missed", 0}})}});
    facts.layout = Value::object({{"graphviz_version", "2.42.2"}, {"milliseconds", 12}});
    return facts;
}

Value check(const Report &report, std::string_view key)
{
    const auto found = doctorCheck(report, key);
    return found ? *found : Value();
}

} // namespace

class TestDoctor : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void hasUniqueKeysAndKnownWords()
    {
        DoctorFacts facts = healthy();
        facts.model = Value::object({{"kind", "pt2"}, {"model_type", "Net"}});
        const Report report = doctorReport(facts);
        std::set<std::string> keys;
        for (const Value &row : report.result.at("checks").toList()) {
            QVERIFY(keys.insert(row.at("key").toString()).second);
            const std::set<std::string> statuses = {"pass", "known_broken", "scope", "not_tested"};
            QVERIFY(statuses.contains(row.at("status").toString()));
        }
        QVERIFY(keys.contains("torch_capabilities") && keys.contains("tied_parameters"));
        QCOMPARE(report.result.at("model_type").toString(), std::string("Net"));
        QCOMPARE(report.status, std::string("ok"));
    }

    void missingFlagsWarnAndOptionalOnesDoNot()
    {
        DoctorFacts facts = healthy();
        Value flags = facts.torch.at("flags");
        for (const std::string &name : optionalCapabilities())
            flags.set(name, false);
        facts.torch.set("flags", flags);
        QCOMPARE(check(doctorReport(facts), "torch_capabilities").at("severity").toString(),
                 std::string("ok"));
        flags.set("HAS_NODE_POST_HOOK", false);
        facts.torch.set("flags", flags);
        const Value row = check(doctorReport(facts), "torch_capabilities");
        QCOMPARE(row.at("severity").toString(), std::string("warning"));
        QVERIFY(row.at("details").toString().find("missing=HAS_NODE_POST_HOOK") != std::string::npos);
    }

    void anUnprobedFlagIsNotMissing()
    {
        DoctorFacts facts = healthy();
        Value flags = facts.torch.at("flags");
        flags.set("HAS_FP8_DTYPES", nullptr);
        facts.torch.set("flags", flags);
        const Value row = check(doctorReport(facts), "torch_capabilities");
        QCOMPARE(row.at("severity").toString(), std::string("ok"));
        QVERIFY(row.at("details").toString().find("unprobed=HAS_FP8_DTYPES") != std::string::npos);
    }

    void anOpThatIsNotSeenIsNamed()
    {
        DoctorFacts facts = healthy();
        facts.torch.set(
            "interception",
            Value::object({{"checked", 4}, {"missed", 1}, {"examples", Value::list({"aten::add"})}}));
        const Value row = check(doctorReport(facts), "torch_wrapper_bindings");
        QCOMPARE(row.at("severity").toString(), std::string("warning"));
        QVERIFY(row.at("details").toString().find("aten::add") != std::string::npos);
    }

    void aMissingWorkerIsAnErrorRow()
    {
        DoctorFacts facts;
        facts.torchStatus = Status(ErrorCode::notFound, "capture_worker is not beside this program");
        const Report report = doctorReport(facts);
        QCOMPARE(report.status, std::string("errors"));
        QVERIFY(report.found);
        QCOMPARE(check(report, "pytorch").at("status").toString(), std::string("known_broken"));
        QCOMPARE(check(report, "cuda").at("status").toString(), std::string("not_tested"));
    }

    void namesTiedParametersAndMissingOps()
    {
        DoctorFacts facts = healthy();
        facts.model = Value::object({{"kind", "torchscript"},
                                     {"tied", Value::list({Value::list({"a.weight", "b.weight"})})},
                                     {"missing_ops", Value::list({"torchvision::nms"})}});
        const Report report = doctorReport(facts);
        QCOMPARE(check(report, "tied_parameters").at("details").toString(), std::string("a.weight=b.weight"));
        QCOMPARE(check(report, "missing_ops").at("severity").toString(), std::string("error"));
        QCOMPARE(check(report, "torchscript_module").at("status").toString(), std::string("scope"));
    }

    void tablesWrapAndEscape()
    {
        DoctorFacts facts = healthy();
        facts.torch.set("cpu_capability", std::string(70, 'x') + " a|b");
        const Report report = doctorReport(facts);
        QVERIFY(doctorMarkdown(report).find("a\\|b") != std::string::npos);
        const std::string table = doctorTable(report);
        QVERIFY(table.starts_with("Row"));
        QVERIFY(table.find(std::string(61, 'x')) == std::string::npos);
        QVERIFY(!doctorCheck(report, "nope").isOk());
    }
};

QTEST_APPLESS_MAIN(TestDoctor)
#include "tst_doctor.moc"
