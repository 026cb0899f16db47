// SPDX-License-Identifier: GPL-3.0-or-later
// What the saver holds of the model's memory while the sink still reads it: autograd's engine adds gradients
// up in place only where nobody else holds them, and strides, and so kernels, follow from that.
#include "core/capture_torch/autograd_recorder.h"
#include "core/capture_torch/dispatch_tap.h"
#include "core/capture_torch/plain_check.h"
#include "core/capture_torch/tensor_saver.h"

#include <ATen/ATen.h>

#include <QScopeGuard>
#include <QtTest>

using namespace core;

namespace {

// A sink that has never read what it was handed until it is told so.
class SlowSink final : public TraceSink
{
public:
    Status add(FrameRecord) override { return Status::ok(); }
    Status add(StackRecord) override { return Status::ok(); }
    Status add(SourceRecord) override { return Status::ok(); }
    Status add(ModuleRecord) override { return Status::ok(); }
    Status add(ModuleCallRecord) override { return Status::ok(); }
    Status add(TensorRecord) override { return Status::ok(); }
    Status add(CallRecord) override { return Status::ok(); }
    Status add(ParamRecord) override { return Status::ok(); }
    Status add(GradNodeRecord) override { return Status::ok(); }
    Status add(GradFireRecord) override { return Status::ok(); }
    Status add(GradientRecord) override { return Status::ok(); }
    Status add(BackwardRecord) override { return Status::ok(); }
    Status add(DiagnosticRecord) override { return Status::ok(); }
    Status add(NoteRecord) override { return Status::ok(); }
    Result<PayloadRecord> writePayload(DType, std::span<const std::int64_t>,
                                       std::span<const std::byte>) override
    {
        return PayloadRecord();
    }
    Result<PayloadRecord> writePayloadLater(DType, std::span<const std::int64_t>,
                                            std::span<const std::byte> bytes, PayloadDone &done) override
    {
        m_read.push_back(std::make_shared<std::atomic<bool>>(false));
        m_handed.push_back(bytes.data());
        done = m_read.back();
        return PayloadRecord();
    }
    void settlePayload(const PayloadDone &) override { readAll(); }
    Result<SourceRecord> writeSource(std::string_view, std::string_view) override { return SourceRecord(); }
    void markRunning(std::string_view, RecordId, RecordId) override {}
    std::uint64_t bytesWritten() const override { return 0; }
    Status close(const TraceInfo &) override { return Status::ok(); }

    void readAll()
    {
        for (const auto &read : m_read)
            read->store(true);
    }
    const std::vector<const std::byte *> &handed() const { return m_handed; }

private:
    std::vector<std::shared_ptr<std::atomic<bool>>> m_read;
    std::vector<const std::byte *> m_handed;
};

// A batch norm of one image, behind which rows are made of its pixels. The gradient comes turned, and is
// added to that of the other branch: in place it keeps its strides, as a fresh sum it has others, and
// PyTorch's kernel of the batch norm goes another way by them.
struct TurnedImage
{
    at::Tensor image = at::arange(4096.0f).view({1, 16, 16, 16}).sin().requires_grad_();

    at::Tensor loss() const
    {
        const at::Tensor normed =
            at::batch_norm(image, {}, {}, at::zeros(16), at::ones(16), false, 0.1, 1e-5, false);
        const at::Tensor scaled = (normed + normed.tanh()) * at::ones({1, 16, 1, 1});
        const at::Tensor rows = scaled.flatten(2).transpose(1, 2);
        return (rows * at::arange(4096.0f).view({1, 256, 16})).sum();
    }
};

} // namespace

class TestTensorSaver : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void memoryOfGradientsIsNotHeld_data()
    {
        QTest::addColumn<int>("role");
        QTest::addColumn<bool>("held");
        QTest::newRow("gradient") << int(TensorRole::gradient) << false;
        QTest::newRow("output") << int(TensorRole::output) << true;
        QTest::newRow("parameter") << int(TensorRole::parameter) << true;
    }
    void memoryOfGradientsIsNotHeld()
    {
        QFETCH(int, role);
        QFETCH(bool, held);
        SlowSink sink;
        TensorTracker tracker;
        {
            TensorSaver saver(sink, tracker, 1U << 20U);
            const auto read = qScopeGuard([&] { sink.readAll(); }); // what it waits for
            for (const bool channelsLast : {false, true}) {
                const at::Tensor tensor = at::ones({2, 3, 4, 5})
                                              .contiguous(channelsLast ? at::MemoryFormat::ChannelsLast
                                                                       : at::MemoryFormat::Contiguous);
                TensorRecord record;
                record.role = static_cast<TensorRole>(role);
                saver.describe(tensor, record);
                saver.measure(tensor, record);
                QVERIFY(saver.save(tensor, true, record));
                QCOMPARE(tensor.storage().use_count(), held ? 2 : 1);
                QCOMPARE(sink.handed().back() == static_cast<const std::byte *>(tensor.const_data_ptr()),
                         held);
                QCOMPARE(record.strides.empty(), !channelsLast);
            }
            QCOMPARE(sink.handed().size(), std::size_t(2));
        }
    }

    void watchedGradientsAreThoseOfTheEngine()
    {
        const TurnedImage plain;
        plain.loss().backward();
        SlowSink sink;
        const TurnedImage watched;
        {
            OpRecorder recorder(sink, RecorderOptions());
            const auto read = qScopeGuard([&] { sink.readAll(); });
            AutogradRecorder autograd(recorder, true);
            recorder.setGradListener(&autograd);
            at::Tensor loss;
            {
                const TapScope tapped(recorder);
                loss = watched.loss();
            }
            BackwardRequest request;
            request.rule = "output";
            const Status status = autograd.backward(request, {{"", loss}}, {{"x", watched.image}}, {});
            QVERIFY2(status, status.message().c_str());
            recorder.finish();
        }
        QVERIFY(sink.handed().size() > 5);
        QVERIFY(at::equal(watched.image.grad(), plain.image.grad()));
        QCOMPARE(watched.image.grad().strides().vec(), plain.image.grad().strides().vec());
    }

    void differencesOfGradientsAreCounted()
    {
        const auto gradients = [](float second) {
            return NamedTensors{{"a", at::ones({2})}, {"b", at::full({2}, second)}, {"c", at::Tensor()}};
        };
        UnwatchedRun plain;
        plain.gradients = gradients(2.0f);
        const Value equal = compareGradients(gradients(2.0f), plain);
        QCOMPARE(equal.at("gradients").toInt(), 2);
        QCOMPARE(equal.at("equal").toInt(), 2);
        QVERIFY(equal.at("differing").toList().empty());
        QVERIFY(equal.find("error") == nullptr);

        NamedTensors other = gradients(2.5f);
        other[2].second = at::ones({1});
        const Value different = compareGradients(other, plain);
        QCOMPARE(different.at("gradients").toInt(), 3);
        QCOMPARE(different.at("equal").toInt(), 1);
        const Value::List &found = different.at("differing").toList();
        QCOMPARE(found.size(), std::size_t(2));
        QCOMPARE(found[0].at("path").toString(), std::string("b"));
        QCOMPARE(found[0].at("max_difference").toDouble(), 0.5);
        QCOMPARE(found[1].at("path").toString(), std::string("c"));
        QVERIFY(found[1].at("max_difference").isNull());
    }

    void aPlainRunThatFailsIsTold()
    {
        UnwatchedRun plain;
        plain.forward = Status(ErrorCode::modelFailed, "no such thing");
        QCOMPARE(compareOutputs({{"", at::ones({1})}}, plain).at("error").toString(),
                 std::string("no such thing"));
        plain.forward = Status::ok();
        plain.backward = Status(ErrorCode::modelFailed, "no gradient");
        const Value told = compareGradients({{"a", at::ones({1})}}, plain);
        QCOMPARE(told.at("error").toString(), std::string("no gradient"));
        QCOMPARE(told.at("equal").toInt(), 0);
        QCOMPARE(told.at("gradients").toInt(), 1);
    }
};

QTEST_APPLESS_MAIN(TestTensorSaver)
#include "tst_tensor_saver.moc"
