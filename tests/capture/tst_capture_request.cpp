// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture/capture_messages.h"
#include "core/capture/capture_request.h"
#include "core/ipc/frame.h"

#include "core/capture/capture_messages.h"

#include <QTest>

using namespace core;

class TestCaptureRequest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void readsSavePolicies()
    {
        const auto policy = parseSavePolicy("module:h.*.attn,op:softmax,max:2M");
        QVERIFY(policy.isOk());
        QCOMPARE(policy->mode, SavePolicy::Mode::chosen);
        QCOMPARE(policy->modules, std::vector<std::string>{"h.*.attn"});
        QCOMPARE(policy->maxBytesPerTensor, std::uint64_t(2) << 20);
        QCOMPARE(savePolicyText(*policy), std::string("module:h.*.attn,op:softmax,max:2097152"));
        const auto last = parseSavePolicy("op:softmax,max:2M,all");
        QVERIFY(last.isOk());
        QCOMPARE(savePolicyText(*last), std::string("all,max:2097152"));
        const auto refused = parseSavePolicy("all,most");
        QVERIFY(!refused.isOk());
        QVERIFY(refused.error().message().find("most") != std::string::npos);
    }

    // A result may be longer than one frame takes: it comes in parts and is whole again.
    void longOutcomesComeInParts()
    {
        CaptureOutcome outcome;
        outcome.status = TraceStatus::finished;
        outcome.summary = Value::object({{"text", std::string(std::size_t(40) << 20U, 'x')}});
        OutcomeParts parts;
        Result<CaptureOutcome> back = Status(ErrorCode::internal, "nothing came");
        int frames = 0;
        const Status sent =
            sendOutcome(outcome, [&](CaptureMessage type, std::span<const std::byte> payload) {
                ++frames;
                if (!encodeFrame(static_cast<std::uint16_t>(type), payload))
                    return Status(ErrorCode::limitExceeded, "a part is too long");
                if (type == CaptureMessage::outcomePart)
                    return parts.add(payload);
                back = parts.finish(payload);
                return back.status();
            });
        QVERIFY2(sent.isOk(), sent.message().c_str());
        QCOMPARE(frames, 6);
        QVERIFY(back->summary.at("text").toString() == outcome.summary.at("text").toString());
        outcome.summary = "short";
        frames = 0;
        QVERIFY(sendOutcome(outcome, [&](CaptureMessage, std::span<const std::byte>) {
                    ++frames;
                    return Status::ok();
                }).isOk());
        QCOMPARE(frames, 1);
    }

    void comesBackWhole()
    {
        CaptureRequest request;
        request.modelPath = "model.pt2";
        request.seed = 0xfedcba9876543210ULL;
        request.inputs = {{"x", "f32[2]=ones"}};
        request.backward = BackwardRequest{"sum", "", "", 2, 1024.0, {"x"}};
        const auto back = captureRequestFromValue(toValue(request));
        QVERIFY(back.isOk());
        QCOMPARE(toJson(toValue(*back)), toJson(toValue(request)));
        QCOMPARE(back->seed, request.seed);
    }

    void namesThatAreNoUtf8Arrive()
    {
        CaptureRequest request;
        request.modelPath = "caf\xe9/\xff\xfe.pt2";
        request.inputs = {{"", "\xc3.npy"}};
        request.inputsTree = "plain \xc3\xa9";
        const auto message = decodeJson(encodeJson(toValue(request)));
        QVERIFY(message.isOk());
        const auto back = captureRequestFromValue(*message);
        QVERIFY(back.isOk());
        QCOMPARE(back->modelPath, request.modelPath);
        QCOMPARE(back->inputs.at(0).text, request.inputs.at(0).text);
        QCOMPARE(back->inputsTree, request.inputsTree);
    }
};

QTEST_APPLESS_MAIN(TestCaptureRequest)
#include "tst_capture_request.moc"
