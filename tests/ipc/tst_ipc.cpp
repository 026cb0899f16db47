// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/ipc/worker.h"

#include <QtTest>

#include <random>
#include <unistd.h>

using namespace core;

namespace {

std::vector<std::byte> bytesOf(std::string_view text)
{
    const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
    return {bytes.begin(), bytes.end()};
}

// A pipe whose ends close with it.
struct Pipe
{
    Pipe() { valid = ::pipe(ends) == 0; }
    ~Pipe()
    {
        closeRead();
        closeWrite();
    }
    void closeRead() { closeEnd(0); }
    void closeWrite() { closeEnd(1); }
    void closeEnd(int index)
    {
        if (ends[index] >= 0)
            ::close(ends[index]);
        ends[index] = -1;
    }
    int ends[2] = {-1, -1};
    bool valid = false;
};

} // namespace

class TestIpc : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void messagesReadBack();
    void everyTruncationOfAMessageIsRefused();
    void parserTakesAnyPortions();
    void parserRefusesLongFrames();
    void randomBytesNeverCrash();
    void descriptorFrames();
    void inputCutShort();
    void workerTalks();
    void workerRefusesAnotherBuild();
    void endOfInputStops();
    void workerEndsWithInputOpen();
};

void TestIpc::messagesReadBack()
{
    const HelloMessage hello = HelloMessage::ofThisBuild("layout_worker");
    QCOMPARE(hello.protocol, kProtocolVersion);
    QVERIFY(hello.buildId.starts_with("opscope "));
    const Result<HelloMessage> helloBack = HelloMessage::decode(hello.encode());
    QVERIFY(helloBack.isOk());
    QVERIFY(*helloBack == hello);
    const HeartbeatMessage beat{7, std::uint64_t(5) << 30};
    QVERIFY(*HeartbeatMessage::decode(beat.encode()) == beat);
    const Result<Progress> progress = decodeProgress(encodeProgress({"running ops", 3, 10}));
    QVERIFY(progress.isOk());
    QCOMPARE(progress->stage, std::string("running ops"));
    QCOMPARE(progress->done, std::uint64_t(3));
    QCOMPARE(progress->total, std::uint64_t(10));
    QVERIFY(*DoneMessage::decode(DoneMessage{"{\"ops\":3}"}.encode()) == DoneMessage{"{\"ops\":3}"});
    QVERIFY(*WarningMessage::decode(WarningMessage{"cut"}.encode()) == WarningMessage{"cut"});
    Status failed;
    const Status sent =
        Status(ErrorCode::modelFailed, "conv2d: signal 11").withDetail("sig").withRemedy("less");
    QVERIFY(decodeFailed(encodeFailed(sent), failed).isOk());
    QVERIFY(failed.code() == ErrorCode::modelFailed);
    QCOMPARE(failed.message(), sent.message());
    QCOMPARE(failed.detail(), sent.detail());
    QCOMPARE(failed.remedy(), sent.remedy());
}

void TestIpc::everyTruncationOfAMessageIsRefused()
{
    const std::vector<std::byte> whole = HelloMessage::ofThisBuild("capture_worker").encode();
    for (std::size_t length = 0; length < whole.size(); ++length) {
        const Result<HelloMessage> hello = HelloMessage::decode(std::span(whole).first(length));
        QVERIFY(!hello.isOk());
        QVERIFY(hello.error().code() == ErrorCode::protocol);
    }
    std::vector<std::byte> longer = whole;
    longer.push_back(std::byte(0));
    QCOMPARE(HelloMessage::decode(longer).error().message(),
             "hello: 1 bytes left over of " + std::to_string(longer.size()));
}

void TestIpc::parserTakesAnyPortions()
{
    std::vector<std::byte> stream;
    std::vector<Frame> sent;
    for (std::uint16_t i = 0; i < 50; ++i) {
        sent.push_back({static_cast<std::uint16_t>(i * 300), bytesOf(std::string(i * 7, 'x'))});
        const auto encoded = encodeFrame(sent.back().type, sent.back().payload);
        stream.insert(stream.end(), encoded->begin(), encoded->end());
    }
    for (const std::size_t portion : {std::size_t(1), std::size_t(5), std::size_t(64), stream.size()}) {
        FrameParser parser;
        std::vector<Frame> got;
        for (std::size_t at = 0; at < stream.size(); at += portion) {
            parser.feed(std::span(stream).subspan(at, std::min(portion, stream.size() - at)));
            for (auto frame = parser.next(); frame.isOk() && frame->has_value(); frame = parser.next())
                got.push_back(**frame);
        }
        QVERIFY(got == sent);
        QCOMPARE(parser.buffered(), std::size_t(0));
    }
}

void TestIpc::parserRefusesLongFrames()
{
    const std::vector<std::byte> header = {std::byte(1), std::byte(0), std::byte(0),
                                           std::byte(1), std::byte(0), std::byte(0)};
    FrameParser parser;
    parser.feed(header);
    const auto frame = parser.next();
    QVERIFY(!frame.isOk());
    QCOMPARE(frame.error().message(), std::string("frame: announces 16777217 bytes, the limit is 16777216"));
    QVERIFY(!parser.next().isOk());
    const std::vector<std::byte> huge(kMaximumFramePayload + 1);
    QVERIFY(encodeFrame(1, huge).error().code() == ErrorCode::limitExceeded);
}

void TestIpc::randomBytesNeverCrash()
{
    std::mt19937 random(7);
    int decoded = 0;
    for (int round = 0; round < 20000; ++round) {
        std::vector<std::byte> bytes(random() % 40);
        for (std::byte &byte : bytes)
            byte = static_cast<std::byte>(random() % 4 == 0 ? random() : random() % 6);
        Status failed;
        decoded += HelloMessage::decode(bytes).isOk() + decodeProgress(bytes).isOk() +
                   HeartbeatMessage::decode(bytes).isOk() + decodeFailed(bytes, failed).isOk();
        FrameParser parser;
        parser.feed(bytes);
        decoded += parser.next().isOk();
    }
    QVERIFY(decoded > 0);
}

void TestIpc::descriptorFrames()
{
    Pipe pipe;
    QVERIFY(pipe.valid);
    QVERIFY(writeFrame(pipe.ends[1], 3, bytesOf("abc")).isOk());
    QVERIFY(writeFrame(pipe.ends[1], 4, {}).isOk());
    pipe.closeWrite();
    QVERIFY(**readFrame(pipe.ends[0]) == (Frame{3, bytesOf("abc")}));
    QVERIFY(**readFrame(pipe.ends[0]) == (Frame{4, {}}));
    const auto end = readFrame(pipe.ends[0]);
    QVERIFY(end.isOk());
    QVERIFY(!end->has_value());
}

void TestIpc::inputCutShort()
{
    const auto whole = *encodeFrame(9, bytesOf("abcdef"));
    for (std::size_t length = 1; length < whole.size(); ++length) {
        Pipe pipe;
        QCOMPARE(::write(pipe.ends[1], whole.data(), length), static_cast<ssize_t>(length));
        pipe.closeWrite();
        const auto frame = readFrame(pipe.ends[0]);
        QVERIFY(!frame.isOk());
        QVERIFY(frame.error().code() == ErrorCode::protocol);
    }
}

void TestIpc::workerTalks()
{
    Pipe toWorker;
    Pipe fromWorker;
    Worker worker(toWorker.ends[0], fromWorker.ends[1], "test_worker");
    const HelloMessage hello = HelloMessage::ofThisBuild("test");
    QVERIFY(writeFrame(toWorker.ends[1], 1, hello.encode()).isOk());
    QVERIFY(worker.start().isOk());
    const auto first = readFrame(fromWorker.ends[0]);
    QCOMPARE((*first)->type, std::uint16_t(MessageType::hello));
    QCOMPARE(HelloMessage::decode((*first)->payload)->program, std::string("test_worker"));
    const auto second = readFrame(fromWorker.ends[0]);
    QCOMPARE((*second)->type, std::uint16_t(MessageType::heartbeat));
    const auto beat = HeartbeatMessage::decode((*second)->payload);
    QVERIFY(beat.isOk());
    QVERIFY(beat->residentBytes > 0);
    QVERIFY(writeFrame(toWorker.ends[1], 0x100, bytesOf("work")).isOk());
    QVERIFY(**worker.next() == (Frame{0x100, bytesOf("work")}));
    QVERIFY(!worker.stopToken().stop_requested());
    toWorker.closeWrite();
    QVERIFY(!worker.next()->has_value());
    QVERIFY(worker.stopToken().stop_requested());
}

void TestIpc::workerRefusesAnotherBuild()
{
    Pipe toWorker;
    Pipe fromWorker;
    Worker worker(toWorker.ends[0], fromWorker.ends[1], "test_worker");
    HelloMessage hello = HelloMessage::ofThisBuild("opscope");
    hello.protocol = 99;
    QVERIFY(writeFrame(toWorker.ends[1], 1, hello.encode()).isOk());
    const Status status = worker.start();
    QCOMPARE(status.message(), std::string("opscope: speaks protocol 99, test_worker speaks 1"));
    QVERIFY(readFrame(fromWorker.ends[0]).isOk());
    Status told;
    QVERIFY(decodeFailed((*readFrame(fromWorker.ends[0]))->payload, told).isOk());
    QCOMPARE(told.message(), status.message());
}

void TestIpc::endOfInputStops()
{
    Pipe toWorker;
    Pipe fromWorker;
    Worker worker(toWorker.ends[0], fromWorker.ends[1], "test_worker");
    QVERIFY(writeFrame(toWorker.ends[1], 1, HelloMessage::ofThisBuild("opscope").encode()).isOk());
    QVERIFY(worker.start().isOk());
    toWorker.closeWrite();
    QTRY_VERIFY(worker.stopToken().stop_requested());
}

void TestIpc::workerEndsWithInputOpen()
{
    Pipe toWorker;
    Pipe fromWorker;
    QVERIFY(writeFrame(toWorker.ends[1], 1, HelloMessage::ofThisBuild("opscope").encode()).isOk());
    {
        Worker worker(toWorker.ends[0], fromWorker.ends[1], "test_worker");
        QVERIFY(worker.start().isOk());
    }
    QVERIFY(toWorker.ends[1] >= 0);
}

QTEST_APPLESS_MAIN(TestIpc)
#include "tst_ipc.moc"
