// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/dialogs/model_facts.h"
#include "core/analysis/report_registry.h"
#include "core/base/result.h"
#include "core/capture/capture_request.h"
#include "core/capture/live_helpers.h"
#include "views/base/theme.h"

#include <QDialog>
#include <QElapsedTimer>
#include <QTimer>

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QHBoxLayout;
class QLabel;
class QLayout;
class QLineEdit;
class QPushButton;
class QScrollArea;
class QSpinBox;

namespace views {
class OptionForm;
}

namespace app {

class BackwardForm;
class InputForm;
class Settings;

// Asks how a model is to be run: inputs, what to save, seed, mode, backward pass, limits. Remembers the last
// answers per model. Nothing of the model runs before Start, but for Guess, which says so; what it takes is
// read from its file by whoever answers descriptionWished(). Owned by the main window.
class CaptureDialog : public QDialog
{
    Q_OBJECT

public:
    CaptureDialog(const views::Theme &theme, Settings &settings, QWidget *parent);
    ~CaptureDialog() override;

    // Fills in MODEL and the answers given for it last time.
    void setModel(const QString &path);
    QString model() const;
    // Whether it asks for TASK ("capture" or a helper) on the file MODEL, which may be empty.
    bool asksFor(const std::string &task, const QString &model) const;
    core::CaptureRequest request() const;
    // The answers of REQUEST, but a new trace file.
    void setRequest(const core::CaptureRequest &request);
    // The dialog asks for a run of HELPER, which outlives it, instead of a capture.
    void setHelper(const core::LiveHelper &helper, const core::Value &options = core::Value::object());
    // How large the trace of MODEL became: said beside the next run's answers.
    static void rememberSize(Settings &settings, const QString &model, std::uint64_t bytes);
    // What is wrong with the answers, in words; empty when Start may be pressed.
    QString problem() const;
    // Whether it is known what the file of the model says, or that it cannot be had.
    bool isModelKnown() const { return m_isKnown; }
    // What it says; empty until then.
    const ModelFacts &facts() const { return m_known; }
    // Another run is going on, of WHAT: Start says that it ends. Empty: none.
    void setOtherRun(const QString &what);

public Q_SLOTS:
    // What the file of MODEL says; ignored when another one is chosen by now.
    void setFacts(const QString &model, const app::ModelFacts &facts);
    void setFactsMissing(const QString &model, const core::Status &status);
    void setInputsChecked(const core::Status &status, const QStringList &made);
    // While inputs are guessed: so many were tried.
    void setGuessProgress(quint64 shapes);
    // The answer to guessWished(); ignored when nobody waits for one any more.
    void setGuess(const core::Status &status, const std::vector<core::InputText> &inputs,
                  const QString &message);
    // Why a run with these answers could not start; at the field it names.
    void showRefusal(const core::Status &status);

Q_SIGNALS:
    void captureRequested(const core::CaptureRequest &request);
    void descriptionWished(const QString &model);
    void inputCheckWished(const core::CaptureRequest &request);
    void guessWished(const core::CaptureRequest &request);
    void guessCancelled();

protected:
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dropEvent(QDropEvent *event) override;
    void showEvent(QShowEvent *event) override;
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    void addModelRows(QFormLayout *form);
    void addInputRows(QFormLayout *form);
    void addRunRows(QFormLayout *form);
    void addLimitRows(QFormLayout *form);
    QWidget *makeFormArea();
    QHBoxLayout *makeButtons();
    void connectFields();
    void arrangeLater();
    void arrange();
    void modelEdited();
    void check();
    void start();
    void suggestTree();
    void guess();
    bool isGuessing() const { return m_guessClock.isActive(); }
    void showGuessing();
    void endGuess();
    void showSize();
    void showTitle();
    static QString settingsKey(const QString &model);
    QString optionsKey() const;
    void restoreOptions();
    QString outputPath() const;
    QString optionsProblem() const;
    core::SavePolicy savePolicy() const;
    void chooseModel();
    void chooseOutput();
    void say(const QString &text, const char *tone);
    // What is wrong with an input stands there and is not said twice.
    static QString inputProblemWords();

    const views::Theme &m_theme;
    Settings &m_settings;
    QLabel *m_title;
    QLineEdit *m_model;
    QLabel *m_facts;
    QLineEdit *m_output;
    InputForm *m_inputs;
    QPushButton *m_checkInputs;
    QPushButton *m_guess = nullptr;
    BackwardForm *m_backward;
    QComboBox *m_save;
    QLineEdit *m_chosen;
    QSpinBox *m_tensorMiB;
    QLabel *m_size = nullptr;
    QLineEdit *m_seed;
    QComboBox *m_mode;
    QCheckBox *m_grad;
    QCheckBox *m_sources;
    QSpinBox *m_threads;
    QSpinBox *m_warmup;
    QSpinBox *m_repeat;
    QSpinBox *m_memoryMiB;
    QDoubleSpinBox *m_seconds;
    const core::LiveHelper *m_helper = nullptr;
    core::ReportDefinition m_helperDefinition; // what the form of its options reads
    views::OptionForm *m_options = nullptr;
    QFormLayout *m_form = nullptr;
    QScrollArea *m_area = nullptr;      // the form
    std::vector<QLayout *> m_traceRows; // of its rows those about the trace
    QLabel *m_problem;
    QPushButton *m_start;
    core::CaptureRequest m_given; // what was filled in last: limits that the fields show rounded
    QString m_otherRun;           // what is running meanwhile
    ModelFacts m_known;           // of the chosen model; empty until its file was read
    bool m_isKnown = false;       // the file was read, or cannot be
    QTimer m_guessClock;          // runs while inputs are guessed
    QElapsedTimer m_guessSince;
    quint64 m_guessTried = 0;
    QString m_described;        // the model whose description was asked for
    QString m_refusal;          // why the model cannot run here
    core::Status m_lastRefusal; // of a run or check with these answers; until they change
};

} // namespace app
