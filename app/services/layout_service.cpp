// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/layout_service.h"

#include "core/ipc/messages.h"
#include "core/layout/hierarchy_layout.h"
#include "core/layout/layered_layouter.h"

namespace app {

namespace {

constexpr int kClockMs = 250;

QString fromStatus(const core::Status &status)
{
    return QString::fromStdString(status.message());
}

} // namespace

LayoutService::LayoutService(JobRunner &jobs, const QString &program, QObject *parent, const QString &jobKey)
    : QObject(parent), m_jobs(jobs), m_program(program), m_jobKey(jobKey)
{
    m_clock.setInterval(kClockMs);
    connect(&m_clock, &QTimer::timeout, this, &LayoutService::checkTime);
}

LayoutService::~LayoutService()
{
    stopWorker();
}

void LayoutService::setLimits(int requestMs, int silenceMs)
{
    m_requestMs = requestMs;
    m_silenceMs = silenceMs;
    m_clock.setInterval(std::min(kClockMs, std::max(10, requestMs / 4)));
}

void LayoutService::warmUp()
{
    if (!m_process)
        startWorker();
}

void LayoutService::request(const core::LayoutRequest &request)
{
    m_jobs.cancel(m_jobKey);
    // Graphviz cannot be interrupted: a worker that is still on an older request is ended.
    if (m_waiting && m_sent)
        stopWorker();
    m_waiting = request;
    m_sent = false;
    m_since.start();
    m_clock.start();
    if (!m_process)
        startWorker();
    sendRequest();
}

void LayoutService::cancel()
{
    if (m_waiting)
        fallBack(tr("the layout was cancelled"));
}

void LayoutService::startWorker()
{
    m_parser = core::FrameParser();
    m_greeted = false;
    m_process = std::make_unique<QProcess>();
    m_process->setProgram(m_program);
    m_process->setProcessChannelMode(QProcess::SeparateChannels);
    connect(m_process.get(), &QProcess::readyReadStandardOutput, this, &LayoutService::readOutput);
    connect(m_process.get(), &QProcess::finished, this, &LayoutService::workerEnded);
    connect(m_process.get(), &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart)
            workerEnded();
    });
    m_process->start();
    m_heard.start();
    send(static_cast<std::uint16_t>(core::MessageType::hello),
         core::HelloMessage::ofThisBuild("opscope").encode());
}

// Without waiting: the process object outlives its killing and goes when the process has ended.
void LayoutService::stopWorker()
{
    if (!m_process)
        return;
    QProcess *process = m_process.release();
    process->disconnect(this);
    if (process->state() == QProcess::NotRunning) {
        process->deleteLater();
        return;
    }
    connect(process, &QProcess::finished, process, &QObject::deleteLater);
    process->closeWriteChannel();
    process->kill();
}

void LayoutService::send(std::uint16_t type, const std::vector<std::byte> &payload)
{
    const core::Result<std::vector<std::byte>> frame = core::encodeFrame(type, payload);
    if (!frame) {
        fallBack(fromStatus(frame.error()));
        return;
    }
    m_process->write(reinterpret_cast<const char *>(frame->data()), static_cast<qint64>(frame->size()));
}

void LayoutService::sendRequest()
{
    if (!m_waiting || m_sent || !m_greeted || !m_process)
        return;
    m_sent = true;
    send(core::kLayoutRequestFrame, core::encodeLayoutRequest(*m_waiting));
}

void LayoutService::readOutput()
{
    const QByteArray bytes = m_process->readAllStandardOutput();
    m_parser.feed(std::as_bytes(std::span(bytes.constData(), static_cast<std::size_t>(bytes.size()))));
    m_heard.restart();
    while (m_process) {
        const core::Result<std::optional<core::Frame>> frame = m_parser.next();
        if (!frame) {
            stopWorker();
            fallBack(fromStatus(frame.error()));
            return;
        }
        if (!frame->has_value())
            return;
        handle(**frame);
    }
}

void LayoutService::greet(const core::Frame &frame)
{
    const core::Result<core::HelloMessage> hello = core::HelloMessage::decode(frame.payload);
    const core::Status agreed =
        hello ? core::HelloMessage::ofThisBuild("opscope").checkAgainst(*hello) : hello.error();
    if (!agreed) {
        stopWorker();
        fallBack(fromStatus(agreed));
        return;
    }
    m_greeted = true;
    sendRequest();
}

void LayoutService::handle(const core::Frame &frame)
{
    if (frame.type == static_cast<std::uint16_t>(core::MessageType::hello)) {
        greet(frame);
    } else if (frame.type == core::kLayoutResultFrame && m_waiting) {
        core::Result<core::LayoutResult> result = core::decodeLayoutResult(frame.payload);
        if (result && result->id != m_waiting->id)
            return;
        const core::Status good = result ? core::checkLayoutResult(*m_waiting, *result) : result.error();
        if (!good) {
            stopWorker();
            fallBack(fromStatus(good));
            return;
        }
        answer(std::move(*result));
    } else if (frame.type == static_cast<std::uint16_t>(core::MessageType::failed)) {
        core::Status failed;
        if (core::decodeFailed(frame.payload, failed))
            fallBack(fromStatus(failed));
    }
}

void LayoutService::answer(core::LayoutResult result)
{
    m_waiting.reset();
    m_clock.stop();
    Q_EMIT finished(result);
}

void LayoutService::workerEnded()
{
    const bool started = m_process && m_process->error() != QProcess::FailedToStart;
    stopWorker();
    if (m_waiting)
        fallBack(started ? tr("the layout program ended before it answered")
                         : tr("the layout program could not be started"));
}

void LayoutService::checkTime()
{
    if (!m_waiting)
        return;
    if (m_since.elapsed() > m_requestMs)
        fallBack(tr("Graphviz took longer than %1 s").arg(m_requestMs / 1000));
    else if (m_process && m_heard.elapsed() > m_silenceMs)
        fallBack(tr("the layout program was silent for %1 s").arg(m_silenceMs / 1000));
}

void LayoutService::fallBack(const QString &reason)
{
    stopWorker();
    m_clock.stop();
    if (!m_waiting)
        return;
    auto request = std::make_shared<core::LayoutRequest>(std::move(*m_waiting));
    m_waiting.reset();
    m_jobs.start(
        m_jobKey, tr("Laying out the graph"), this,
        [request](core::JobContext &context) {
            core::LayeredLayouter layered;
            core::HierarchyLayout layout(layered);
            return layout.layout(*request, context);
        },
        [this, reason, id = request->id](core::Result<core::LayoutResult> result) {
            if (!result) {
                Q_EMIT failed(id, fromStatus(result.error()));
                return;
            }
            result->simplified = true;
            result->note = reason.toStdString();
            Q_EMIT finished(*result);
        });
}

} // namespace app
