// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/graph/graph_overlay.h"

#include "views/base/widgets.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

namespace views {

namespace {

void dress(QFrame *frame)
{
    frame->setObjectName(QStringLiteral("overlay"));
    frame->setAttribute(Qt::WA_StyledBackground);
}

QToolButton *wordButton(const QString &word, const QString &name, QWidget *parent)
{
    auto *button = new QToolButton(parent);
    button->setText(word);
    button->setCheckable(true);
    button->setToolTip(name);
    button->setAccessibleName(name);
    return button;
}

} // namespace

FindBar::FindBar(const Theme &theme, QWidget *parent) : QFrame(parent)
{
    dress(this);
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(8, 4, 4, 4);
    row->setSpacing(4);
    m_field = new QLineEdit(this);
    m_field->setPlaceholderText(tr("Find op, module or kind"));
    m_field->setAccessibleName(tr("Find in the graph"));
    m_field->setClearButtonEnabled(true);
    m_field->setMinimumWidth(220);
    m_field->installEventFilter(this);
    m_count = makeLabel(QString(), "mono", this);
    m_regex = wordButton(QStringLiteral(".*"), tr("Regular expression"), this);
    m_case = wordButton(QStringLiteral("Aa"), tr("Match case"), this);
    auto *back = makeIconButton(theme, IconName::chevronLeft, tr("Previous match (Shift+F3)"), this);
    auto *next = makeIconButton(theme, IconName::chevronRight, tr("Next match (F3)"), this);
    auto *close = makeIconButton(theme, IconName::close, tr("Close find (Esc)"), this);
    row->addWidget(m_field);
    row->addWidget(m_count);
    for (QToolButton *button : {back, next, m_regex, m_case, close})
        row->addWidget(button);
    connect(m_field, &QLineEdit::textChanged, this, &FindBar::changed);
    connect(m_regex, &QToolButton::toggled, this, &FindBar::changed);
    connect(m_case, &QToolButton::toggled, this, &FindBar::changed);
    connect(back, &QToolButton::clicked, this, [this] { Q_EMIT stepWanted(-1); });
    connect(next, &QToolButton::clicked, this, [this] { Q_EMIT stepWanted(1); });
    connect(close, &QToolButton::clicked, this, &FindBar::closed);
}

QString FindBar::text() const
{
    return m_field->text();
}

bool FindBar::isRegex() const
{
    return m_regex->isChecked();
}

bool FindBar::matchesCase() const
{
    return m_case->isChecked();
}

void FindBar::setCount(int current, int count, const QString &problem)
{
    m_field->setToolTip(problem);
    if (!problem.isEmpty())
        m_count->setText(tr("no pattern"));
    else if (m_field->text().isEmpty())
        m_count->clear();
    else if (current < 0)
        m_count->setText(tr("%L1 found").arg(count));
    else
        m_count->setText(tr("%L1 of %L2").arg(current + 1).arg(count));
    setTone(m_count, problem.isEmpty() && (count > 0 || m_field->text().isEmpty()) ? "muted" : "warn");
    adjustSize();
}

void FindBar::open()
{
    show();
    raise();
    m_field->setFocus(Qt::ShortcutFocusReason);
    m_field->selectAll();
}

bool FindBar::eventFilter(QObject *watched, QEvent *event)
{
    if (watched != m_field || event->type() != QEvent::KeyPress)
        return QFrame::eventFilter(watched, event);
    const auto *key = static_cast<QKeyEvent *>(event);
    if (key->key() == Qt::Key_Escape) {
        Q_EMIT closed();
        return true;
    }
    if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
        Q_EMIT stepWanted((key->modifiers() & Qt::ShiftModifier) != 0 ? -1 : 1);
        return true;
    }
    return QFrame::eventFilter(watched, event);
}

} // namespace views
