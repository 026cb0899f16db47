// SPDX-License-Identifier: GPL-3.0-or-later
// Running a model: asking how, showing how far it is, opening what it left.
#include "app/actions.h"
#include "app/dialogs/capture_dialog.h"
#include "app/dialogs/live_report_dialog.h"
#include "app/dialogs/raise_dialog.h"
#include "app/field_words.h"
#include "app/frame/banner.h"
#include "app/main_window.h"
#include "app/pages/capture_page.h"
#include "app/pages/message_page.h"
#include "app/pane_services.h"
#include "app/run_state_words.h"
#include "app/services/describe_service.h"
#include "app/session.h"
#include "core/analysis/report_value.h"
#include "core/capture/input_preparation.h"
#include "core/capture/live_helpers.h"
#include "views/base/formatting.h"

#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <QFileInfo>
#include <QLocale>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QStackedWidget>
#include <QTime>
#include <QVBoxLayout>

namespace app {

namespace {

constexpr QSize kRunSize(880, 440);
constexpr std::size_t kMostAnswers = 12;

} // namespace

void MainWindow::connectCapture()
{
    connect(m_actions->capture, &QAction::triggered, this, [this] { askCapture({}); });
    connect(&m_session, &Session::captureWished, this, &MainWindow::askCapture);
    for (QAction *action : m_actions->helpers)
        connect(action, &QAction::triggered, this, [this, action] { askHelper(action->data().toString()); });
    connect(&m_session.captures(), &CaptureService::answered, this, &MainWindow::keepAnswer);
    connect(m_actions->answersMenu, &QMenu::aboutToShow, this, &MainWindow::fillAnswersMenu);
    connect(&m_session.captures(), &CaptureService::started, this, &MainWindow::showCapture);
    connect(&m_session.captures(), &CaptureService::started, this, &MainWindow::tellOtherRun);
    connect(&m_session.captures(), &CaptureService::finished, this, &MainWindow::endCapture);
    connect(&m_session.captures(), &CaptureService::finished, this, &MainWindow::tellOtherRun);
    connect(m_actions->showRun, &QAction::triggered, this, &MainWindow::showCapture);
    tellOtherRun();
}

// Dialogs that are open say that a run goes on; it can be looked at from the menu.
void MainWindow::tellOtherRun()
{
    const CaptureService &captures = m_session.captures();
    const bool running = captures.isRunning();
    m_actions->showRun->setEnabled(running);
    const QString model = running ? views::fileNameText(captures.request().modelPath) : QString();
    for (CaptureDialog *dialog : findChildren<CaptureDialog *>())
        dialog->setOtherRun(model);
}

// A model is asked about once: a dialog that is open for it comes to the front.
CaptureDialog *MainWindow::raiseCaptureDialog(const std::string &task, const QString &model)
{
    return raiseDialog<CaptureDialog>(
        *this, [&](const CaptureDialog &dialog) { return dialog.asksFor(task, model); });
}

void MainWindow::askCapture(const QString &model)
{
    if (raiseCaptureDialog(core::CaptureRequest().task, model) == nullptr)
        makeCaptureDialog()->setModel(model);
}

// A document that came from a model is run again as it was, under the helper.
void MainWindow::askHelper(const QString &name)
{
    const core::LiveHelper *helper = core::findLiveHelper(name.toStdString());
    if (helper == nullptr)
        return;
    core::Result<core::CaptureRequest> request = core::CaptureRequest();
    if (m_session.current() != nullptr)
        request = core::captureRequestFromValue(m_session.current()->trace->info().request);
    const QString model =
        request ? QFile::decodeName(QByteArray::fromStdString(request->modelPath)) : QString();
    if (raiseCaptureDialog(std::string(helper->name), model) != nullptr)
        return;
    CaptureDialog *dialog = makeCaptureDialog();
    dialog->setHelper(*helper);
    if (model.isEmpty())
        return;
    dialog->setModel(model);
    dialog->setRequest(core::requestAsGiven(*request));
}

// Answers can be shown again after their window was closed.
void MainWindow::keepAnswer(const QString &task, const core::Value &report)
{
    const core::LiveHelper *helper = core::findLiveHelper(task.toStdString());
    core::Result<core::Report> answer = core::reportFromValue(report);
    if (helper == nullptr || !answer)
        return;
    const core::CaptureRequest &request = m_session.captures().request();
    const QString title = tr("%1 on %2, %3")
                              .arg(task, views::fileNameText(request.modelPath),
                                   QLocale().toString(QTime::currentTime(), QLocale::ShortFormat));
    m_answers.insert(m_answers.begin(),
                     {helper, std::make_shared<const core::Report>(std::move(*answer)), request, title});
    if (m_answers.size() > kMostAnswers)
        m_answers.pop_back();
    showAnswer(m_answers.front());
}

void MainWindow::fillAnswersMenu()
{
    QMenu *menu = m_actions->answersMenu;
    menu->clear();
    // By value: an answer may come while the menu is open.
    for (const LiveAnswer &answer : m_answers)
        connect(menu->addAction(answer.title), &QAction::triggered, this,
                [this, answer] { showAnswer(answer); });
    if (menu->isEmpty())
        menu->addAction(tr("Nothing was asked yet"))->setEnabled(false);
}

void MainWindow::showAnswer(const LiveAnswer &answer)
{
    if (raiseDialog<LiveReportDialog>(*this, [&answer](const LiveReportDialog &shown) {
            return shown.answer().report == answer.report;
        }) != nullptr)
        return;
    auto *dialog = new LiveReportDialog(m_theme, answer, this);
    // The rows are ops of the trace that this run leaves, and of no other.
    const QString path =
        QFileInfo(QFile::decodeName(QByteArray::fromStdString(answer.request.outputPath))).absoluteFilePath();
    keepTables(*dialog, m_session.settings());
    connect(dialog, &LiveReportDialog::opPicked, this, [this, path](core::OpId op) {
        for (std::size_t i = 0; i < m_session.documents().size(); ++i)
            if (m_session.documents()[i]->path == path)
                m_session.setCurrent(static_cast<int>(i));
        const Document *document = m_session.current();
        if (document != nullptr && document->path == path && op.isValid() &&
            op.index() < document->trace->ops().size())
            m_session.selection().activate(views::OpItem{op});
    });
    connect(dialog, &LiveReportDialog::againWished, this,
            [this, dialog] { askAgain(dialog->answer().request); });
    connect(dialog, &LiveReportDialog::pastMaskWished, this, [this, dialog] {
        core::CaptureRequest request = dialog->answer().request;
        request.options.set(kSkipByDesign, true);
        askAgain(request);
    });
    connect(dialog, &LiveReportDialog::inputsWished, this,
            [this, dialog](const std::vector<core::InputText> &inputs) {
                core::CaptureRequest request = dialog->answer().request;
                request.task = "capture";
                request.options = {};
                request.inputs = inputs;
                request.inputsTree.clear();
                askAgain(request);
            });
    dialog->show();
}

// The dialog with the answers of REQUEST, whose trace will be a new file.
CaptureDialog *MainWindow::askAgain(const core::CaptureRequest &request)
{
    const QString model = QFile::decodeName(QByteArray::fromStdString(request.modelPath));
    CaptureDialog *dialog = raiseCaptureDialog(request.task, model);
    if (dialog == nullptr) {
        dialog = makeCaptureDialog();
        if (const core::LiveHelper *helper = core::findLiveHelper(request.task))
            dialog->setHelper(*helper, request.options);
        dialog->setModel(model);
    }
    dialog->setRequest(request);
    return dialog;
}

CaptureDialog *MainWindow::makeCaptureDialog()
{
    auto *dialog = new CaptureDialog(m_theme, m_session.settings(), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    auto *descriptions = new DescribeService(m_session.jobs(), dialog);
    connect(dialog, &CaptureDialog::captureRequested, &m_session.captures(), &CaptureService::start);
    connect(dialog, &CaptureDialog::descriptionWished, descriptions, &DescribeService::describe);
    connect(dialog, &CaptureDialog::inputCheckWished, descriptions, &DescribeService::checkInputs);
    connect(descriptions, &DescribeService::described, dialog, &CaptureDialog::setFacts);
    connect(descriptions, &DescribeService::notDescribed, dialog, &CaptureDialog::setFactsMissing);
    connect(descriptions, &DescribeService::inputsChecked, dialog, &CaptureDialog::setInputsChecked);
    connect(dialog, &CaptureDialog::guessWished, descriptions, &DescribeService::guessInputs);
    connect(dialog, &CaptureDialog::guessCancelled, descriptions, &DescribeService::cancelGuess);
    connect(descriptions, &DescribeService::guessProgressed, dialog, &CaptureDialog::setGuessProgress);
    connect(descriptions, &DescribeService::inputsGuessed, dialog, &CaptureDialog::setGuess);
    connect(dialog, &QDialog::finished, descriptions, &DescribeService::cancel);
    tellOtherRun();
    dialog->show();
    return dialog;
}

// Over the start page the run has the whole window; beside an open document it has one of its own, which may
// be closed and comes back by the menu.
void MainWindow::showCapture()
{
    if (!m_session.captures().isRunning())
        return;
    if (m_session.current() == nullptr) {
        if (m_capturePage == nullptr) {
            m_capturePage = new CapturePage(m_theme, m_session.captures(), m_pages);
            m_pages->addWidget(m_capturePage);
        }
        if (m_captureWindow != nullptr)
            m_captureWindow->hide();
        m_pages->setCurrentWidget(m_capturePage);
        return;
    }
    if (m_captureWindow == nullptr) {
        m_captureWindow = new QDialog(this);
        m_captureWindow->setWindowTitle(tr("Capturing — opscope"));
        m_captureWindow->resize(kRunSize);
        auto *column = new QVBoxLayout(m_captureWindow);
        column->setContentsMargins(0, 0, 0, 0);
        column->addWidget(new CapturePage(m_theme, m_session.captures(), m_captureWindow));
        connect(m_captureWindow, &QDialog::rejected, this, [this] {
            if (m_session.captures().isRunning())
                offerRun();
        });
    }
    m_captureWindow->show();
    m_captureWindow->raise();
}

// The window of a run was closed: the run goes on, and this is the way back to it.
void MainWindow::offerRun()
{
    m_offersRun = true;
    m_banner->showMessage(tr("The run goes on"), tr("Its trace opens when it is done."),
                          {{tr("Show the run"), [this] {
                                m_offersRun = false;
                                m_banner->dismiss();
                                showCapture();
                            }}});
}

void MainWindow::askBeforeQuit()
{
    auto *box = new QMessageBox(
        QMessageBox::NoIcon, tr("A run goes on — opscope"),
        tr("%1 is running.").arg(views::fileNameText(m_session.captures().request().modelPath)),
        QMessageBox::NoButton, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setInformativeText(tr("Closing the window ends the run."));
    const auto *keep = box->addButton(tr("Stop, keep what is there and quit"), QMessageBox::AcceptRole);
    const auto *discard = box->addButton(tr("Discard and quit"), QMessageBox::DestructiveRole);
    QPushButton *stay = box->addButton(tr("Go on"), QMessageBox::RejectRole);
    box->setDefaultButton(stay);
    box->setEscapeButton(stay);
    connect(box, &QMessageBox::buttonClicked, this, [this, keep, discard](const QAbstractButton *chosen) {
        m_quitsAfterRun = chosen == keep && m_session.captures().isRunning();
        if (m_quitsAfterRun)
            m_session.captures().stopAndKeep();
        else if (chosen == discard)
            m_session.captures().discard();
        if (chosen == discard || (chosen == keep && !m_quitsAfterRun))
            QMetaObject::invokeMethod(this, &QWidget::close, Qt::QueuedConnection);
    });
    box->open();
}

void MainWindow::endCapture(const QString &tracePath, const core::Status &status)
{
    if (m_captureWindow != nullptr)
        m_captureWindow->hide();
    if (m_offersRun) {
        m_offersRun = false;
        m_banner->dismiss();
    }
    if (m_quitsAfterRun) {
        if (!tracePath.isEmpty())
            m_session.settings().addRecentFile(tracePath);
        QMetaObject::invokeMethod(this, &QWidget::close, Qt::QueuedConnection);
        return;
    }
    if (!tracePath.isEmpty()) {
        const core::CaptureRequest &ended = m_session.captures().request();
        if (status.isOk() && ended.task == "capture")
            CaptureDialog::rememberSize(m_session.settings(),
                                        QFile::decodeName(QByteArray::fromStdString(ended.modelPath)),
                                        static_cast<std::uint64_t>(QFileInfo(tracePath).size()));
        m_unanswered.reset();
        if (!status.isOk() && ended.task != "capture")
            m_unanswered = {tracePath, ended, status};
        m_session.open(tracePath);
        return;
    }
    // A helper that needs no trace has answered by now.
    const core::CaptureRequest &request = m_session.captures().request();
    if (status.isOk() || status.code() == core::ErrorCode::cancelled) {
        if (m_session.current() == nullptr)
            showStartPage();
        if (!status.isOk() && status.detail() != kDiscarded)
            showStoppedEarly(request);
        return;
    }
    // Answers that do not fit are corrected where they were given.
    if (status.code() == core::ErrorCode::invalidArgument) {
        if (m_session.current() == nullptr)
            showStartPage();
        askAgain(request)->showRefusal(status);
        return;
    }
    showCaptureFailure(request, status);
}

void MainWindow::showUnanswered()
{
    if (!m_unanswered || m_session.current()->path != m_unanswered->tracePath)
        return;
    const QString told = views::asSentence(views::fromView(m_unanswered->status.message()));
    m_banner->showMessage(
        tr("%1 did not come to its answer").arg(views::fromView(m_unanswered->request.task)), told,
        {{tr("Ask again…"), [this, asked = core::requestAsGiven(m_unanswered->request)] { askAgain(asked); }},
         {tr("Copy message"), [told] { QApplication::clipboard()->setText(told); }}});
}

// Whoever asked to keep what is there is told when nothing is.
void MainWindow::showStoppedEarly(const core::CaptureRequest &request)
{
    Message message;
    message.title = tr("Stopped before the first op");
    message.body = tr("%1 had not begun to run, so there is nothing to keep.")
                       .arg(views::fileNameText(request.modelPath));
    message.actions = {{tr("Capture again…"), [this, request] { askAgain(request); }, true},
                       {tr("Back to the start page"), [this] { showStartPage(); }}};
    showMessage(message);
}

void MainWindow::showCaptureFailure(const core::CaptureRequest &request, const core::Status &status)
{
    Message message;
    message.icon = views::IconName::warning;
    message.tone = core::ColorToken::warn;
    message.title = tr("%1 could not be run").arg(views::fileNameText(request.modelPath));
    message.body = views::asSentence(views::fromView(status.message()));
    if (!status.remedy().empty())
        message.body +=
            QLatin1Char('\n') + views::asSentence(inWindowWords(views::fromView(status.remedy())));
    message.actions = {{tr("Capture again…"), [this, request] { askAgain(request); }, true},
                       {tr("Copy message"),
                        [text = message.title + QLatin1Char('\n') + message.body] {
                            QApplication::clipboard()->setText(text);
                        },
                        true},
                       {tr("Back to the start page"), [this] { showStartPage(); }}};
    showMessage(message);
}

} // namespace app
