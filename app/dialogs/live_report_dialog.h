// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report_registry.h"
#include "core/capture/capture_request.h"
#include "core/capture/live_helpers.h"
#include "views/reports/report_board.h"

#include <QDialog>

#include <memory>

class QScrollArea;

namespace views {
class ReportCard;
}

namespace app {

// What a helper that ran a model answered, and what it was asked.
struct LiveAnswer
{
    const core::LiveHelper *helper = nullptr;
    std::shared_ptr<const core::Report> report;
    core::CaptureRequest request;
    QString title; // "find_nan on model.pt2, 14:05"
};

// The option of a tripwire that lets it go on past a mask.
inline constexpr const char *kSkipByDesign = "skip_by_design";

// Shows an answer: its card and its table, beside the trace the run left, with a way to ask again. Ops are
// picked in that trace. Owned by the main window, closed by the user.
class LiveReportDialog : public QDialog
{
    Q_OBJECT

public:
    LiveReportDialog(const views::Theme &theme, LiveAnswer answer, QWidget *parent);

    const LiveAnswer &answer() const { return m_answer; }

Q_SIGNALS:
    // An op of the trace that the run left.
    void opPicked(core::OpId op);
    // The same question is to be asked again, perhaps with other options.
    void againWished();
    // The same once more, but not to stop at a mask.
    void pastMaskWished();
    // A run with the inputs that were found.
    void inputsWished(const std::vector<core::InputText> &inputs);

protected:
    void resizeEvent(QResizeEvent *event) override;
    void showEvent(QShowEvent *event) override;

private:
    class QHBoxLayout *makeButtons();
    void fitCard();

    LiveAnswer m_answer;
    core::ReportDefinition m_definition;
    views::ReportEntry m_entry;
    views::ReportCard *m_card = nullptr;
    QScrollArea *m_area = nullptr;
    bool m_hasTable = false;
};

} // namespace app
