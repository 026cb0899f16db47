// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pages/capture_page.h"

#include "app/services/capture_service.h"
#include "views/base/formatting.h"
#include "views/base/widgets.h"

#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace app {

namespace {

constexpr int kRefreshMs = 250;
constexpr int kMostWidth = 980;

QString clockText(qint64 ms)
{
    const qint64 seconds = ms / 1000;
    return QStringLiteral("%1:%2").arg(seconds / 60).arg(seconds % 60, 2, 10, QLatin1Char('0'));
}

} // namespace

CapturePage::CapturePage(const views::Theme &theme, CaptureService &service, QWidget *parent)
    : QWidget(parent), m_service(service), m_title(views::makeElidedLabel({}, "title", this)),
      m_time(views::makeLabel({}, "monoSecond", this)), m_how(views::makeElidedLabel({}, "second", this))
{
    setObjectName(QStringLiteral("page"));
    setAttribute(Qt::WA_StyledBackground);
    setAccessibleName(tr("Capturing"));
    // Wide windows keep the page at a readable width in the middle.
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
    auto *head = new QHBoxLayout;
    head->addWidget(m_title, 1);
    head->addWidget(m_time);
    column->addLayout(head);
    column->addWidget(m_how);
    column->addWidget(makeStages());
    column->addWidget(makeNow(theme));
    column->addWidget(makeBad(theme));
    column->addWidget(makeCounts());
    column->addStretch(1);
    auto *buttons = new QHBoxLayout;
    QPushButton *stop = views::makeButton(tr("Stop and keep what is there"), "", this);
    QPushButton *discard = views::makeButton(tr("Discard"), "", this);
    buttons->addWidget(stop);
    buttons->addWidget(discard);
    buttons->addStretch(1);
    buttons->addWidget(views::makeLabel(
        tr("The window stays usable. A crash of the model keeps each op before it."), "caption", this));
    column->addLayout(buttons);
    connect(stop, &QPushButton::clicked, &service, &CaptureService::stopAndKeep);
    connect(discard, &QPushButton::clicked, &service, &CaptureService::discard);
    connect(&service, &CaptureService::progressed, this, &CapturePage::refresh);
    connect(&service, &CaptureService::started, this, [this] {
        refresh();
        m_clock.start(kRefreshMs);
    });
    connect(&service, &CaptureService::finished, &m_clock, &QTimer::stop);
    connect(&m_clock, &QTimer::timeout, this, &CapturePage::refresh);
    refresh();
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
        stage.label->setText(isNow && current == m_stages.size() ? now : stage.name);
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
    row->addWidget(m_op, 1);
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

QWidget *CapturePage::makeCounts()
{
    auto *counts = new QWidget(this);
    auto *row = new QHBoxLayout(counts);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(30);
    const auto add = [&](const QString &name) {
        auto *column = new QVBoxLayout;
        column->addWidget(views::makeLabel(name, "second", counts));
        QLabel *value = views::makeLabel({}, "mono", counts);
        column->addWidget(value);
        row->addLayout(column);
        return value;
    };
    m_calls = add(tr("Calls recorded"));
    m_bytes = add(tr("Trace file"));
    row->addStretch(1);
    counts->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    return counts;
}

void CapturePage::refresh()
{
    const core::CaptureProgress &progress = m_service.progress();
    const QString model = views::fileNameText(m_service.request().modelPath);
    m_title->setText(m_service.request().task == "capture"
                         ? tr("Capturing %1").arg(model)
                         : tr("Running %1 on %2").arg(views::fromView(m_service.request().task), model));
    m_time->setText(tr("%1 elapsed").arg(clockText(m_service.elapsedMs())));
    const core::CaptureRequest &request = m_service.request();
    QStringList how = {request.backward ? tr("forward and backward") : tr("forward"),
                       request.threads == 1 ? tr("1 thread") : tr("%1 threads").arg(request.threads)};
    if (request.train)
        how.insert(1, tr("train"));
    if (request.memoryLimitBytes > 0)
        how.push_back(tr("memory limit %1").arg(views::bytesText(request.memoryLimitBytes)));
    if (request.timeLimitSeconds > 0)
        how.push_back(tr("time limit %1 s").arg(request.timeLimitSeconds));
    m_how->setText(how.join(QStringLiteral(" · ")));
    showStages();
    m_op->setText(views::fromView(progress.op));
    m_now->setVisible(!progress.op.empty());
    m_calls->setText(views::countText(progress.calls));
    m_bytes->setText(views::bytesText(progress.bytes));
    m_badOp->setText(views::fromView(progress.firstBadOp));
    m_bad->setVisible(!progress.firstBadOp.empty());
}

} // namespace app
