// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dialogs/capture_dialog.h"

#include "app/settings.h"
#include "core/base/value.h"
#include "core/capture/input_spec.h"
#include "views/base/formatting.h"
#include "views/base/widgets.h"

#include <QCheckBox>
#include <QComboBox>
#include <QCryptographicHash>
#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QStandardPaths>
#include <QVBoxLayout>

#include <algorithm>
#include <thread>

namespace app {

namespace {

constexpr int kMiB = 1 << 20;
constexpr std::uint64_t kGiB = std::uint64_t(1) << 30;

QString defaultOutput(const QString &model)
{
    const QString folder = QStandardPaths::writableLocation(QStandardPaths::GenericDataLocation) +
                           QStringLiteral("/opscope/captures");
    return QStringLiteral("%1/%2-%3.opscope")
        .arg(folder, QFileInfo(model).completeBaseName(),
             QDateTime::currentDateTime().toString(QStringLiteral("yyyyMMdd-HHmmss")));
}

QSpinBox *makeNumber(int low, int high, int value, const QString &name, const QString &suffix,
                     const QString &none)
{
    auto *box = new QSpinBox;
    box->setRange(low, high);
    box->setValue(value);
    box->setSuffix(suffix);
    box->setSpecialValueText(none);
    box->setAccessibleName(name);
    return box;
}

QStringList inputLines(const QPlainTextEdit &edit)
{
    QStringList lines;
    for (const QString &line : edit.toPlainText().split(QLatin1Char('\n')))
        if (!line.trimmed().isEmpty())
            lines.push_back(line.trimmed());
    return lines;
}

} // namespace

CaptureDialog::CaptureDialog(const views::Theme &, Settings &settings, QWidget *parent)
    : QDialog(parent), m_settings(settings), m_problem(views::makeLabel({}, "dense", this)),
      m_start(views::makeButton(tr("Start"), "primary", this))
{
    setWindowTitle(tr("Capture a model"));
    setModal(false);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(22, 18, 22, 16);
    column->setSpacing(12);
    column->addWidget(views::makeLabel(tr("Capture a model"), "title", this));
    auto *form = new QFormLayout;
    form->setHorizontalSpacing(16);
    form->setVerticalSpacing(8);
    addModelRows(form);
    addInputRows(form);
    addRunRows(form);
    addLimitRows(form);
    column->addLayout(form);
    m_problem->setWordWrap(true);
    column->addWidget(m_problem);
    auto *buttons = new QHBoxLayout;
    buttons->addStretch(1);
    QPushButton *cancel = views::makeButton(tr("Cancel"), "", this);
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    connect(m_start, &QPushButton::clicked, this, &CaptureDialog::start);
    m_start->setDefault(true);
    cancel->setAutoDefault(false);
    buttons->addWidget(cancel);
    buttons->addWidget(m_start);
    column->addLayout(buttons);
    connectFields();
    check();
}

void CaptureDialog::addModelRows(QFormLayout *form)
{
    const auto pathRow = [&](const QString &label, const QString &name, QLineEdit *&field,
                             void (CaptureDialog::*choose)()) {
        field = new QLineEdit(this);
        field->setAccessibleName(name);
        field->setProperty("face", "mono");
        auto *row = new QHBoxLayout;
        row->addWidget(field, 1);
        QPushButton *button = views::makeButton(tr("Choose…"), "", this);
        button->setAccessibleName(tr("Choose: %1").arg(name));
        button->setAutoDefault(false);
        connect(button, &QPushButton::clicked, this, choose);
        row->addWidget(button);
        form->addRow(label, row);
    };
    pathRow(tr("Model"), tr("Model file"), m_model, &CaptureDialog::chooseModel);
    pathRow(tr("Trace"), tr("File to write the trace to"), m_output, &CaptureDialog::chooseOutput);
}

void CaptureDialog::addInputRows(QFormLayout *form)
{
    m_inputs = new QPlainTextEdit(this);
    m_inputs->setProperty("face", "mono");
    m_inputs->setAccessibleName(tr("Inputs, one a line"));
    m_inputs->setPlaceholderText(tr("One input a line, in order or NAME=...:\nf32[1,3,224,224]=randn\n"
                                    "i64[4,256]=randint(0,100)\nempty: the sample inputs of the file"));
    m_inputs->setFixedHeight(84);
    m_inputs->setTabChangesFocus(true);
    form->addRow(tr("Inputs"), m_inputs);
    m_seed = new QLineEdit(QStringLiteral("0"), this);
    m_seed->setAccessibleName(tr("Seed of the random inputs and ops"));
    m_seed->setPlaceholderText(tr("none"));
    form->addRow(tr("Seed"), m_seed);
}

void CaptureDialog::addRunRows(QFormLayout *form)
{
    m_save = new QComboBox(this);
    m_save->addItems({tr("All values"), tr("Statistics only"), tr("Chosen modules and ops")});
    m_save->setAccessibleName(tr("What to save"));
    m_chosen = new QLineEdit(this);
    m_chosen->setAccessibleName(tr("Chosen modules and ops"));
    m_chosen->setPlaceholderText(QStringLiteral("module:h.7.*, op:softmax"));
    m_chosen->setEnabled(false);
    auto *save = new QHBoxLayout;
    save->addWidget(m_save);
    save->addWidget(m_chosen, 1);
    form->addRow(tr("Save"), save);
    m_tensorMiB = makeNumber(1, 1 << 20, 64, tr("Largest saved tensor"), tr(" MiB"), {});
    form->addRow(tr("Largest tensor"), m_tensorMiB);
    m_mode = new QComboBox(this);
    m_mode->addItems({tr("eval"), tr("train")});
    m_mode->setAccessibleName(tr("Mode"));
    m_grad = new QCheckBox(tr("Record the autograd graph"), this);
    m_grad->setAccessibleName(m_grad->text());
    m_grad->setChecked(true);
    auto *mode = new QHBoxLayout;
    mode->addWidget(m_mode);
    mode->addWidget(m_grad);
    mode->addStretch(1);
    form->addRow(tr("Mode"), mode);
}

void CaptureDialog::addLimitRows(QFormLayout *form)
{
    const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    m_threads = makeNumber(1, 256, cores, tr("Threads"), tr(" threads"), {});
    m_warmup = makeNumber(0, 100, 0, tr("Warm-up runs"), tr(" warm-up runs"), tr("no warm-up"));
    m_memoryGiB = makeNumber(0, 4096, 0, tr("Memory limit"), tr(" GiB"), tr("no limit"));
    m_seconds = makeNumber(0, 86400, 0, tr("Time limit"), tr(" s"), tr("no limit"));
    auto *run = new QHBoxLayout;
    run->addWidget(m_threads);
    run->addWidget(m_warmup);
    run->addStretch(1);
    form->addRow(tr("Run"), run);
    auto *limits = new QHBoxLayout;
    limits->addWidget(views::makeLabel(tr("memory"), "second", this));
    limits->addWidget(m_memoryGiB);
    limits->addSpacing(12);
    limits->addWidget(views::makeLabel(tr("time"), "second", this));
    limits->addWidget(m_seconds);
    limits->addStretch(1);
    form->addRow(tr("Limits"), limits);
}

void CaptureDialog::connectFields()
{
    connect(m_save, &QComboBox::currentIndexChanged, this, [this](int index) {
        m_chosen->setEnabled(index == 2);
        check();
    });
    for (QLineEdit *field : {m_model, m_output, m_chosen, m_seed})
        connect(field, &QLineEdit::textChanged, this, &CaptureDialog::check);
    connect(m_inputs, &QPlainTextEdit::textChanged, this, &CaptureDialog::check);
}

QString CaptureDialog::settingsKey() const
{
    const QByteArray hash = QCryptographicHash::hash(m_model->text().toUtf8(), QCryptographicHash::Sha256);
    return QStringLiteral("capture/") + QString::fromLatin1(hash.toHex().left(16));
}

void CaptureDialog::setModel(const QString &path)
{
    m_model->setText(path);
    if (!path.isEmpty()) {
        const auto stored =
            core::parseJson(m_settings.bytes(settingsKey()).toStdString(), "remembered answers");
        if (stored)
            if (const auto request = core::captureRequestFromValue(*stored))
                fill(*request);
        m_output->setText(defaultOutput(path));
    }
    check();
}

void CaptureDialog::fill(const core::CaptureRequest &request)
{
    QStringList lines;
    for (const core::InputText &input : request.inputs)
        lines.push_back(input.name.empty() ? views::fromView(input.text)
                                           : views::fromView(input.name + "=" + input.text));
    m_inputs->setPlainText(lines.join(QLatin1Char('\n')));
    m_seed->setText(request.seed ? QString::number(*request.seed) : QString());
    m_mode->setCurrentIndex(request.train ? 1 : 0);
    m_grad->setChecked(request.gradEnabled);
    m_threads->setValue(static_cast<int>(request.threads));
    m_warmup->setValue(static_cast<int>(request.warmup));
    m_memoryGiB->setValue(static_cast<int>(request.memoryLimitBytes / kGiB));
    m_seconds->setValue(static_cast<int>(request.timeLimitSeconds));
    m_tensorMiB->setValue(static_cast<int>(request.save.maxBytesPerTensor / kMiB));
    m_save->setCurrentIndex(static_cast<int>(request.save.mode));
    if (request.save.mode == core::SavePolicy::Mode::chosen)
        m_chosen->setText(views::fromView(core::savePolicyText(request.save)));
}

core::CaptureRequest CaptureDialog::request() const
{
    core::CaptureRequest request;
    request.modelPath = QFile::encodeName(m_model->text()).toStdString();
    request.outputPath = QFile::encodeName(m_output->text()).toStdString();
    for (const QString &line : inputLines(*m_inputs))
        request.inputs.push_back({{}, line.toStdString()});
    if (!m_seed->text().trimmed().isEmpty())
        request.seed = m_seed->text().trimmed().toULongLong();
    request.train = m_mode->currentIndex() == 1;
    request.gradEnabled = m_grad->isChecked();
    if (m_save->currentIndex() == 2) {
        if (const auto policy = core::parseSavePolicy(m_chosen->text().toStdString()))
            request.save = *policy;
    } else {
        request.save.mode =
            m_save->currentIndex() == 0 ? core::SavePolicy::Mode::all : core::SavePolicy::Mode::none;
    }
    request.save.maxBytesPerTensor = static_cast<std::uint64_t>(m_tensorMiB->value()) * kMiB;
    request.threads = static_cast<std::uint32_t>(m_threads->value());
    request.warmup = static_cast<std::uint32_t>(m_warmup->value());
    request.memoryLimitBytes = static_cast<std::uint64_t>(m_memoryGiB->value()) * kGiB;
    request.timeLimitSeconds = m_seconds->value();
    return request;
}

QString CaptureDialog::problem() const
{
    if (m_model->text().trimmed().isEmpty())
        return tr("Choose a model file.");
    if (m_output->text().trimmed().isEmpty())
        return tr("Choose where to write the trace.");
    for (const QString &line : inputLines(*m_inputs))
        if (const auto parsed = core::parseInputOption(line.toStdString()); !parsed)
            return tr("Input “%1”: %2.").arg(line, views::fromView(parsed.error().message()));
    bool isNumber = true;
    if (!m_seed->text().trimmed().isEmpty())
        m_seed->text().trimmed().toULongLong(&isNumber);
    if (!isNumber)
        return tr("The seed “%1” is not a whole number.").arg(m_seed->text());
    if (m_save->currentIndex() == 2)
        if (const auto policy = core::parseSavePolicy(m_chosen->text().toStdString()); !policy)
            return tr("Chosen modules and ops: %1.").arg(views::fromView(policy.error().message()));
    return {};
}

void CaptureDialog::check()
{
    const QString text = problem();
    m_problem->setText(
        text.isEmpty() ? tr("Nothing runs before Start. The model runs in a process of its own.") : text);
    views::setTone(m_problem, text.isEmpty() ? "" : "warn");
    m_start->setEnabled(text.isEmpty());
}

void CaptureDialog::start()
{
    if (!problem().isEmpty())
        return;
    const core::CaptureRequest asked = request();
    m_settings.setBytes(settingsKey(), QByteArray::fromStdString(core::toJson(core::toValue(asked))));
    QDir().mkpath(QFileInfo(m_output->text()).absolutePath());
    accept();
    Q_EMIT captureRequested(asked);
}

void CaptureDialog::chooseModel()
{
    auto *dialog = new QFileDialog(this, tr("Choose a model"), QFileInfo(m_model->text()).absolutePath(),
                                   tr("Models (*.pt2 *.pt *.pth *.ts);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, &CaptureDialog::setModel);
    dialog->open();
}

void CaptureDialog::chooseOutput()
{
    auto *dialog = new QFileDialog(this, tr("Write the trace to"), QFileInfo(m_output->text()).absolutePath(),
                                   tr("Traces (*.opscope)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    connect(dialog, &QFileDialog::fileSelected, m_output, &QLineEdit::setText);
    dialog->open();
}

} // namespace app
