// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/report_service.h"

#include "core/io/tensor_file_trace.h"
#include "core/io/trace_registry.h"
#include "views/base/formatting.h"

#include <QFile>
#include <QFileInfo>

#include <algorithm>

namespace app {

namespace {

using views::ReportEntry;
using views::ReportState;

constexpr std::size_t kMostChosen = 12;

QString jobKey(int document, const QString &name)
{
    return QStringLiteral("report/%1/%2").arg(document).arg(name);
}

std::vector<ReportEntry> freshEntries(const core::Trace &trace)
{
    std::vector<ReportEntry> entries;
    for (const core::ReportDefinition &definition : core::reportDefinitions()) {
        ReportEntry entry;
        entry.definition = &definition;
        entry.reason = views::whyNotApplicable(definition, trace);
        entry.state = entry.reason.isEmpty() ? ReportState::notRun : ReportState::notApplicable;
        if (definition.name == "audit" && entry.reason.isEmpty())
            entry.state = ReportState::running;
        entries.push_back(std::move(entry));
    }
    return entries;
}

} // namespace

ReportService::ReportService(JobRunner &jobs, QObject *parent) : QObject(parent), m_jobs(jobs) {}

void ReportService::addDocument(int id, const ReportSubjectTrace &subject)
{
    Document document;
    document.subject = subject;
    document.entries = freshEntries(*subject.trace);
    m_documents[id] = std::move(document);
    Q_EMIT boardChanged();
}

void ReportService::removeDocument(int id)
{
    const auto found = m_documents.find(id);
    if (found == m_documents.end())
        return;
    for (const ReportEntry &each : found->second.entries)
        m_jobs.cancel(jobKey(id, each.name()));
    m_documents.erase(found);
    if (m_current == id)
        m_current = 0;
    Q_EMIT boardChanged();
}

void ReportService::setCurrent(int id)
{
    if (id == m_current)
        return;
    m_current = id;
    Q_EMIT boardChanged();
}

void ReportService::setAudit(int id, std::shared_ptr<const core::Report> audit, const core::Status &failure)
{
    ReportEntry *found = entry(id, QStringLiteral("audit"));
    if (found == nullptr)
        return;
    found->state = audit ? ReportState::done : failure.isOk() ? ReportState::notRun : ReportState::failed;
    found->failure = failure;
    found->report = std::move(audit);
    if (found->report)
        m_documents.at(id).answers[cacheKey(*found)] = found->report;
    Q_EMIT boardChanged();
}

ReportService::Document *ReportService::current()
{
    const auto found = m_documents.find(m_current);
    return found == m_documents.end() ? nullptr : &found->second;
}

ReportEntry *ReportService::entry(int id, const QString &name)
{
    const auto document = m_documents.find(id);
    if (document == m_documents.end())
        return nullptr;
    for (ReportEntry &each : document->second.entries)
        if (each.name() == name)
            return &each;
    return nullptr;
}

std::shared_ptr<const views::ReportBoard> ReportService::board() const
{
    const auto found = m_documents.find(m_current);
    if (found == m_documents.end())
        return nullptr;
    auto board = std::make_shared<views::ReportBoard>();
    board->document = m_current;
    board->entries = found->second.entries;
    for (const auto &[id, document] : m_documents)
        if (id != m_current)
            board->others.push_back({document.subject.path, document.subject.title});
    for (const QString &path : m_chosen) {
        const bool known = std::any_of(board->others.begin(), board->others.end(),
                                       [&](const views::OtherChoice &other) { return other.path == path; });
        if (!known)
            board->others.push_back({path, QFileInfo(path).fileName()});
    }
    return board;
}

void ReportService::setOther(const QString &name, const QString &path)
{
    m_chosen.erase(std::remove(m_chosen.begin(), m_chosen.end(), path), m_chosen.end());
    m_chosen.insert(m_chosen.begin(), path);
    if (m_chosen.size() > kMostChosen)
        m_chosen.resize(kMostChosen);
    // An answer that is on its way is of the file before.
    cancel(name);
    if (ReportEntry *found = entry(m_current, name))
        found->otherPath = path;
    Q_EMIT boardChanged();
}

// An open document, or a file that was read before and has not changed since; else only its path.
ReportSubjectTrace ReportService::otherOf(const QString &path) const
{
    for (const auto &[id, document] : m_documents)
        if (document.subject.path == path)
            return document.subject;
    const auto found = m_others.find(path);
    if (found != m_others.end() && found->second.changed == QFileInfo(path).lastModified())
        return found->second.subject;
    ReportSubjectTrace unread;
    unread.path = path;
    return unread;
}

// A second file that changed on disk is another question.
QString ReportService::cacheKey(const ReportEntry &entry) const
{
    QString key = entry.name() + QLatin1Char('\n') + views::fromView(core::toJson(entry.options));
    if (!entry.otherPath.isEmpty())
        key += QLatin1Char('\n') + entry.otherPath + QLatin1Char('\n') +
               QString::number(QFileInfo(entry.otherPath).lastModified().toMSecsSinceEpoch());
    return key;
}

void ReportService::run(const views::ReportWish &wish)
{
    ReportEntry *found = entry(m_current, wish.name);
    if (found == nullptr || found->state == ReportState::notApplicable ||
        found->state == ReportState::running)
        return;
    found->options = wish.options;
    found->otherPath = wish.otherPath;
    found->failure = core::Status::ok();
    const auto &answers = current()->answers;
    if (const auto known = answers.find(cacheKey(*found)); known != answers.end()) {
        found->report = known->second;
        found->state = ReportState::done;
        Q_EMIT boardChanged();
        return;
    }
    found->state = ReportState::running;
    start(m_current, *found);
    Q_EMIT boardChanged();
}

void ReportService::start(int id, const ReportEntry &entry)
{
    const ReportSubjectTrace &subject = m_documents.at(id).subject;
    core::ReportRequest request;
    request.trace = subject.trace;
    request.statistics = subject.statistics;
    request.options = entry.options;
    const ReportSubjectTrace other = entry.needsOther() ? otherOf(entry.otherPath) : ReportSubjectTrace();
    m_jobs.start(
        jobKey(id, entry.name()), tr("Running %1").arg(entry.name()), this,
        [definition = entry.definition, request, other](core::JobContext &job) {
            return work(*definition, request, other, job);
        },
        [this, id, name = entry.name()](Outcome outcome) { finish(id, name, std::move(outcome)); });
}

ReportService::Outcome ReportService::work(const core::ReportDefinition &definition,
                                           core::ReportRequest request, ReportSubjectTrace other,
                                           core::JobContext &job)
{
    ReportSubjectTrace read;
    if (!other.path.isEmpty() && !other.trace) {
        const std::filesystem::path path(QFile::encodeName(other.path).toStdString());
        core::Result<std::shared_ptr<const core::Trace>> trace =
            definition.subject == core::ReportSubject::twoTensors ? core::openTraceOrTensors(path, job)
                                                                  : core::openTrace(path, job);
        if (!trace)
            return {trace.error(), {}};
        other.trace = std::move(trace).value();
        other.statistics = std::make_shared<core::TraceStatistics>(other.trace);
        read = other;
    }
    request.other = other.trace;
    request.otherStatistics = other.statistics;
    return {core::runReport(definition, std::move(request), job), read};
}

void ReportService::finish(int id, const QString &name, Outcome outcome)
{
    if (outcome.other.trace)
        m_others[outcome.other.path] = {QFileInfo(outcome.other.path).lastModified(), outcome.other};
    ReportEntry *found = entry(id, name);
    if (found == nullptr)
        return;
    if (outcome.report) {
        found->report = std::make_shared<const core::Report>(std::move(outcome.report).value());
        found->state = ReportState::done;
        m_documents.at(id).answers[cacheKey(*found)] = found->report;
    } else {
        found->failure = outcome.report.error();
        found->state = ReportState::failed;
    }
    Q_EMIT boardChanged();
}

// What was there before stays.
void ReportService::cancel(const QString &name)
{
    ReportEntry *found = entry(m_current, name);
    if (found == nullptr || found->state != ReportState::running)
        return;
    m_jobs.cancel(jobKey(m_current, name));
    found->state = found->report ? ReportState::done : ReportState::notRun;
    Q_EMIT boardChanged();
}

} // namespace app
