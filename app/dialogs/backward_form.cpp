// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dialogs/backward_form.h"

#include "app/dialogs/counted_suffix.h"
#include "core/capture/loss_target.h"
#include "views/base/combo_arrow.h"
#include "views/base/formatting.h"
#include "views/base/widgets.h"

#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSpinBox>
#include <QToolButton>
#include <QVBoxLayout>

namespace app {

namespace {

constexpr const char *kRules[] = {"", "sum", "mean", "output", "cross_entropy", "mse"};
constexpr int kMostPasses = 100;

QLineEdit *makeField(const QString &name, const QString &placeholder, QWidget *parent)
{
    auto *field = new QLineEdit(parent);
    field->setProperty("face", "mono");
    field->setAccessibleName(name);
    field->setPlaceholderText(placeholder);
    return field;
}

} // namespace

BackwardForm::BackwardForm(const views::Theme &theme, QWidget *parent)
    : QWidget(parent), m_rule(new QComboBox(this)), m_output(new QComboBox(this)),
      m_details(new QWidget(this)), m_targetRow(new QWidget(this)), m_passes(new QSpinBox(m_details))
{
    m_rule->addItems({tr("No backward pass"), tr("From the sum of"), tr("From the mean of"),
                      tr("From the scalar"), tr("From the cross entropy of"),
                      tr("From the mean squared difference of")});
    m_rule->setAccessibleName(tr("Backward pass"));
    views::addComboArrow(theme, m_rule);
    m_output->setEditable(true);
    m_output->setProperty("face", "mono");
    m_output->setAccessibleName(tr("Output the backward pass starts from"));
    m_output->lineEdit()->setPlaceholderText(tr("the first output"));
    m_target = makeField(tr("File of the target"), tr("labels.npy"), m_targetRow);
    m_passes->setRange(1, kMostPasses);
    setCountedSuffix(*m_passes, tr(" pass"), tr(" passes"));
    m_passes->setAccessibleName(tr("Backward passes"));
    m_scale = makeField(tr("Loss scale"), tr("1"), m_details);
    m_scale->setMaximumWidth(90);
    m_inputs = makeField(tr("Inputs that require a gradient"), tr("none (x, y)"), m_details);
    QToolButton *file =
        views::makeIconButton(theme, views::IconName::folderOpen, tr("Choose the target"), m_targetRow);
    connect(file, &QToolButton::clicked, this, [this] {
        auto *dialog = new QFileDialog(this, tr("Choose the target"), QFileInfo(m_target->text()).path());
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->setFileMode(QFileDialog::ExistingFile);
        connect(dialog, &QFileDialog::fileSelected, m_target, &QLineEdit::setText);
        dialog->open();
    });
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    const auto addLine = [&](QWidget *line, std::initializer_list<QWidget *> parts, QWidget *wide) {
        auto *row = line == nullptr ? new QHBoxLayout : new QHBoxLayout(line);
        row->setContentsMargins(0, 0, 0, 0);
        row->setSpacing(8);
        for (QWidget *part : parts)
            row->addWidget(part, part == wide ? 1 : 0);
        line == nullptr ? column->addLayout(row) : column->addWidget(line);
    };
    addLine(nullptr, {m_rule, m_output}, m_output);
    addLine(m_targetRow, {views::makeLabel(tr("target"), "second", m_targetRow), m_target, file}, m_target);
    addLine(m_details,
            {m_passes, views::makeLabel(tr("loss scale"), "second", m_details), m_scale,
             views::makeLabel(tr("input gradients"), "second", m_details), m_inputs},
            m_inputs);
    connect(m_rule, &QComboBox::currentIndexChanged, this, &BackwardForm::showParts);
    connect(m_passes, &QSpinBox::valueChanged, this, &BackwardForm::changed);
    connect(m_output, &QComboBox::editTextChanged, this, &BackwardForm::changed);
    for (QLineEdit *field : {m_target, m_scale, m_inputs})
        connect(field, &QLineEdit::textChanged, this, &BackwardForm::changed);
    showParts();
}

bool BackwardForm::needsTarget() const
{
    return m_rule->currentIndex() >= 4;
}

void BackwardForm::showParts()
{
    const bool runs = m_rule->currentIndex() > 0;
    m_output->setVisible(runs);
    m_details->setVisible(runs);
    m_targetRow->setVisible(needsTarget());
    Q_EMIT changed();
}

void BackwardForm::setOutputs(const QStringList &paths)
{
    const QString before = m_output->currentText();
    m_output->clear();
    for (const QString &path : paths)
        if (!path.isEmpty())
            m_output->addItem(path);
    m_output->setEditText(before);
}

void BackwardForm::setRequest(const std::optional<core::BackwardRequest> &request)
{
    int rule = 0;
    if (request)
        for (int i = 1; i < static_cast<int>(std::size(kRules)); ++i)
            if (request->rule == kRules[i])
                rule = i;
    m_rule->setCurrentIndex(rule);
    const core::BackwardRequest asked = request.value_or(core::BackwardRequest());
    m_output->setEditText(views::fromView(asked.path));
    m_target->setText(views::fromView(asked.target));
    m_passes->setValue(static_cast<int>(asked.passes));
    m_scale->setText(asked.lossScale ? QString::number(*asked.lossScale, 'g', 17) : QString());
    QStringList inputs;
    for (const std::string &name : asked.inputGradients)
        inputs.push_back(views::fromView(name));
    m_inputs->setText(inputs.join(QStringLiteral(", ")));
}

std::optional<core::BackwardRequest> BackwardForm::request() const
{
    if (m_rule->currentIndex() <= 0)
        return std::nullopt;
    core::BackwardRequest request;
    request.rule = kRules[m_rule->currentIndex()];
    request.path = m_output->currentText().trimmed().toStdString();
    if (needsTarget())
        request.target = m_target->text().trimmed().toStdString();
    request.passes = static_cast<std::uint32_t>(m_passes->value());
    if (const QString scale = m_scale->text().trimmed(); !scale.isEmpty())
        request.lossScale = scale.toDouble();
    for (const QString &name : m_inputs->text().split(QLatin1Char(','), Qt::SkipEmptyParts))
        request.inputGradients.push_back(name.trimmed().toStdString());
    return request;
}

QString BackwardForm::problem() const
{
    if (m_rule->currentIndex() <= 0)
        return {};
    if (needsTarget() && m_target->text().trimmed().isEmpty())
        return tr("Choose the file of the target that the loss compares with.");
    if (needsTarget() && !QFileInfo::exists(m_target->text().trimmed()))
        return tr("There is no file %1.").arg(m_target->text().trimmed());
    const QString scale = m_scale->text().trimmed();
    bool isNumber = true;
    const double value = scale.toDouble(&isNumber);
    if (!scale.isEmpty() && !isNumber)
        return tr("The loss scale “%1” is not a number.").arg(scale);
    if (!scale.isEmpty() && !core::checkLossScale(value))
        return tr("The loss scale “%1” is not a finite number above 0.").arg(scale);
    return {};
}

} // namespace app
