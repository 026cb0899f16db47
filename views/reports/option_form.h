// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report_registry.h"
#include "views/base/theme.h"

#include <QWidget>

#include <optional>
#include <vector>

class QGridLayout;
class QLabel;
class QPushButton;

namespace views {

// The options of one report as a small form made of its declarations: a field of the right kind each, filled
// with the default, the help beside it, one way back to the defaults. What cannot be read is named below the
// field. Owned by its pane; GUI thread.
class OptionForm : public QWidget
{
    Q_OBJECT

public:
    explicit OptionForm(const Theme &theme, QWidget *parent = nullptr);

    // Pixels at both sides; 0 where it is one row among others, which then has no room of its own around.
    void setInset(int pixels);
    // OPTIONS hold what differs from the defaults.
    void setReport(const core::ReportDefinition *report, const core::Value &options);
    bool hasOptions() const { return !m_fields.empty(); }
    // What differs from the defaults; nullopt when a field cannot be read, which the form then says.
    std::optional<core::Value> options();
    bool isAtDefaults() const;
    bool isFilled(std::string_view name) const;
    // The field of option NAME, for tests and for setting the focus; nullptr when there is none.
    QWidget *field(std::string_view name) const;
    // What "Use selected op" puts into an op's field; empty when no op is selected.
    void setSelectedOp(const QString &label);
    // Puts TEXT into the field of option NAME as the user would.
    void setText(std::string_view name, const QString &text);

Q_SIGNALS:
    void edited();
    // Enter in a field.
    void runWished();

private:
    struct Field
    {
        const core::ReportOption *option = nullptr;
        QWidget *editor = nullptr;
        QLabel *note = nullptr; // help, or what is wrong
    };

    QWidget *makeEditor(const core::ReportOption &option);
    QWidget *makeOpEditor(QWidget *line);
    void addField(QGridLayout &grid, const core::ReportOption &option);
    void setValue(const Field &field, const core::Value &value);
    QString textOf(const Field &field) const;
    // The value of a field, or what is wrong with it.
    struct Reading
    {
        core::Value value;
        QString problem;
    };
    Reading read(const Field &field) const;
    void reset();
    void fieldEdited();

    const Theme &m_theme;
    std::vector<Field> m_fields;
    QWidget *m_body = nullptr;
    QPushButton *m_reset = nullptr;
    QPushButton *m_useOp = nullptr;
    QString m_selectedOp;
    int m_inset = 12;
};

} // namespace views
