// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/dialogs/model_facts.h"
#include "core/base/result.h"
#include "core/capture/capture_request.h"

#include <QObject>

namespace app {

class JobRunner;

// Asks capture_worker what a model file says about itself, without running it, and on demand which inputs it
// runs on, which does run it: for one capture dialog, which owns it, so that two dialogs do not end each
// other's questions. GUI thread. A newer question replaces an older one; what is still asked ends with this
// object.
class DescribeService : public QObject
{
    Q_OBJECT

public:
    explicit DescribeService(JobRunner &jobs, QObject *parent = nullptr);
    ~DescribeService() override;

    void describe(const QString &model);
    // Makes the inputs of REQUEST as its run would, and says what is wrong with them.
    void checkInputs(const core::CaptureRequest &request);
    // Looks for inputs the model of REQUEST runs on (the live helper guess_input_shape).
    void guessInputs(const core::CaptureRequest &request);
    void cancelGuess();
    void cancel();

Q_SIGNALS:
    void described(const QString &model, const app::ModelFacts &facts);
    void notDescribed(const QString &model, const core::Status &status);
    // STATUS is ok when the inputs fit; MADE says what they are, one a line.
    void inputsChecked(const core::Status &status, const QStringList &made);
    // While inputs are looked for: so many SHAPES were tried on the model.
    void guessProgressed(quint64 shapes);
    // INPUTS is empty when nothing was found; MESSAGE then says why. STATUS is ok unless the search itself
    // ended early.
    void inputsGuessed(const core::Status &status, const std::vector<core::InputText> &inputs,
                       const QString &message);

private:
    QString key(const char *question) const;

    JobRunner &m_jobs;
};

} // namespace app
