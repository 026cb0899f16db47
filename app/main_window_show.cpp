// SPDX-License-Identifier: GPL-3.0-or-later
// How the facts of the session become what the window says.
#include "app/actions.h"
#include "app/dock_layout.h"
#include "app/exploration_undo.h"
#include "app/frame/banner.h"
#include "app/frame/command_bar.h"
#include "app/frame/document_bar.h"
#include "app/frame/status_row.h"
#include "app/frame/title_bar.h"
#include "app/main_window.h"
#include "app/pages/message_page.h"
#include "app/pages/start_page.h"
#include "app/run_state_words.h"
#include "app/session.h"
#include "core/analysis/parameter_reports.h"
#include "core/capture/input_preparation.h"
#include "views/base/counted_text.h"
#include "views/base/formatting.h"
#include "views/lane/lane_view.h"
#include "views/reports/report_board.h"

#include <QApplication>
#include <QClipboard>
#include <QFileInfo>
#include <QStackedWidget>
#include <QStatusBar>

namespace app {

namespace {

constexpr qint64 kShowJobAfterMs = 300;

int permille(const core::Progress &progress)
{
    return progress.total == 0 ? -1 : static_cast<int>(progress.done * 1000 / progress.total);
}

QString jobText(const JobState &job)
{
    const QString stage = views::fromView(job.progress.stage);
    return stage.isEmpty() ? job.title : QStringLiteral("%1: %2").arg(job.title, stage);
}

} // namespace

void MainWindow::showDocuments()
{
    QStringList titles;
    QStringList paths;
    for (const auto &document : m_session.documents()) {
        titles.push_back(document->title);
        paths.push_back(document->path);
    }
    m_documentBar->setDocuments(titles, paths, m_session.currentIndex());
    const Document *document = m_session.current();
    const bool isOpen = document != nullptr;
    m_actions->setDocumentOpen(isOpen);
    m_actions->back->setEnabled(m_session.canGoBack());
    m_actions->forward->setEnabled(m_session.canGoForward());
    for (QWidget *row : std::initializer_list<QWidget *>{m_commandBar, m_documentBar, statusBar()})
        row->setVisible(isOpen);
    setWindowTitle(isOpen ? tr("%1 — opscope").arg(document->title) : tr("opscope"));
    m_titleBar->setTitle(windowTitle());
    m_banner->dismiss();
    if (m_lane != nullptr)
        m_lane->setVisible(isOpen);
    if (!isOpen) {
        m_docks->hideAll();
        showStartPage();
        return;
    }
    makeViews();
    showPerspective();
    // A run that had the whole window gets one of its own.
    const bool wasEmpty = m_pages->currentWidget() != m_centre;
    m_pages->setCurrentWidget(m_centre);
    if (wasEmpty)
        showCapture();
    showSelection();
    showRunState();
    m_undo->restart();
    showUndo();
    // Once the panes have what they need: the values are all there is to ask a checkpoint about.
    if (core::isTensorFile(*document->trace))
        QMetaObject::invokeMethod(this, &MainWindow::showCheckpoint, Qt::QueuedConnection);
}

void MainWindow::showCheckpoint()
{
    const Document *document = m_session.current();
    const auto board = m_session.reports().board();
    const views::ReportEntry *entry = board ? board->find(QStringLiteral("param_health")) : nullptr;
    if (document != nullptr && core::isTensorFile(*document->trace) && entry != nullptr &&
        entry->state == views::ReportState::notRun)
        openReport(entry->name(), true);
}

void MainWindow::showPerspective()
{
    if (m_session.current() == nullptr)
        return;
    const Perspective perspective = m_session.perspective();
    m_commandBar->setPerspective(perspective);
    m_actions->perspectives.at(perspective)->setChecked(true);
    for (const auto &[other, action] : m_actions->perspectives)
        action->setChecked(other == perspective);
    if (m_lane != nullptr)
        m_lane->setTall(perspective == Perspective::nanHunt);
    m_docks->enter(perspective);
}

// A run that did not end by itself says so above everything else, and how it is asked for again.
void MainWindow::showRunState()
{
    const core::TraceInfo &info = m_session.current()->trace->info();
    const RunStateWords said = runStateWords(*m_session.current()->trace);
    if (said.title.isEmpty()) {
        showUnanswered();
        return;
    }
    std::vector<BannerAction> actions;
    const auto request = core::captureRequestFromValue(info.request);
    if (request && !request->modelPath.empty())
        actions.push_back({said.isMemoryLimit ? tr("Raise the limit…") : tr("Capture again…"),
                           [this, asked = core::requestAsGiven(*request)] { askAgain(asked); }});
    if (!said.message.isEmpty())
        actions.push_back(
            {tr("Copy message"), [text = said.message] { QApplication::clipboard()->setText(text); }});
    m_banner->showMessage(said.title, said.body, actions);
}

void MainWindow::showStartPage()
{
    if (m_session.captures().isRunning()) {
        showCapture();
        return;
    }
    m_startPage->setRecentFiles(m_session.settings().recentFiles());
    m_pages->setCurrentWidget(m_startPage);
}

void MainWindow::showFacts()
{
    const Document *document = m_session.current();
    if (document == nullptr) {
        feedMarks();
        return;
    }
    const views::TraceCoverage coverage =
        document->facts ? document->facts->coverage : views::coverageOf(*document->trace);
    StatusFacts facts;
    facts.file = document->title;
    facts.size = views::bytesText(static_cast<std::uint64_t>(QFileInfo(document->path).size()));
    facts.outputs = tr("%1 / %2 outputs saved")
                        .arg(views::countText(coverage.outputsSaved), views::countText(coverage.outputs));
    facts.outputsComplete = coverage.outputsSaved == coverage.outputs;
    facts.gradients = coverage.fires == 0
                          ? tr("No backward pass")
                          : tr("%1 / %2 gradients saved")
                                .arg(views::countText(coverage.firesSaved), views::countText(coverage.fires));
    facts.gradientsComplete = coverage.fires > 0 && coverage.firesSaved == coverage.fires;
    const bool embedded = coverage.sources > 0 && coverage.sourcesEmbedded == coverage.sources;
    facts.source =
        coverage.sources == 0 ? tr("No source recorded")
        : embedded            ? tr("Source embedded")
                   : tr("%1 of %2 source files embedded").arg(coverage.sourcesEmbedded).arg(coverage.sources);
    facts.sourceComplete = embedded;
    m_statusRow->setFacts(facts);
    m_commandBar->setBadge(Perspective::nanHunt,
                           document->facts ? static_cast<int>(document->facts->allBirths()) : 0);
    m_docks->setCount(PaneKind::ops, views::countText(coverage.ops));
    feedMarks();
    m_docks->setCount(PaneKind::findings,
                      document->facts ? views::countText(document->facts->findings.size()) : QString());
}

void MainWindow::showSelection()
{
    const auto &selection = m_session.selection();
    const auto &trace = selection.trace();
    if (!trace) {
        m_documentBar->setBreadcrumb({});
        return;
    }
    QStringList parts = {views::moduleText(*trace, rootModule())};
    const core::ModuleId module = selection.module();
    const QString address =
        module.isValid() ? views::fromView(trace->string(trace->module(module).address)) : QString();
    if (!address.isEmpty())
        parts += address.split(QLatin1Char('.'));
    const core::OpId op = selection.op();
    if (op.isValid() && !std::holds_alternative<views::ModuleItem>(selection.item()))
        parts.push_back(views::fromView(trace->publicLabel(op)));
    m_documentBar->setBreadcrumb(parts);
    m_statusRow->setSelectionText(op.isValid() ? parts.back() : address);
    // The number in a label is its step: an op with several outputs makes one step for each. Inputs make
    // none.
    const std::uint64_t step = op.isValid() ? trace->op(op).step : 0;
    m_statusRow->setOpText(
        step > 0 ? tr("step %1 of %2").arg(views::countText(step), views::countText(views::lastStep(*trace)))
                 : QString());
}

core::ModuleId MainWindow::rootModule() const
{
    const auto &trace = m_session.selection().trace();
    for (std::size_t i = 0; i < trace->modules().size(); ++i)
        if (trace->string(trace->modules()[i].address).empty())
            return core::ModuleId(i);
    return {};
}

// Part 0 is the root, part I the first I parts of the module's path.
void MainWindow::selectBreadcrumb(int index)
{
    auto &selection = m_session.selection();
    const core::ModuleId current = selection.module();
    if (!selection.trace() || !current.isValid())
        return;
    const QString address =
        views::fromView(selection.trace()->string(selection.trace()->module(current).address));
    const QString wanted = QStringList(address.split(QLatin1Char('.')).mid(0, index)).join(QLatin1Char('.'));
    for (std::size_t i = 0; i < selection.trace()->modules().size(); ++i)
        if (views::fromView(selection.trace()->string(selection.trace()->modules()[i].address)) == wanted) {
            selection.select(views::ModuleItem{core::ModuleId(i)});
            return;
        }
}

void MainWindow::showOpening()
{
    if (m_session.current() != nullptr) {
        showJobs();
        return;
    }
    if (!m_session.isOpening()) {
        showStartPage();
        return;
    }
    Message message;
    message.icon = views::IconName::folderOpen;
    message.title = tr("Opening %1").arg(QFileInfo(m_session.openingPath()).fileName());
    message.body = m_session.openingPath();
    message.isBusy = true;
    message.actions = {{tr("Cancel"), [this] { m_session.cancelOpen(); }}};
    m_messagePage->setMessage(message);
    m_pages->setCurrentWidget(m_messagePage);
}

void MainWindow::showOpenFailure(const QString &path, const core::Status &status)
{
    if (status.code() == core::ErrorCode::cancelled)
        return;
    const QString name = QFileInfo(path).fileName();
    Message message = openFailureMessage(name, status);
    message.actions.push_back({tr("Open another file…"), [this] { chooseFile(); }, true});
    message.actions.push_back({tr("Copy message"),
                               [text = message.title + QLatin1Char('\n') + message.body] {
                                   QApplication::clipboard()->setText(text);
                               },
                               true});
    message.actions.push_back({tr("Back to the start page"), [this] { showStartPage(); }});
    message.footnote = tr("The file is not changed.");
    showMessage(message);
}

// Beside an open document a message is a line above it; without one it has the page.
void MainWindow::showMessage(const Message &message)
{
    if (m_session.current() != nullptr) {
        std::vector<BannerAction> actions;
        for (const MessageAction &action : message.actions)
            if (action.isForBanner)
                actions.push_back({action.text, action.run});
        m_banner->showMessage(message.title, message.body, actions);
        return;
    }
    m_messagePage->setMessage(message);
    m_pages->setCurrentWidget(m_messagePage);
}

void MainWindow::showJobs()
{
    const std::vector<JobState> jobs = m_session.jobs().jobs();
    if (jobs.empty()) {
        m_jobClock.stop();
        m_commandBar->setJobs(tr("Idle"), false);
        m_statusRow->setJob({}, -1);
        return;
    }
    if (!m_jobClock.isActive())
        m_jobClock.start();
    const JobState &job = jobs.front();
    if (m_session.current() == nullptr && m_session.isOpening())
        m_messagePage->setProgress(views::fromView(job.progress.stage), permille(job.progress));
    if (job.elapsedMs < kShowJobAfterMs)
        return;
    m_commandBar->setJobs(views::countedText(jobs.size(), "job", "jobs"), true);
    m_statusRow->setJob(jobText(job), permille(job.progress));
}

} // namespace app
