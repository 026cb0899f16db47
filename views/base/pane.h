// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/theme.h"
#include "views/base/trace_selection.h"

#include <QPoint>
#include <QString>
#include <QWidget>

namespace views {

// What every pane gets: where colours come from and where its wishes go.
struct PaneContext
{
    const Theme &theme;
    TraceSelection &selection;
};

// Base of all panes. Facts come in (the trace, the selection), wishes go out (the selection, signals of the
// pane); no pane knows another. A hidden pane does nothing: what it missed is delivered when it is shown. A
// pinned pane keeps its item. Owned by its dock; GUI thread.
class Pane : public QWidget
{
    Q_OBJECT

public:
    // ID names the pane in settings ("ops"); TITLE is shown.
    Pane(const PaneContext &context, const QString &id, const QString &title, QWidget *parent = nullptr);

    const QString &id() const { return m_id; }
    const QString &title() const { return m_title; }
    // A few words beside the title: a count, a state.
    const QString &subtitle() const { return m_subtitle; }
    bool isPinned() const { return m_pinned; }
    // A pane that does not follow the selection has no pin.
    virtual bool canBePinned() const { return true; }
    void setPinned(bool pinned);
    // Extra controls for the pane's header, owned by the pane.
    virtual QList<QWidget *> headerControls() { return {}; }

    // The item this pane shows: the selection's, or the one it was pinned on.
    const SelectedItem &item() const { return m_item; }
    const std::shared_ptr<const core::Trace> &trace() const { return m_trace; }

Q_SIGNALS:
    void headerChanged();
    // The user asked for the menu of the current item.
    void menuWanted(QPoint globalPosition);

protected:
    const Theme &theme() const { return m_context.theme; }
    TraceSelection &selection() const { return m_context.selection; }
    void setSubtitle(const QString &subtitle);
    // What the pane shows has changed otherwise than by the trace or the selection: it is shown anew at once,
    // or, while the pane is hidden, when it comes back.
    void showAgain();

    // Called only while the pane is visible (or becomes so). The trace may be null.
    virtual void showTrace() = 0;
    virtual void showItem() {}
    virtual void reveal() {}
    virtual void themeChanged() { update(); }

    void showEvent(QShowEvent *event) override;

private:
    void traceArrived();
    void itemArrived();
    void flush();

    PaneContext m_context;
    QString m_id;
    QString m_title;
    QString m_subtitle;
    std::shared_ptr<const core::Trace> m_trace;
    SelectedItem m_item;
    bool m_pinned = false;
    bool m_traceDue = true;
    bool m_itemDue = true;
};

} // namespace views
