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
#include "views/trail/trail_pane.h"
#include "views/why/why_pane.h"

#include <QCoreApplication>

#include <algorithm>

namespace app {

namespace {

QString paneWords(const char *text)
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

// Made once the facts are there, for each pane that shows it.
template <class TrailPane>
TrailPane *feedTrail(TrailPane *pane, Session &session)
{
    const auto feed = [pane, &session] {
        pane->setTrail(nullptr);
        const Document *document = session.current();
        if (document == nullptr || !document->facts)
            return;
        if (!document->facts->failure.isOk()) {
            pane->setTrail(views::missingTrail(document->trace, document->facts->failure));
            return;
        }
        session.jobs().start(
            QStringLiteral("trail/") + pane->id(), paneWords("Following NaN and Inf"), pane,
            [trace = document->trace, facts = document->facts](core::JobContext &job) {
                return views::makeNanTrail(trace, facts->scan, facts->marks, job);
            },
            [pane,
             trace = document->trace](const core::Result<std::shared_ptr<const views::NanTrail>> &trail) {
                pane->setTrail(trail ? *trail : views::missingTrail(trace, trail.error()));
            });
    };
    QObject::connect(&session, &Session::factsChanged, pane, feed);
    feed();
    return pane;
}

// Ids are those of one trace: an answer that comes after another document was shown is of the wrong one.
bool isOf(const views::Pane &pane, const std::shared_ptr<const core::Trace> &trace)
{
    return pane.trace() == trace;
}

void feedSource(views::SourcePane &source, Session &session)
{
    views::SourcePane *pane = &source;
    QObject::connect(
        pane, &views::SourcePane::textRequested, &session, [pane, &session](core::StringId file) {
            const auto trace = pane->trace();
            session.jobs().start(
                QStringLiteral("source"), paneWords("Reading source text"), pane,
                [trace, file](core::JobContext &job) { return views::readSourceText(*trace, file, job); },
                [pane, trace, file](const views::SourceText &text) {
                    if (isOf(*pane, trace))
                        pane->setText(file, text);
                });
        });
}

// The values of the tensor pane: each question is asked of the trace that the pane shows.
class TensorFeed
{
public:
    TensorFeed(views::TensorPane &pane, Session &session) : m_pane(&pane), m_session(&session) {}

    void summarize(core::TensorId tensor) const
    {
        start(
            QStringLiteral("tensor/summary"), paneWords("Reading values"),
            [tensor](const core::Trace &trace, core::JobContext &job) {
                return views::summarizeTensor(trace, tensor, job);
            },
            [pane = m_pane, tensor](const core::Result<views::TensorSummary> &summary) {
                pane->setSummary(tensor, summary);
            });
    }
    void readTile(core::TensorId tensor, const views::Slice &slice, std::int64_t row,
                  std::int64_t column) const
    {
        start(
            QStringLiteral("tensor/tile/%1/%2").arg(row).arg(column), paneWords("Reading values"),
            [tensor, slice, row, column](const core::Trace &trace, core::JobContext &job) {
                return views::readTile(trace, tensor, slice, row, column, job);
            },
            [pane = m_pane, tensor, slice](const core::Result<views::Tile> &tile) {
                pane->setTile(tensor, slice, tile);
            });
    }
    void findBad(core::TensorId tensor, std::int64_t from, int direction) const
    {
        start(
            QStringLiteral("tensor/bad"), paneWords("Looking for the next bad element"),
            [tensor, from, direction](const core::Trace &trace, core::JobContext &job) {
                return views::findBadElement(trace, tensor, from, direction, job);
            },
            [pane = m_pane, tensor](const core::Result<std::optional<std::uint64_t>> &flat) {
                pane->showBadElement(tensor, flat);
            });
    }

private:
    template <class Work, class Done>
    void start(const QString &key, const QString &title, Work work, Done done) const
    {
        const auto trace = m_pane->trace();
        m_session->jobs().start(
            key, title, m_pane, [trace, work](core::JobContext &job) { return work(*trace, job); },
            [pane = m_pane, trace, done](const auto &answer) {
                if (isOf(*pane, trace))
                    done(answer);
            });
    }

    views::TensorPane *m_pane;
    Session *m_session;
};

void feedTensor(views::TensorPane &pane, Session &session)
{
    const TensorFeed feed(pane, session);
    QObject::connect(&pane, &views::TensorPane::summaryRequested, &session,
                     [feed](core::TensorId tensor) { feed.summarize(tensor); });
    QObject::connect(&pane, &views::TensorPane::tileRequested, &session,
                     [feed](core::TensorId tensor, const views::Slice &slice, std::int64_t row,
                            std::int64_t column) { feed.readTile(tensor, slice, row, column); });
    QObject::connect(&pane, &views::TensorPane::badElementRequested, &session,
                     [feed](core::TensorId tensor, std::int64_t from, int direction) {
                         feed.findBad(tensor, from, direction);
                     });
}

void feedLog(views::LogPane &pane, Session &session)
{
    for (const QString &line : session.log())
        pane.append(line);
    QObject::connect(&session, &Session::logged, &pane, &views::LogPane::append);
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
    PanePlace{PaneKind::trail, Qt::LeftDockWidgetArea, 262, true},
    PanePlace{PaneKind::why, Qt::RightDockWidgetArea, 480, true},
    PanePlace{PaneKind::lineage, Qt::RightDockWidgetArea, 480, true},
    PanePlace{PaneKind::gradFn, Qt::RightDockWidgetArea, 480, true},
};

constexpr std::array kNanHunt = {
    PanePlace{PaneKind::trail, Qt::LeftDockWidgetArea, 300},
    PanePlace{PaneKind::modules, Qt::LeftDockWidgetArea, 300},
    PanePlace{PaneKind::why, Qt::RightDockWidgetArea, 500},
    PanePlace{PaneKind::tensor, Qt::RightDockWidgetArea, 500},
    PanePlace{PaneKind::details, Qt::RightDockWidgetArea, 500},
    PanePlace{PaneKind::source, Qt::BottomDockWidgetArea, 240},
    PanePlace{PaneKind::findings, Qt::BottomDockWidgetArea, 240},
    PanePlace{PaneKind::ops, Qt::BottomDockWidgetArea, 240},
    PanePlace{PaneKind::reports, Qt::BottomDockWidgetArea, 240},
    PanePlace{PaneKind::log, Qt::BottomDockWidgetArea, 240},
    PanePlace{PaneKind::lineage, Qt::RightDockWidgetArea, 500, true},
    PanePlace{PaneKind::gradFn, Qt::RightDockWidgetArea, 500, true},
};

} // namespace

std::span<const PanePlace> shippedLayout(Perspective perspective)
{
    return perspective == Perspective::overview ? std::span<const PanePlace>(kOverview)
                                                : std::span<const PanePlace>(kNanHunt);
}

namespace {

struct PaneName
{
    PaneKind kind;
    const char *id;    // in settings
    const char *title; // shown
};

constexpr std::array kPaneNames = {
    PaneName{PaneKind::modules, "modules", "Modules"}, PaneName{PaneKind::findings, "findings", "Findings"},
    PaneName{PaneKind::audit, "audit", "Audit"},       PaneName{PaneKind::details, "details", "Details"},
    PaneName{PaneKind::trail, "trail", "Trail"},       PaneName{PaneKind::why, "why", "Why"},

    PaneName{PaneKind::tensor, "tensor", "Tensor"},    PaneName{PaneKind::ops, "ops", "Ops"},
    PaneName{PaneKind::source, "source", "Source"},    PaneName{PaneKind::log, "log", "Log"},
    PaneName{PaneKind::reports, "reports", "Reports"}, PaneName{PaneKind::lineage, "lineage", "Lineage"},
    PaneName{PaneKind::gradFn, "gradFn", "grad_fn"},
};
static_assert(kPaneNames.size() == kPaneKinds.size());

const PaneName &nameOf(PaneKind kind)
{
    return *std::find_if(kPaneNames.begin(), kPaneNames.end(),
                         [kind](const PaneName &name) { return name.kind == kind; });
}

} // namespace

QString paneId(PaneKind kind)
{
    return QString::fromLatin1(nameOf(kind).id);
}

QString paneTitle(PaneKind kind)
{
    return paneWords(nameOf(kind).title);
}

namespace {

template <class AnyPane>
AnyPane *fed(const views::PaneContext &context, Session &session, void (*feed)(AnyPane &, Session &))
{
    auto *pane = new AnyPane(context);
    feed(*pane, session);
    return pane;
}

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
        return fed<views::LogPane>(context, session, &feedLog);
    case PaneKind::reports:
        return fed<views::ReportsPane>(context, session, &feedReports);
    case PaneKind::lineage:
        return fed<views::LineagePane>(context, session, &feedLineage);
    case PaneKind::gradFn:
        return fed<views::GradFnPane>(context, session, &feedGradFn);
    case PaneKind::findings:
        return feedFacts(new views::FindingsPane(context), session);
    case PaneKind::trail:
        return feedTrail(feedFacts(new views::TrailPane(context), session), session);
    case PaneKind::why:
        return feedTrail(feedFacts(new views::WhyPane(context), session), session);
    case PaneKind::audit: {
        auto *pane = new views::AuditPane(context);
        feedFacts(pane, session);
        QObject::connect(pane, &views::AuditPane::huntRequested, &session,
                         [&session] { session.setPerspective(Perspective::nanHunt); });
        QObject::connect(pane, &views::AuditPane::reportRequested, &session, &Session::reportWished);
        return pane;
    }
    case PaneKind::source:
        return feedFacts(fed<views::SourcePane>(context, session, &feedSource), session);
    case PaneKind::tensor:
        return fed<views::TensorPane>(context, session, &feedTensor);
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
