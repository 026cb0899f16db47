// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture/capture_request.h"
#include "views/base/theme.h"

#include <QWidget>

#include <optional>

class QComboBox;
class QLineEdit;
class QSpinBox;

namespace app {

// Whether a backward pass is run, and of what: the loss, its output, target, passes and scale. Owned by the
// capture dialog.
class BackwardForm : public QWidget
{
    Q_OBJECT

public:
    BackwardForm(const views::Theme &theme, QWidget *parent);

    void setOutputs(const QStringList &paths);
    void setRequest(const std::optional<core::BackwardRequest> &request);
    std::optional<core::BackwardRequest> request() const;
    // What is wrong, in words; empty when nothing is.
    QString problem() const;

Q_SIGNALS:
    void changed();

private:
    bool needsTarget() const;
    void showParts();

    QComboBox *m_rule;
    QComboBox *m_output;
    QWidget *m_details;
    QWidget *m_targetRow;
    QLineEdit *m_target;
    QSpinBox *m_passes;
    QLineEdit *m_scale;
    QLineEdit *m_inputs;
};

} // namespace app
