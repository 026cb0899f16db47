// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/ids.h"
#include "views/base/theme.h"
#include "views/reports/report_board.h"

#include <QWidget>

class QLabel;
class QVBoxLayout;

namespace views {

// The bounded card of a report as the command line prints it, laid out: verdict, coverage, at most five
// findings that lead to their op, the exact remainder; or why there is no answer and what to do. Rebuilt for
// each state. Owned by its pane.
class ReportCard : public QWidget
{
    Q_OBJECT

public:
    explicit ReportCard(const Theme &theme, QWidget *parent = nullptr);

    void setEntry(const ReportEntry *entry);
    // "working, 3 s" while the report runs.
    void setElapsed(int seconds);

Q_SIGNALS:
    void opPicked(core::OpId op);
    void opActivated(core::OpId op);

private:
    void addVerdict(const ReportEntry &entry);
    void addAnswer(const core::Report &report);
    void addRefusal(const core::Report &report);
    void addFinding(const core::ReportFinding &finding);
    void addText(const QString &text, const char *role, const char *tone = "");

    const Theme &m_theme;
    QWidget *m_body = nullptr;
    QVBoxLayout *m_column = nullptr;
    QLabel *m_working = nullptr;
};

} // namespace views
