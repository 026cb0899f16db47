// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/library_ops.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/function.h>

#include <QtTest>

#include <array>
#include <cmath>

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

using Pair = std::array<std::int64_t, 2>;
using Numbers = std::array<double, 6>;

// One call of deform_conv2d on an image of 4 x 6 x 5, all of whose tensors are sine waves.
struct DeformedRow
{
    std::int64_t images;
    Pair groups; // of the weight, of the offset
    Pair kernel, stride, padding, dilation;
    bool mask;
    double farthest; // offset, in pixels
};

at::Tensor wave(std::vector<std::int64_t> shape, double step, double height = 1.0)
{
    const std::int64_t count = c10::multiply_integers(shape);
    return ((at::arange(static_cast<double>(count), at::kFloat) * step).sin().view(shape) * height)
        .requires_grad_();
}

// One number that every value and its place count in.
double fingerprint(const at::Tensor &tensor)
{
    return (tensor.to(at::kDouble).flatten() * at::arange(tensor.numel(), at::kDouble).cos())
        .sum()
        .item<double>();
}

struct Deformed
{
    Arguments arguments;

    explicit Deformed(const DeformedRow &row)
    {
        const auto [groups, offsetGroups] = row.groups;
        const std::int64_t taps = row.kernel[0] * row.kernel[1];
        Pair out{};
        for (const std::size_t side : {0, 1})
            out[side] = ((side == 0 ? 6 : 5) + 2 * row.padding[side] -
                         row.dilation[side] * (row.kernel[side] - 1) - 1) /
                            row.stride[side] +
                        1;
        arguments = {wave({row.images, 4, 6, 5}, 1.0),
                     wave({4, 4 / groups, row.kernel[0], row.kernel[1]}, 0.7),
                     wave({row.images, offsetGroups * 2 * taps, out[0], out[1]}, 0.37, row.farthest),
                     row.mask ? wave({row.images, offsetGroups * taps, out[0], out[1]}, 0.11)
                              : at::zeros({row.images, 1}).requires_grad_(),
                     wave({4}, 0.3)};
        for (const Pair &pair : {row.stride, row.padding, row.dilation, row.groups})
            arguments.insert(arguments.end(), pair.begin(), pair.end());
        arguments.emplace_back(row.mask);
    }
};

} // namespace

Q_DECLARE_METATYPE(DeformedRow)
Q_DECLARE_METATYPE(Numbers)

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

    // As with LibTorch's own ops: what was saved for the backward pass has its writes counted.
    void savedTensorsMustNotBeWritten_data()
    {
        QTest::addColumn<QString>("op");
        QTest::addColumn<bool>("places"); // else the regions
        for (const char *const op : {"roi_align", "roi_pool", "ps_roi_align", "ps_roi_pool"})
            QTest::newRow(op) << op << false;
        for (const char *const op : {"roi_pool", "ps_roi_align", "ps_roi_pool"})
            QTest::addRow("places of %s", op) << op << true;
    }
    void savedTensorsMustNotBeWritten()
    {
        QFETCH(QString, op);
        QFETCH(bool, places);
        const at::Tensor from = image();
        at::Tensor boxes = regions();
        Arguments arguments = {from, boxes, 1.0, 2, 2};
        if (op.endsWith("align"))
            arguments.emplace_back(2);
        if (op == "roi_align")
            arguments.emplace_back(false);
        const Arguments result = call(("torchvision::" + op.toStdString()).c_str(), arguments);
        if (places)
            result[1].toTensor().add_(0);
        else
            boxes.select(1, 3).add_(0.25); // still in range
        QString words;
        try {
            result[0].toTensor().sum().backward();
        } catch (const std::exception &error) {
            words = error.what();
        }
        QVERIFY2(words.contains("modified by an inplace operation"), qPrintable(words));
        QVERIFY(!from.grad().defined());
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
        QVERIFY_THROWS_EXCEPTION(c10::Error,
                                 call("torchvision::ps_roi_pool", {image(), regions(), 1.0, 0, 2}));
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

    void deformedConvolution_data()
    {
        QTest::addColumn<DeformedRow>("row");
        QTest::addColumn<Numbers>("expected"); // of the result and of the gradients of the five tensors
        QTest::newRow("one group") << DeformedRow{2, {1, 1}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true, 1.7}
                                   << Numbers{1.103810238,  -0.703631877,  -6.463965792,
                                              0.7511349212, -0.1168943664, 3.124876859};
        QTest::newRow("groups") << DeformedRow{2, {2, 1}, {3, 2}, {2, 1}, {1, 0}, {1, 2}, true, 1.7}
                                << Numbers{4.136936757,  -0.2914664154, 6.083511076,
                                           0.4328811259, -0.6855140272, 4.178889148};
        QTest::newRow("offset groups")
            << DeformedRow{2, {1, 2}, {2, 3}, {1, 2}, {2, 2}, {2, 1}, true, 1.7}
            << Numbers{1.749708342, -2.421459831, -1.69468043, -6.298495925, -0.8589132439, -0.1416349733};
        QTest::newRow("groups of both, no mask")
            << DeformedRow{3, {2, 2}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, false, 1.7}
            << Numbers{0.5646578171, 11.4858832, 3.683180597, -1.702255204, 0, 0.9094842733};
        QTest::newRow("whole pixels beside the image")
            << DeformedRow{2, {1, 1}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true, 0.0}
            << Numbers{3.005660814, -1.949588305, 12.99794976, 0.04496901518, -0.3454316726, 3.124876859};
        QTest::newRow("far offsets") << DeformedRow{1, {4, 4}, {1, 1}, {1, 1}, {0, 0}, {1, 1}, false, 4.0}
                                     << Numbers{-2.041019189, -2.067800636, -1.295662291, -1.960053324, 0,
                                                2.605470274};
        QTest::newRow("no images") << DeformedRow{0, {2, 2}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true, 1.7}
                                   << Numbers{0, 0, 0, 0, 0, 0};
    }
    void deformedConvolution()
    {
        QFETCH(DeformedRow, row);
        QFETCH(Numbers, expected);
        const Deformed deformed(row);
        const at::Tensor result = call("torchvision::deform_conv2d", deformed.arguments)[0].toTensor();
        QCOMPARE(QString::fromStdString(result.grad_fn()->name()),
                 "GeneratedBackwardFor_torchvision_deform_conv2d_defaultBackward");
        result.backward(wave(result.sizes().vec(), 0.9));
        compareNumber(fingerprint(result.detach()), expected[0]);
        for (std::size_t i = 0; i < 5; ++i)
            compareNumber(fingerprint(deformed.arguments[i].toTensor().grad()), expected[i + 1]);
    }

    void shapesOfADeformedConvolutionMustFit_data()
    {
        QTest::addColumn<int>("argument");
        QTest::addColumn<QString>("word");
        QTest::newRow("input") << 0 << "dimensions";
        QTest::newRow("weight") << 1 << "channels";
        QTest::newRow("offset") << 2 << "the offset has the shape";
        QTest::newRow("mask") << 3 << "the mask has the shape";
        QTest::newRow("bias") << 4 << "the bias has";
        QTest::newRow("stride") << 5 << "a stride";
        QTest::newRow("groups") << 11 << "groups";
        QTest::newRow("offset groups") << 12 << "offset groups";
    }
    void shapesOfADeformedConvolutionMustFit()
    {
        QFETCH(int, argument);
        QFETCH(QString, word);
        Deformed deformed(DeformedRow{2, {1, 1}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, true, 1.7});
        c10::IValue &wrong = deformed.arguments[static_cast<std::size_t>(argument)];
        if (argument == 0)
            wrong = wrong.toTensor()[0];
        else if (wrong.isTensor())
            wrong = wrong.toTensor().slice(argument == 4 ? 0 : 1, 1);
        else
            wrong = argument == 5 ? 0 : 3;
        QString said;
        try {
            call("torchvision::deform_conv2d", deformed.arguments);
        } catch (const c10::Error &error) {
            said = QString::fromStdString(error.what_without_backtrace());
        }
        QVERIFY2(said.contains(word), qPrintable(said));
    }

    // A region beside the image counts nothing, which is not a number where the first pixel is infinite;
    // negative sizes cannot be sampled.
    void samplesBesideTheImage()
    {
        at::Tensor from = image().detach();
        from.index_put_({at::tensor(0), at::tensor(0), at::tensor(0), at::tensor(0)}, INFINITY);
        const at::Tensor beside = at::tensor({0.0f, 40.0f, 40.0f, 44.0f, 44.0f}).view({1, 5});
        const at::Tensor pooled =
            call("torchvision::roi_align", {from, beside, 1.0, 1, 1, 2, false})[0].toTensor().flatten();
        QVERIFY(std::isnan(pooled[0].item<float>()));
        QCOMPARE(pooled[1].item<float>(), 0.0f);
        const at::Tensor byPosition =
            call("torchvision::ps_roi_align", {from, beside, 1.0, 1, 1, 2})[0].toTensor().flatten();
        QCOMPARE(byPosition[0].item<float>(), 0.0f);
        const at::Tensor backwards = at::tensor({0.0f, 4.0f, 1.0f, 2.0f, 5.0f}).view({1, 5});
        QVERIFY_THROWS_EXCEPTION(c10::Error,
                                 call("torchvision::roi_align", {from, backwards, 1.0, 1, 1, -1, true}));
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
