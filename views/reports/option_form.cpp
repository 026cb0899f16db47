// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/reports/option_form.h"

#include "views/base/combo_arrow.h"
#include "views/base/formatting.h"
#include "views/base/widgets.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

namespace views {

namespace {

constexpr int kAbove = 8; // of the options, where they stand apart

using core::OptionType;
using core::Value;

// A default or a value as a person types it; null is an empty field.
QString spelled(const Value &value)
{
    if (value.isNull())
        return {};
    return value.isString() ? fromView(value.toString()) : fromView(core::toJson(value));
}

// An op's field is filled from the selection; other values of that type (a word or a number) have a default.
bool namesAnOp(const core::ReportOption &option)
{
    return option.type == OptionType::op && option.defaultValue.toString().empty();
}

bool isSame(const Value &a, const Value &b)
{
    return a == b || (a.isNumber() && b.isNumber() && a.toDouble() == b.toDouble());
}

} // namespace

OptionForm::OptionForm(const Theme &theme, QWidget *parent) : QWidget(parent), m_theme(theme)
{
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    setAccessibleName(tr("Options of the report"));
}

void OptionForm::setInset(int pixels)
{
    m_inset = pixels;
    setSizePolicy(QSizePolicy::Preferred, pixels == 0 ? QSizePolicy::Fixed : QSizePolicy::Preferred);
}

void OptionForm::setReport(const core::ReportDefinition *report, const Value &options)
{
    delete m_body;
    m_fields.clear();
    m_useOp = nullptr;
    m_body = new QWidget(this);
    layout()->addWidget(m_body);
    auto *column = new QVBoxLayout(m_body);
    column->setContentsMargins(m_inset, m_inset == 0 ? 0 : kAbove, m_inset, m_inset == 0 ? 0 : kAbove);
    column->setSpacing(6);
    auto *head = new QHBoxLayout;
    head->addWidget(makeLabel(tr("OPTIONS"), "section", m_body));
    head->addStretch(1);
    m_reset = makeButton(tr("Reset"), "link", m_body);
    m_reset->setToolTip(tr("Back to the defaults of the report"));
    connect(m_reset, &QPushButton::clicked, this, &OptionForm::reset);
    head->addWidget(m_reset);
    column->addLayout(head);
    auto *grid = new QGridLayout;
    grid->setHorizontalSpacing(10);
    grid->setVerticalSpacing(2);
    grid->setColumnStretch(1, 1);
    column->addLayout(grid);
    if (report != nullptr)
        for (const core::ReportOption &option : report->options)
            addField(*grid, option);
    if (m_fields.empty())
        column->addWidget(makeLabel(tr("This report takes no options."), "dense", m_body));
    column->addStretch(1);
    for (const Field &field : m_fields) {
        const Value *given = options.find(field.option->name);
        setValue(field, given != nullptr ? *given : field.option->defaultValue);
    }
    setSelectedOp(m_selectedOp);
    m_reset->setEnabled(!isAtDefaults());
    m_reset->setVisible(hasOptions());
}

void OptionForm::addField(QGridLayout &grid, const core::ReportOption &option)
{
    Field field;
    field.option = &option;
    field.editor = makeEditor(option);
    const QString name = fromView(option.name);
    field.editor->setAccessibleName(name);
    field.editor->setAccessibleDescription(fromView(option.help));
    field.editor->setToolTip(fromView(option.help));
    QLabel *label = makeLabel(name, "monoSecond", m_body);
    label->setBuddy(field.editor);
    field.note = makeElidedLabel(fromView(option.help), "caption", m_body);
    const int row = grid.rowCount();
    grid.addWidget(label, row, 0);
    grid.addWidget(namesAnOp(option) ? makeOpEditor(field.editor) : field.editor, row, 1);
    grid.addWidget(field.note, row + 1, 1);
    m_fields.push_back(field);
}

QWidget *OptionForm::makeEditor(const core::ReportOption &option)
{
    if (option.type == OptionType::boolean) {
        auto *box = new QCheckBox(m_body);
        connect(box, &QCheckBox::toggled, this, &OptionForm::fieldEdited);
        return box;
    }
    if (!option.choices.empty()) {
        auto *box = new QComboBox(m_body);
        box->setProperty("face", "mono");
        addComboArrow(m_theme, box);
        // The data of an item is what is read; without a default nothing may be chosen.
        if (option.defaultValue.isNull())
            box->addItem(tr("not given"), QString());
        for (const std::string_view choice : option.choices)
            box->addItem(fromView(choice), fromView(choice));
        connect(box, &QComboBox::currentIndexChanged, this, &OptionForm::fieldEdited);
        return box;
    }
    auto *line = new QLineEdit(m_body);
    line->setProperty("face", "mono");
    if (option.type == OptionType::list)
        line->setPlaceholderText(QStringLiteral("[\"name\", …]"));
    else if (option.type == OptionType::mapping)
        line->setPlaceholderText(QStringLiteral("{\"name\": …}"));
    else
        line->setPlaceholderText(namesAnOp(option) ? tr("label, position or module") : tr("not given"));
    connect(line, &QLineEdit::textChanged, this, &OptionForm::fieldEdited);
    connect(line, &QLineEdit::returnPressed, this, &OptionForm::runWished);
    return line;
}

QWidget *OptionForm::makeOpEditor(QWidget *line)
{
    auto *host = new QWidget(m_body);
    auto *row = new QHBoxLayout(host);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(6);
    row->addWidget(line, 1);
    m_useOp = makeButton(tr("Use selected op"), "link", host);
    connect(m_useOp, &QPushButton::clicked, this,
            [this, line] { static_cast<QLineEdit *>(line)->setText(m_selectedOp); });
    row->addWidget(m_useOp);
    return host;
}

void OptionForm::setSelectedOp(const QString &label)
{
    m_selectedOp = label;
    if (m_useOp == nullptr)
        return;
    m_useOp->setEnabled(!label.isEmpty());
    m_useOp->setToolTip(label.isEmpty() ? tr("No op is selected") : label);
}

void OptionForm::setValue(const Field &field, const Value &value)
{
    const QSignalBlocker silent(field.editor);
    if (auto *check = qobject_cast<QCheckBox *>(field.editor))
        check->setChecked(value.toBool());
    else if (auto *combo = qobject_cast<QComboBox *>(field.editor))
        combo->setCurrentIndex(std::max(0, combo->findData(spelled(value))));
    else
        static_cast<QLineEdit *>(field.editor)->setText(spelled(value));
}

QString OptionForm::textOf(const Field &field) const
{
    if (const auto *combo = qobject_cast<const QComboBox *>(field.editor))
        return combo->currentData().toString();
    return static_cast<const QLineEdit *>(field.editor)->text().trimmed();
}

OptionForm::Reading OptionForm::read(const Field &field) const
{
    if (const auto *check = qobject_cast<const QCheckBox *>(field.editor))
        return {check->isChecked(), {}};
    const QString text = textOf(field);
    const OptionType type = field.option->type;
    if (text.isEmpty() && field.option->defaultValue.isNull())
        return {};
    bool ok = true;
    switch (type) {
    case OptionType::integer: {
        const qlonglong value = text.toLongLong(&ok);
        return ok ? Reading{static_cast<long long>(value), {}}
                  : Reading{{}, tr("“%1” is no whole number").arg(text)};
    }
    case OptionType::number: {
        if (text == QLatin1String("NaN") || text.endsWith(QLatin1String("Infinity")))
            return {text.toStdString(), {}};
        const double value = text.toDouble(&ok);
        return ok ? Reading{value, {}} : Reading{{}, tr("“%1” is no number").arg(text)};
    }
    case OptionType::list:
    case OptionType::mapping: {
        auto value = core::parseJson(text.toStdString(), field.option->name);
        if (!value || (type == OptionType::list ? !value->isList() : !value->isObject()))
            return {{},
                    type == OptionType::list ? tr("this is no JSON list") : tr("this is no JSON mapping")};
        return {std::move(*value), {}};
    }
    default:
        return {text.toStdString(), {}};
    }
}

std::optional<Value> OptionForm::options()
{
    Value options = Value::object();
    bool readable = true;
    for (const Field &field : m_fields) {
        const Reading reading = read(field);
        const bool wrong = !reading.problem.isEmpty();
        setStyleProperty(field.editor, "problem", wrong);
        field.note->setText(wrong ? reading.problem : fromView(field.option->help));
        setTone(field.note, wrong ? "nan" : "");
        readable = readable && !wrong;
        if (!wrong && !isSame(reading.value, field.option->defaultValue))
            options.set(field.option->name, reading.value);
    }
    return readable ? std::optional(std::move(options)) : std::nullopt;
}

bool OptionForm::isAtDefaults() const
{
    for (const Field &field : m_fields) {
        const Reading reading = read(field);
        if (!reading.problem.isEmpty() || !isSame(reading.value, field.option->defaultValue))
            return false;
    }
    return true;
}

bool OptionForm::isFilled(std::string_view name) const
{
    const auto *line = qobject_cast<const QLineEdit *>(field(name));
    return line == nullptr || !line->text().trimmed().isEmpty();
}

QWidget *OptionForm::field(std::string_view name) const
{
    for (const Field &field : m_fields)
        if (field.option->name == name)
            return field.editor;
    return nullptr;
}

void OptionForm::setText(std::string_view name, const QString &text)
{
    QWidget *editor = field(name);
    if (auto *line = qobject_cast<QLineEdit *>(editor))
        line->setText(text);
    else if (auto *combo = qobject_cast<QComboBox *>(editor))
        combo->setCurrentIndex(std::max(0, combo->findData(text)));
    else if (auto *check = qobject_cast<QCheckBox *>(editor))
        check->setChecked(text == QLatin1String("true"));
}

void OptionForm::reset()
{
    for (const Field &field : m_fields)
        setValue(field, field.option->defaultValue);
    fieldEdited();
}

void OptionForm::fieldEdited()
{
    options(); // says what cannot be read
    m_reset->setEnabled(!isAtDefaults());
    Q_EMIT edited();
}

} // namespace views
