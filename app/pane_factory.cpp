// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/pane_factory.h"

#include "app/pane_services.h"
#include "app/session.h"
#include "views/audit/audit_pane.h"
#include "views/details/details_pane.h"
#include "views/findings/findings_pane.h"
#include "views/gradfn/grad_fn_pane.h"
#include "views/lineage/lineage_pane.h"
#include "views/log/log_pane.h"
#include "views/modules/modules_pane.h"
#include "views/ops/ops_pane.h"
#include "views/reports/reports_pane.h"
#include "views/source/source_pane.h"
#include "views/tensor/tensor_pane.h"

#include <QCoreApplication>

namespace app {

namespace {

QString words(const char *text)
{
    return QCoreApplication::translate("app::PaneKind", text);
}

template <class FactsPane>
FactsPane *feedFacts(FactsPane *pane, Session &session)
{
    const auto feed = [pane, &session] {
        pane->setFacts(session.current() != nullptr ? session.current()->facts : nullptr);
    };
    QObject::connect(&session, &Session::factsChanged, pane, feed);
    feed();
    return pane;
}

void feedSource(views::SourcePane *pane, Session &session)
{
    QObject::connect(pane, &views::SourcePane::textRequested, &session,
                     [pane, &session](core::StringId file) {
                         session.jobs().start(
                             QStringLiteral("source"), words("Reading source text"), pane,
                             [trace = session.selection().trace(), file](core::JobContext &job) {
                                 return views::readSourceText(*trace, file, job);
                             },
                             [pane, file](const views::SourceText &text) { pane->setText(file, text); });
                     });
}

void feedTensor(views::TensorPane *pane, Session &session)
{
    const QString title = words("Reading values");
    QObject::connect(pane, &views::TensorPane::summaryRequested, &session,
                     [pane, &session, title](core::TensorId tensor) {
                         session.jobs().start(
                             QStringLiteral("tensor/summary"), title, pane,
                             [trace = session.selection().trace(), tensor](core::JobContext &job) {
                                 return views::summarizeTensor(*trace, tensor, job);
                             },
                             [pane, tensor](const core::Result<views::TensorSummary> &summary) {
                                 pane->setSummary(tensor, summary);
                             });
                     });
    QObject::connect(
        pane, &views::TensorPane::tileRequested, &session,
        [pane, &session, title](core::TensorId tensor, const views::Slice &slice, std::int64_t row,
                                std::int64_t column) {
            session.jobs().start(
                QStringLiteral("tensor/tile/%1/%2").arg(row).arg(column), title, pane,
                [trace = session.selection().trace(), tensor, slice, row, column](core::JobContext &job) {
                    return views::readTile(*trace, tensor, slice, row, column, job);
                },
                [pane, tensor, slice](const core::Result<views::Tile> &tile) {
                    pane->setTile(tensor, slice, tile);
                });
        });
    QObject::connect(
        pane, &views::TensorPane::badElementRequested, &session,
        [pane, &session](core::TensorId tensor, std::int64_t from, int direction) {
            session.jobs().start(
                QStringLiteral("tensor/bad"), words("Looking for the next bad element"), pane,
                [trace = session.selection().trace(), tensor, from, direction](core::JobContext &job) {
                    return views::findBadElement(*trace, tensor, from, direction, job);
                },
                [pane, tensor](const core::Result<std::optional<std::uint64_t>> &flat) {
                    pane->showBadElement(tensor, flat);
                });
        });
}

constexpr std::array kOverview = {
    PanePlace{PaneKind::modules, Qt::LeftDockWidgetArea, 262},
    PanePlace{PaneKind::audit, Qt::RightDockWidgetArea, 480},
    PanePlace{PaneKind::details, Qt::RightDockWidgetArea, 480},
    PanePlace{PaneKind::tensor, Qt::RightDockWidgetArea, 480},
    PanePlace{PaneKind::findings, Qt::BottomDockWidgetArea, 300},
    PanePlace{PaneKind::ops, Qt::BottomDockWidgetArea, 300},
    PanePlace{PaneKind::source, Qt::BottomDockWidgetArea, 300},
    PanePlace{PaneKind::reports, Qt::BottomDockWidgetArea, 300},
    PanePlace{PaneKind::log, Qt::BottomDockWidgetArea, 300},
    PanePlace{PaneKind::lineage, Qt::RightDockWidgetArea, 480, true},
    PanePlace{PaneKind::gradFn, Qt::RightDockWidgetArea, 480, true},
};

constexpr std::array kNanHunt = {
    PanePlace{PaneKind::details, Qt::LeftDockWidgetArea, 300},
    PanePlace{PaneKind::modules, Qt::LeftDockWidgetArea, 300},
    PanePlace{PaneKind::tensor, Qt::RightDockWidgetArea, 520},
    PanePlace{PaneKind::source, Qt::BottomDockWidgetArea, 240},
    PanePlace{PaneKind::findings, Qt::BottomDockWidgetArea, 240},
    PanePlace{PaneKind::ops, Qt::BottomDockWidgetArea, 240},
    PanePlace{PaneKind::reports, Qt::BottomDockWidgetArea, 240},
    PanePlace{PaneKind::log, Qt::BottomDockWidgetArea, 240},
    PanePlace{PaneKind::lineage, Qt::RightDockWidgetArea, 520, true},
    PanePlace{PaneKind::gradFn, Qt::RightDockWidgetArea, 520, true},
};

} // namespace

std::span<const PanePlace> shippedLayout(Perspective perspective)
{
    return perspective == Perspective::overview ? std::span<const PanePlace>(kOverview)
                                                : std::span<const PanePlace>(kNanHunt);
}

QString paneId(PaneKind kind)
{
    switch (kind) {
    case PaneKind::modules:
        return QStringLiteral("modules");
    case PaneKind::findings:
        return QStringLiteral("findings");
    case PaneKind::audit:
        return QStringLiteral("audit");
    case PaneKind::details:
        return QStringLiteral("details");
    case PaneKind::tensor:
        return QStringLiteral("tensor");
    case PaneKind::ops:
        return QStringLiteral("ops");
    case PaneKind::source:
        return QStringLiteral("source");
    case PaneKind::log:
        return QStringLiteral("log");
    case PaneKind::reports:
        return QStringLiteral("reports");
    case PaneKind::lineage:
        return QStringLiteral("lineage");
    case PaneKind::gradFn:
        return QStringLiteral("gradFn");
    }
    return {};
}

QString paneTitle(PaneKind kind)
{
    switch (kind) {
    case PaneKind::modules:
        return words("Modules");
    case PaneKind::findings:
        return words("Findings");
    case PaneKind::audit:
        return words("Audit");
    case PaneKind::details:
        return words("Details");
    case PaneKind::tensor:
        return words("Tensor");
    case PaneKind::ops:
        return words("Ops");
    case PaneKind::source:
        return words("Source");
    case PaneKind::log:
        return words("Log");
    case PaneKind::reports:
        return words("Reports");
    case PaneKind::lineage:
        return words("Lineage");
    case PaneKind::gradFn:
        return words("grad_fn");
    }
    return {};
}

namespace {

views::Pane *newPane(PaneKind kind, const views::PaneContext &context, Session &session)
{
    switch (kind) {
    case PaneKind::modules:
        return feedFacts(new views::ModulesPane(context), session);
    case PaneKind::ops:
        return feedFacts(new views::OpsPane(context), session);
    case PaneKind::details:
        return feedFacts(new views::DetailsPane(context), session);
    case PaneKind::log:
        return new views::LogPane(context);
    case PaneKind::reports: {
        auto *pane = new views::ReportsPane(context);
        feedReports(*pane, session);
        return pane;
    }
    case PaneKind::lineage: {
        auto *pane = new views::LineagePane(context);
        feedLineage(*pane, session);
        return pane;
    }
    case PaneKind::gradFn: {
        auto *pane = new views::GradFnPane(context);
        feedGradFn(*pane, session);
        return pane;
    }
    case PaneKind::findings:
        return feedFacts(new views::FindingsPane(context), session);
    case PaneKind::audit: {
        auto *pane = new views::AuditPane(context);
        feedFacts(pane, session);
        QObject::connect(pane, &views::AuditPane::huntRequested, &session,
                         [&session] { session.setPerspective(Perspective::nanHunt); });
        return pane;
    }
    case PaneKind::source: {
        auto *pane = feedFacts(new views::SourcePane(context), session);
        feedSource(pane, session);
        return pane;
    }
    case PaneKind::tensor: {
        auto *pane = new views::TensorPane(context);
        feedTensor(pane, session);
        return pane;
    }
    }
    return nullptr;
}

} // namespace

views::Pane *makePane(PaneKind kind, const views::Theme &theme, Session &session)
{
    views::Pane *pane = newPane(kind, {theme, session.selection()}, session);
    if (pane != nullptr)
        keepTables(*pane, session.settings());
    return pane;
}

} // namespace app
