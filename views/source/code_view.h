// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/theme.h"
#include "views/source/scintilla.h"

namespace views {

// Read-only Python text in the theme's colours with line numbers, a marked current line and marks on lines
// whose ops have NaN or Inf. Lines are 1-based as people count.
class CodeView : public QsciScintilla
{
    Q_OBJECT

public:
    enum class LineMark { current, nan, inf };

    explicit CodeView(const Theme &theme, QWidget *parent = nullptr);

    void setCode(const QString &text);
    void clearMarks(LineMark mark);
    void addMark(LineMark mark, int line);
    void centerLine(int line);
    void applyTheme();

Q_SIGNALS:
    // The user clicked a line.
    void linePicked(int line);

protected:
    void mouseReleaseEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;

private:
    const Theme &m_theme;
};

} // namespace views
