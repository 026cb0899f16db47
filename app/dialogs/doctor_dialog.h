// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report_registry.h"
#include "core/capture/capture_request.h"
#include "views/reports/report_board.h"

#include <QDialog>
#include <QElapsedTimer>
#include <QTimer>

#include <memory>

class QFormLayout;
class QLineEdit;
class QPushButton;
class QVBoxLayout;

namespace views {
class ReportCard;
class ReportTableWidget;
class Theme;
} // namespace views

namespace app {

class InputForm;

// The doctor, or the capability snapshot: a model to look at (or none), the answer as card and table. Whoever
// owns it answers checkWished(). Owned by the main window, closed by the user.
class DoctorDialog : public QDialog
{
    Q_OBJECT

public:
    // NAME: "doctor" or "capability_snapshot".
    DoctorDialog(const views::Theme &theme, const QString &name, QWidget *parent);

    QString name() const { return QString::fromStdString(m_name); }

    // Asks with what is filled in.
    void check();
    const views::ReportEntry &entry() const { return m_entry; }

public Q_SLOTS:
    void setReport(const std::shared_ptr<const core::Report> &report);
    void setFailure(const core::Status &status);

Q_SIGNALS:
    // REQUEST has a model and its inputs, or none.
    void checkWished(const QString &name, const core::CaptureRequest &request);
    void cancelWished();

private:
    void addModelRows(QVBoxLayout &column);
    void addAnswer(QVBoxLayout &column);
    void addButtons(QVBoxLayout &column);
    void chooseModel();
    void showState();

    const views::Theme &m_theme;
    std::string m_name;
    core::ReportDefinition m_definition;
    views::ReportEntry m_entry;
    QFormLayout *m_form = nullptr;
    QLineEdit *m_model = nullptr;
    InputForm *m_inputs = nullptr;
    QPushButton *m_check = nullptr;
    QPushButton *m_cancel = nullptr;
    views::ReportCard *m_card = nullptr;
    views::ReportTableWidget *m_table = nullptr;
    QTimer m_clock;
    QElapsedTimer m_since;
};

} // namespace app
