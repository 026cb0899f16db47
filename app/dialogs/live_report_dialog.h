// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report_registry.h"
#include "core/capture/live_helpers.h"
#include "views/reports/report_board.h"

#include <QDialog>

#include <memory>

namespace app {

// The answer of a helper that ran a model: its card and its table, beside the trace it left. Ops are picked
// in that trace while it is the current document. Owned by the main window, closed by the user.
class LiveReportDialog : public QDialog
{
    Q_OBJECT

public:
    LiveReportDialog(const views::Theme &theme, const core::LiveHelper &helper,
                     std::shared_ptr<const core::Report> report, QWidget *parent);

Q_SIGNALS:
    // An op of the trace that the run left.
    void opPicked(core::OpId op);

private:
    core::ReportDefinition m_definition;
    views::ReportEntry m_entry;
};

} // namespace app
