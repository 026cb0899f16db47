// SPDX-License-Identifier: GPL-3.0-or-later
// The reports and the pictures that stand beside the graph.
#include "app/actions.h"
#include "app/dialogs/doctor_dialog.h"
#include "app/dialogs/picture_save.h"
#include "app/dialogs/raise_dialog.h"
#include "app/dock_layout.h"
#include "app/main_window.h"
#include "app/pane_services.h"
#include "app/services/doctor_service.h"
#include "app/session.h"
#include "core/analysis/report_registry.h"
#include "views/graph/graph_pane.h"
#include "views/lineage/lineage_pane.h"
#include "views/reports/reports_pane.h"

namespace app {

void MainWindow::connectReports()
{
    const auto on = [this](QAction *action, auto slot) { connect(action, &QAction::triggered, this, slot); };
    on(m_actions->showReports, [this] { m_docks->reveal(PaneKind::reports); });
    on(m_actions->showLineage, [this] { m_docks->reveal(PaneKind::lineage); });
    on(m_actions->showGradFn, [this] { m_docks->reveal(PaneKind::gradFn); });
    on(m_actions->exportPicture, &MainWindow::exportPicture);
    const auto deeper = [this](int step) {
        auto *lineage = qobject_cast<views::LineagePane *>(m_docks->pane(PaneKind::lineage));
        if (lineage == nullptr || lineage->depth() + step < 1 || lineage->depth() == 0)
            return;
        m_docks->reveal(PaneKind::lineage);
        lineage->setDepth(lineage->depth() + step);
    };
    on(m_actions->lineageLess, [deeper] { deeper(-1); });
    on(m_actions->lineageMore, [deeper] { deeper(1); });
    for (QAction *action : m_actions->reports)
        on(action, [this, action] { openReport(action->data().toString(), true); });
    for (QAction *action : m_actions->installation)
        on(action, [this, action] { showDoctor(action->data().toString()); });
    connect(&m_session, &Session::sourceWished, this, [this] { m_docks->reveal(PaneKind::source); });
    connect(&m_session, &Session::reportWished, this, &MainWindow::openReportOrHelper);
}

// Asks at once: without a model nothing has to be chosen.
void MainWindow::showDoctor(const QString &name)
{
    if (raiseDialog<DoctorDialog>(*this, [&name](const DoctorDialog &open) { return open.name() == name; }) !=
        nullptr)
        return;
    auto *dialog = new DoctorDialog(m_theme, name, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    auto *doctor = new DoctorService(m_session.jobs(), dialog);
    connect(dialog, &DoctorDialog::checkWished, doctor, &DoctorService::check);
    connect(dialog, &DoctorDialog::cancelWished, doctor, &DoctorService::stop);
    connect(doctor, &DoctorService::answered, dialog, &DoctorDialog::setReport);
    connect(doctor, &DoctorService::failed, dialog, &DoctorDialog::setFailure);
    keepTables(*dialog, m_session.settings());
    dialog->show();
    dialog->check();
}

// Of the pane with the focus when it shows a picture, else of the graph.
void MainWindow::exportPicture()
{
    const QWidget *focused = focusWidget();
    for (const PaneKind kind : {PaneKind::lineage, PaneKind::gradFn}) {
        auto *pane = qobject_cast<views::PicturePane *>(m_docks->pane(kind));
        if (pane != nullptr && focused != nullptr && pane->isAncestorOf(focused) &&
            pane->view().hasPicture()) {
            askPictureFile(*this, m_session, pane->exportPicture());
            return;
        }
    }
    if (m_graph != nullptr)
        askPictureFile(*this, m_session, m_graph->exportPicture());
}

// What needs a run is asked for in its dialog.
void MainWindow::openReportOrHelper(const QString &name)
{
    for (QAction *action : m_actions->helpers)
        if (action->data().toString() == name && core::findReport(name.toStdString()) == nullptr)
            return action->trigger();
    openReport(name, true);
}

// One that was answered is shown as it is; one that needs a choice waits for it.
void MainWindow::openReport(const QString &name, bool run)
{
    auto *pane = qobject_cast<views::ReportsPane *>(m_docks->pane(PaneKind::reports));
    if (pane == nullptr)
        return;
    m_docks->reveal(PaneKind::reports);
    pane->choose(name);
    const auto board = m_session.reports().board();
    const views::ReportEntry *entry = board ? board->find(name) : nullptr;
    if (!run || entry == nullptr || entry->state != views::ReportState::notRun)
        return;
    if (pane->asksFirst())
        pane->showOptions(); // what it waits for
    else
        pane->runChosen();
}

} // namespace app
