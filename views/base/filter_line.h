// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/op_filter.h"
#include "views/base/theme.h"

#include <QWidget>

class QLabel;
class QLineEdit;

namespace views {

// The filter line of a table: a field, the sentence that explains it, and how many rows are left. A wrong
// token is underlined and named beside the field. It speaks the language of ops unless it is given another
// reader. Owned by its pane.
class FilterLine : public QWidget
{
    Q_OBJECT

public:
    // What a text means: a sentence, or where it is wrong.
    struct Reading
    {
        QString explanation;
        std::optional<OpFilter::Problem> problem;
    };
    using Reader = std::function<Reading(const QString &)>;

    explicit FilterLine(const Theme &theme, QWidget *parent = nullptr);

    // Another language than that of ops: READER judges, textAccepted() tells, EXAMPLE stands in the empty
    // field.
    void setReader(Reader reader, const QString &example);
    // The words for one and for several of what is filtered; literals.
    void setUnit(const char *one, const char *many)
    {
        m_one = one;
        m_many = many;
    }
    QString text() const;
    void setText(const QString &text);
    void setCounts(std::size_t shown, std::size_t all);
    void focusField();
    // Where room is short no place is kept for an explanation that there is not.
    void setCompact(bool compact);

Q_SIGNALS:
    // The user wrote a filter that can be read.
    void filterChanged(const views::OpFilter &filter);
    // The same with a reader of one's own.
    void textAccepted(const QString &text);

protected:
    void keyPressEvent(QKeyEvent *event) override;

private:
    void parse();
    void explain(const QString &explanation, const std::optional<OpFilter::Problem> &problem);
    void underline(const std::optional<OpFilter::Problem> &problem);

    const Theme &m_theme;
    Reader m_reader;
    const char *m_one = "op";
    const char *m_many = "ops";
    QLineEdit *m_field;
    QLabel *m_explanation;
    QLabel *m_counts;
    bool m_isCompact = false;
};

} // namespace views
