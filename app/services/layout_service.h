// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/job_runner.h"
#include "core/ipc/frame.h"
#include "core/layout/layout_types.h"

#include <QElapsedTimer>
#include <QObject>
#include <QProcess>
#include <QTimer>

#include <memory>
#include <optional>

namespace app {

// Places graphs with layout_worker: a process of its own, started at the first request and kept, killed when
// it is late (10 s), silent (no heartbeat for 5 s) or not wanted any more. Every request is answered once
// with finished(): by the worker, or, when that died, was late or was cancelled, by the layered layout of our
// own in the job pool, marked as simplified and with the reason. A newer request replaces an older one. Owned
// by the session; GUI thread.
class LayoutService : public QObject
{
    Q_OBJECT

public:
    // PROGRAM is the path of layout_worker; JOB KEY names the jobs of this service among those of others.
    LayoutService(JobRunner &jobs, const QString &program, QObject *parent = nullptr,
                  const QString &jobKey = QStringLiteral("layout"));
    ~LayoutService() override;

    // For tests: how long a request may take and a worker be silent.
    void setLimits(int requestMs, int silenceMs);
    // Starts the worker before the first request comes.
    void warmUp();
    bool isBusy() const { return m_waiting.has_value(); }

public Q_SLOTS:
    void request(const core::LayoutRequest &request);
    // The waiting request gets the simplified layout now.
    void cancel();

Q_SIGNALS:
    void finished(const core::LayoutResult &result);
    // The request with this ID gets no layout at all: not even the simplified one was made.
    void failed(std::uint64_t id, const QString &reason);

private:
    void startWorker();
    void stopWorker();
    void sendRequest();
    void readOutput();
    void handle(const core::Frame &frame);
    void greet(const core::Frame &frame);
    void workerEnded();
    void checkTime();
    void fallBack(const QString &reason);
    void send(std::uint16_t type, const std::vector<std::byte> &payload);
    void answer(core::LayoutResult result);

    JobRunner &m_jobs;
    QString m_program;
    QString m_jobKey;
    std::unique_ptr<QProcess> m_process;
    core::FrameParser m_parser;
    bool m_greeted = false;
    std::optional<core::LayoutRequest> m_waiting;
    bool m_sent = false;
    int m_requestMs = 10000;
    int m_silenceMs = 5000;
    QElapsedTimer m_since;
    QElapsedTimer m_heard;
    QTimer m_clock;
};

} // namespace app
