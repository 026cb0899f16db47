// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture/input_preparation.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using core::CaptureRequest;

namespace {

// A sound of eight samples: PCM of 16 bits, one channel.
QByteArray wav()
{
    const auto number = [](quint32 value, int bytes) {
        QByteArray out;
        for (int i = 0; i < bytes; ++i)
            out.append(static_cast<char>((value >> (8 * i)) & 0xff));
        return out;
    };
    return QByteArray("RIFF") + number(36 + 16, 4) + "WAVEfmt " + number(16, 4) + number(1, 2) +
           number(1, 2) + number(8000, 4) + number(16000, 4) + number(2, 2) + number(16, 2) + "data" +
           number(16, 4) + QByteArray(16, '\1');
}

void write(const QString &path, const QByteArray &bytes)
{
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(bytes);
}

core::Result<core::ImagePixels> greyImage(const std::string &, const core::ImageSpec &spec)
{
    const auto side = spec.cropWidth;
    return core::ImagePixels{side, side,
                             std::vector<std::uint8_t>(static_cast<std::size_t>(side * side * 3), 128)};
}

} // namespace

// Images and sounds become arrays for one run, and a recorded request leads back to them.
class TestInputPreparation : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aRecordedRequestIsAskedAgainAsItWasGiven()
    {
        QTemporaryDir folder;
        const std::string image = folder.filePath("cat.png").toStdString();
        const std::string sound = folder.filePath("hum.wav").toStdString();
        write(folder.filePath("hum.wav"), wav());
        CaptureRequest asked;
        asked.modelPath = "net.pt2";
        asked.inputs = {
            {"x", image + "?crop=8&norm=none"}, {"y", sound + "?channels=1&length=4"}, {"z", "f32[2]"}};
        CaptureRequest recorded;
        {
            const auto prepared = core::PreparedInputs::make(asked, greyImage);
            QVERIFY2(prepared.isOk(), prepared.isOk() ? "" : prepared.error().message().c_str());
            recorded = prepared->request();
        }
        QVERIFY(recorded.inputs[0].text != asked.inputs[0].text);
        QVERIFY(!QFile::exists(QString::fromStdString(recorded.inputs[0].text))); // its folder is gone
        const CaptureRequest again = core::requestAsGiven(recorded);
        QVERIFY2(again.inputs[0].text.starts_with(image + "?"), again.inputs[0].text.c_str());
        QVERIFY2(again.inputs[0].text.find("crop=8") != std::string::npos, again.inputs[0].text.c_str());
        QCOMPARE(again.inputs[1].text, sound + "?channels=1&length=4");
        QCOMPARE(again.inputs[2].text, std::string("f32[2]"));
        QCOMPARE(again.inputs[0].name, std::string("x"));
        QVERIFY(again.preparedInputs.toList().empty());
        // It can be prepared again, to the same.
        const auto twice = core::PreparedInputs::make(again, greyImage);
        QVERIFY2(twice.isOk(), twice.isOk() ? "" : twice.error().message().c_str());
        for (std::size_t i = 0; i < 2; ++i)
            QCOMPARE(core::toJson(twice->request().preparedInputs.toList()[i].at("how")),
                     core::toJson(recorded.preparedInputs.toList()[i].at("how")));
    }

    // A file that was cut off is told from one that was written to a pipe, whose length nobody knew.
    void aSoundThatWasCutOffIsRefused()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath("hum.wav");
        const auto prepare = [&path](const QByteArray &bytes) {
            write(path, bytes);
            CaptureRequest asked;
            asked.modelPath = "net.pt2";
            asked.inputs = {{"y", path.toStdString()}};
            return core::PreparedInputs::make(asked, greyImage);
        };
        const auto cut = prepare(wav().chopped(5));
        QVERIFY(!cut.isOk());
        QVERIFY2(cut.error().message().find("the data chunk has 16 bytes, 11 of them are in the file") !=
                     std::string::npos,
                 cut.error().message().c_str());
        QByteArray piped = wav();
        piped.replace(40, 4, QByteArray("\xff\xff\xff\xff"));
        const auto whole = prepare(piped);
        QVERIFY2(whole.isOk(), whole.isOk() ? "" : whole.error().message().c_str());
    }

    void aTreeComesBackToo()
    {
        QTemporaryDir folder;
        write(folder.filePath("hum.wav"), wav());
        write(folder.filePath("inputs.json"), "{\"args\": [{\"audio\": \"hum.wav\"}]}");
        CaptureRequest asked;
        asked.modelPath = "net.pt2";
        asked.inputsTree = folder.filePath("inputs.json").toStdString();
        const auto prepared = core::PreparedInputs::make(asked, greyImage);
        QVERIFY2(prepared.isOk(), prepared.isOk() ? "" : prepared.error().message().c_str());
        QVERIFY(prepared->request().inputsTree != asked.inputsTree);
        QCOMPARE(core::requestAsGiven(prepared->request()).inputsTree, asked.inputsTree);
    }
};

QTEST_APPLESS_MAIN(TestInputPreparation)
#include "tst_input_preparation.moc"
