// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/filter_line.h"

#include "views/base/formatting.h"
#include "views/base/widgets.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>

namespace views {

FilterLine::FilterLine(const Theme &theme, QWidget *parent)
    : QWidget(parent), m_field(new QLineEdit(this)), m_explanation(makeElidedLabel({}, "dense", this)),
      m_counts(makeLabel({}, "monoDense", this))
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

void FilterLine::setCounts(std::size_t shown, std::size_t all)
{
    m_counts->setText(shown == all ? tr("%1 ops").arg(countText(all))
                                   : tr("%1 of %2").arg(countText(shown), countText(all)));
}

void FilterLine::parse()
{
    const OpFilter::Parsed parsed = OpFilter::parse(m_field->text());
    setStyleProperty(m_field, "problem", parsed.problem.has_value());
    if (parsed.problem) {
        const QString token = m_field->text().mid(parsed.problem->position, parsed.problem->length);
        m_explanation->setText(tr("At “%1”: %2").arg(token, parsed.problem->message));
        setTone(m_explanation, "nan");
        return;
    }
    m_explanation->setText(parsed.filter.explanation());
    setTone(m_explanation, "");
    Q_EMIT filterChanged(parsed.filter);
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
