// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/job_runner.h"
#include "core/analysis/trace_statistics.h"
#include "views/reports/report_board.h"

#include <QDateTime>
#include <QObject>

#include <map>
#include <memory>

namespace app {

// An open trace as the reports see it.
struct ReportSubjectTrace
{
    QString path;
    QString title;
    std::shared_ptr<const core::Trace> trace;
    std::shared_ptr<core::TraceStatistics> statistics; // shared by all reports of the trace
};

// Runs reports in jobs and keeps their answers by trace, options and second file. Its board of the current
// document is what the reports pane shows. Owned by the session; GUI thread.
class ReportService : public QObject
{
    Q_OBJECT

public:
    explicit ReportService(JobRunner &jobs, QObject *parent = nullptr);

    // A document with this ID is there (or has been read anew: its answers are forgotten). Its audit counts
    // as running until setAudit comes.
    void addDocument(int id, const ReportSubjectTrace &subject);
    void removeDocument(int id);
    // 0: none is open.
    void setCurrent(int id);
    // The answer of the check that runs by itself when a trace opens; null when it gave none, and FAILURE
    // says why.
    void setAudit(int id, std::shared_ptr<const core::Report> audit, const core::Status &failure = {});

    // Null when no document is open.
    std::shared_ptr<const views::ReportBoard> board() const;
    void run(const views::ReportWish &wish);
    void cancel(const QString &name);
    // PATH becomes the second file of report NAME, and a choice for the others.
    void setOther(const QString &name, const QString &path);

Q_SIGNALS:
    void boardChanged();

private:
    struct Document
    {
        ReportSubjectTrace subject;
        std::vector<views::ReportEntry> entries;
        std::map<QString, std::shared_ptr<const core::Report>> answers; // by name, options, second file
    };
    // A second file that was read, kept while it does not change.
    struct OtherFile
    {
        QDateTime changed;
        ReportSubjectTrace subject;
    };
    struct Outcome
    {
        core::Result<core::Report> report;
        ReportSubjectTrace other; // read anew; empty when there was nothing to read
    };

    Document *current();
    views::ReportEntry *entry(int id, const QString &name);
    ReportSubjectTrace otherOf(const QString &path) const;
    QString cacheKey(const views::ReportEntry &entry) const;
    void start(int id, const views::ReportEntry &entry);
    static Outcome work(const core::ReportDefinition &definition, core::ReportRequest request,
                        ReportSubjectTrace other, core::JobContext &job);
    void finish(int id, const QString &name, Outcome outcome);

    JobRunner &m_jobs;
    std::map<int, Document> m_documents;
    std::map<QString, OtherFile> m_others;
    std::vector<QString> m_chosen; // files that were chosen as the second one, newest first
    int m_current = 0;
};

} // namespace app
