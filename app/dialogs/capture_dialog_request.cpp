// SPDX-License-Identifier: GPL-3.0-or-later
// The answers of the dialog as a request, and a request as answers. Limits that the fields show rounded stay
// as they were given.
#include "app/dialogs/backward_form.h"
#include "app/dialogs/capture_dialog.h"
#include "app/dialogs/input_form.h"
#include "app/settings.h"
#include "views/base/formatting.h"
#include "views/reports/option_form.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFile>
#include <QFileInfo>
#include <QLineEdit>
#include <QSpinBox>

#include <algorithm>
#include <cmath>
#include <limits>

namespace app {

namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr double kTimeSteps = 10.0; // a second

// Rounded up, so that a limit never becomes "no limit".
int wholeMiB(std::uint64_t bytes)
{
    const std::uint64_t whole = bytes / kMiB + (bytes % kMiB != 0 ? 1 : 0);
    return static_cast<int>(std::min<std::uint64_t>(whole, std::numeric_limits<int>::max()));
}

double shownSeconds(double seconds)
{
    return std::ceil(seconds * kTimeSteps) / kTimeSteps;
}

// What FIELD says, but BYTES where it still shows them rounded.
std::uint64_t bytesOf(const QSpinBox &field, std::uint64_t bytes)
{
    const int shown = std::clamp(wholeMiB(bytes), field.minimum(), field.maximum());
    return field.value() == shown ? bytes : static_cast<std::uint64_t>(field.value()) * kMiB;
}

} // namespace

void CaptureDialog::setRequest(const core::CaptureRequest &request)
{
    m_given = request;
    m_inputs->setInputs(request.inputs, views::fromView(request.inputsTree));
    m_seed->setText(request.seed ? QString::number(*request.seed) : QString());
    if (m_mode->isEnabled())
        m_mode->setCurrentIndex(request.train ? 1 : 0);
    m_grad->setChecked(request.gradEnabled);
    m_backward->setRequest(request.backward);
    m_threads->setValue(static_cast<int>(request.threads));
    m_warmup->setValue(static_cast<int>(request.warmup));
    m_repeat->setValue(static_cast<int>(request.repeat));
    m_sources->setChecked(request.saveSources);
    m_memoryMiB->setValue(wholeMiB(request.memoryLimitBytes));
    m_seconds->setValue(shownSeconds(request.timeLimitSeconds));
    m_tensorMiB->setValue(wholeMiB(request.save.maxBytesPerTensor));
    m_save->setCurrentIndex(static_cast<int>(request.save.mode));
    if (request.save.mode == core::SavePolicy::Mode::chosen)
        m_chosen->setText(views::fromView(core::savePolicyText(request.save)));
    if (m_options != nullptr && request.task == m_helper->name && request.options.isObject())
        m_options->setReport(&m_helperDefinition, request.options);
    check();
}

bool CaptureDialog::asksFor(const std::string &task, const QString &model) const
{
    const std::string own = m_helper != nullptr ? std::string(m_helper->name) : core::CaptureRequest().task;
    const auto absolute = [](const QString &path) {
        return path.isEmpty() ? path : QFileInfo(path).absoluteFilePath();
    };
    return own == task && absolute(this->model()) == absolute(model);
}

core::CaptureRequest CaptureDialog::request() const
{
    core::CaptureRequest request;
    request.modelPath = QFile::encodeName(model()).toStdString();
    request.outputPath = QFile::encodeName(outputPath()).toStdString();
    request.inputs = m_inputs->inputs();
    request.inputsTree = QFile::encodeName(m_inputs->tree()).toStdString();
    if (!m_seed->text().trimmed().isEmpty())
        request.seed = m_seed->text().trimmed().toULongLong();
    request.train = m_mode->isEnabled() && m_mode->currentIndex() == 1;
    request.gradEnabled = m_grad->isChecked();
    request.save = savePolicy();
    request.threads = static_cast<std::uint32_t>(m_threads->value());
    request.warmup = static_cast<std::uint32_t>(m_warmup->value());
    request.repeat = static_cast<std::uint32_t>(m_repeat->value());
    request.saveSources = m_sources->isChecked();
    request.memoryLimitBytes = bytesOf(*m_memoryMiB, m_given.memoryLimitBytes);
    const double given = m_given.timeLimitSeconds;
    const bool isAsGiven = std::abs(m_seconds->value() - shownSeconds(given)) < 0.5 / kTimeSteps;
    request.timeLimitSeconds = isAsGiven ? given : m_seconds->value();
    if (m_helper == nullptr) {
        request.backward = m_backward->request();
        return request;
    }
    request.task = m_helper->name;
    const auto asked = m_options != nullptr ? m_options->options() : std::optional(core::Value::object());
    if (const auto options = core::completeLiveOptions(*m_helper, asked.value_or(core::Value::object())))
        request.options = *options;
    return request;
}

core::SavePolicy CaptureDialog::savePolicy() const
{
    core::SavePolicy policy;
    if (m_save->currentIndex() == static_cast<int>(core::SavePolicy::Mode::chosen)) {
        if (const auto chosen = core::parseSavePolicy(m_chosen->text().toStdString()))
            policy = *chosen;
    } else {
        policy.mode = static_cast<core::SavePolicy::Mode>(m_save->currentIndex());
    }
    policy.maxBytesPerTensor = bytesOf(*m_tensorMiB, m_given.save.maxBytesPerTensor);
    return policy;
}

QString CaptureDialog::problem() const
{
    if (model().isEmpty())
        return tr("Choose a model file.");
    if (outputPath().isEmpty())
        return tr("Choose where to write the trace.");
    if (!QFileInfo(model()).isFile())
        return tr("There is no file %1.").arg(model());
    if (!m_refusal.isEmpty())
        return tr("This model cannot run here.");
    const bool needsInputs = m_helper == nullptr || m_helper->needsInputs;
    if (const QString inputs = m_inputs->problem(); needsInputs && !inputs.isEmpty())
        return inputs;
    if (const QString options = optionsProblem(); !options.isEmpty())
        return options;
    if (const QString backward = m_backward->problem(); m_helper == nullptr && !backward.isEmpty())
        return backward;
    bool isNumber = true;
    if (!m_seed->text().trimmed().isEmpty())
        m_seed->text().trimmed().toULongLong(&isNumber);
    if (!isNumber)
        return tr("The seed “%1” is not a whole number.").arg(m_seed->text());
    if (m_save->currentIndex() == static_cast<int>(core::SavePolicy::Mode::chosen))
        if (const auto policy = core::parseSavePolicy(m_chosen->text().toStdString()); !policy)
            return tr("Chosen modules and ops: %1.").arg(views::fromView(policy.error().message()));
    return {};
}

// What the worker would refuse of the options is said before it is started.
QString CaptureDialog::optionsProblem() const
{
    if (m_options == nullptr)
        return {};
    const auto asked = m_options->options();
    if (!asked)
        return tr("An option of %1 cannot be read.").arg(views::fromView(m_helper->name));
    const auto complete = core::completeLiveOptions(*m_helper, *asked);
    return complete ? QString() : tr("Options: %1.").arg(views::fromView(complete.error().message()));
}

QString CaptureDialog::optionsKey() const
{
    return settingsKey(model()) + QLatin1Char('-') + views::fromView(m_helper->name);
}

// The options of the helper as it was last run on this model; those of other helpers have their own place.
void CaptureDialog::restoreOptions()
{
    if (m_options == nullptr)
        return;
    const auto stored = core::parseJson(m_settings.bytes(optionsKey()).toStdString(), "remembered options");
    if (stored && stored->isObject() && core::completeLiveOptions(*m_helper, *stored))
        m_options->setReport(&m_helperDefinition, *stored);
}

} // namespace app
