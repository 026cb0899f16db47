// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/op_filter.h"
#include "views/base/theme.h"

#include <QWidget>

class QLabel;
class QLineEdit;

namespace views {

// The filter line of a table: a field, the sentence that explains it, and how many rows are left. A wrong
// token is named under the field. Owned by its pane.
class FilterLine : public QWidget
{
    Q_OBJECT

public:
    explicit FilterLine(const Theme &theme, QWidget *parent = nullptr);

    QString text() const;
    void setText(const QString &text);
    void setCounts(std::size_t shown, std::size_t all);
    void focusField();

Q_SIGNALS:
    // The user wrote a filter that can be read.
    void filterChanged(const views::OpFilter &filter);

protected:
    void keyPressEvent(QKeyEvent *event) override;

private:
    void parse();

    QLineEdit *m_field;
    QLabel *m_explanation;
    QLabel *m_counts;
};

} // namespace views
