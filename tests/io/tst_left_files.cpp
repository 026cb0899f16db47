// SPDX-License-Identifier: GPL-3.0-or-later
// What programs that were killed leave behind goes with the next one, and nothing else does.
#include "core/io/draft_file.h"
#include "core/io/work_folder.h"
#include "core/io/zip_writer.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace core;

namespace {

// The id of a process that is gone, after it did WORK and was killed.
template <typename Work>
pid_t killed(Work work)
{
    const pid_t child = fork();
    if (child == 0) {
        work();
        raise(SIGKILL);
    }
    int state = 0;
    waitpid(child, &state, 0);
    return child;
}

bool makeOld(const QString &path)
{
    const timespec times[2] = {{1000000000, 0}, {1000000000, 0}};
    return utimensat(AT_FDCWD, qPrintable(path), times, 0) == 0;
}

} // namespace

class TestLeftFiles : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        QVERIFY(m_folder->isValid());
    }

    void aDraftGoesWithTheNextOfItsFile()
    {
        const std::filesystem::path target = path("run.svg").toStdString();
        const pid_t gone = killed([&] {
            auto draft = DraftFile::create(target);
            (void)(*draft)->write("half");
            raise(SIGKILL);
        });
        const QString left = "run.svg." + QString::number(gone) + "-0.part";
        QVERIFY(QFile::exists(path(left)));
        const QString database = "run.svg." + QString::number(gone) + "-1.part-journal";
        const QString others = "other.svg." + QString::number(gone) + "-0.part";
        // Of a process that had the number this one has now.
        const QString sameNumber = "run.svg." + QString::number(getpid()) + "-7.part";
        const QString named = "run.svg.backup.part";
        const auto used = DraftName::take(target);
        QVERIFY(used.isOk());
        const QString alive = QString::fromStdString(used->draft().filename().string());
        const QString beside = alive + "-journal";
        for (const QString &name : {database, others, sameNumber, beside, named})
            QVERIFY(write(name));
        for (const QString &name : {left, database, others, alive, sameNumber, beside, named})
            QVERIFY(makeOld(path(name)));
        auto draft = DraftFile::create(target);
        QVERIFY(draft.isOk());
        QVERIFY((*draft)->write("whole").isOk());
        QVERIFY((*draft)->commit().isOk());
        QStringList kept = {others, alive, beside, named, "run.svg"};
        kept.sort();
        QCOMPARE(files(), kept);
    }

    // The writer of an archive locks its file itself; a whole file is nobody's.
    void anArchiveKeepsItsDraft()
    {
        const std::filesystem::path target = path("run.opscope").toStdString();
        auto draft = DraftName::take(target);
        QVERIFY(draft.isOk());
        draft->handOverLock();
        auto writer = ZipWriter::create(draft->draft());
        QVERIFY(writer.isOk());
        QVERIFY(makeOld(QString::fromStdString(draft->draft().string())));
        QVERIFY(DraftName::take(target).isOk());
        QCOMPARE(files().size(), 1);
        QVERIFY((*writer)->close().isOk());
        QVERIFY(draft->commit().isOk());
        QVERIFY(ZipWriter::create(target).isOk());
        auto whole = DraftFile::create(target);
        QVERIFY((*whole)->commit().isOk());
        QVERIFY(ZipWriter::create(target).isOk());
        QCOMPARE(files(), QStringList{"run.opscope"});
    }

    void aDraftOfThisMomentStays()
    {
        const std::filesystem::path target = path("run.svg").toStdString();
        const pid_t gone = killed([] {});
        QVERIFY(write("run.svg." + QString::number(gone) + "-0.part"));
        QVERIFY(DraftName::take(target).isOk());
        QCOMPARE(files().size(), 1);
    }

    void aFolderGoesWithTheNext()
    {
        const QByteArray before = qgetenv("TMPDIR");
        qputenv("TMPDIR", m_folder->path().toUtf8());
        killed([] {
            auto folder = WorkFolder::make("run");
            auto used = std::move(*folder); // locked until the end
            QFile file(QString::fromStdString((used.path() / "run.opscope").string()));
            if (file.open(QIODevice::WriteOnly))
                file.write("half");
            file.close();
            raise(SIGKILL);
        });
        QCOMPARE(folders().size(), 1);
        QVERIFY(makeOld(path(folders().first())));
        {
            const auto mine = WorkFolder::make("run");
            QVERIFY(mine.isOk());
            QCOMPARE(folders().size(), 1);
            QVERIFY(makeOld(QString::fromStdString(mine->path().string())));
            const auto second = WorkFolder::make("run");
            QVERIFY(second.isOk());
            QCOMPARE(folders().size(), 2); // one in use is left alone
        }
        QCOMPARE(folders().size(), 0);
        qputenv("TMPDIR", before);
    }

private:
    QString path(const QString &name) const { return m_folder->filePath(name); }
    bool write(const QString &name) const
    {
        QFile file(path(name));
        return file.open(QIODevice::WriteOnly);
    }
    QStringList files() const
    {
        QStringList names = QDir(m_folder->path()).entryList(QDir::Files | QDir::Hidden);
        names.sort();
        return names;
    }
    QStringList folders() const
    {
        return QDir(m_folder->path()).entryList(QDir::Dirs | QDir::NoDotAndDotDot | QDir::Hidden);
    }

    std::unique_ptr<QTemporaryDir> m_folder;
};

QTEST_APPLESS_MAIN(TestLeftFiles)
#include "tst_left_files.moc"
