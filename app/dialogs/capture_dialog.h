// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture/capture_request.h"
#include "views/base/theme.h"

#include <QDialog>

class QCheckBox;
class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QSpinBox;

namespace app {

class Settings;

// Asks how a model is to be run: inputs, what to save, seed, mode, limits. Remembers the last answers per
// model. Nothing runs before Start. Owned by the main window, opened by open().
class CaptureDialog : public QDialog
{
    Q_OBJECT

public:
    CaptureDialog(const views::Theme &theme, Settings &settings, QWidget *parent);

    // Fills in MODEL and the answers given for it last time.
    void setModel(const QString &path);
    core::CaptureRequest request() const;
    // What is wrong with the answers, in words; empty when Start may be pressed.
    QString problem() const;

Q_SIGNALS:
    void captureRequested(const core::CaptureRequest &request);

private:
    void addModelRows(QFormLayout *form);
    void addInputRows(QFormLayout *form);
    void addRunRows(QFormLayout *form);
    void addLimitRows(QFormLayout *form);
    void connectFields();
    void check();
    void start();
    void fill(const core::CaptureRequest &request);
    QString settingsKey() const;
    void chooseModel();
    void chooseOutput();

    Settings &m_settings;
    QLineEdit *m_model;
    QLineEdit *m_output;
    QPlainTextEdit *m_inputs;
    QComboBox *m_save;
    QLineEdit *m_chosen;
    QSpinBox *m_tensorMiB;
    QLineEdit *m_seed;
    QComboBox *m_mode;
    QCheckBox *m_grad;
    QSpinBox *m_threads;
    QSpinBox *m_warmup;
    QSpinBox *m_memoryGiB;
    QSpinBox *m_seconds;
    QLabel *m_problem;
    QPushButton *m_start;
};

} // namespace app
