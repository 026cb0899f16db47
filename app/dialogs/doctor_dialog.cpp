// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dialogs/doctor_dialog.h"

#include "app/dialogs/input_form.h"
#include "app/dialogs/model_file_dialog.h"
#include "views/base/formatting.h"
#include "views/base/widgets.h"
#include "views/reports/report_card.h"
#include "views/reports/report_table.h"

#include <QFile>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

namespace app {

namespace {

constexpr QSize kSize(980, 680);

} // namespace

DoctorDialog::DoctorDialog(const views::Theme &theme, const QString &name, QWidget *parent)
    : QDialog(parent), m_theme(theme), m_name(name.toStdString())
{
    m_definition.name = m_name;
    m_definition.description = name == QLatin1String("doctor")
                                   ? "Checks this installation, and whether a model can run here"
                                   : "Lists what this LibTorch can do";
    m_definition.subject = core::ReportSubject::nothing;
    m_entry.definition = &m_definition;
    setWindowTitle(tr("%1 — opscope").arg(name));
    setModal(false);
    resize(kSize);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 12, 0, 12);
    column->setSpacing(8);
    if (name == QLatin1String("doctor"))
        addModelRows(*column);
    addAnswer(*column);
    addButtons(*column);
    m_clock.setInterval(500);
    connect(&m_clock, &QTimer::timeout, this,
            [this] { m_card->setElapsed(static_cast<int>(m_since.elapsed() / 1000)); });
    showState();
}

// The inputs are asked for once there is a model that takes them.
void DoctorDialog::addModelRows(QVBoxLayout &column)
{
    m_form = new QFormLayout;
    m_form->setContentsMargins(12, 0, 12, 0);
    m_form->setHorizontalSpacing(16);
    m_form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    m_model = new QLineEdit(this);
    m_model->setAccessibleName(tr("Model file"));
    m_model->setPlaceholderText(tr("none: the installation alone"));
    m_model->setProperty("face", "mono");
    QPushButton *choose = views::makeButton(tr("Choose…"), "", this);
    choose->setAutoDefault(false);
    choose->setAccessibleName(tr("Choose: Model file"));
    connect(choose, &QPushButton::clicked, this, &DoctorDialog::chooseModel);
    auto *row = new QHBoxLayout;
    row->setSpacing(8);
    row->addWidget(m_model, 1);
    row->addWidget(choose);
    m_form->addRow(tr("Model"), row);
    m_inputs = new InputForm(m_theme, this);
    m_form->addRow(tr("Inputs"), m_inputs);
    m_form->setRowVisible(m_inputs, false);
    connect(m_model, &QLineEdit::textChanged, this, [this](const QString &text) {
        m_form->setRowVisible(m_inputs, !text.trimmed().isEmpty());
        showState();
    });
    connect(m_inputs, &InputForm::changed, this, &DoctorDialog::showState);
    column.addLayout(m_form);
}

void DoctorDialog::addAnswer(QVBoxLayout &column)
{
    const QString name = m_entry.name();
    m_card = new views::ReportCard(m_theme, this);
    auto *area = new QScrollArea(this);
    area->setWidgetResizable(true);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area->setAccessibleName(tr("Answer of %1").arg(name));
    area->setWidget(m_card);
    column.addWidget(area, 1);
    m_table = new views::ReportTableWidget(m_theme, this);
    column.addWidget(m_table, 4);
    m_table->offerTableMenu();
}

void DoctorDialog::addButtons(QVBoxLayout &column)
{
    m_check = views::makeButton(tr("Check again"), "primary", this);
    m_cancel = views::makeButton(tr("Cancel"), "", this);
    QPushButton *close = views::makeButton(tr("Close"), "", this);
    auto *buttons = new QHBoxLayout;
    buttons->setContentsMargins(12, 0, 12, 0);
    buttons->addStretch(1);
    for (QPushButton *button : {m_cancel, m_check, close}) {
        button->setAutoDefault(false);
        buttons->addWidget(button);
    }
    m_check->setDefault(true);
    column.addLayout(buttons);
    connect(m_check, &QPushButton::clicked, this, &DoctorDialog::check);
    connect(m_cancel, &QPushButton::clicked, this, &DoctorDialog::cancelWished);
    connect(close, &QPushButton::clicked, this, &QDialog::accept);
}

void DoctorDialog::chooseModel()
{
    askModelFile(*this, m_model->text(), [this](const QString &file) { m_model->setText(file); });
}

void DoctorDialog::check()
{
    core::CaptureRequest request;
    if (m_model != nullptr && !m_model->text().trimmed().isEmpty()) {
        request.modelPath = QFile::encodeName(m_model->text().trimmed()).toStdString();
        request.inputsTree = QFile::encodeName(m_inputs->tree()).toStdString();
        if (request.inputsTree.empty())
            request.inputs = m_inputs->inputs();
    }
    m_entry.state = views::ReportState::running;
    m_since.start();
    m_clock.start();
    showState();
    Q_EMIT checkWished(m_entry.name(), request);
}

void DoctorDialog::setReport(const std::shared_ptr<const core::Report> &report)
{
    m_entry.state = views::ReportState::done;
    m_entry.report = report;
    showState();
}

void DoctorDialog::setFailure(const core::Status &status)
{
    m_entry.state = views::ReportState::failed;
    m_entry.failure = status;
    showState();
}

void DoctorDialog::showState()
{
    const bool running = m_entry.state == views::ReportState::running;
    if (!running)
        m_clock.stop();
    const bool readable = m_inputs == nullptr || m_model->text().trimmed().isEmpty() ||
                          m_inputs->inputs().empty() || m_inputs->problem().isEmpty();
    m_check->setEnabled(!running && readable);
    m_cancel->setVisible(running);
    m_card->setEntry(&m_entry);
    m_table->setReport(m_entry.name(), running ? nullptr : m_entry.report,
                       running ? tr("The rows come when the workers have answered.")
                               : tr("There is no answer to list."));
}

} // namespace app
