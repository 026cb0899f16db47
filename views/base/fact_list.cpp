// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/fact_list.h"

#include "views/base/fact_rows.h"
#include "views/base/formatting.h"
#include "views/base/widgets.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace views {

namespace {

constexpr int kSide = 14;

// A link that may be narrower than its text, which is then cut in the middle and told in the tooltip.
class ElidedLink : public QPushButton
{
public:
    ElidedLink(const QString &text, QWidget *parent) : QPushButton(text, parent), m_text(text)
    {
        setProperty("kind", "monoLink");
        setCursor(Qt::PointingHandCursor);
        setToolTip(text);
        setMinimumWidth(48);
    }
    QSize sizeHint() const override
    {
        return {fontMetrics().horizontalAdvance(m_text) + 10, QPushButton::sizeHint().height()};
    }

protected:
    void resizeEvent(QResizeEvent *event) override
    {
        QPushButton::resizeEvent(event);
        setText(fontMetrics().elidedText(m_text, Qt::ElideMiddle, width() - 8));
    }

private:
    QString m_text;
};

} // namespace

FactList::FactList(const Theme &theme, QWidget *parent) : QWidget(parent), m_theme(theme), m_column(nullptr)
{
    auto *outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    clear();
}

void FactList::clear()
{
    delete m_content;
    m_barNumbers.clear();
    m_content = new QWidget(this);
    m_column = new QVBoxLayout(m_content);
    m_column->setContentsMargins(0, 10, 0, 14);
    m_column->setSpacing(0);
    layout()->addWidget(m_content);
}

void FactList::addSection(const QString &title, const QString &note)
{
    auto *row = new QHBoxLayout;
    row->setContentsMargins(kSide, 14, kSide, 4);
    row->addWidget(makeLabel(title.toUpper(), "section", m_content));
    row->addStretch(1);
    if (!note.isEmpty())
        row->addWidget(makeLabel(note, "caption", m_content));
    m_column->addLayout(row);
    auto *line = new QHBoxLayout;
    line->setContentsMargins(kSide, 0, kSide, 3);
    line->addWidget(makeRule(m_content));
    m_column->addLayout(line);
}

void FactList::addFact(const QString &name, const QString &value, const char *tone,
                       std::function<void()> activate)
{
    auto *row = new QHBoxLayout;
    row->setContentsMargins(kSide, 2, kSide, 2);
    row->setSpacing(12);
    row->addWidget(makeLabel(name, "second", m_content));
    if (activate) {
        auto *link = new ElidedLink(value, m_content);
        link->setAccessibleName(QStringLiteral("%1: %2").arg(name, value));
        connect(link, &QPushButton::clicked, this, std::move(activate));
        row->addStretch(1);
        row->addWidget(link);
    } else {
        QLabel *label = makeElidedLabel(value, "monoDense", m_content);
        label->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
        label->setAccessibleName(QStringLiteral("%1: %2").arg(name, value));
        setTone(label, tone);
        row->addWidget(label, 1);
    }
    m_column->addLayout(row);
}

void FactList::addEntry(const Entry &entry)
{
    m_column->addWidget(new EntryRow(m_theme, entry, m_content));
}

void FactList::addBar(const QString &name, std::size_t part, std::size_t whole)
{
    auto *row = new QHBoxLayout;
    row->setContentsMargins(kSide, 3, kSide, 3);
    row->setSpacing(12);
    QLabel *label = makeElidedLabel(name, "dense", m_content);
    label->setMaximumWidth(132); // the bars of a list begin in one column
    label->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    row->addWidget(label, 3);
    row->addWidget(new ShareBar(m_theme, part, whole, name, m_content), 2);
    QLabel *numbers =
        makeLabel(tr("%1 of %2").arg(countText(part), countText(whole)), "monoDense", m_content);
    numbers->setAlignment(Qt::AlignRight);
    // The numbers of a list end in one column and begin where the widest of them does, so the bars are as
    // long.
    numbers->ensurePolished(); // the face decides how wide they are
    m_barNumbers.push_back(numbers);
    int widest = 0;
    for (const QLabel *other : m_barNumbers)
        widest = std::max(widest, other->sizeHint().width());
    for (QLabel *other : m_barNumbers)
        other->setMinimumWidth(widest);
    row->addWidget(numbers);
    m_column->addLayout(row);
}

void FactList::addText(const QString &text)
{
    auto *row = new QHBoxLayout;
    row->setContentsMargins(kSide, 2, kSide, 4);
    QLabel *label = makeLabel(text, "dense", m_content);
    label->setWordWrap(true);
    row->addWidget(label);
    m_column->addLayout(row);
}

void FactList::addWidget(QWidget *widget)
{
    auto *row = new QHBoxLayout;
    row->setContentsMargins(kSide, 4, kSide, 4);
    widget->setParent(m_content);
    row->addWidget(widget);
    m_column->addLayout(row);
}

void FactList::finish()
{
    m_column->addStretch(1);
}

} // namespace views
