// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture/capture_client.h"
#include "core/capture/capture_request.h"

#include <QElapsedTimer>
#include <QObject>

#include <atomic>
#include <memory>

namespace app {

class JobRunner;

// Detail of the status of a run whose trace is not wanted.
inline constexpr std::string_view kDiscarded = "discarded";

// Runs one model at a time in capture_worker and tells how far it is. The run is a job: the window stays
// usable, a crash of the model ends the worker and leaves a trace. Owned by the session, GUI thread.
class CaptureService : public QObject
{
    Q_OBJECT

public:
    explicit CaptureService(JobRunner &jobs, QObject *parent = nullptr);

    bool isRunning() const;
    const core::CaptureRequest &request() const { return m_request; }
    const core::CaptureProgress &progress() const { return m_progress; }
    // Stop was pressed: the run ends at its next op, or is ended soon.
    bool isStopping() const { return m_isStopping; }
    qint64 elapsedMs() const { return m_since.isValid() ? m_since.elapsed() : 0; }

    // A run that is going on is discarded first.
    void start(const core::CaptureRequest &request);
    // Ends the run at the next op; the trace up to there is opened.
    void stopAndKeep();
    // Ends the run and removes its file.
    void discard();

Q_SIGNALS:
    void started();
    void progressed();
    // TRACE PATH is empty when the run left no trace; STATUS says why then.
    void finished(const QString &tracePath, const core::Status &status);
    // The answer of a task that gives one; before finished().
    void answered(const QString &task, const core::Value &report);

private:
    struct Answer
    {
        core::Status status;
        bool hasTrace = false;
        core::Value report; // of a live helper
    };

    void ended(const Answer &answer);

    JobRunner &m_jobs;
    core::CaptureRequest m_request;
    core::CaptureProgress m_progress;
    QElapsedTimer m_since;
    quint64 m_run = 0;
    bool m_isStopping = false;
    std::shared_ptr<std::atomic<bool>> m_discarded; // shared with the job of the run
};

} // namespace app
