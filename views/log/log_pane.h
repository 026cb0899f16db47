// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/pane.h"

class QPlainTextEdit;

namespace views {

// What the reader and the run said beside their result: load notes, diagnostics, and what the window was
// told. Text that can be copied.
class LogPane : public Pane
{
    Q_OBJECT

public:
    explicit LogPane(const PaneContext &context, QWidget *parent = nullptr);

    bool canBePinned() const override { return false; }
    QString text() const;
    // A line of the window's own, kept above the trace's.
    void append(const QString &line);

protected:
    void showTrace() override;

private:
    QPlainTextEdit *m_text;
    QStringList m_own;
};

} // namespace views
