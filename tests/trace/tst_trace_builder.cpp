// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/parent_chains.h"
#include "core/trace/trace_builder.h"

#include <QElapsedTimer>
#include <QTest>

using namespace core;

namespace {

TensorRecord tensor(RecordId id, RecordId call, std::vector<std::int64_t> shape)
{
    TensorRecord record;
    record.id = id;
    record.dtype = DType::float32;
    record.shape = std::move(shape);
    record.call = call;
    return record;
}

CallRecord call(RecordId id, CallKind kind, std::string func, std::vector<RecordId> outputs,
                std::vector<RecordId> parents)
{
    CallRecord record;
    record.id = id;
    record.kind = kind;
    record.op = kind == CallKind::compute ? "aten." + func + ".default" : "none";
    record.func = std::move(func);
    record.outputs = std::move(outputs);
    record.parents = std::move(parents);
    return record;
}

} // namespace

class TestTraceBuilder : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    // Walks from a call to the root stay short in any file, and finding that out takes one pass.
    void chainsOfParentsAreCut()
    {
        std::vector<ModuleCallRow> rows(200'000);
        for (std::size_t i = 1; i < rows.size(); ++i)
            rows[i].parent = ModuleCallId(i - 1);
        QElapsedTimer timer;
        timer.start();
        const std::vector<std::size_t> tooDeep = brokenChains(rows);
        QVERIFY(timer.elapsed() < 2000);
        QCOMPARE(tooDeep.size(), std::size_t(199));
        QCOMPARE(tooDeep.front(), std::size_t(kDeepestNesting));
        rows.resize(5);
        rows[0].parent = ModuleCallId(4); // all in a circle
        QCOMPARE(brokenChains(rows).size(), std::size_t(1));
        rows[brokenChains(rows).front()].parent = ModuleCallId();
        QVERIFY(brokenChains(rows).empty());
        rows[2].parent = ModuleCallId(2);
        QCOMPARE(brokenChains(rows), std::vector<std::size_t>{2});
    }

    void notesOfHostileFilesAreBounded()
    {
        LoadReport report;
        for (int i = 0; i < 100'000; ++i)
            report.add("kind_" + std::to_string(i), "a note");
        QVERIFY(report.notes().size() <= 1000);
        std::uint64_t counted = 0;
        for (const LoadReport::Note &note : report.notes())
            counted += note.count;
        QCOMPARE(counted, std::uint64_t(100'000));
    }

    void linksAndLabelsAChain()
    {
        TraceBuilder builder;
        QVERIFY(builder.add(call(0, CallKind::input, "none", {0}, {})).isOk());
        QVERIFY(builder.add(tensor(0, 0, {2, 3})).isOk());
        QVERIFY(builder.add(call(1, CallKind::compute, "batch_norm", {1, kNoRecord, 2}, {0})).isOk());
        QVERIFY(builder.add(tensor(1, 1, {2, 3})).isOk());
        QVERIFY(builder.add(tensor(2, 1, {0})).isOk());
        QVERIFY(builder.add(call(2, CallKind::compute, "_assert_async", {}, {1})).isOk());
        QVERIFY(builder.add(call(3, CallKind::output, "none", {3}, {1, 1})).isOk());
        QVERIFY(builder.add(tensor(3, 3, {2, 3})).isOk());
        const auto built = builder.finish(emptyTensorStore(), JobContext());
        QVERIFY(built.isOk());
        const Trace &trace = **built;

        QCOMPARE(trace.ops().size(), std::size_t(5));
        QCOMPARE(trace.label(OpId(0)), std::string_view("input_1:1"));
        QCOMPARE(trace.publicLabel(OpId(1)), std::string_view("batchnorm_1_1"));
        QCOMPARE(trace.op(OpId(2)).slot, 2U);
        QVERIFY(!trace.op(OpId(3)).tensor.isValid());
        QCOMPARE(trace.parents(OpId(4)).size(), std::size_t(1));
        QCOMPARE(trace.children(OpId(1)).size(), std::size_t(2));
        QCOMPARE(trace.op(OpId(1)).bytes, std::int64_t(24));
        QCOMPARE(trace.op(OpId(3)).bytes, kUnknown);
        QCOMPARE(trace.computeOps().size(), std::size_t(4));
        QCOMPARE(trace.computeOps().back(), OpId(4));
        QCOMPARE(trace.findLabel("batchnorm_2_2"), OpId(2));
    }

    void notesWhatIsReferredToAndNotThere()
    {
        TraceBuilder builder;
        CallRecord record = call(7, CallKind::compute, "relu", {3}, {9});
        record.stack = 12;
        QVERIFY(builder.add(record).isOk());
        QVERIFY(!builder.add(record).isOk());
        const auto built = builder.finish(emptyTensorStore(), JobContext());
        QVERIFY(built.isOk());
        QVERIFY((*built)->loadReport().has("dangling_reference"));
        QVERIFY(!(*built)->call(CallId(0)).stack.isValid());
    }

    void whatModuleCallsOfAnExportReturnIsDerived()
    {
        TraceBuilder builder;
        builder.info().modelKind = "pt2";
        for (RecordId id = 0; id < 3; ++id) { // root, a, a.b
            ModuleRecord module;
            module.id = id;
            module.address = id == 0 ? "" : id == 1 ? "a" : "a.b";
            QVERIFY(builder.add(module).isOk());
            ModuleCallRecord moduleCall;
            moduleCall.id = id;
            moduleCall.module = id;
            moduleCall.parent = id == 0 ? kNoRecord : id - 1;
            QVERIFY(builder.add(moduleCall).isOk());
        }
        // input, two ops in a.b, one in a, one in the root, output
        const RecordId insides[] = {kNoRecord, 2, 2, 1, 0, kNoRecord};
        for (RecordId id = 0; id < 6; ++id) {
            CallRecord record = call(id,
                                     id == 0   ? CallKind::input
                                     : id == 5 ? CallKind::output
                                               : CallKind::compute,
                                     "relu", {id}, id == 0 ? std::vector<RecordId>() : std::vector{id - 1});
            record.moduleCall = insides[id];
            QVERIFY(builder.add(record).isOk());
            QVERIFY(builder.add(tensor(id, id, {2})).isOk());
        }
        const auto built = builder.finish(emptyTensorStore(), JobContext());
        QVERIFY(built.isOk());
        const Trace &trace = **built;
        const auto returned = [&trace](std::uint32_t moduleCall) {
            std::vector<std::uint32_t> ids;
            for (const TensorId id : trace.tensorIds(trace.moduleCall(ModuleCallId(moduleCall)).outputs))
                ids.push_back(static_cast<std::uint32_t>(id.index()));
            return ids;
        };
        QCOMPARE(returned(2), std::vector<std::uint32_t>{2});
        QCOMPARE(returned(1), std::vector<std::uint32_t>{3});
        QCOMPARE(returned(0), std::vector<std::uint32_t>{4});
        QCOMPARE(trace.op(OpId(2)).outputOf.count, 1U);
        QCOMPARE(trace.op(OpId(1)).outputOf.count, 0U);
    }

    void stopsWhenCancelled()
    {
        std::stop_source stop;
        stop.request_stop();
        TraceBuilder builder;
        const auto built = builder.finish(emptyTensorStore(), JobContext(stop.get_token()));
        QVERIFY(!built.isOk());
        QCOMPARE(built.error().code(), ErrorCode::cancelled);
    }
};

QTEST_APPLESS_MAIN(TestTraceBuilder)
#include "tst_trace_builder.moc"
