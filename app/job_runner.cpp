// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/job_runner.h"

#include <QMetaObject>

#include <algorithm>
#include <chrono>
#include <thread>

namespace app {

namespace {

constexpr std::chrono::milliseconds kProgressInterval{100};

} // namespace

JobRunner::JobRunner(QObject *parent) : QObject(parent)
{
    m_pool.setMaxThreadCount(std::max(2, static_cast<int>(std::thread::hardware_concurrency())));
}

JobRunner::~JobRunner()
{
    for (auto &[key, running] : m_running)
        running.stop.request_stop();
    // QThreadPool's own destructor waits for the jobs.
}

core::JobContext::ProgressSink JobRunner::progressSink(const QString &key, quint64 generation)
{
    // The sink is called under the context's lock, so the time of the last report needs none of its own.
    auto last = std::make_shared<std::chrono::steady_clock::time_point>();
    return [this, key, generation, last](const core::Progress &progress) {
        const auto now = std::chrono::steady_clock::now();
        if (now - *last < kProgressInterval)
            return;
        *last = now;
        QMetaObject::invokeMethod(
            this, [this, key, generation, progress] { progressed(key, generation, progress); },
            Qt::QueuedConnection);
    };
}

void JobRunner::run(const QString &key, const QString &title, QObject *context, Job job)
{
    cancel(key);
    Running running;
    running.generation = ++m_generation;
    running.title = title;
    running.since.start();
    const quint64 generation = running.generation;
    const std::stop_token token = running.stop.get_token();
    m_running[key] = std::move(running);
    auto sink = progressSink(key, generation);
    const QPointer<QObject> guard(context);
    const bool guarded = context != nullptr;
    m_pool.start([this, key, title, generation, token, sink, guard, guarded, job = std::move(job)] {
        core::JobContext jobContext(token, sink, std::max(1U, std::thread::hardware_concurrency()));
        Deliver action = job(jobContext);
        QStringList warnings;
        for (const std::string &warning : jobContext.takeWarnings())
            warnings.push_back(QString::fromStdString(warning));
        QMetaObject::invokeMethod(
            this,
            [this, key, title, generation, guard, guarded, warnings, action = std::move(action)] {
                if (!warnings.isEmpty())
                    Q_EMIT warned(title, warnings);
                finish(key, generation, !guarded || !guard.isNull(), action);
            },
            Qt::QueuedConnection);
    });
    Q_EMIT jobsChanged();
}

void JobRunner::finish(const QString &key, quint64 generation, bool deliver, const Deliver &action)
{
    const auto found = m_running.find(key);
    if (found == m_running.end() || found->second.generation != generation)
        return;
    m_running.erase(found);
    if (deliver)
        action();
    Q_EMIT jobsChanged();
}

void JobRunner::progressed(const QString &key, quint64 generation, const core::Progress &progress)
{
    const auto found = m_running.find(key);
    if (found == m_running.end() || found->second.generation != generation)
        return;
    found->second.progress = progress;
    Q_EMIT jobsChanged();
}

void JobRunner::cancel(const QString &key)
{
    const auto found = m_running.find(key);
    if (found == m_running.end())
        return;
    found->second.stop.request_stop();
    m_running.erase(found);
    Q_EMIT jobsChanged();
}

void JobRunner::requestStop(const QString &key)
{
    const auto found = m_running.find(key);
    if (found != m_running.end())
        found->second.stop.request_stop();
}

std::vector<JobState> JobRunner::jobs() const
{
    std::vector<std::pair<quint64, JobState>> ordered;
    for (const auto &[key, running] : m_running)
        ordered.push_back(
            {running.generation, {key, running.title, running.progress, running.since.elapsed()}});
    std::sort(ordered.begin(), ordered.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
    std::vector<JobState> result;
    for (auto &[generation, state] : ordered)
        result.push_back(std::move(state));
    return result;
}

} // namespace app
