// SPDX-License-Identifier: GPL-3.0-or-later
// The graph in the centre, the lane above it, and the dialogs of the window; each is made when it is first
// wanted.
#include "app/actions.h"
#include "app/dialogs/help_dialog.h"
#include "app/dialogs/settings_dialog.h"
#include "app/dock_layout.h"
#include "app/exploration_undo.h"
#include "app/frame/status_row.h"
#include "app/main_window.h"
#include "app/palette/palette_dialog.h"
#include "app/session.h"
#include "views/base/theme.h"
#include "views/graph/graph_pane.h"
#include "views/lane/lane_view.h"
#include "views/tensor/tensor_pane.h"

#include <QVBoxLayout>

namespace app {

void MainWindow::makeViews()
{
    if (m_graph != nullptr)
        return;
    const views::PaneContext context{m_theme, m_session.selection()};
    m_lane = new views::LaneView(context, menuWidget());
    m_lane->setObjectName(QStringLiteral("laneSlot"));
    // Above the banner, which is the last row.
    auto *rows = static_cast<QVBoxLayout *>(menuWidget()->layout());
    rows->insertWidget(rows->count() - 1, m_lane);
    m_graph = new views::GraphPane(context, m_centre);
    m_centre->layout()->addWidget(m_graph);
    m_graph->setReducedMotion(m_session.settings().reducedMotion());
    LayoutService &layouts = m_session.layouts();
    connect(m_graph, &views::GraphPane::layoutRequested, &layouts, &LayoutService::request);
    connect(m_graph, &views::GraphPane::layoutCancelled, &layouts, &LayoutService::cancel);
    connect(&layouts, &LayoutService::finished, m_graph, &views::GraphPane::setLayout);
    connect(&layouts, &LayoutService::failed, m_graph, &views::GraphPane::setLayoutFailed);
    m_undo->watch(*m_graph);
    for (const views::Pane *pane : {static_cast<views::Pane *>(m_graph), static_cast<views::Pane *>(m_lane)})
        connect(pane, &views::Pane::menuWanted, this, &MainWindow::showOpMenu);
    connect(m_graph, &views::GraphPane::matchesChanged, m_lane, &views::LaneView::setMatches);
    connect(m_graph, &views::GraphPane::zoomChanged, this,
            [this](double zoom) { m_statusRow->setZoomText(tr("zoom %1 %").arg(qRound(zoom * 100))); });
    connect(m_graph, &views::GraphPane::summaryChanged, this,
            [this] { m_statusRow->setCountsText(m_graph->summary()); });
}

void MainWindow::feedMarks()
{
    const Document *document = m_session.current();
    if (m_graph == nullptr)
        return;
    // Without facts those of another document must not stay.
    const bool known = document != nullptr && document->facts;
    m_graph->setMarks(known ? document->facts->marks : core::GraphMarks());
    m_lane->setMarks(known ? document->facts->marks : core::GraphMarks());
}

void MainWindow::showPalette(const QString &text)
{
    if (m_palette == nullptr) {
        m_palette = new PaletteDialog(m_theme, this);
        connect(m_palette, &PaletteDialog::itemChosen, this,
                [this](const views::SelectedItem &item, bool reveal) {
                    if (reveal)
                        m_session.selection().activate(item);
                    else
                        m_session.selection().select(item);
                });
        connect(m_palette, &PaletteDialog::commandChosen, this, [](QAction *action) { action->trigger(); });
        connect(&m_session, &Session::searchIndexChanged, m_palette,
                [this] { m_palette->setIndex(m_session.searchIndex()); });
    }
    m_session.makeSearchIndex();
    m_palette->start(m_session.searchIndex(), m_actions->all(), text);
}

void MainWindow::stepBadElement(int direction)
{
    auto *tensor = qobject_cast<views::TensorPane *>(m_docks->pane(PaneKind::tensor));
    if (tensor == nullptr)
        return;
    if (!tensor->isVisible())
        m_docks->reveal(PaneKind::tensor);
    tensor->stepBadElement(direction);
}

void MainWindow::showSettings()
{
    auto *dialog = new SettingsDialog(m_theme, m_session.settings(), this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &SettingsDialog::themeChosen, this, &MainWindow::setTheme);
    connect(dialog, &SettingsDialog::motionChosen, this, [this](bool reduced) {
        if (m_graph != nullptr)
            m_graph->setReducedMotion(reduced);
    });
    dialog->open();
}

void MainWindow::showShortcuts()
{
    auto *dialog = new HelpDialog(tr("Keyboard shortcuts"), shortcutRows(m_actions->all()), this);
    dialog->open();
}

void MainWindow::showAbout()
{
    auto *dialog = new HelpDialog(tr("About opscope"), aboutRows(), this);
    dialog->open();
}

} // namespace app
