// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>
#include <QString>
#include <QStringList>
#include <QThreadPool>

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

namespace app {

// What a running job looks like from outside.
struct JobState
{
    QString key;
    QString title; // "Opening sample.opscope"
    core::Progress progress;
    qint64 elapsedMs = 0;
};

// Runs long work in a thread pool and brings its value back to the GUI thread. Owned by the session; all
// functions are called on the GUI thread. A newer job with a key replaces the older one: that is asked to
// stop and its value is dropped. A value is also dropped when the context object died.
class JobRunner : public QObject
{
    Q_OBJECT

public:
    explicit JobRunner(QObject *parent = nullptr);
    // Asks every job to stop and waits for them: the process is ending and their data must outlive them.
    ~JobRunner() override;

    // WORK runs in the pool and returns a core value; DONE gets it on the GUI thread.
    template <class Work, class Done>
    void start(const QString &key, const QString &title, QObject *context, Work work, Done done);

    // Asks the job to stop and drops its value.
    void cancel(const QString &key);
    // Asks the job to stop; what it has by then is delivered.
    void requestStop(const QString &key);
    bool isRunning(const QString &key) const { return m_running.count(key) != 0; }
    // Running jobs, oldest first.
    std::vector<JobState> jobs() const;

Q_SIGNALS:
    // A job started, ended, or made progress (at most every 100 ms a job).
    void jobsChanged();
    // What a job said beside its value, when it ended; also of one whose value is dropped.
    void warned(const QString &title, const QStringList &warnings);

private:
    struct Running
    {
        quint64 generation = 0;
        std::stop_source stop;
        QString title;
        core::Progress progress;
        QElapsedTimer since;
    };
    using Deliver = std::function<void()>;
    // Runs on the pool and returns what has to be done on the GUI thread.
    using Job = std::function<Deliver(core::JobContext &)>;

    void run(const QString &key, const QString &title, QObject *context, Job job);
    void finish(const QString &key, quint64 generation, bool deliver, const Deliver &action);
    void progressed(const QString &key, quint64 generation, const core::Progress &progress);
    core::JobContext::ProgressSink progressSink(const QString &key, quint64 generation);

    QThreadPool m_pool;
    std::map<QString, Running> m_running;
    quint64 m_generation = 0;
};

template <class Work, class Done>
void JobRunner::start(const QString &key, const QString &title, QObject *context, Work work, Done done)
{
    run(key, title, context,
        [work = std::move(work), done = std::move(done)](core::JobContext &job) mutable -> Deliver {
            using Value = decltype(work(job));
            auto value = std::make_shared<Value>(work(job));
            return [value, done]() mutable { done(std::move(*value)); };
        });
}

} // namespace app
