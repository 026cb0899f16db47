// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/dialogs/model_facts.h"
#include "core/capture/capture_request.h"
#include "views/base/theme.h"

#include <QWidget>

#include <vector>

class QGridLayout;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QToolButton;

namespace app {

// The inputs of a run: one line an input when the model said which it takes, else a text with one input a
// line; or one file that names them all. Says at the line itself what is wrong with it. Owned by the dialog
// that asks.
class InputForm : public QWidget
{
    Q_OBJECT

public:
    InputForm(const views::Theme &theme, QWidget *parent);

    // What the model takes; values that were given before stay.
    void setFacts(const ModelFacts &facts);
    // Nothing is known of the model (any more).
    void setUnknown();
    void setInputs(const std::vector<core::InputText> &inputs, const QString &tree);
    std::vector<core::InputText> inputs() const;
    QString tree() const;

    // What is wrong with what was typed, in words; empty when nothing is.
    QString problem() const;
    // problem() stands at its input already.
    bool saysProblem() const;
    // Shows PROBLEM at the input it names ("input x: ..."); false when it names none of these.
    bool showProblem(const QString &problem);

Q_SIGNALS:
    void changed();

protected:
    // Files are dropped on the fields.
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    struct Row
    {
        InputFacts facts;
        QLineEdit *text = nullptr;
        QLabel *problem = nullptr;
    };

    void addTreeRow();
    void addRow(const InputFacts &facts, bool hasSample);
    bool isEmpty() const;
    void clearRows();
    void checkRows();
    QString problemOf(const Row &row) const;
    void chooseFile(QLineEdit *field, const QString &filter);
    QToolButton *makeFileButton(QLineEdit *field, const QString &name, const QString &filter);

    const views::Theme &m_theme;
    QWidget *m_list;
    QGridLayout *m_grid;
    QPlainTextEdit *m_free;
    QLineEdit *m_tree;
    std::vector<Row> m_rows;
    bool m_hasSamples = false;
    bool m_canGuess = false; // as long as no line is filled
};

} // namespace app
