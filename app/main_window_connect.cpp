// SPDX-License-Identifier: GPL-3.0-or-later
// What the actions of the window do, and which facts of the session it shows.
#include "app/actions.h"
#include "app/dock_layout.h"
#include "app/exploration_undo.h"
#include "app/frame/banner.h"
#include "app/frame/command_bar.h"
#include "app/frame/document_bar.h"
#include "app/frame/status_row.h"
#include "app/main_window.h"
#include "app/op_menu.h"
#include "app/pages/start_page.h"
#include "app/session.h"
#include "views/base/filter_line.h"
#include "views/base/formatting.h"
#include "views/base/table_view.h"
#include "views/base/theme.h"
#include "views/graph/graph_pane.h"
#include "views/lane/lane_view.h"
#include "views/ops/ops_pane.h"
#include "views/reports/reports_pane.h"

#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QKeyEvent>
#include <QMenu>
#include <QMessageBox>
#include <QStackedWidget>

namespace app {

void MainWindow::connectActions()
{
    const auto on = [this](QAction *action, auto slot) { connect(action, &QAction::triggered, this, slot); };
    on(m_actions->open, &MainWindow::chooseFile);
    on(m_actions->openSample, [this] { openFile(m_samplePath); });
    on(m_actions->reload, [this] { m_session.reloadCurrent(); });
    on(m_actions->closeDocument, [this] { m_session.close(m_session.currentIndex()); });
    on(m_actions->nextDocument, [this] {
        const int count = static_cast<int>(m_session.documents().size());
        m_session.setCurrent((m_session.currentIndex() + 1) % count);
    });
    on(m_actions->quit, &QWidget::close);
    on(m_actions->copyName, &MainWindow::copyName);
    on(m_actions->nextRegion, [this] { moveFocus(1); });
    on(m_actions->previousRegion, [this] { moveFocus(-1); });
    on(m_actions->aboutQt, &QApplication::aboutQt);
    on(m_actions->about, &MainWindow::showAbout);
    on(m_actions->shortcuts, &MainWindow::showShortcuts);
    on(m_actions->palette, [this] { showPalette({}); });
    on(m_actions->commands, [this] { showPalette(QStringLiteral(">")); });
    on(m_actions->goTo, [this] { showPalette(QStringLiteral("#")); });
    connect(m_actions->recentMenu, &QMenu::aboutToShow, this, &MainWindow::fillRecentMenu);
    connect(m_actions->docksMenu, &QMenu::aboutToShow, this,
            [this] { m_docks->fillMenu(m_actions->docksMenu); });
    on(m_actions->settings, &MainWindow::showSettings);
    connectGoActions();
    connectLookActions();
    connectReports();
    connectCapture();
}

void MainWindow::connectGoActions()
{
    const auto on = [this](QAction *action, auto slot) { connect(action, &QAction::triggered, this, slot); };
    on(m_actions->back, [this] { m_session.goBack(); });
    on(m_actions->forward, [this] { m_session.goForward(); });
    on(m_actions->previousOp, [this] { m_session.stepOp(-1); });
    on(m_actions->nextOp, [this] { m_session.stepOp(1); });
    on(m_actions->previousEvent, [this] { m_session.stepEvent(-1); });
    on(m_actions->nextEvent, [this] { m_session.stepEvent(1); });
    on(m_actions->nextBad, [this] { stepBadElement(1); });
    on(m_actions->previousBad, [this] { stepBadElement(-1); });
    on(m_actions->origin, [this] { m_session.goToOrigin(); });
    on(m_actions->showSource, [this] { m_docks->reveal(PaneKind::source); });
    on(m_actions->showTensor, [this] { m_docks->reveal(PaneKind::tensor); });
    on(m_actions->showDetails, [this] { m_docks->reveal(PaneKind::details); });
    on(m_actions->showOps, [this] { m_docks->reveal(PaneKind::ops); });
    on(m_actions->find, &MainWindow::findInView);
    on(m_actions->findNext, [this] { m_graph->findStep(1); });
    on(m_actions->findPrevious, [this] { m_graph->findStep(-1); });
    on(m_actions->reveal, [this] { m_session.selection().activate(m_session.selection().item()); });
    on(m_actions->path, [this] { m_graph->togglePath(); });
    on(m_actions->isolate, [this] { m_graph->isolateCurrent(); });
    on(m_actions->dim, [this] { m_graph->dimOthers(); });
    on(m_actions->showEverything, [this] { m_graph->clearEmphasis(); });
    on(m_actions->undo, [this] { m_undo->stack().undo(); });
    on(m_actions->redo, [this] { m_undo->stack().redo(); });
    connect(&m_undo->stack(), &QUndoStack::indexChanged, this, &MainWindow::showUndo);
    on(m_actions->copyRow, [this] {
        if (const auto *table = qobject_cast<const views::TableView *>(focusWidget())) {
            table->copySelection();
            return;
        }
        if (auto *ops = qobject_cast<views::OpsPane *>(m_docks->pane(PaneKind::ops)))
            ops->copyCurrentRow();
    });
}

void MainWindow::connectLookActions()
{
    for (const auto &[mode, action] : m_actions->themeModes)
        connect(action, &QAction::triggered, this, [this, mode = mode] { setTheme(static_cast<int>(mode)); });
    connect(m_actions->theme, &QAction::triggered, this, [this] {
        setTheme(static_cast<int>(m_theme.isDark() ? views::ThemeMode::light : views::ThemeMode::dark));
    });
    const auto setText = [this](int percent) {
        m_theme.setTextPercent(percent);
        m_session.settings().setTextPercent(m_theme.textPercent());
    };
    connect(m_actions->textLarger, &QAction::triggered, this,
            [=, this] { setText(m_theme.textPercent() + 10); });
    connect(m_actions->textSmaller, &QAction::triggered, this,
            [=, this] { setText(m_theme.textPercent() - 10); });
    connect(m_actions->textNormal, &QAction::triggered, this, [=] { setText(100); });
    connect(m_actions->resetLayout, &QAction::triggered, m_docks, &DockLayout::reset);
    for (const auto &[perspective, action] : m_actions->perspectives)
        connect(action, &QAction::triggered, this,
                [this, perspective = perspective] { m_session.setPerspective(perspective); });
    connect(m_commandBar, &CommandBar::perspectiveRequested, &m_session, &Session::setPerspective);
    connect(m_commandBar, &CommandBar::paletteRequested, m_actions->palette, &QAction::trigger);
}

void MainWindow::connectSession()
{
    connect(&m_session, &Session::documentsChanged, this, &MainWindow::showDocuments);
    connect(&m_session, &Session::factsChanged, this, &MainWindow::showFacts);
    connect(&m_session, &Session::perspectiveChanged, this, &MainWindow::showPerspective);
    connect(&m_session, &Session::openingChanged, this, &MainWindow::showOpening);
    connect(&m_session, &Session::openFailed, this, &MainWindow::showOpenFailure);
    connect(&m_session, &Session::historyChanged, this, [this] {
        m_actions->back->setEnabled(m_session.canGoBack());
        m_actions->forward->setEnabled(m_session.canGoForward());
    });
    connect(&m_session.jobs(), &JobRunner::jobsChanged, this, &MainWindow::showJobs);
    connect(&m_session.selection(), &views::TraceSelection::changed, this, &MainWindow::showSelection);
    connect(m_documentBar, &DocumentBar::documentRequested, &m_session, &Session::setCurrent);
    connect(m_documentBar, &DocumentBar::closeRequested, &m_session, &Session::close);
    connect(m_documentBar, &DocumentBar::openRequested, this, &MainWindow::chooseFile);
    connect(m_documentBar, &DocumentBar::breadcrumbRequested, this, &MainWindow::selectBreadcrumb);
    connect(m_statusRow, &StatusRow::cancelRequested, this, &MainWindow::cancelJob);
    // Jobs are shown only after 300 ms; this looks at them until the last one ended.
    m_jobClock.setInterval(150);
    connect(&m_jobClock, &QTimer::timeout, this, &MainWindow::showJobs);
}

// In the graph while it has the focus, else in the table of ops.
void MainWindow::findInView()
{
    const QWidget *focused = focusWidget();
    if (m_graph != nullptr && focused != nullptr && (m_graph == focused || m_graph->isAncestorOf(focused))) {
        m_graph->openFind();
        return;
    }
    auto *reports = qobject_cast<views::ReportsPane *>(m_docks->pane(PaneKind::reports));
    if (reports != nullptr && focused != nullptr && reports->isAncestorOf(focused)) {
        reports->focusFilter();
        return;
    }
    m_docks->reveal(PaneKind::ops);
    if (auto *ops = qobject_cast<views::OpsPane *>(m_docks->pane(PaneKind::ops)))
        ops->filterLine().focusField();
}

void MainWindow::showUndo()
{
    const QUndoStack &stack = m_undo->stack();
    m_actions->undo->setEnabled(stack.canUndo());
    m_actions->redo->setEnabled(stack.canRedo());
    m_actions->undo->setText(stack.canUndo() ? tr("&Undo %1").arg(stack.undoText()) : tr("&Undo"));
    m_actions->redo->setText(stack.canRedo() ? tr("&Redo %1").arg(stack.redoText()) : tr("&Redo"));
}

void MainWindow::watchTables()
{
    if (auto *ops = qobject_cast<views::OpsPane *>(m_docks->pane(PaneKind::ops))) {
        m_undo->watch(ops->filterLine());
        m_undo->watch(ops->table());
    }
}

void MainWindow::showOpMenu(const QPoint &position)
{
    auto *menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->setAccessibleName(tr("Commands for the current op"));
    fillOpMenu(*menu, m_session.selection(), *m_actions);
    if (menu->isEmpty())
        menu->addAction(tr("No op is selected"))->setEnabled(false);
    if (auto *table = qobject_cast<views::TableView *>(focusWidget())) {
        menu->addSeparator();
        table->addTableActions(*menu);
    }
    menu->popup(position);
}

// Nothing else wanted Escape: close, clear, cancel, in that order.
void MainWindow::keyPressEvent(QKeyEvent *event)
{
    if (event->key() != Qt::Key_Escape) {
        QMainWindow::keyPressEvent(event);
        return;
    }
    if (m_graph != nullptr && m_graph->isFindOpen())
        m_graph->closeFind();
    else if (m_banner->isVisible())
        m_banner->dismiss();
    else if (m_graph != nullptr && m_graph->hasEmphasis())
        m_graph->clearEmphasis();
    else
        cancelJob();
}

void MainWindow::cancelJob()
{
    const auto jobs = m_session.jobs().jobs();
    if (m_session.isOpening())
        m_session.cancelOpen();
    else if (!jobs.empty())
        m_session.jobs().requestStop(jobs.front().key); // whoever waits for it is told
}

void MainWindow::chooseFile()
{
    auto *dialog = new QFileDialog(this, tr("Open a trace or a model"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFiles);
    dialog->setNameFilters(
        {tr("Traces and models (*.opscope *.tlspec *.pt *.pt2 *.pth)"), tr("All files (*)")});
    const QVariant folder = m_session.settings().value(QStringLiteral("window/folder"));
    if (folder.isValid())
        dialog->setDirectory(folder.toString());
    connect(dialog, &QFileDialog::filesSelected, this, [this, dialog](const QStringList &paths) {
        m_session.settings().setValue(QStringLiteral("window/folder"), dialog->directory().absolutePath());
        for (const QString &path : paths)
            openFile(path);
    });
    dialog->open();
}

void MainWindow::fillRecentMenu()
{
    m_actions->recentMenu->clear();
    for (const RecentFile &file : m_session.settings().recentFiles()) {
        const bool missing = !QFileInfo::exists(file.path);
        QAction *action = m_actions->recentMenu->addAction(
            missing ? tr("%1 (moved or deleted)").arg(file.path) : file.path);
        action->setEnabled(!missing);
        connect(action, &QAction::triggered, this, [this, path = file.path] { openFile(path); });
    }
    if (m_actions->recentMenu->isEmpty()) {
        m_actions->recentMenu->addAction(tr("No file was opened yet"))->setEnabled(false);
        return;
    }
    m_actions->recentMenu->addSeparator();
    connect(m_actions->recentMenu->addAction(tr("Clear the list")), &QAction::triggered, m_startPage,
            &StartPage::clearRecentRequested);
}

void MainWindow::setTheme(int mode)
{
    m_theme.setMode(static_cast<views::ThemeMode>(mode));
    m_session.settings().setThemeMode(m_theme.mode());
    m_actions->themeModes.at(m_theme.mode())->setChecked(true);
}

void MainWindow::copyName() const
{
    const auto &selection = m_session.selection();
    if (selection.op().isValid())
        QApplication::clipboard()->setText(views::fromView(selection.trace()->publicLabel(selection.op())));
}

// Regions in reading order; the focus goes to the first control of the next one that is shown.
void MainWindow::moveFocus(int direction)
{
    QList<QWidget *> regions = {m_commandBar, m_documentBar};
    if (m_lane != nullptr && m_lane->isVisible())
        regions.push_back(m_lane);
    regions.push_back(m_pages);
    for (const PaneKind kind : kPaneKinds)
        if (views::Pane *pane = m_docks->pane(kind); pane != nullptr && !pane->visibleRegion().isEmpty())
            regions.push_back(pane);
    regions.push_back(m_statusRow);
    const QWidget *focused = focusWidget();
    qsizetype here = direction > 0 ? -1 : 0;
    for (qsizetype i = 0; i < regions.size(); ++i)
        if (focused != nullptr && (regions[i] == focused || regions[i]->isAncestorOf(focused)))
            here = i;
    for (qsizetype step = 1; step <= regions.size(); ++step) {
        const qsizetype count = regions.size();
        QWidget *region = regions[((here + direction * step) % count + count) % count];
        const auto children = QList<QWidget *>{region} + region->findChildren<QWidget *>();
        for (QWidget *child : children)
            if (child->isVisible() && child->isEnabled() && child->focusProxy() == nullptr &&
                (child->focusPolicy() & Qt::TabFocus) != 0) {
                child->setFocus(Qt::TabFocusReason);
                return;
            }
    }
}

} // namespace app
