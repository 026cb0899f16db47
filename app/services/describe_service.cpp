// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/describe_service.h"

#include "app/installation/image_decoder.h"
#include "app/job_runner.h"
#include "core/capture/capture_client.h"
#include "core/capture/live_helpers.h"
#include "views/base/formatting.h"

#include <QFile>
#include <QFileInfo>
#include <QPointer>

namespace app {

namespace {

constexpr const char *kDescribe = "file";
constexpr const char *kCheck = "inputs";
constexpr const char *kGuess = "guess";
constexpr std::string_view kGuessHelper = "guess_input_shape";

// What the worker says of REQUEST, or why it says nothing.
core::Result<core::CaptureOutcome> answered(core::CaptureRequest request, core::JobContext &job,
                                            const core::CaptureClient::ProgressSink &progress = {})
{
    request.outputPath.clear();
    core::CaptureClient client;
    client.setImageDecoder(imageDecoder());
    core::Result<core::CaptureOutcome> outcome = client.run(request, job, progress);
    if (outcome && !outcome->error.isOk())
        return outcome->error;
    return outcome;
}

core::Result<core::Value> ask(core::CaptureRequest request, bool withInputs, core::JobContext &job)
{
    request.task = "describe";
    request.options = core::Value::object({{"check_inputs", withInputs}});
    const core::Result<core::CaptureOutcome> outcome = answered(std::move(request), job);
    return outcome ? core::Result<core::Value>(outcome->summary) : outcome.error();
}

core::Result<core::Value> guess(core::CaptureRequest request, core::JobContext &job,
                                const core::CaptureClient::ProgressSink &progress)
{
    const core::LiveHelper *helper = core::findLiveHelper(kGuessHelper);
    core::Result<core::Value> options = core::completeLiveOptions(*helper, core::Value::object());
    if (!options)
        return options.error();
    request.task = kGuessHelper;
    request.inputs.clear();
    request.inputsTree.clear();
    request.backward.reset();
    request.warmup = 0;
    request.options = std::move(*options);
    const core::Result<core::CaptureOutcome> outcome = answered(std::move(request), job, progress);
    return outcome ? core::Result<core::Value>(outcome->report.at("result")) : outcome.error();
}

QString builtInput(const core::Value &input)
{
    QString text = views::fromView(input.at("name").toString());
    if (const core::Value *shape = input.find("shape")) {
        QStringList sizes;
        for (const core::Value &size : shape->toList())
            sizes.push_back(QString::number(size.toInt()));
        text += QStringLiteral(" %1[%2]").arg(views::fromView(input.at("dtype").toString()),
                                              sizes.join(QLatin1Char(',')));
    }
    return text + QStringLiteral(" (%1)").arg(views::fromView(input.at("origin").toString()));
}

} // namespace

DescribeService::DescribeService(JobRunner &jobs, QObject *parent) : QObject(parent), m_jobs(jobs) {}

DescribeService::~DescribeService()
{
    cancel();
}

// Each service has jobs of its own.
QString DescribeService::key(const char *question) const
{
    return QStringLiteral("describe/%1/%2")
        .arg(reinterpret_cast<quintptr>(this), 0, 16)
        .arg(QLatin1String(question));
}

void DescribeService::describe(const QString &model)
{
    core::CaptureRequest request;
    request.modelPath = QFile::encodeName(model).toStdString();
    m_jobs.start(
        key(kDescribe), tr("Reading %1").arg(QFileInfo(model).fileName()), this,
        [request](core::JobContext &job) { return ask(request, false, job); },
        [this, model](const core::Result<core::Value> &description) {
            if (description)
                Q_EMIT described(model, modelFactsFrom(*description));
            else
                Q_EMIT notDescribed(model, description.error());
        });
}

void DescribeService::checkInputs(const core::CaptureRequest &request)
{
    m_jobs.start(
        key(kCheck), tr("Checking the inputs"), this,
        [request](core::JobContext &job) { return ask(request, true, job); },
        [this](const core::Result<core::Value> &description) {
            QStringList made;
            if (description)
                for (const core::Value &input : description->at("built_inputs").toList())
                    made.push_back(builtInput(input));
            Q_EMIT inputsChecked(description ? core::Status() : description.error(), made);
        });
}

void DescribeService::guessInputs(const core::CaptureRequest &request)
{
    const QPointer<DescribeService> self(this);
    m_jobs.start(
        key(kGuess), tr("Guessing the inputs"), this,
        [request, self, jobs = &m_jobs](core::JobContext &job) {
            // Posted to the runner of the jobs, which outlives this object.
            return guess(request, job, [self, jobs](const core::CaptureProgress &progress) {
                QMetaObject::invokeMethod(
                    jobs,
                    [self, shapes = progress.calls] {
                        if (!self.isNull())
                            Q_EMIT self->guessProgressed(shapes);
                    },
                    Qt::QueuedConnection);
            });
        },
        [this](const core::Result<core::Value> &result) {
            if (!result)
                Q_EMIT inputsGuessed(result.error(), {}, {});
            else
                Q_EMIT inputsGuessed({}, foundInputs(*result),
                                     views::fromView(result->at("message").toString()));
        });
}

void DescribeService::cancelGuess()
{
    m_jobs.cancel(key(kGuess));
}

void DescribeService::cancel()
{
    cancelGuess();
    m_jobs.cancel(key(kDescribe));
    m_jobs.cancel(key(kCheck));
}

} // namespace app
