// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/widgets.h"

#include "views/base/elided_label.h"
#include "views/base/theme.h"

#include <QFrame>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QStyle>
#include <QToolButton>
#include <QVariant>

namespace views {

namespace {

// Paints its icon at each paint event, so it is always in the colours of now.
class IconLabel : public QWidget
{
public:
    IconLabel(const Theme &theme, IconName icon, core::ColorToken token, int side, QWidget *parent)
        : QWidget(parent), m_theme(theme), m_icon(icon), m_token(token)
    {
        setFixedSize(side, side);
        setAttribute(Qt::WA_TransparentForMouseEvents);
        connect(&theme, &Theme::changed, this, qOverload<>(&QWidget::update));
    }

protected:
    void paintEvent(QPaintEvent *) override
    {
        QPainter painter(this);
        paintIcon(painter, rect(), m_icon, m_theme.color(m_token));
    }

private:
    const Theme &m_theme;
    IconName m_icon;
    core::ColorToken m_token;
};

QLabel *dressLabel(QLabel *label, const char *role)
{
    label->setTextFormat(Qt::PlainText);
    label->setProperty("role", role);
    return label;
}

} // namespace

void setStyleProperty(QWidget *widget, const char *name, const QVariant &value)
{
    if (widget->property(name) == value)
        return;
    widget->setProperty(name, value);
    widget->style()->unpolish(widget);
    widget->style()->polish(widget);
    widget->update();
}

QLabel *makeLabel(const QString &text, const char *role, QWidget *parent)
{
    return dressLabel(new QLabel(text, parent), role);
}

QLabel *makeElidedLabel(const QString &text, const char *role, QWidget *parent)
{
    return dressLabel(new ElidedLabel(text, parent), role);
}

void setTone(QLabel *label, const char *tone)
{
    setStyleProperty(label, "tone", QString::fromLatin1(tone));
}

QLabel *makeBadge(const QString &text, const char *kind, QWidget *parent)
{
    auto *badge = new QLabel(text, parent);
    badge->setTextFormat(Qt::PlainText);
    badge->setProperty("badge", kind);
    badge->setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Fixed);
    return badge;
}

QPushButton *makeButton(const QString &text, const char *kind, QWidget *parent)
{
    auto *button = new QPushButton(text, parent);
    button->setAccessibleName(text);
    button->setProperty("kind", kind);
    if (qstrcmp(kind, "link") == 0)
        button->setCursor(Qt::PointingHandCursor);
    return button;
}

QToolButton *makeIconButton(const Theme &theme, IconName icon, const QString &name, QWidget *parent)
{
    auto *button = new QToolButton(parent);
    button->setIcon(themedIcon(theme, icon, core::ColorToken::second));
    button->setIconSize(QSize(14, 14));
    button->setMinimumSize(24, 24);
    button->setAccessibleName(name);
    button->setToolTip(name);
    button->setFocusPolicy(Qt::TabFocus);
    return button;
}

QWidget *makeIconLabel(const Theme &theme, IconName icon, core::ColorToken token, int side, QWidget *parent)
{
    return new IconLabel(theme, icon, token, side, parent);
}

QFrame *makeRule(QWidget *parent)
{
    auto *rule = new QFrame(parent);
    rule->setProperty("kind", "rule");
    return rule;
}

} // namespace views
