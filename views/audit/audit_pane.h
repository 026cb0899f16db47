// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/pane.h"
#include "views/base/trace_facts.h"

namespace views {

class FactList;

// The verdict on the whole trace: what is so in one sentence, the checks that ran and those that did not with
// the reason, how much was recorded, and how the run was made. Does not follow the selection.
class AuditPane : public Pane
{
    Q_OBJECT

public:
    explicit AuditPane(const PaneContext &context, QWidget *parent = nullptr);

    bool canBePinned() const override { return false; }
    // Null: still being worked out.
    void setFacts(std::shared_ptr<const TraceFacts> facts);

Q_SIGNALS:
    // The user wishes to follow the finding.
    void huntRequested();
    // The user wishes to see what report or helper NAME, which did not run, would need.
    void reportRequested(const QString &name);

protected:
    void showTrace() override;

private:
    void addVerdict();
    void addChecks();
    int addChecksThatRan();
    int addFailures();
    void addCoverage();
    void addRun();
    int addAuditChecks(const core::Report &audit);
    // NOTED: what was found are notes, no faults.
    void addChecked(bool found, const QString &name, const QString &value, core::OpId op, bool noted = false);
    void addNotRun(const QString &name, const QString &reason);

    std::shared_ptr<const TraceFacts> m_facts;
    FactList *m_list;
};

} // namespace views
