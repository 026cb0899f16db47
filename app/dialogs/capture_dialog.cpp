// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dialogs/capture_dialog.h"

#include "app/dialogs/backward_form.h"
#include "app/dialogs/counted_suffix.h"
#include "app/dialogs/input_form.h"
#include "app/dialogs/model_file_dialog.h"
#include "app/settings.h"
#include "core/base/value.h"
#include "views/base/combo_arrow.h"
#include "views/base/elided_label.h"
#include "views/base/formatting.h"
#include "views/base/tab_order.h"
#include "views/base/widgets.h"
#include "views/reports/option_form.h"

#include <QCheckBox>
#include <QComboBox>
#include <QCryptographicHash>
#include <QDateTime>
#include <QDir>
#include <QDoubleSpinBox>
#include <QDropEvent>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QPushButton>
#include <QScreen>
#include <QScrollArea>
#include <QSpinBox>
#include <QStandardPaths>
#include <QVBoxLayout>
#include <QWindow>

#include <algorithm>
#include <thread>

namespace app {

namespace {

constexpr int kWidth = 720;
constexpr int kHeight = 600;
constexpr int kMostMiB = 1 << 22; // 4 TiB
constexpr int kSettledMs = 120;   // a layout has taken in what changed by then
constexpr int kRoom = 24;         // around the dialog on a small screen, its frame included

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

} // namespace

CaptureDialog::CaptureDialog(const views::Theme &theme, Settings &settings, QWidget *parent)
    : QDialog(parent), m_theme(theme), m_settings(settings),
      m_title(views::makeElidedLabel(tr("Capture a model"), "title", this)),
      m_facts(views::makeLabel({}, "dense", this)), m_problem(views::makeLabel({}, "dense", this)),
      m_start(views::makeButton(tr("Start"), "primary", this))
{
    setWindowTitle(tr("Capture a model"));
    setModal(false);
    setAcceptDrops(true);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(22, 18, 22, 16);
    column->setSpacing(12);
    views::elideInTheMiddle(m_title);
    column->addWidget(m_title);
    column->addWidget(makeFormArea(), 1);
    m_problem->setWordWrap(true);
    column->addWidget(m_problem);
    column->addLayout(makeButtons());
    connectFields();
    check();
    resize(kWidth, kHeight);
    arrangeLater();
}

// What came or went in the form is reached by Tab in its place, and seen without scrolling where the screen
// has the room. Later, because the layout knows its size only then: what changed deep inside is told upwards
// one event a level. A height the user gave is not taken back.
void CaptureDialog::arrangeLater()
{
    for (const int ms : {0, kSettledMs})
        QTimer::singleShot(ms, this, &CaptureDialog::arrange);
}

void CaptureDialog::arrange()
{
    views::orderTabsByLayout(*this);
    // Before the window manager has placed it, a new size would take along a place that is none yet.
    if (isVisible() && windowHandle() != nullptr && !windowHandle()->isExposed())
        return;
    const int wanted = height() + m_area->widget()->height() - m_area->viewport()->height();
    const QRect room = screen()->availableGeometry().adjusted(kRoom, kRoom, -kRoom, -kRoom);
    // The form does not scroll sideways: large text makes it wider.
    const int wide = width() + m_area->widget()->minimumSizeHint().width() - m_area->viewport()->width();
    if (wanted > height() || wide > width())
        resize(std::max(width(), std::min(wide, room.width())),
               std::max(height(), std::min(wanted, room.height() * 9 / 10)));
    if (isVisible() && y() + height() > room.bottom())
        move(x(), std::max(room.top(), room.bottom() - height()));
}

void CaptureDialog::showEvent(QShowEvent *event)
{
    QDialog::showEvent(event);
    if (!event->spontaneous() && windowHandle() != nullptr)
        windowHandle()->installEventFilter(this); // until it is on screen
}

bool CaptureDialog::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == windowHandle() && event->type() == QEvent::Expose && windowHandle()->isExposed()) {
        windowHandle()->removeEventFilter(this);
        arrangeLater();
    }
    return QDialog::eventFilter(watched, event);
}

// The form scrolls, so that the buttons stay in sight in a small window.
QWidget *CaptureDialog::makeFormArea()
{
    auto *content = new QWidget;
    content->setObjectName(QStringLiteral("page"));
    auto *form = m_form = new QFormLayout(content);
    form->setContentsMargins(0, 0, 8, 0);
    form->setHorizontalSpacing(16);
    form->setVerticalSpacing(10);
    form->setLabelAlignment(Qt::AlignLeft | Qt::AlignTop);
    form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
    addModelRows(form);
    addInputRows(form);
    addRunRows(form);
    addLimitRows(form);
    auto *area = m_area = new QScrollArea(this);
    area->setAccessibleName(tr("How the model is run"));
    area->setFocusPolicy(Qt::NoFocus);
    area->setWidgetResizable(true);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area->setWidget(content);
    return area;
}

QHBoxLayout *CaptureDialog::makeButtons()
{
    auto *buttons = new QHBoxLayout;
    buttons->setSpacing(8);
    buttons->addStretch(1);
    QPushButton *cancel = views::makeButton(tr("Cancel"), "", this);
    connect(cancel, &QPushButton::clicked, this, &QDialog::reject);
    connect(m_start, &QPushButton::clicked, this, &CaptureDialog::start);
    m_start->setDefault(true);
    m_start->setAutoDefault(false);
    cancel->setAutoDefault(false);
    buttons->addWidget(cancel);
    buttons->addWidget(m_start);
    return buttons;
}

void CaptureDialog::addModelRows(QFormLayout *form)
{
    const auto pathRow = [&](const QString &label, const QString &name, QLineEdit *&field,
                             void (CaptureDialog::*choose)()) {
        field = new QLineEdit(this);
        field->setAccessibleName(name);
        field->setProperty("face", "mono");
        auto *row = new QHBoxLayout;
        row->setSpacing(8);
        row->addWidget(field, 1);
        QPushButton *button = views::makeButton(tr("Choose…"), "", this);
        button->setAccessibleName(tr("Choose: %1").arg(name));
        button->setAutoDefault(false);
        connect(button, &QPushButton::clicked, this, choose);
        row->addWidget(button);
        form->addRow(label, row);
        return row;
    };
    pathRow(tr("Model"), tr("Model file"), m_model, &CaptureDialog::chooseModel);
    m_facts->setWordWrap(true);
    // Room that the form has to spare does not go between the model and what is known of it.
    QSizePolicy close(QSizePolicy::Preferred, QSizePolicy::Maximum);
    close.setHeightForWidth(true);
    m_facts->setSizePolicy(close);
    form->addRow(QString(), m_facts);
    m_traceRows.push_back(
        pathRow(tr("Trace"), tr("File to write the trace to"), m_output, &CaptureDialog::chooseOutput));
}

void CaptureDialog::addInputRows(QFormLayout *form)
{
    m_inputs = new InputForm(m_theme, this);
    form->addRow(tr("Inputs"), m_inputs);
    m_seed = new QLineEdit(QStringLiteral("0"), this);
    m_seed->setAccessibleName(tr("Seed of the random inputs and ops"));
    m_seed->setPlaceholderText(tr("none"));
    m_seed->setMaximumWidth(160);
    m_checkInputs = views::makeButton(tr("Check the inputs"), "", this);
    m_checkInputs->setAutoDefault(false);
    m_checkInputs->setToolTip(tr("Makes the inputs as the run would, without running the model"));
    m_guess = views::makeButton(tr("Guess"), "", this);
    m_guess->setAccessibleName(tr("Guess the inputs"));
    m_guess->setAutoDefault(false);
    m_guess->setToolTip(tr("Looks for inputs the model runs on: by what the file says, and by running it on "
                           "shapes it may take"));
    auto *row = new QHBoxLayout;
    row->setSpacing(8);
    row->addWidget(m_seed);
    row->addStretch(1);
    row->addWidget(m_guess);
    row->addWidget(m_checkInputs);
    form->addRow(tr("Seed"), row);
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
    views::addComboArrow(m_theme, m_save);
    auto *save = new QHBoxLayout;
    save->setSpacing(8);
    save->addWidget(m_save);
    save->addWidget(m_chosen, 1);
    form->addRow(tr("Save"), save);
    m_traceRows.push_back(save);
    m_tensorMiB = makeNumber(1, 1 << 20, 64, tr("Largest saved tensor"), tr(" MiB"), {});
    m_tensorMiB->setMaximumWidth(160);
    m_size = views::makeElidedLabel({}, "second", this);
    auto *largest = new QHBoxLayout;
    largest->setSpacing(12);
    largest->addWidget(m_tensorMiB);
    largest->addWidget(m_size, 1);
    form->addRow(tr("Largest tensor"), largest);
    m_traceRows.push_back(largest);
    m_mode = new QComboBox(this);
    m_mode->addItems({tr("eval"), tr("train")});
    m_mode->setAccessibleName(tr("Mode"));
    m_grad = new QCheckBox(tr("Record the autograd graph"), this);
    m_grad->setAccessibleName(m_grad->text());
    m_grad->setChecked(true);
    m_sources = new QCheckBox(tr("Keep the source texts"), this);
    m_sources->setAccessibleName(m_sources->text());
    m_sources->setToolTip(tr("The Python files that the ops come from are copied into the trace"));
    m_sources->setChecked(true);
    views::addComboArrow(m_theme, m_mode);
    auto *mode = new QHBoxLayout;
    mode->setSpacing(12);
    mode->addWidget(m_mode);
    mode->addWidget(m_grad);
    mode->addWidget(m_sources);
    mode->addStretch(1);
    form->addRow(tr("Mode"), mode);
    m_backward = new BackwardForm(m_theme, this);
    form->addRow(tr("Backward"), m_backward);
}

void CaptureDialog::addLimitRows(QFormLayout *form)
{
    const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    m_threads = makeNumber(1, 256, cores, tr("Threads"), {}, {});
    m_warmup = makeNumber(0, 100, 0, tr("Warm-up runs"), {}, tr("no warm-up"));
    m_repeat = makeNumber(0, 1000, 0, tr("Timed runs"), {}, tr("no timed runs"));
    setCountedSuffix(*m_threads, tr(" thread"), tr(" threads"));
    setCountedSuffix(*m_warmup, tr(" warm-up run"), tr(" warm-up runs"));
    setCountedSuffix(*m_repeat, tr(" timed run"), tr(" timed runs"));
    m_repeat->setToolTip(tr("Plain runs after the recorded one, of which only the time is taken"));
    m_memoryMiB = makeNumber(0, kMostMiB, 0, tr("Memory limit"), tr(" MiB"), tr("no limit"));
    m_memoryMiB->setSingleStep(512);
    m_memoryMiB->setGroupSeparatorShown(true);
    m_seconds = new QDoubleSpinBox;
    m_seconds->setRange(0.0, 86400.0);
    m_seconds->setDecimals(1);
    m_seconds->setSuffix(tr(" s"));
    m_seconds->setSpecialValueText(tr("no limit"));
    m_seconds->setAccessibleName(tr("Time limit"));
    auto *run = new QHBoxLayout;
    run->setSpacing(8);
    run->addWidget(m_threads);
    run->addWidget(m_warmup);
    run->addWidget(m_repeat);
    run->addStretch(1);
    form->addRow(tr("Run"), run);
    auto *limits = new QHBoxLayout;
    limits->setSpacing(8);
    limits->addWidget(views::makeLabel(tr("memory"), "second", this));
    limits->addWidget(m_memoryMiB);
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
    connect(m_model, &QLineEdit::editingFinished, this, &CaptureDialog::modelEdited);
    connect(m_inputs, &InputForm::changed, this, [this] {
        check();
        arrangeLater(); // what is wrong with a line stands below it
    });
    connect(m_backward, &BackwardForm::changed, this, [this] {
        // A backward pass is made of what the autograd graph recorded.
        const bool runs = m_backward->request().has_value();
        if (runs)
            m_grad->setChecked(true);
        m_grad->setEnabled(!runs);
        check();
        arrangeLater();
    });
    connect(m_tensorMiB, &QSpinBox::valueChanged, this, &CaptureDialog::check);
    connect(m_checkInputs, &QPushButton::clicked, this, [this] {
        say(tr("Checking the inputs…"), "");
        Q_EMIT inputCheckWished(request());
    });
    connect(m_guess, &QPushButton::clicked, this, &CaptureDialog::guess);
    m_guessClock.setInterval(1000);
    connect(&m_guessClock, &QTimer::timeout, this, &CaptureDialog::showGuessing);
}

QString CaptureDialog::settingsKey(const QString &model)
{
    const QByteArray hash = QCryptographicHash::hash(model.toUtf8(), QCryptographicHash::Sha256);
    return QStringLiteral("capture/") + QString::fromLatin1(hash.toHex().left(16));
}

void CaptureDialog::setHelper(const core::LiveHelper &helper, const core::Value &options)
{
    m_helper = &helper;
    m_helperDefinition.name = helper.name;
    m_helperDefinition.description = helper.description;
    m_helperDefinition.options = helper.options;
    setWindowTitle(views::fromView(helper.name));
    QLabel *what = views::makeLabel(views::fromView(helper.description), "second", this);
    what->setWordWrap(true);
    m_form->insertRow(0, what);
    if (!helper.options.empty()) {
        m_options = new views::OptionForm(m_theme, this);
        m_options->setInset(0);
        m_options->setReport(&m_helperDefinition, options);
        connect(m_options, &views::OptionForm::edited, this, &CaptureDialog::check);
        // Below the model, which is asked for first.
        int row = 0;
        QFormLayout::ItemRole role = QFormLayout::FieldRole;
        m_form->getWidgetPosition(m_inputs, &row, &role);
        m_form->insertRow(row, m_options);
    }
    // Helpers look at forward passes. The row is taken out: in Qt 6.4 a hidden one takes the height of
    // another.
    const QFormLayout::TakeRowResult backward = m_form->takeRow(m_backward);
    if (backward.labelItem != nullptr)
        delete backward.labelItem->widget();
    delete backward.labelItem;
    delete backward.fieldItem;
    m_backward->hide();
    // One that looks for inputs itself, or runs nothing, leaves no trace.
    if (!helper.needsInputs) {
        for (QLayout *row : m_traceRows)
            m_form->setRowVisible(row, false);
        m_form->setRowVisible(m_inputs, false);
        m_guess->hide();
        m_checkInputs->hide();
    }
    showTitle();
    check();
    arrangeLater();
}

void CaptureDialog::showTitle()
{
    const QString file = QFileInfo(model()).fileName();
    if (m_helper != nullptr)
        m_title->setText(file.isEmpty() ? views::fromView(m_helper->name)
                                        : tr("%1 on %2").arg(views::fromView(m_helper->name), file));
    else
        m_title->setText(file.isEmpty() ? tr("Capture a model") : tr("Capture %1").arg(file));
}

void CaptureDialog::setModel(const QString &path)
{
    m_model->setText(path);
    modelEdited();
}

QString CaptureDialog::model() const
{
    return m_model->text().trimmed();
}

QString CaptureDialog::outputPath() const
{
    return m_output->text().trimmed();
}

void CaptureDialog::setOtherRun(const QString &what)
{
    if (what == m_otherRun)
        return;
    m_otherRun = what;
    // What was refused is still wrong.
    const core::Status refused = m_lastRefusal;
    check();
    if (!refused.isOk())
        showRefusal(refused);
}

// An open dialog is hidden by QDialog's destructor, which takes the focus from the field of the model.
CaptureDialog::~CaptureDialog()
{
    disconnect(m_model, nullptr, this, nullptr);
}

// Another model: its own answers, its own trace, and what its file says is asked for.
void CaptureDialog::modelEdited()
{
    if (m_described == model())
        return;
    m_described = model();
    m_refusal.clear();
    m_known = {};
    m_isKnown = false;
    m_given = {};
    m_facts->clear();
    m_facts->setVisible(false);
    endGuess();
    m_inputs->setUnknown();
    m_inputs->setInputs({}, {});
    m_backward->setRequest({}); // its names are those of the former model
    m_mode->setEnabled(true);
    showTitle();
    if (!model().isEmpty()) {
        const auto stored =
            core::parseJson(m_settings.bytes(settingsKey(model())).toStdString(), "remembered answers");
        if (stored)
            if (const auto request = core::captureRequestFromValue(*stored))
                setRequest(*request);
        restoreOptions();
        m_output->setText(defaultOutput(model()));
        if (QFileInfo(model()).isFile()) {
            m_facts->setText(tr("Reading the file…"));
            m_facts->setVisible(true);
            Q_EMIT descriptionWished(model());
        }
    }
    check();
}

void CaptureDialog::say(const QString &text, const char *tone)
{
    if (m_problem->text() != text)
        arrangeLater(); // long words take their room from the screen, not from the form
    m_problem->setText(text);
    views::setTone(m_problem, tone);
}

void CaptureDialog::check()
{
    m_lastRefusal = {};
    const QString text = problem();
    if (!text.isEmpty())
        say(text == m_inputs->problem() && m_inputs->saysProblem() ? inputProblemWords() : text, "warn");
    else if (!m_otherRun.isEmpty())
        say(tr("%1 is running. One model runs at a time: that run is discarded when this one starts.")
                .arg(m_otherRun),
            "warn");
    else
        say(m_helper != nullptr ? tr("Nothing runs before Run. The model runs in a process of its own.")
                                : tr("Nothing runs before Start. The model runs in a process of its own."),
            "");
    m_start->setText(!m_otherRun.isEmpty() ? tr("Discard that run and start")
                     : m_helper != nullptr ? tr("Run")
                                           : tr("Start"));
    m_start->setDefault(m_otherRun.isEmpty());
    m_start->setEnabled(text.isEmpty() && !isGuessing());
    m_checkInputs->setEnabled(text.isEmpty() && !isGuessing());
    m_guess->setEnabled(m_refusal.isEmpty() && QFileInfo(model()).isFile());
    showSize();
}

void CaptureDialog::start()
{
    if (!problem().isEmpty() || isGuessing())
        return;
    const core::CaptureRequest asked = request();
    core::CaptureRequest remembered = asked;
    remembered.backward = m_backward->request(); // also where a helper does without
    m_settings.setBytes(settingsKey(model()),
                        QByteArray::fromStdString(core::toJson(core::toValue(remembered))));
    if (m_helper != nullptr)
        m_settings.setBytes(optionsKey(), QByteArray::fromStdString(core::toJson(asked.options)));
    QDir().mkpath(QFileInfo(outputPath()).absolutePath());
    accept();
    Q_EMIT captureRequested(asked);
}

// A model dropped on the dialog takes the place of the chosen one.
void CaptureDialog::dragEnterEvent(QDragEnterEvent *event)
{
    const QList<QUrl> urls = event->mimeData()->urls();
    if (urls.size() == 1 && urls.front().isLocalFile())
        event->acceptProposedAction();
}

void CaptureDialog::dropEvent(QDropEvent *event)
{
    event->acceptProposedAction();
    setModel(event->mimeData()->urls().front().toLocalFile());
}

void CaptureDialog::chooseModel()
{
    askModelFile(*this, m_model->text(), [this](const QString &file) { setModel(file); });
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
