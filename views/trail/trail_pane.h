// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/nan_trail.h"
#include "views/base/pane.h"
#include "views/base/trace_facts.h"

class QLabel;
class QListWidget;

namespace views {

// The life of NaN and Inf from the first Inf to where it ends, and then backwards, one row an event. A row
// selects its op or grad function everywhere. Facts: what the audit found. Owned by its dock; GUI thread.
class TrailPane : public Pane
{
    Q_OBJECT

public:
    explicit TrailPane(const PaneContext &context, QWidget *parent = nullptr);

    void setFacts(std::shared_ptr<const TraceFacts> facts);
    // Of the same trace; null until it is made.
    void setTrail(std::shared_ptr<const NanTrail> trail);
    bool canBePinned() const override { return false; }
    QListWidget &list() const { return *m_list; }

protected:
    void showTrace() override;
    void showItem() override;

private:
    void fill();
    void pick(int row, bool activate);
    void say(const QString &text);

    bool isReady() const;

    std::shared_ptr<const TraceFacts> m_facts;
    std::shared_ptr<const NanTrail> m_trail;
    QListWidget *m_list;
    QLabel *m_words;
    bool m_own = false;
};

} // namespace views
