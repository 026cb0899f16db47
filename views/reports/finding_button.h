// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report.h"
#include "views/base/theme.h"

#include <QAbstractButton>

namespace views {

// One finding of a card: its severity as a glyph, the sentence over as many lines as it needs. A click picks,
// a double click activates. Disabled when it leads nowhere, which keeps its full contrast.
class FindingButton : public QAbstractButton
{
    Q_OBJECT

public:
    FindingButton(const Theme &theme, core::Severity severity, const QString &text, QWidget *parent);

    QSize sizeHint() const override;
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;

Q_SIGNALS:
    void activated();

protected:
    void paintEvent(QPaintEvent *event) override;
    void enterEvent(QEnterEvent *event) override;
    void leaveEvent(QEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;

private:
    const Theme &m_theme;
    core::Severity m_severity;
};

} // namespace views
