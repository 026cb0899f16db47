// SPDX-License-Identifier: GPL-3.0-or-later
// Malformed and hostile files: each has the outcome that the corpus demands, nothing is executed, nothing is
// written, time and memory stay bounded.
#include "core/io/numpy_arrays.h"
#include "core/io/state_dict.h"
#include "core/io/trace_registry.h"
#include "core/trace/tensor_reader.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <ctime>
#include <sys/resource.h>

using namespace core;

namespace {

Value readJson(const QString &path)
{
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return {};
    const std::string text = file.readAll().toStdString();
    const auto value = parseJson(text, path.toStdString());
    return value ? *value : Value();
}

std::vector<std::string> outcomes(const LoadReport &report)
{
    std::vector<std::string> tokens;
    for (const LoadReport::Note &note : report.notes())
        tokens.push_back("opens_with_warning:" + note.token);
    if (tokens.empty())
        tokens.emplace_back("opens");
    return tokens;
}

std::vector<std::string> rejected(const Status &status)
{
    return {"rejected:" + status.detail()};
}

std::vector<std::string> outcomesOfCheckpoint(const std::string &path)
{
    const auto state = readStateDict(path, JobContext());
    return state ? outcomes(state->report) : rejected(state.error());
}

std::vector<std::string> outcomesOfArray(const std::string &path)
{
    const auto source = openFile(path);
    if (!source)
        return rejected(source.error());
    const auto array = readNpy(*source);
    return array ? std::vector<std::string>{"opens"} : rejected(array.error());
}

// Opens the trace and reads every payload, as a full check does.
std::vector<std::string> outcomesOfTrace(const std::string &path)
{
    const auto trace = openTrace(path, JobContext());
    if (!trace)
        return rejected(trace.error());
    auto tokens = outcomes((*trace)->loadReport());
    for (std::size_t i = 0; i < (*trace)->tensors().size(); ++i) {
        const auto reader = TensorReader::open(**trace, TensorId(i));
        if (!reader)
            continue;
        std::vector<std::byte> bytes(reader->elementCount() * reader->itemBytes());
        if (Status status = reader->read(0, bytes); !status)
            tokens.push_back("opens_with_warning:" + status.detail());
    }
    return tokens;
}

} // namespace

class TestBadFiles : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        m_folder.setPath(OPSCOPE_CORPUS_DIR "/bad");
        m_manifest = readJson(m_folder.filePath("MANIFEST.json"));
        QVERIFY(m_manifest.at("files").toObject().size() > 70);
    }

    void outcome_data()
    {
        QTest::addColumn<QString>("name");
        for (const auto &[name, entry] : m_manifest.at("files").toObject())
            if (isOurs(name))
                QTest::newRow(name.c_str()) << QString::fromStdString(name);
    }

    void outcome()
    {
        QFETCH(QString, name);
        const Value &entry = m_manifest.at("files").at(name.toStdString());
        const QString path = prepare(name, entry);
        const int before = filesIn(m_folder);
        const std::clock_t started = std::clock();
        std::vector<std::string> found;
        if (name.endsWith(".npy"))
            found = outcomesOfArray(path.toStdString());
        else if (name.endsWith(".tlspec"))
            found = outcomesOfTrace(path.toStdString());
        else
            found = outcomesOfCheckpoint(path.toStdString());
        QVERIFY(std::clock() - started < 5 * CLOCKS_PER_SEC); // processor time: other load does not count
        QCOMPARE(filesIn(m_folder), before);
        QVERIFY(!QFileInfo::exists("EXECUTED") && !QFileInfo::exists(m_folder.filePath("EXECUTED")));
        std::vector<std::string> accepted = {entry.at("outcome").toString()};
        for (const Value &also : entry.at("also_accept").toList())
            accepted.push_back(also.toString());
        bool matches = false;
        QString all;
        for (const std::string &token : found) {
            all += QString::fromStdString(token) + ' ';
            matches = matches || std::find(accepted.begin(), accepted.end(), token) != accepted.end();
        }
        QVERIFY2(matches, qPrintable(all + "instead of " + QString::fromStdString(accepted.front())));
        rusage usage = {};
        getrusage(RUSAGE_SELF, &usage);
        QVERIFY(usage.ru_maxrss < 512 * 1024);
    }

    void whatItLooksLikeIsSaid()
    {
        const auto picture = openTrace(m_folder.filePath("image_named.pt").toStdString(), JobContext());
        QVERIFY(!picture.isOk());
        QVERIFY(picture.error().message().find("PNG") != std::string::npos);
        const auto model =
            openTrace(QDir(OPSCOPE_CORPUS_DIR).filePath("models/mlp/model.pt2").toStdString(), JobContext());
        QVERIFY(!model.isOk());
        QCOMPARE(model.error().code(), ErrorCode::unknownFormat);
        QVERIFY(!model.error().remedy().empty());
    }

private:
    // Models, profiles and pictures have tests of their own beside their readers.
    static bool isOurs(const std::string &name)
    {
        for (const char *prefix : {"pt2_", "png_", "chrome_", "et_", "ts_"})
            if (name.starts_with(prefix))
                return false;
        return true;
    }

    static int filesIn(const QDir &folder)
    {
        return static_cast<int>(
            folder.entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot).size());
    }

    QString prepare(const QString &name, const Value &entry)
    {
        const QString path = m_folder.filePath(name);
        if (entry.at("make_directory").toBool()) {
            const QString made = m_copies.filePath(name);
            QDir().mkpath(made);
            return made;
        }
        const Value::List &link = entry.at("make_link").toList();
        if (link.size() != 2)
            return path;
        const QString copy = m_copies.filePath(name);
        std::filesystem::copy(path.toStdString(), copy.toStdString(),
                              std::filesystem::copy_options::recursive);
        std::filesystem::create_symlink(link[1].toString(), (copy.toStdString() + "/" + link[0].toString()));
        return copy;
    }

    QDir m_folder;
    QTemporaryDir m_copies;
    Value m_manifest;
};

QTEST_APPLESS_MAIN(TestBadFiles)
#include "tst_bad_files.moc"
