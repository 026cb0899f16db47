// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/op_flops.h"
#include "core/trace/trace.h"
#include "tests/support/trace_text.h"

#include <QTest>

using namespace core;

class TestOpFlops : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void cases_data()
    {
        QTest::addColumn<QString>("call");
        QTest::addColumn<qlonglong>("forward");
        QTest::addColumn<qlonglong>("backward");
        QTest::addColumn<qlonglong>("macs");
        const auto row = [](const char *name, const char *call, qlonglong forward, qlonglong backward,
                            qlonglong macs) {
            QTest::newRow(name) << QString(call) << forward << backward << macs;
        };
        row("add", "input a:f32[2,3,4]\nadd a a -> o:f32[2,3,4]", 24, 24, 0);
        row("sigmoid", "input a:f32[2,3]\nsigmoid a -> o:f32[2,3]", 24, 36, 0);
        row("exp", "input a:f32[10]\nexp a -> o:f32[10]", 80, 80, 0);
        row("gelu", "input a:f32[5]\ngelu a -> o:f32[5]", 70, 105, 0);
        row("linear", "input a:f32[4,5]\nparam w:f32[10,5]\nlinear a w -> o:f32[4,10]", 400, 800, 200);
        row("linear with bias",
            "input a:f32[4,5]\nparam w:f32[10,5]\nparam b:f32[10]\nlinear a w b -> o:f32[4,10]", 440, 880,
            200);
        row("linear of a computed weight", "input a:f32[4,5]\ninput w:f32[10,5]\nlinear a w -> o:f32[4,10]",
            kUnknown, kUnknown, kUnknown);
        row("conv2d",
            "input a:f32[1,3,32,32]\nparam w:f32[16,3,3,3]\nparam b:f32[16]\n"
            "conv2d a w b -> o:f32[1,16,32,32]",
            884736 + 16384, 2 * (884736 + 16384), 442368);
        row("conv_transpose2d",
            "input a:f32[1,3,4,4]\nparam w:f32[3,5,2,2]\nparam b:f32[5]\n"
            "conv_transpose2d a w b -> o:f32[1,5,8,8]",
            2240, 4480, 960);
        row("matmul", "input a:f32[3,4]\ninput b:f32[4,5]\nmatmul a b -> o:f32[3,5]", 120, 240, 60);
        row("bmm", "input a:f32[2,3,4]\ninput b:f32[2,4,5]\nbmm a b -> o:f32[2,3,5]", 240, 480, 120);
        row("matrix by vector", "input a:f32[1,2,8]\ninput b:f32[8]\nmatmul a b -> o:f32[1,2]", 32, 64, 16);
        row("vector by vector", "input a:f32[5]\ninput b:f32[5]\nmatmul a b -> o:f32[]", 10, 20, 5);
        row("vector by matrices", "input a:f32[4]\ninput b:f32[2,4,3]\nmatmul a b -> o:f32[2,3]", 48, 96, 24);
        row("baddbmm",
            "input c:f32[1,2,2]\ninput a:f32[1,2,3]\ninput b:f32[1,3,2]\nbaddbmm c a b -> o:f32[1,2,2]", 28,
            56, 12);
        row("batch_norm", "input a:f32[2,16,8,8]\nbatch_norm a -> o:f32[2,16,8,8]", 10240, 25600, 0);
        row("softmax", "input a:f32[4,100]\nsoftmax a -1 -> o:f32[4,100]", 2000, 4000, 0);
        row("sum", "input a:f32[3,4,5]\nsum a -> o:f32[]", 60, 60, 0);
        row("sum of a scalar", "input a:f32[]\nsum a -> o:f32[]", kUnknown, kUnknown, kUnknown);
        row("embedding", "param w:f32[10,4]\ninput i:i64[3]\nembedding w i -> o:f32[3,4]", 0, 0, 0);
        row("max_pool2d of an int", "input a:f32[1,5,8,8]\nmax_pool2d a 2 -> o:f32[1,5,4,4]", 160, 160, 0);
        row("max_pool2d of a list", "input a:f32[1,5,8,8]\nmax_pool2d a [2,2] -> o:f32[1,5,4,4]", 320, 320,
            0);
        row("adaptive_avg_pool2d", "input a:f32[1,3,4,4]\nadaptive_avg_pool2d a 1 -> o:f32[1,3,1,1]", 48, 48,
            0);
        row("topk", "input a:f32[2,8]\ntopk a 2 -> o:f32[2,2] i:i64[2,2]", 8, 8, 0);
        row("cross_entropy_loss", "input a:f32[2,8]\ninput t:i64[2]\ncross_entropy_loss a t -> o:f32[]", 96,
            96, 0);
        row("linalg_vector_norm", "input a:f32[16]\nlinalg_vector_norm a -> o:f32[]", 32, 32, 0);
        row("upsample", "input a:f32[1,3,4,4]\nupsample_nearest2d a -> o:f32[1,3,8,8]", 768, 768, 0);
        row("einsum", "input a:f32[2,8]\ninput b:f32[8,2]\neinsum ij,jk->ik a b -> o:f32[2,2]", 64, 128, 32);
        row("einsum without a sum", "input a:f32[5]\ninput b:f32[5]\neinsum i,i->i a b -> o:f32[5]", 5, 10,
            0);
        row("einsum with an ellipsis", "input a:f32[5]\ninput b:f32[5]\neinsum ...,... a b -> o:f32[5]",
            kUnknown, kUnknown, kUnknown);
        row("attention",
            "input q:f32[2,4,8]\ninput k:f32[2,6,8]\ninput v:f32[2,6,3]\n"
            "scaled_dot_product_attention q k v -> o:f32[2,4,3]",
            2 * 48 * 8 + 6 * 48 + 2 * 48 * 3, 3360, 48 * 8 + 48 * 3);
        row("slice", "input a:f32[5]\nslice a -> o:f32[2]", 0, 0, 0);
        row("pad", "input a:f32[5]\npad a -> o:f32[7]", kUnknown, kUnknown, kUnknown);
        row("a name nobody knows", "input a:f32[5]\nmystery a -> o:f32[5]", kUnknown, kUnknown, kUnknown);
        row("nothing to do", "input a:f32[0]\nadd a a -> o:f32[0]", 0, 0, 0);
    }

    void cases()
    {
        QFETCH(QString, call);
        QFETCH(qlonglong, forward);
        QFETCH(qlonglong, backward);
        QFETCH(qlonglong, macs);
        const auto trace = tests::traceFromText(call.toStdString() + "\noutput o\n");
        const OpRow *row = nullptr;
        for (const OpRow &candidate : trace->ops())
            if (candidate.kind == CallKind::compute && candidate.slot == 0)
                row = &candidate;
        QVERIFY(row != nullptr);
        QCOMPARE(qlonglong(row->flopsForward), forward);
        QCOMPARE(qlonglong(row->flopsBackward), backward);
        QCOMPARE(qlonglong(row->macsForward), macs);
    }

    void pseudoRowsOwnNoFlops()
    {
        const auto trace =
            tests::traceFromText("bufferrow b:f32[2]\ninput x:f32[2]\nadd x b -> y:f32[2]\noutput y\n");
        QCOMPARE(trace->op(OpId(0)).macsForward, std::int64_t(0));
        QCOMPARE(trace->op(OpId(1)).flopsForward, std::int64_t(0));
        QCOMPARE(trace->op(OpId(1)).macsForward, kUnknown);
        QCOMPARE(trace->op(OpId(3)).flopsForward, kUnknown);
    }

    void inPlaceNamesCostTheSame()
    {
        FlopQuery query;
        const std::vector<std::int64_t> shape = {3};
        query.output = shape;
        query.func = "tanh_";
        QCOMPARE(countFlops(query).forward, std::int64_t(18));
        query.func = "gelu_";
        QCOMPARE(countFlops(query).forward, kUnknown);
    }
};

QTEST_APPLESS_MAIN(TestOpFlops)
#include "tst_op_flops.moc"
