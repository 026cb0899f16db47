// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/filter_line.h"

#include "views/base/counted_text.h"
#include "views/base/formatting.h"
#include "views/base/widgets.h"

#include <QCoreApplication>
#include <QHBoxLayout>
#include <QInputMethodEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QTextCharFormat>

namespace views {

FilterLine::FilterLine(const Theme &theme, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_field(new QLineEdit(this)),
      m_explanation(makeElidedLabel({}, "dense", this)), m_counts(makeLabel({}, "monoDense", this))
{
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(10, 4, 10, 4);
    row->setSpacing(10);
    row->addWidget(makeIconLabel(theme, IconName::filter, core::ColorToken::second, 13, this));
    m_field->setProperty("face", "mono");
    m_field->setAccessibleName(tr("Filter"));
    m_field->setPlaceholderText(
        QStringLiteral("kind:softmax module:h.7.* shape:[4,*] nan>0 time>100us -saved"));
    m_field->setClearButtonEnabled(true);
    row->addWidget(m_field, 3);
    row->addWidget(m_explanation, 3);
    row->addWidget(m_counts);
    connect(m_field, &QLineEdit::textChanged, this, &FilterLine::parse);
}

QString FilterLine::text() const
{
    return m_field->text();
}

void FilterLine::setText(const QString &text)
{
    m_field->setText(text);
}

void FilterLine::focusField()
{
    m_field->setFocus(Qt::ShortcutFocusReason);
    m_field->selectAll();
}

void FilterLine::setCompact(bool compact)
{
    m_isCompact = compact;
    m_explanation->setVisible(!compact || !m_explanation->text().isEmpty());
}

void FilterLine::setCounts(std::size_t shown, std::size_t all)
{
    m_counts->setText(shown == all ? countedText(all, m_one, m_many)
                                   : tr("%1 of %2").arg(countText(shown), countText(all)));
}

void FilterLine::setReader(Reader reader, const QString &example)
{
    m_reader = std::move(reader);
    m_field->setPlaceholderText(example);
}

void FilterLine::parse()
{
    if (m_reader) {
        const Reading reading = m_reader(m_field->text());
        explain(reading.explanation, reading.problem);
        if (!reading.problem)
            Q_EMIT textAccepted(m_field->text());
        return;
    }
    const OpFilter::Parsed parsed = OpFilter::parse(m_field->text());
    explain(parsed.problem ? QString() : parsed.filter.explanation(), parsed.problem);
    if (!parsed.problem)
        Q_EMIT filterChanged(parsed.filter);
}

void FilterLine::explain(const QString &explanation, const std::optional<OpFilter::Problem> &problem)
{
    setStyleProperty(m_field, "problem", problem.has_value());
    underline(problem);
    if (problem) {
        const QString token = m_field->text().mid(problem->position, problem->length);
        m_explanation->setText(tr("At “%1”: %2").arg(token, problem->message));
    } else {
        m_explanation->setText(explanation);
    }
    setTone(m_explanation, problem ? "nan" : "");
    setCompact(m_isCompact);
}

// A line field takes formats of its text only the way an input method gives them.
void FilterLine::underline(const std::optional<OpFilter::Problem> &problem)
{
    QList<QInputMethodEvent::Attribute> marks;
    if (problem) {
        QTextCharFormat wrong;
        wrong.setUnderlineStyle(QTextCharFormat::WaveUnderline);
        wrong.setUnderlineColor(m_theme.color(core::ColorToken::nan));
        marks.append({QInputMethodEvent::TextFormat, problem->position - m_field->cursorPosition(),
                      std::max(1, problem->length), wrong});
    }
    QInputMethodEvent event(QString(), marks);
    const QSignalBlocker silent(m_field);
    QCoreApplication::sendEvent(m_field, &event);
}

void FilterLine::keyPressEvent(QKeyEvent *event)
{
    if (event->key() == Qt::Key_Escape && !m_field->text().isEmpty()) {
        m_field->clear();
        return;
    }
    QWidget::keyPressEvent(event);
}

} // namespace views
