// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report.h"
#include "core/capture/capture_request.h"

#include <QObject>

#include <memory>

namespace app {

class JobRunner;

// Asks the workers beside this program what they can do, and of a model whether it can run here; the model is
// read and not run. Owned by the dialog that shows the answer; GUI thread. A newer question replaces an older
// one; what is still asked ends with this object.
class DoctorService : public QObject
{
    Q_OBJECT

public:
    explicit DoctorService(JobRunner &jobs, QObject *parent = nullptr);
    ~DoctorService() override;

    // NAME: "doctor" or "capability_snapshot". REQUEST names a model with its inputs, or none.
    void check(const QString &name, const core::CaptureRequest &request);
    void stop();

Q_SIGNALS:
    void answered(const std::shared_ptr<const core::Report> &report);
    void failed(const core::Status &status);

private:
    QString key() const;

    JobRunner &m_jobs;
};

} // namespace app
