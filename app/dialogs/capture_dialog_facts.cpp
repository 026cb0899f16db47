// SPDX-License-Identifier: GPL-3.0-or-later
// What the dialog is told about the model while it asks: its file's own words, whether inputs fit, which
// inputs were guessed, how large the trace becomes.
#include "app/dialogs/backward_form.h"
#include "app/dialogs/capture_dialog.h"
#include "app/dialogs/input_form.h"
#include "app/field_words.h"
#include "app/run_state_words.h"
#include "app/settings.h"
#include "core/capture/input_spec.h"
#include "views/base/counted_text.h"
#include "views/base/formatting.h"
#include "views/base/widgets.h"

#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLabel>
#include <QPushButton>

#include <algorithm>

namespace app {

namespace {

constexpr int kLargestTree = 1 << 20;

QString sizeKey(const QString &model)
{
    return model + QStringLiteral("-size");
}

// Whether TREE can be meant for what the model takes: no argument too many, none of another name.
bool isMeantFor(const core::InputArguments &tree, const std::vector<InputFacts> &inputs)
{
    QStringList arguments; // "batch" of "batch.image"
    for (const InputFacts &input : inputs)
        if (const QString name = input.name.section(QLatin1Char('.'), 0, 0); !arguments.contains(name))
            arguments.push_back(name);
    const auto isOne = [&](const core::NamedInput &given) {
        return arguments.contains(views::fromView(given.name).section(QLatin1Char('.'), 0, 0));
    };
    return tree.positional.size() + tree.named.size() <= static_cast<std::size_t>(arguments.size()) &&
           std::all_of(tree.named.begin(), tree.named.end(), isOne);
}

} // namespace

void CaptureDialog::setFacts(const QString &model, const ModelFacts &facts)
{
    if (model != this->model())
        return;
    const core::Status refused = m_lastRefusal;
    m_known = facts;
    m_isKnown = true;
    m_refusal = facts.refusal;
    m_facts->setText(facts.refusal.isEmpty()
                         ? facts.summary
                         : tr("%1\nIt cannot run here: %2.").arg(facts.summary, facts.refusal));
    m_facts->setVisible(true);
    views::setTone(m_facts, facts.refusal.isEmpty() ? "" : "warn");
    m_inputs->setFacts(facts);
    m_backward->setOutputs(facts.outputs);
    if (facts.isModeFixed) {
        m_mode->setCurrentIndex(facts.mode == QLatin1String("train") ? 1 : 0);
        m_mode->setEnabled(false);
        m_mode->setToolTip(tr("Train or eval was fixed when the model was exported"));
    }
    const bool needsInputs = !facts.hasSampleInputs && !facts.inputs.empty();
    if (needsInputs && m_inputs->inputs().empty() && m_inputs->tree().isEmpty())
        suggestTree();
    check();
    if (!refused.isOk())
        showRefusal(refused);
    arrangeLater();
}

void CaptureDialog::setFactsMissing(const QString &model, const core::Status &status)
{
    if (model != this->model())
        return;
    m_isKnown = true;
    m_facts->setText(tr("What the model takes is not known: %1.").arg(views::fromView(status.message())));
    m_facts->setVisible(true);
    views::setTone(m_facts, "warn");
}

// The one file beside the model that names its inputs is meant for it; of several none is.
void CaptureDialog::suggestTree()
{
    const QDir folder = QFileInfo(model()).absoluteDir();
    QStringList fitting;
    for (const QFileInfo &file : folder.entryInfoList({QStringLiteral("*.json")}, QDir::Files)) {
        if (file.size() > kLargestTree || fitting.size() > 1)
            continue;
        const auto tree = core::readInputTree(QFile::encodeName(file.filePath()).toStdString());
        if (tree && !tree->isEmpty() && isMeantFor(*tree, m_known.inputs))
            fitting.push_back(file.filePath());
    }
    if (fitting.size() == 1)
        m_inputs->setInputs({}, fitting.front());
}

void CaptureDialog::setInputsChecked(const core::Status &status, const QStringList &made)
{
    if (!status.isOk()) {
        showRefusal(status);
        return;
    }
    say(made.isEmpty() ? tr("The model takes no inputs.")
                       : tr("The inputs fit: %1.").arg(made.join(QStringLiteral(", "))),
        "ok");
}

// Runs the model on shapes it may take, in a process of its own; a second press ends the search.
void CaptureDialog::guess()
{
    if (isGuessing()) {
        Q_EMIT guessCancelled();
        endGuess();
        check();
        return;
    }
    m_guessTried = 0;
    m_guessSince.start();
    m_guessClock.start();
    m_guess->setText(tr("Stop guessing"));
    check();
    showGuessing();
    Q_EMIT guessWished(request());
}

void CaptureDialog::showGuessing()
{
    const qint64 seconds = m_guessSince.elapsed() / 1000;
    say(m_guessTried == 0 ? tr("Trying inputs on the model, %1 s").arg(seconds)
                          : tr("Trying inputs on the model, %1 so far, %2 s")
                                .arg(views::countedText(m_guessTried, "shape", "shapes"))
                                .arg(seconds),
        "");
}

void CaptureDialog::setGuessProgress(quint64 shapes)
{
    if (!isGuessing() || shapes == 0)
        return;
    m_guessTried = shapes;
    showGuessing();
}

void CaptureDialog::endGuess()
{
    m_guessClock.stop();
    m_guess->setText(tr("Guess"));
}

void CaptureDialog::setGuess(const core::Status &status, const std::vector<core::InputText> &inputs,
                             const QString &message)
{
    if (!isGuessing())
        return;
    endGuess();
    if (!status.isOk()) {
        check();
        showRefusal(status);
        return;
    }
    if (inputs.empty()) {
        check();
        say(message.isEmpty() ? tr("No input was found that the model runs on.")
                              : tr("No input was found that the model runs on: %1.").arg(message),
            "warn");
        return;
    }
    m_inputs->setInputs(inputs, {});
    check();
    QStringList specs;
    for (const core::InputText &input : inputs)
        specs.push_back(views::fromView(input.text));
    say(tr("The model runs on %1.").arg(specs.join(QStringLiteral(", "))), "ok");
}

void CaptureDialog::rememberSize(Settings &settings, const QString &model, std::uint64_t bytes)
{
    settings.setValue(sizeKey(settingsKey(model)), QVariant::fromValue<qulonglong>(bytes));
}

void CaptureDialog::showSize()
{
    if (m_described.isEmpty() || !m_facts->isVisibleTo(this) || m_helper != nullptr) {
        m_size->clear();
        return;
    }
    if (const auto bytes = expectedTraceBytes(m_known, request())) {
        m_size->setText(tr("the trace will take about %1").arg(views::bytesText(*bytes)));
        return;
    }
    const QVariant last = m_settings.value(sizeKey(settingsKey(model())));
    if (last.isValid())
        m_size->setText(tr("the last trace took %1").arg(views::bytesText(last.toULongLong())));
    else if (m_known.stateBytes > 0 && m_save->currentIndex() == 0)
        m_size->setText(
            tr("the parameters alone take %1 in the trace").arg(views::bytesText(m_known.stateBytes)));
    else
        m_size->setText(tr("only a run tells how large the trace becomes"));
}

QString CaptureDialog::inputProblemWords()
{
    return tr("An input does not fit: what is wrong stands below it.");
}

void CaptureDialog::showRefusal(const core::Status &status)
{
    m_lastRefusal = status;
    const QString message = views::fromView(status.message());
    const QString remedy = inWindowWords(views::fromView(status.remedy()));
    QStringList lines = {m_inputs->showProblem(message) ? inputProblemWords() : views::asSentence(message)};
    if (!remedy.isEmpty())
        lines.push_back(views::asSentence(remedy));
    say(lines.join(QLatin1Char('\n')), "warn");
}

} // namespace app
