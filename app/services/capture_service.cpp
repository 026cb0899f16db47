// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/capture_service.h"

#include "app/installation/image_decoder.h"
#include "app/job_runner.h"
#include "views/base/formatting.h"

#include <QFile>
#include <QFileInfo>
#include <QPointer>

namespace app {

namespace {

const QString kJob = QStringLiteral("capture");

QString pathOf(const std::string &path)
{
    return QFile::decodeName(QByteArray::fromStdString(path));
}

} // namespace

CaptureService::CaptureService(JobRunner &jobs, QObject *parent) : QObject(parent), m_jobs(jobs) {}

bool CaptureService::isRunning() const
{
    return m_jobs.isRunning(kJob);
}

void CaptureService::start(const core::CaptureRequest &request)
{
    if (isRunning())
        discard();
    m_request = request;
    m_progress = {};
    m_isStopping = false;
    m_since.start();
    const quint64 run = ++m_run;
    m_discarded = std::make_shared<std::atomic<bool>>(false);
    const QPointer<CaptureService> self(this);
    // The worker's progress comes on the job's thread, where this object may be gone: it is posted to the
    // runner of the jobs, which outlives them, and looked at on the GUI thread.
    const auto report = [self, run, jobs = &m_jobs](const core::CaptureProgress &progress) {
        QMetaObject::invokeMethod(
            jobs,
            [self, run, progress] {
                if (self.isNull() || run != self->m_run)
                    return;
                self->m_progress = progress;
                Q_EMIT self->progressed();
            },
            Qt::QueuedConnection);
    };
    m_jobs.start(
        kJob, tr("Capturing %1").arg(QFileInfo(pathOf(request.modelPath)).fileName()), this,
        [request, report, discarded = m_discarded](core::JobContext &job) {
            core::CaptureClient client;
            client.setImageDecoder(imageDecoder());
            const core::Result<core::CaptureOutcome> outcome = client.run(request, job, report);
            // Only now is the worker gone and the file nobody's.
            if (*discarded && outcome && outcome->hasTrace() && !QFile::remove(pathOf(request.outputPath)))
                job.warn(request.outputPath + " was discarded and cannot be removed");
            // Those of a run with a trace stand in it.
            if (outcome && !outcome->hasTrace())
                for (const core::Value &warning : outcome->summary.at("warnings").toList())
                    job.warn(warning.toString());
            return outcome ? Answer{outcome->error, outcome->hasTrace(), outcome->report}
                           : Answer{outcome.error(), false, {}};
        },
        [this](const Answer &answer) { ended(answer); });
    Q_EMIT started();
}

void CaptureService::ended(const Answer &answer)
{
    if (!answer.report.isNull())
        Q_EMIT answered(views::fromView(m_request.task), answer.report);
    Q_EMIT finished(answer.hasTrace ? pathOf(m_request.outputPath) : QString(), answer.status);
}

void CaptureService::stopAndKeep()
{
    if (!isRunning())
        return;
    m_isStopping = true;
    m_jobs.requestStop(kJob);
    Q_EMIT progressed();
}

void CaptureService::discard()
{
    if (!isRunning())
        return;
    ++m_run;
    *m_discarded = true;
    m_jobs.cancel(kJob);
    Q_EMIT finished({}, core::Status(core::ErrorCode::cancelled, "the run was discarded")
                            .withDetail(std::string(kDiscarded)));
}

} // namespace app
