// SPDX-License-Identifier: GPL-3.0-or-later
// The groups of the system as files in a folder: a container's limit, and what was ended for it.
#include "core/capture/memory_group.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QtTest>

using core::MemoryGroup;

class TestMemoryGroup : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init()
    {
        m_root = std::make_unique<QTemporaryDir>();
        QVERIFY(m_root->isValid());
    }

    void theTightestGroupCounts()
    {
        write("self", "0::/slice/run.scope\n");
        write("slice/memory.max", "1000\n");
        write("slice/memory.current", "900\n");
        write("slice/memory.stat", "anon 100\ninactive_file 700\nactive_file 20\n");
        write("slice/memory.events", "low 0\nhigh 0\nmax 9\noom 2\noom_kill 5\n");
        write("slice/run.scope/memory.max", "max\n");
        write("slice/run.scope/memory.current", "300\n");
        write("slice/run.scope/memory.events", "low 0\nmax 0\noom 0\noom_kill 1\noom_group_kill 7\n");
        const MemoryGroup group = read();
        QCOMPARE(group.limit, std::uint64_t(1000));
        QCOMPARE(group.left, std::uint64_t(800)); // what is kept of files can be taken back
        QCOMPARE(group.kills.value_or(99), std::uint64_t(1));
        QCOMPARE(group.reached, std::uint64_t(2));
        write("slice/run.scope/memory.max", "350\n");
        QCOMPARE(read().limit, std::uint64_t(350));
        QCOMPARE(read().left, std::uint64_t(50));
    }

    void theFirstVersionIsRead()
    {
        write("self", "9:name=systemd:/\n4:cpu,memory:/job\n0::/\n");
        write("memory/job/memory.limit_in_bytes", "5000\n");
        write("memory/job/memory.usage_in_bytes", "6000\n");
        write("memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 500\n");
        write("memory/job/memory.failcnt", "3\n");
        write("memory/job/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
        write("memory/memory.limit_in_bytes", "9223372036854771712\n");
        write("memory/memory.usage_in_bytes", "70\n");
        write("memory/memory.failcnt", "0\n");
        const MemoryGroup group = read();
        QCOMPARE(group.limit, std::uint64_t(5000));
        QCOMPARE(group.left, std::uint64_t(0));
        QCOMPARE(group.kills.value_or(99), std::uint64_t(4));
        QCOMPARE(group.reached, std::uint64_t(3));
    }

    // Inside a container the way starts outside of what is seen there.
    void aContainerSeesItsOwnTop()
    {
        write("self", "0::/docker/0123\n");
        write("memory.max", "4096\n");
        write("memory.current", "96\n");
        write("memory.events", "oom 0\noom_kill 0\n");
        QCOMPARE(read().left, std::uint64_t(4000));
        QCOMPARE(read().kills.value_or(99), std::uint64_t(0));
    }

    void noGroupIsNoLimit()
    {
        QCOMPARE(read().limit, std::uint64_t(0));
        QVERIFY(!read().kills);
        write("self", "0::/\n");
        QCOMPARE(read().limit, std::uint64_t(0));
        QVERIFY(!read().kills);
    }

private:
    MemoryGroup read() const
    {
        return MemoryGroup::read(m_root->filePath("self").toStdString(), m_root->path().toStdString());
    }
    void write(const QString &name, const char *text) const
    {
        const QString path = m_root->filePath(name);
        QVERIFY(QDir().mkpath(QFileInfo(path).path()));
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    }

    std::unique_ptr<QTemporaryDir> m_root;
};

QTEST_APPLESS_MAIN(TestMemoryGroup)
#include "tst_memory_group.moc"
