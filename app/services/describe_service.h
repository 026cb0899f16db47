// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/dialogs/model_facts.h"
#include "core/base/result.h"
#include "core/capture/capture_request.h"

#include <QObject>

namespace app {

class JobRunner;

// Asks capture_worker what a model file says about itself, without running it: for the capture dialog.
// Owned by the session, GUI thread. A newer question replaces an older one.
class DescribeService : public QObject
{
    Q_OBJECT

public:
    explicit DescribeService(JobRunner &jobs, QObject *parent = nullptr);

    void describe(const QString &model);
    // Makes the inputs of REQUEST as its run would, and says what is wrong with them.
    void checkInputs(const core::CaptureRequest &request);
    void cancel();

Q_SIGNALS:
    void described(const QString &model, const app::ModelFacts &facts);
    void notDescribed(const QString &model, const core::Status &status);
    // STATUS is ok when the inputs fit; MADE says what they are, one a line.
    void inputsChecked(const core::Status &status, const QStringList &made);

private:
    JobRunner &m_jobs;
};

} // namespace app
