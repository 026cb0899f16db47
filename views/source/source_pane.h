// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/pane.h"
#include "views/source/source_text.h"

class QLabel;
class QListWidget;
class QSplitter;

namespace views {

class CodeView;
struct TraceFacts;

// The source of the current line and the call stack of the current op. The text arrives by setText after the
// pane asked for it. A click in the text selects the line's first op; a click on a frame shows the frame.
class SourcePane : public Pane
{
    Q_OBJECT

public:
    explicit SourcePane(const PaneContext &context, QWidget *parent = nullptr);

    // The answer to textRequested; one for another file than the wanted one is dropped.
    void setText(core::StringId file, const SourceText &text);
    // What a report measured where the trace recorded no statistics.
    void setFacts(std::shared_ptr<const TraceFacts> facts);
    CodeView &code() const { return *m_code; }
    QListWidget &frames() const { return *m_frames; }

Q_SIGNALS:
    // The pane wishes for the text of FILE of its trace.
    void textRequested(core::StringId file);

protected:
    void showTrace() override;
    void showItem() override;
    void reveal() override { showItem(); }
    void themeChanged() override;

private:
    void showFrames(core::OpId op);
    void showLine(core::StringId file, core::LineNumber line);
    void markLine();
    void markOps();
    void pickLine(int line);

    CodeView *m_code;
    QLabel *m_note;
    QLabel *m_stackTitle;
    QListWidget *m_frames;
    std::shared_ptr<const TraceFacts> m_facts;
    core::StringId m_file;
    core::StringId m_loaded;
    core::LineNumber m_line;
    bool m_showing = false;
};

} // namespace views
