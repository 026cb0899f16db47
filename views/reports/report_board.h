// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report_registry.h"
#include "core/base/result.h"
#include "views/base/icon.h"

#include <QString>

#include <memory>
#include <optional>
#include <vector>

namespace views {

enum class ReportState { notRun, running, done, failed, notApplicable };

// One report and where it stands for the current trace.
struct ReportEntry
{
    const core::ReportDefinition *definition = nullptr;
    ReportState state = ReportState::notRun;
    QString reason;                              // why it is not applicable
    core::Value options = core::Value::object(); // as last asked; completed with the defaults when it runs
    QString otherPath;                           // the second trace or file; empty: none chosen
    std::shared_ptr<const core::Report> report;  // the last answer; stays while a new one is worked out
    core::Status failure;                        // of a run that gave no report

    QString name() const
    {
        return QString::fromUtf8(definition->name.data(), qsizetype(definition->name.size()));
    }
    bool needsOther() const
    {
        return definition->subject == core::ReportSubject::twoTraces ||
               definition->subject == core::ReportSubject::twoTensors;
    }
};

// A file that may be the second side of a comparison.
struct OtherChoice
{
    QString path;
    QString title;
};

// All reports of the current trace: the facts the reports pane shows. A new state is a new board. Made by the
// session's report service.
struct ReportBoard
{
    int document = 0;                 // whose reports these are
    std::vector<ReportEntry> entries; // in the order of the registry
    std::vector<OtherChoice> others;  // open documents and files that were chosen before

    const ReportEntry *find(const QString &name) const;
};

// What the user asks of a report.
struct ReportWish
{
    QString name;
    core::Value options = core::Value::object(); // differing from the defaults only
    QString otherPath;
};

// Why REPORT has nothing to work on in TRACE, in words; empty when it can be run.
QString whyNotApplicable(const core::ReportDefinition &report, const core::Trace &trace);

// The state in a few words, and how it looks: "not run", "3 findings", "clean among checked", "27 rows".
struct ReportWords
{
    QString text;
    IconName icon = IconName::notRun;
    core::ColorToken tone = core::ColorToken::second;
};
ReportWords stateWords(const ReportEntry &entry);
// The same of an answer alone.
ReportWords answerWords(const core::Report &report);

} // namespace views
