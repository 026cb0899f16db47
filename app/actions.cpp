// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions.h"

#include "core/analysis/report_registry.h"
#include "core/capture/live_helpers.h"
#include "views/base/formatting.h"
#include "views/base/icon.h"

#include <QActionGroup>
#include <QMenu>
#include <QMenuBar>

namespace app {

Actions::Actions(const views::Theme &current, QWidget *window) : QObject(window), m_window(window)
{
    makeFile();
    makeGo();
    makeRun();
    makeView(current);
    makeReports();
    about = add(tr("&About opscope"));
    aboutQt = add(tr("About &Qt"));
    shortcuts = add(tr("&Keyboard shortcuts"), QKeySequence(Qt::CTRL | Qt::Key_Question));
    shortcuts->setShortcuts({QKeySequence(Qt::CTRL | Qt::Key_Question), QKeySequence(Qt::Key_F1)});
    back->setIcon(themedIcon(current, views::IconName::back, core::ColorToken::text));
    forward->setIcon(themedIcon(current, views::IconName::forward, core::ColorToken::text));
    theme->setIcon(themedIcon(current, views::IconName::sun, core::ColorToken::second));
    exportPicture->setIcon(themedIcon(current, views::IconName::share, core::ColorToken::second));
    settings->setIcon(themedIcon(current, views::IconName::settings, core::ColorToken::second));
}

QAction *Actions::add(const QString &text, const QKeySequence &keys)
{
    auto *action = new QAction(text, this);
    action->setShortcut(keys);
    action->setShortcutContext(Qt::WindowShortcut);
    if (!keys.isEmpty())
        action->setToolTip(QStringLiteral("%1 (%2)").arg(QString(text).remove(QLatin1Char('&')),
                                                         keys.toString(QKeySequence::NativeText)));
    m_window->addAction(action);
    m_all.push_back(action);
    return action;
}

// Single letters need an open document and are no text of a field: a focused field takes the key first,
// because Qt offers it the ShortcutOverride.
QAction *Actions::addLetter(const QString &text, const QKeySequence &keys)
{
    QAction *action = add(text, keys);
    m_needDocument.push_back(action);
    return action;
}

void Actions::makeFile()
{
    open = add(tr("&Open…"), QKeySequence::Open);
    openSample = add(tr("Open &sample"));
    capture = add(tr("&Capture a model…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_R));
    exportPicture = addLetter(tr("&Export picture…"), QKeySequence());
    reload = addLetter(tr("&Reload"), QKeySequence(Qt::Key_F5));
    closeDocument = addLetter(tr("C&lose"), QKeySequence(Qt::CTRL | Qt::Key_W));
    nextDocument = addLetter(tr("&Next document"), QKeySequence(Qt::CTRL | Qt::Key_Tab));
    quit = add(tr("&Quit"), QKeySequence(Qt::CTRL | Qt::Key_Q));
    copyName = addLetter(tr("Copy &name"), QKeySequence());
    copyRow = addLetter(tr("Copy &row"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C));
    undo = addLetter(tr("&Undo"), QKeySequence::Undo);
    redo = addLetter(tr("&Redo"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_Z));
    find = addLetter(tr("&Find in the view"), QKeySequence::Find);
    findNext = addLetter(tr("Find ne&xt"), QKeySequence(Qt::Key_F3));
    findPrevious = addLetter(tr("Find &previous"), QKeySequence(Qt::SHIFT | Qt::Key_F3));
    palette = add(tr("&Palette…"), QKeySequence(Qt::CTRL | Qt::Key_K));
    commands = add(tr("&Commands…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_P));
    settings = add(tr("S&ettings…"));
}

void Actions::makeGo()
{
    back = addLetter(tr("&Back"), QKeySequence(Qt::ALT | Qt::Key_Left));
    forward = addLetter(tr("&Forward"), QKeySequence(Qt::ALT | Qt::Key_Right));
    previousOp = addLetter(tr("&Previous op"), QKeySequence(Qt::CTRL | Qt::Key_Left));
    nextOp = addLetter(tr("&Next op"), QKeySequence(Qt::CTRL | Qt::Key_Right));
    nextEvent = addLetter(tr("Next &event"), QKeySequence(Qt::Key_E));
    previousEvent = addLetter(tr("Previous e&vent"), QKeySequence(Qt::SHIFT | Qt::Key_E));
    nextBad = addLetter(tr("Next bad e&lement"), QKeySequence(Qt::Key_N));
    previousBad = addLetter(tr("Previous bad ele&ment"), QKeySequence(Qt::SHIFT | Qt::Key_N));
    origin = addLetter(tr("First &origin"), QKeySequence(Qt::Key_O));
    goTo = addLetter(tr("&Go to op…"), QKeySequence(Qt::CTRL | Qt::Key_G));
    showSource = addLetter(tr("Show &source"), QKeySequence(Qt::Key_S));
    showTensor = addLetter(tr("Show &tensor values"), QKeySequence(Qt::Key_T));
    showDetails = addLetter(tr("Show &details"), QKeySequence(Qt::Key_D));
    showOps = addLetter(tr("Show o&ps"), QKeySequence());
    reveal = addLetter(tr("Reveal in the &graph"), QKeySequence());
    path = addLetter(tr("P&ath to origin"), QKeySequence(Qt::Key_P));
    isolate = addLetter(tr("&Isolate what is connected"), QKeySequence());
    dim = addLetter(tr("Di&m others"), QKeySequence());
    showEverything = addLetter(tr("Show &everything again"), QKeySequence());
    nextRegion = add(tr("Next re&gion"), QKeySequence(Qt::Key_F6));
    previousRegion = add(tr("Previous regi&on"), QKeySequence(Qt::SHIFT | Qt::Key_F6));
}

// Each by its command-line name, as the reports are.
void Actions::makeRun()
{
    showRun = add(tr("Show the run that goes on"));
    showRun->setEnabled(false);
    for (const core::LiveHelper &helper : core::liveHelpers()) {
        const QString name = QString::fromUtf8(helper.name.data(), qsizetype(helper.name.size()));
        QAction *action = add(tr("Run: %1…").arg(name));
        action->setData(name);
        action->setToolTip(
            QString::fromUtf8(helper.description.data(), qsizetype(helper.description.size())));
        helpers.push_back(action);
    }
}

void Actions::makeView(const views::Theme &current)
{
    theme = add(tr("Switch light and dark"));
    auto *modes = new QActionGroup(this);
    for (const auto &[mode, text] : {std::pair{views::ThemeMode::system, tr("&System")},
                                     {views::ThemeMode::light, tr("&Light")},
                                     {views::ThemeMode::dark, tr("&Dark")},
                                     {views::ThemeMode::highContrast, tr("&High contrast")}}) {
        QAction *action = add(tr("Theme: %1").arg(text));
        action->setCheckable(true);
        action->setChecked(current.mode() == mode);
        modes->addAction(action);
        themeModes[mode] = action;
    }
    int number = 0;
    for (const Perspective perspective : kPerspectives) {
        QAction *action =
            addLetter(perspectiveTitle(perspective),
                      QKeySequence(Qt::ALT | static_cast<Qt::Key>(static_cast<int>(Qt::Key_1) + number++)));
        action->setCheckable(true);
        perspectives[perspective] = action;
    }
    textLarger = add(tr("&Larger text"), QKeySequence(Qt::CTRL | Qt::Key_Equal));
    textSmaller = add(tr("S&maller text"), QKeySequence(Qt::CTRL | Qt::Key_Minus));
    textNormal = add(tr("&Normal text"), QKeySequence(Qt::CTRL | Qt::Key_0));
    resetLayout = addLetter(tr("&Reset layout"), QKeySequence());
}

// Each by its command-line name; the palette finds it by that and by what it does.
void Actions::makeReports()
{
    showReports = addLetter(tr("Show &reports"), QKeySequence(Qt::Key_R));
    showLineage = addLetter(tr("Show &lineage"), QKeySequence(Qt::Key_L));
    showGradFn = addLetter(tr("Show grad_&fn graph"), QKeySequence());
    lineageLess = addLetter(tr("Lineage: one step less"), QKeySequence(Qt::Key_BracketLeft));
    lineageMore = addLetter(tr("Lineage: one step more"), QKeySequence(Qt::Key_BracketRight));
    for (const core::ReportDefinition &definition : core::reportDefinitions()) {
        const QString name = views::fromView(definition.name);
        QAction *action = addLetter(tr("Report: %1").arg(name), {});
        action->setData(name);
        action->setStatusTip(views::fromView(definition.description));
        action->setToolTip(views::fromView(definition.description));
        reports.push_back(action);
    }
    for (const auto &[name, description] :
         {std::pair{"doctor", tr("Checks this installation, and whether a model can run here")},
          {"capability_snapshot", tr("Lists what this LibTorch can do")}}) {
        QAction *action = add(tr("Report: %1…").arg(QLatin1String(name)));
        action->setData(QString::fromLatin1(name));
        action->setToolTip(description);
        installation.push_back(action);
    }
}

void Actions::fillMenus(QMenuBar &bar)
{
    QMenu *file = bar.addMenu(tr("&File"));
    file->addActions({open});
    recentMenu = file->addMenu(tr("Open &recent"));
    file->addActions({openSample, capture});
    file->addSeparator();
    file->addActions({exportPicture, reload, closeDocument});
    file->addSeparator();
    file->addAction(quit);
    QMenu *edit = bar.addMenu(tr("&Edit"));
    edit->addActions({undo, redo});
    edit->addSeparator();
    edit->addActions({copyName, copyRow});
    edit->addSeparator();
    edit->addActions({find, findNext, findPrevious});
    edit->addSeparator();
    edit->addAction(settings);
    QMenu *view = bar.addMenu(tr("&View"));
    for (const auto &[perspective, action] : perspectives)
        view->addAction(action);
    view->addSeparator();
    docksMenu = view->addMenu(tr("&Panes"));
    view->addAction(resetLayout);
    view->addSeparator();
    QMenu *themes = view->addMenu(tr("&Theme"));
    for (const auto &[mode, action] : themeModes)
        themes->addAction(action);
    view->addActions({textLarger, textSmaller, textNormal});
    QMenu *go = bar.addMenu(tr("&Go"));
    go->addActions({palette, commands, goTo, back, forward});
    go->addSeparator();
    go->addActions({previousOp, nextOp, previousEvent, nextEvent, previousBad, nextBad, origin});
    go->addSeparator();
    go->addActions({showSource, showTensor, showDetails, showOps, reveal});
    go->addSeparator();
    go->addActions({path, isolate, dim, showEverything});
    QMenu *reportMenu = bar.addMenu(tr("&Reports"));
    reportMenu->setToolTipsVisible(true);
    reportMenu->addActions({showReports, showLineage, showGradFn});
    reportMenu->addSeparator();
    for (QAction *action : reports)
        reportMenu->addAction(action);
    reportMenu->addSeparator();
    for (QAction *action : installation)
        reportMenu->addAction(action);
    QMenu *run = bar.addMenu(tr("R&un"));
    run->setToolTipsVisible(true);
    run->addActions({capture, showRun});
    answersMenu = run->addMenu(tr("&Answers"));
    run->addSeparator();
    for (QAction *action : helpers)
        run->addAction(action);
    bar.addMenu(tr("&Window"))->addActions({nextDocument, nextRegion, previousRegion});
    bar.addMenu(tr("&Help"))->addActions({shortcuts, about, aboutQt});
    for (QMenu *menu : bar.findChildren<QMenu *>())
        menu->setAccessibleName(menu->title().remove(QLatin1Char('&')));
}

std::vector<QAction *> Actions::all() const
{
    std::vector<QAction *> enabled;
    for (QAction *action : m_all)
        if (action->isEnabled() && action->isVisible())
            enabled.push_back(action);
    return enabled;
}

void Actions::setDocumentOpen(bool isOpen)
{
    for (QAction *action : m_needDocument)
        action->setEnabled(isOpen);
}

} // namespace app
