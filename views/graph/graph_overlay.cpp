// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/graph/graph_overlay.h"

#include "views/base/widgets.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QToolButton>

#include <cmath>

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

ZoomBar::ZoomBar(const Theme &theme, QWidget *parent) : QFrame(parent)
{
    dress(this);
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(4, 2, 4, 2);
    row->setSpacing(2);
    auto *out = makeIconButton(theme, IconName::minus, tr("Zoom out"), this);
    auto *in = makeIconButton(theme, IconName::plus, tr("Zoom in"), this);
    auto *fit = makeIconButton(theme, IconName::fit, tr("Fit the graph (F)"), this);
    m_percent = makeButton(QStringLiteral("100 %"), "link", this);
    m_percent->setFlat(true);
    m_percent->setMinimumWidth(54);
    m_percent->setToolTip(tr("Zoom to 100 %"));
    m_percent->setAccessibleName(tr("Zoom"));
    for (QWidget *widget : {static_cast<QWidget *>(out), static_cast<QWidget *>(m_percent),
                            static_cast<QWidget *>(in), static_cast<QWidget *>(fit)})
        row->addWidget(widget);
    connect(out, &QToolButton::clicked, this, [this] { Q_EMIT zoomWanted(1.0 / 1.25); });
    connect(in, &QToolButton::clicked, this, [this] { Q_EMIT zoomWanted(1.25); });
    connect(fit, &QToolButton::clicked, this, &ZoomBar::fitWanted);
    connect(m_percent, &QPushButton::clicked, this, &ZoomBar::actualSizeWanted);
}

void ZoomBar::setZoom(double zoom)
{
    const double percent = zoom * 100.0;
    m_percent->setText(percent < 10.0 ? tr("%1 %").arg(percent, 0, 'f', 1)
                                      : tr("%1 %").arg(std::lround(percent)));
}

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

NoticeBar::NoticeBar(QWidget *parent) : QFrame(parent)
{
    dress(this);
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(12, 4, 6, 4);
    row->setSpacing(12);
    m_text = makeElidedLabel(QString(), "dense", this);
    m_action = makeButton(QString(), "link", this);
    m_action->setAccessibleName(tr("Act on this notice"));
    row->addWidget(m_text);
    row->addWidget(m_action);
    connect(m_action, &QPushButton::clicked, this, &NoticeBar::actionWanted);
    hide();
}

void NoticeBar::showNotice(const QString &text, const QString &action)
{
    m_text->setText(text);
    m_action->setText(action);
    m_action->setVisible(!action.isEmpty());
    adjustSize();
    show();
    raise();
}

QString NoticeBar::text() const
{
    return m_text->text();
}

} // namespace views
