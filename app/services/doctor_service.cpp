// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/doctor_service.h"

#include "app/installation/doctor_facts.h"
#include "app/job_runner.h"
#include "core/analysis/doctor.h"

#include <QCoreApplication>
#include <QFile>

namespace app {

namespace {

core::Result<core::Report> ask(const QString &name, const core::CaptureRequest &request,
                               const std::filesystem::path &folder, const core::JobContext &job)
{
    const core::DoctorFacts facts = collectDoctorFacts(request, folder, job);
    if (core::Status status = job.checkpoint("the check of the installation"); !status)
        return status;
    return name == QLatin1String("doctor") ? core::doctorReport(facts)
                                           : core::capabilitySnapshotReport(facts);
}

} // namespace

DoctorService::DoctorService(JobRunner &jobs, QObject *parent) : QObject(parent), m_jobs(jobs) {}

DoctorService::~DoctorService()
{
    m_jobs.cancel(key());
}

QString DoctorService::key() const
{
    return QStringLiteral("doctor/%1").arg(reinterpret_cast<quintptr>(this), 0, 16);
}

void DoctorService::check(const QString &name, const core::CaptureRequest &request)
{
    const std::filesystem::path folder(
        QFile::encodeName(QCoreApplication::applicationDirPath()).toStdString());
    m_jobs.start(
        key(), tr("Asking the workers of this installation"), this,
        [name, request, folder](core::JobContext &job) { return ask(name, request, folder, job); },
        [this](core::Result<core::Report> report) {
            if (report)
                Q_EMIT answered(std::make_shared<const core::Report>(std::move(report).value()));
            else
                Q_EMIT failed(report.error());
        });
}

void DoctorService::stop()
{
    m_jobs.requestStop(key());
}

} // namespace app
