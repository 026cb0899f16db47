// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/capture_page.h"

#include "app/services/capture_service.h"
#include "views/base/counted_text.h"
#include "views/base/elided_label.h"
#include "views/base/formatting.h"
#include "views/base/widgets.h"

#include <QFile>
#include <QFileInfo>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QProgressBar>
#include <QPushButton>
#include <QStorageInfo>
#include <QVBoxLayout>

#include <algorithm>

namespace app {

namespace {

constexpr int kRefreshMs = 250;
constexpr int kMostWidth = 980;

QString clockText(qint64 ms)
{
    const qint64 seconds = ms / 1000;
    return QStringLiteral("%1:%2").arg(seconds / 60).arg(seconds % 60, 2, 10, QLatin1Char('0'));
}

// "0.5 s": the clock would round it away.
QString limitText(double seconds)
{
    return seconds < 60.0 ? QStringLiteral("%1 s").arg(QLocale().toString(seconds, 'g', 4))
                          : clockText(static_cast<qint64>(seconds * 1000));
}

} // namespace

CapturePage::CapturePage(const views::Theme &theme, CaptureService &service, QWidget *parent)
    : QWidget(parent), m_service(service), m_title(views::makeElidedLabel({}, "title", this)),
      m_time(views::makeLabel({}, "monoSecond", this)), m_how(views::makeElidedLabel({}, "second", this))
{
    setObjectName(QStringLiteral("page"));
    setAttribute(Qt::WA_StyledBackground);
    setAccessibleName(tr("Capturing"));
    QVBoxLayout *column = makeColumn();
    auto *head = new QHBoxLayout;
    views::elideInTheMiddle(m_title);
    head->addWidget(m_title, 1);
    head->addWidget(m_time);
    column->addLayout(head);
    column->addWidget(m_how);
    column->addWidget(makeStages());
    column->addWidget(makeNow(theme));
    column->addWidget(makeBad(theme));
    column->addWidget(makeMeters());
    column->addStretch(1);
    addButtons(column);
    connect(&service, &CaptureService::progressed, this, &CapturePage::refresh);
    connect(&service, &CaptureService::started, this, &CapturePage::begin);
    connect(&service, &CaptureService::finished, &m_clock, &QTimer::stop);
    connect(&m_clock, &QTimer::timeout, this, &CapturePage::refresh);
    begin();
}

// Wide windows keep the page at a readable width in the middle.
QVBoxLayout *CapturePage::makeColumn()
{
    auto *content = new QWidget(this);
    content->setMaximumWidth(kMostWidth);
    auto *outer = new QHBoxLayout(this);
    outer->setContentsMargins(30, 26, 30, 20);
    outer->addStretch(1);
    outer->addWidget(content, 40);
    outer->addStretch(1);
    auto *column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(14);
    return column;
}

void CapturePage::addButtons(QVBoxLayout *column)
{
    auto *buttons = new QHBoxLayout;
    buttons->setSpacing(8);
    m_stop = views::makeButton(tr("Stop and keep what is there"), "", this);
    QPushButton *discard = views::makeButton(tr("Discard"), "", this);
    buttons->addWidget(m_stop);
    buttons->addWidget(discard);
    buttons->addSpacing(16);
    m_note = views::makeElidedLabel({}, "caption", this);
    m_note->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    buttons->addWidget(m_note, 1);
    column->addLayout(buttons);
    connect(m_stop, &QPushButton::clicked, &m_service, &CaptureService::stopAndKeep);
    connect(discard, &QPushButton::clicked, &m_service, &CaptureService::discard);
}

void CapturePage::begin()
{
    const QFileInfo file(QFile::decodeName(QByteArray::fromStdString(m_service.request().outputPath)));
    m_freeBytes = file.absolutePath().isEmpty() ? -1 : QStorageInfo(file.absolutePath()).bytesAvailable();
    showHow();
    refresh();
    if (m_service.isRunning())
        m_clock.start(kRefreshMs);
}

QWidget *CapturePage::makeStages()
{
    m_stages = {{tr("Load"), {QString(), QStringLiteral("loading"), QStringLiteral("warming up")}, {}, {}},
                {tr("Forward"), {QStringLiteral("running")}, {}, {}},
                {tr("Backward"), {QStringLiteral("backward")}, {}, {}},
                {tr("Write"), {QStringLiteral("closing")}, {}, {}}};
    auto *stages = new QWidget(this);
    auto *row = new QHBoxLayout(stages);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(8);
    for (Stage &stage : m_stages) {
        stage.place = new QWidget(stages);
        auto *column = new QVBoxLayout(stage.place);
        column->setContentsMargins(0, 0, 0, 0);
        column->setSpacing(6);
        stage.bar = new QFrame(stage.place);
        stage.bar->setFixedHeight(4);
        stage.label = views::makeLabel(stage.name, "strong", stage.place);
        column->addWidget(stage.bar);
        column->addWidget(stage.label);
        row->addWidget(stage.place, 1);
    }
    stages->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    return stages;
}

// A stage the run does not have (no backward pass was asked for) is not shown at all. The stages of other
// tasks than a capture have names of their own, which the page then says as they are.
void CapturePage::showStages()
{
    const QString now = views::fromView(m_service.progress().stage);
    std::size_t current = m_stages.size();
    for (std::size_t i = 0; i < m_stages.size(); ++i)
        if (m_stages[i].words.contains(now))
            current = i;
    for (std::size_t i = 0; i < m_stages.size(); ++i) {
        Stage &stage = m_stages[i];
        const bool isThere = stage.words.front() != QLatin1String("backward") || m_service.request().backward;
        stage.place->setVisible(isThere);
        const bool done = current < m_stages.size() && i < current;
        views::setStyleProperty(stage.bar, "stage",
                                done           ? QStringLiteral("done")
                                : i == current ? QStringLiteral("now")
                                               : QStringLiteral("later"));
        const bool isNow = i == current || (current == m_stages.size() && i == 1);
        // Their counts (shapes tried, runs) are not of ops, so they stand with the stage.
        const std::uint64_t count = m_service.progress().calls;
        const QString other = count > 0 ? tr("%1, %2").arg(now, views::countText(count)) : now;
        stage.label->setText(isNow && current == m_stages.size() ? other : stage.name);
        views::setTone(stage.label, isNow ? "" : done ? "ok" : "muted");
    }
}

QWidget *CapturePage::makeNow(const views::Theme &theme)
{
    auto *card = m_now = new QFrame(this);
    card->setProperty("card", "plain");
    auto *row = new QHBoxLayout(card);
    row->addWidget(views::makeIconLabel(theme, views::IconName::play, core::ColorToken::accent, 13, card));
    row->addWidget(views::makeLabel(tr("Now"), "second", card));
    m_op = views::makeElidedLabel({}, "mono", card);
    m_count = views::makeLabel({}, "monoSecond", card);
    row->addWidget(m_op, 1);
    row->addWidget(m_count);
    return card;
}

QWidget *CapturePage::makeBad(const views::Theme &theme)
{
    m_bad = new QFrame(this);
    m_bad->setProperty("card", "nan");
    auto *row = new QHBoxLayout(m_bad);
    row->addWidget(views::makeIconLabel(theme, views::IconName::origin, core::ColorToken::nan, 13, m_bad));
    row->addWidget(views::makeLabel(tr("First NaN or Inf at"), "strong", m_bad));
    m_badOp = views::makeElidedLabel({}, "mono", m_bad);
    row->addWidget(m_badOp, 1);
    m_bad->hide();
    return m_bad;
}

QWidget *CapturePage::makeMeters()
{
    auto *meters = new QWidget(this);
    auto *row = new QHBoxLayout(meters);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(18);
    const auto add = [&](const QString &name) {
        auto *column = new QVBoxLayout;
        column->setSpacing(4);
        auto *head = new QHBoxLayout;
        Meter meter;
        meter.value = views::makeLabel({}, "mono", meters);
        head->addWidget(views::makeLabel(name, "second", meters));
        head->addStretch(1);
        head->addWidget(meter.value);
        column->addLayout(head);
        meter.bar = new QProgressBar(meters);
        meter.bar->setTextVisible(false);
        meter.bar->setRange(0, 1000);
        meter.bar->setAccessibleName(tr("%1 against its limit").arg(name));
        column->addWidget(meter.bar);
        meter.note = views::makeElidedLabel({}, "caption", meters);
        column->addWidget(meter.note);
        row->addLayout(column, 1);
        return meter;
    };
    m_file = add(tr("Trace file"));
    m_timeMeter = add(tr("Time"));
    meters->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    return meters;
}

void CapturePage::setMeter(const Meter &meter, const QString &value, double share, const QString &note)
{
    meter.value->setText(value);
    meter.bar->setValue(static_cast<int>(std::clamp(share, 0.0, 1.0) * 1000));
    meter.note->setText(note);
}

void CapturePage::showHow()
{
    const core::CaptureRequest &request = m_service.request();
    const QString model = views::fileNameText(request.modelPath);
    m_title->setText(request.task == "capture"
                         ? tr("Capturing %1").arg(model)
                         : tr("Running %1 on %2").arg(views::fromView(request.task), model));
    QStringList how = {request.backward ? tr("forward and backward") : tr("forward"),
                       views::countedText(request.threads, "thread", "threads")};
    if (request.train)
        how.insert(1, tr("train"));
    m_how->setText(how.join(QStringLiteral(" · ")));
}

void CapturePage::refresh()
{
    const core::CaptureProgress &progress = m_service.progress();
    m_time->setText(tr("%1 elapsed").arg(clockText(m_service.elapsedMs())));
    showStages();
    showNow();
    showMeters();
    showStop();
    m_badOp->setText(views::fromView(progress.firstBadOp));
    m_bad->setVisible(!progress.firstBadOp.empty());
}

void CapturePage::showNow()
{
    const core::CaptureProgress &progress = m_service.progress();
    m_op->setText(views::fromView(progress.op));
    m_now->setVisible(!progress.op.empty());
    m_count->setText(progress.calls > 0 ? tr("op %1").arg(views::countText(progress.calls)) : QString());
}

// A pressed button answers at once: the op that runs may take its time.
void CapturePage::showStop()
{
    const bool stopping = m_service.isStopping();
    m_stop->setEnabled(!stopping);
    m_stop->setText(stopping ? tr("Stopping…") : tr("Stop and keep what is there"));
    m_note->setText(
        stopping ? tr("The run ends with the op that runs now; one that takes longer than 2 s is ended.")
                 : tr("The window stays usable. A crash of the model keeps each op before it."));
}

void CapturePage::showMeters()
{
    const core::CaptureProgress &progress = m_service.progress();
    const core::CaptureRequest &request = m_service.request();
    const auto share = [](double part, double whole) { return whole > 0.0 ? part / whole : 0.0; };
    const auto bytes = static_cast<double>(progress.bytes);
    setMeter(m_file, views::bytesText(progress.bytes), share(bytes, bytes + static_cast<double>(m_freeBytes)),
             m_freeBytes < 0 ? QString()
                             : tr("%1 free").arg(views::bytesText(static_cast<std::uint64_t>(m_freeBytes))));
    const double seconds = static_cast<double>(m_service.elapsedMs()) / 1000.0;
    setMeter(m_timeMeter, clockText(m_service.elapsedMs()), share(seconds, request.timeLimitSeconds),
             request.timeLimitSeconds <= 0.0 ? tr("no limit")
                                             : tr("limit %1").arg(limitText(request.timeLimitSeconds)));
}

} // namespace app
