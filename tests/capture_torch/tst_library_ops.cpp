// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/library_ops.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/function.h>

#include <QtTest>

using namespace core;

namespace {

using Arguments = std::vector<c10::IValue>;

Arguments call(const char *op, Arguments arguments)
{
    const auto handle = c10::Dispatcher::singleton().findSchema({op, ""});
    if (!handle)
        throw std::runtime_error(std::string(op) + " is not registered");
    handle->callBoxed(&arguments);
    return arguments;
}

at::Tensor image()
{
    return at::arange(288.0f).view({2, 4, 6, 6}).sin().requires_grad_();
}

at::Tensor regions()
{
    return at::tensor({0.0f, 1.3f, 0.7f, 4.6f, 5.2f, 1.0f, -1.0f, 2.0f, 2.5f, 9.0f}).view({2, 5});
}

// Bit by bit the same results are not to be had from other code: six digits are compared.
void compareNumber(double value, double expected)
{
    QVERIFY2(std::abs(value - expected) <= 1e-5 * std::max(1.0, std::abs(expected)),
             qPrintable(QString("%1, torchvision %2").arg(value, 0, 'g', 10).arg(expected, 0, 'g', 10)));
}

} // namespace

// The ops of other libraries against what the libraries themselves gave (torchvision 0.29,
// transformers 5.24).
class TestLibraryOps : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { provideLibraryOps(); }

    void regionsArePooled_data()
    {
        QTest::addColumn<QString>("op");
        QTest::addColumn<double>("scale");
        QTest::addColumn<int>("sampling"); // -2: the op takes none
        QTest::addColumn<bool>("aligned");
        QTest::addColumn<double>("first");
        QTest::addColumn<double>("sum");
        QTest::addColumn<double>("gradient");
        QTest::addColumn<double>("squares");
        QTest::newRow("aligned") << "roi_align" << 0.5 << 2 << true << 0.380095 << 0.5400883182883263
                                 << 495.99999818205833 << 7612.115619934466;
        QTest::newRow("as many samples as pixels")
            << "roi_align" << 1.0 << -1 << false << 0.799297 << 0.17952554672956467 << 348.99999970942736
            << 1677.9704703466123;
        QTest::newRow("largest") << "roi_pool" << 1.0 << -2 << false << 0.990607 << 17.053832486271858
                                 << 300.0 << 5534.0;
        QTest::newRow("by position") << "ps_roi_align" << 1.0 << 2 << false << 0.811029 << 0.2025643140077591
                                     << 18.000000027706847 << 15.073509617524682;
        QTest::newRow("mean by position")
            << "ps_roi_pool" << 1.0 << -2 << false << 0.76428 << -0.8632728904485703 << 28.0 << 71.125;
    }
    void regionsArePooled()
    {
        QFETCH(QString, op);
        QFETCH(double, scale);
        QFETCH(int, sampling);
        QFETCH(bool, aligned);
        QFETCH(double, first);
        QFETCH(double, sum);
        QFETCH(double, gradient);
        QFETCH(double, squares);
        const at::Tensor from = image();
        Arguments arguments = {from, regions(), scale, 2, 2};
        if (sampling != -2)
            arguments.emplace_back(sampling);
        if (op == "roi_align")
            arguments.emplace_back(aligned);
        const Arguments result = call(("torchvision::" + op.toStdString()).c_str(), arguments);
        const at::Tensor pooled = result.front().toTensor();
        compareNumber(pooled.flatten()[0].item<double>(), first);
        compareNumber(pooled.to(at::kDouble).sum().item<double>(), sum);
        QCOMPARE(QString::fromStdString(pooled.grad_fn()->name()),
                 "GeneratedBackwardFor_torchvision_" + op + "_defaultBackward");
        (pooled * at::arange(pooled.numel()).view_as(pooled)).sum().backward();
        const at::Tensor wide = from.grad().to(at::kDouble);
        compareNumber(wide.sum().item<double>(), gradient);
        compareNumber(wide.pow(2).sum().item<double>(), squares);
        if (op == "roi_pool")
            QVERIFY(result[1].toTensor().flatten().slice(0, 0, 6).equal(
                at::tensor({14, 21, 33, 33, 9, 22}, at::kInt)));
        if (op == "ps_roi_align")
            QVERIFY(result[1].toTensor().flatten().equal(at::tensor({0, 1, 2, 3, 0, 1, 2, 3}, at::kInt)));
    }

    void narrowImagesArePooledInTheirType()
    {
        const at::Tensor half = image().detach().to(at::kHalf);
        const at::Tensor pooled =
            call("torchvision::roi_align", {half, regions().to(at::kHalf), 0.5, 2, 2, 2, true})[0].toTensor();
        QCOMPARE(pooled.scalar_type(), at::kHalf);
        QVERIFY(std::abs(pooled.flatten()[1].item<double>() - 0.83394) < 2e-3);
    }

    void wrongRegionsAreRefused()
    {
        const at::Tensor other = at::tensor({7.0f, 0.0f, 0.0f, 1.0f, 1.0f}).view({1, 5});
        QVERIFY_THROWS_EXCEPTION(c10::Error,
                                 call("torchvision::roi_align", {image(), other, 1.0, 2, 2, 2, false}));
        QVERIFY_THROWS_EXCEPTION(c10::Error, call("torchvision::roi_pool", {image(), other, 1.0, 2, 2}));
        QVERIFY_THROWS_EXCEPTION(
            c10::Error, call("torchvision::roi_align", {image(), at::zeros({2, 4}), 1.0, 2, 2, 2, false}));
    }

    void boxesThatOverlapGo()
    {
        const at::Tensor boxes =
            at::tensor({0.f, 0.f, 4.f, 4.f, 0.f, 0.f, 4.f, 5.f, 5.f, 5.f, 8.f, 8.f, 1.f, 0.f, 4.f, 4.f})
                .view({4, 4});
        const at::Tensor kept =
            call("torchvision::nms", {boxes, at::tensor({0.5f, 0.9f, 0.1f, 0.7f}), 0.5})[0].toTensor();
        QVERIFY(kept.equal(at::tensor({1, 2}, at::kLong)));
        const at::Tensor none =
            call("torchvision::nms", {at::zeros({0, 4}), at::zeros({0}), 0.5})[0].toTensor();
        QCOMPARE(none.numel(), 0);
    }

    void rotatedBoxesOverlap()
    {
        const at::Tensor first = at::tensor({5.f, 5.f, 4.f, 2.f, 30.f, 1.f, 1.f, 2.f, 2.f, 0.f}).view({2, 5});
        const at::Tensor second =
            at::tensor({5.f, 5.5f, 4.f, 2.f, 75.f, 1.f, 2.f, 2.f, 2.f, 0.f}).view({2, 5});
        const at::Tensor overlap = call("torchvision::box_iou_rotated", {first, second})[0].toTensor();
        QVERIFY(at::allclose(overlap, at::tensor({0.4683f, 0.f, 0.f, 1.f / 3}).view({2, 2}), 1e-4, 1e-4));
    }

    void deformedConvolution()
    {
        const at::Tensor from = image();
        const at::Tensor offset = (at::arange(400.0f).view({2, 8, 5, 5}) * 0.37).sin();
        const at::Tensor weight = at::arange(48.0f).view({3, 4, 2, 2}).cos();
        const at::Tensor mask = (at::arange(200.0f).view({2, 4, 5, 5}) * 0.11).cos();
        const at::Tensor result =
            call("torchvision::deform_conv2d", {from, weight, offset, mask, at::tensor({0.1f, 0.2f, 0.3f}), 1,
                                                1, 0, 0, 1, 1, 1, 1, true})[0]
                .toTensor();
        compareNumber(result.flatten()[0].item<double>(), 0.595191);
        compareNumber(result.to(at::kDouble).sum().item<double>(), 30.08511519432068);
        (result * at::arange(result.numel()).view_as(result)).sum().backward();
        const at::Tensor wide = from.grad().to(at::kDouble);
        compareNumber(wide.sum().item<double>(), 1163.5526920259);
        compareNumber(wide.pow(2).sum().item<double>(), 689584.0270120912);
    }

    void rowsGoThroughTheirExpert()
    {
        const at::Tensor rows = at::arange(10.0f).view({5, 2}).requires_grad_();
        const at::Tensor experts = at::arange(12.0f).view({3, 2, 2});
        const at::Tensor ends = at::tensor({2, 2, 4}, at::kInt);
        const at::Tensor out = call("transformers::grouped_mm_fallback", {rows, experts, ends})[0].toTensor();
        const at::Tensor expected = at::cat(
            {rows.slice(0, 0, 2).mm(experts[0]), rows.slice(0, 2, 4).mm(experts[2]), at::zeros({1, 2})});
        QVERIFY(out.equal(expected));
        out.sum().backward();
        QVERIFY(rows.grad()[4].equal(at::zeros({2})));
    }
};

QTEST_APPLESS_MAIN(TestLibraryOps)
#include "tst_library_ops.moc"
