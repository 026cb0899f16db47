// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pane_services.h"

#include "app/dialogs/picture_save.h"
#include "app/dialogs/table_file.h"
#include "app/session.h"
#include "views/base/table_view.h"
#include "views/canvas/picture_view.h"
#include "views/gradfn/grad_fn_pane.h"
#include "views/lineage/lineage_pane.h"
#include "views/reports/reports_pane.h"

#include <QCoreApplication>
#include <QFileDialog>
#include <QFileInfo>

namespace app {

namespace {

QString serviceWords(const char *text)
{
    return QCoreApplication::translate("app::PaneServices", text);
}

void chooseOther(views::ReportsPane &pane, Session &session, const QString &report, bool tensors)
{
    auto *dialog = new QFileDialog(&pane, serviceWords("Choose the file to compare with"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilters(
        {tensors ? serviceWords(
                       "Traces and weights (*.opscope *.tlspec *.safetensors *.pt *.pth *.bin *.npz *.zip)")
                 : serviceWords("Traces (*.opscope *.tlspec *.zip)"),
         serviceWords("All files (*)")});
    const QVariant folder = session.settings().value(QStringLiteral("window/folder"));
    if (folder.isValid())
        dialog->setDirectory(folder.toString());
    QObject::connect(dialog, &QFileDialog::fileSelected, &pane, [&session, report](const QString &path) {
        session.reports().setOther(report, QFileInfo(path).absoluteFilePath());
    });
    dialog->open();
}

void feedExport(views::PicturePane &pane, Session &session)
{
    QObject::connect(&pane, &views::PicturePane::exportWished, &session,
                     [&pane, &session] { askPictureFile(pane, session, pane.exportPicture()); });
}

template <class StatePane>
void keepViewState(StatePane &pane, Session &session)
{
    const QString key = QStringLiteral("panes/") + pane.id();
    pane.restoreViewState(session.settings().bytes(key));
    QObject::connect(&pane, &StatePane::viewStateChanged, &session,
                     [&pane, &session, key] { session.settings().setBytes(key, pane.viewState()); });
}

void feedPicture(views::PictureView &view, LayoutService &layouts)
{
    QObject::connect(&view, &views::PictureView::layoutRequested, &layouts, &LayoutService::request);
    QObject::connect(&view, &views::PictureView::layoutCancelled, &layouts, &LayoutService::cancel);
    QObject::connect(&layouts, &LayoutService::finished, &view, &views::PictureView::setLayout);
    QObject::connect(&layouts, &LayoutService::failed, &view, &views::PictureView::setLayoutFailed);
}

} // namespace

void feedReports(views::ReportsPane &pane, Session &session)
{
    ReportService &reports = session.reports();
    const auto feed = [&pane, &reports] { pane.setBoard(reports.board()); };
    QObject::connect(&reports, &ReportService::boardChanged, &pane, feed);
    QObject::connect(&pane, &views::ReportsPane::runWished, &reports, &ReportService::run);
    QObject::connect(&pane, &views::ReportsPane::cancelWished, &reports, &ReportService::cancel);
    QObject::connect(
        &pane, &views::ReportsPane::fileWished, &session,
        [&pane, &session](const QString &name, bool tensors) { chooseOther(pane, session, name, tensors); });
    QObject::connect(&pane, &views::ReportsPane::sourceWished, &session, &Session::sourceWished);
    feed();
    keepViewState(pane, session);
}

void feedLineage(views::LineagePane &pane, Session &session)
{
    feedPicture(pane.view(), session.lineageLayouts());
    feedExport(pane, session);
    QObject::connect(&pane, &views::LineagePane::lineageWished, &session,
                     [&pane, &session](const views::LineageWish &wish) {
                         session.jobs().start(
                             QStringLiteral("lineage"), serviceWords("Following the lineage"), &pane,
                             [wish](core::JobContext &job) { return views::makeLineage(wish, job); },
                             [&pane](const views::LineageAnswer &answer) { pane.setLineage(answer); });
                     });
    const auto feed = [&pane, &session] {
        if (session.current() != nullptr && session.current()->facts)
            pane.setMarks(session.current()->facts->marks);
        else
            pane.setMarks({});
    };
    QObject::connect(&session, &Session::factsChanged, &pane, feed);
    feed();
    keepViewState(pane, session);
}

void feedGradFn(views::GradFnPane &pane, Session &session)
{
    feedPicture(pane.view(), session.gradFnLayouts());
    feedExport(pane, session);
    QObject::connect(&pane, &views::GradFnPane::pictureWished, &session,
                     [&pane, &session](const views::GradFnWish &wish) {
                         session.jobs().start(
                             QStringLiteral("gradFn"), serviceWords("Walking the autograd graph"), &pane,
                             [wish](core::JobContext &job) { return views::makeGradFnPicture(wish, job); },
                             [&pane](const views::GradFnAnswer &answer) { pane.setPicture(answer); });
                     });
}

void keepTables(QWidget &owner, Settings &settings)
{
    for (views::TableView *table : owner.findChildren<views::TableView *>()) {
        const auto key = [](const QString &name) { return QStringLiteral("tables/") + name; };
        QObject::connect(table, &views::TableView::layoutWanted, table,
                         [table, key, &settings](const QString &name) {
                             table->restoreLayout(settings.bytes(key(name)));
                         });
        QObject::connect(table, &views::TableView::layoutEdited, table,
                         [key, &settings](const QString &name, const QByteArray &state) {
                             settings.setBytes(key(name), state);
                         });
        QObject::connect(table, &views::TableView::saveWished, table,
                         [table, &settings] { askTableFile(*table, settings); });
    }
}

} // namespace app
