// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/frame/perspective.h"
#include "views/base/theme.h"

#include <QAction>
#include <QObject>

#include <map>
#include <vector>

class QMenu;
class QMenuBar;

namespace app {

// All commands of the window as QActions, each with name, shortcut and place in the menus. The palette lists
// them from here. What they do is connected by the main window. Owned by the main window.
class Actions : public QObject
{
    Q_OBJECT

public:
    Actions(const views::Theme &theme, QWidget *window);

    QAction *open, *openSample, *capture, *showRun, *exportPicture, *reload, *closeDocument, *quit,
        *nextDocument;
    QAction *back, *forward, *previousOp, *nextOp, *previousEvent, *nextEvent, *origin, *goTo;
    QAction *palette, *commands, *find, *findNext, *findPrevious, *copyName, *copyRow;
    QAction *undo, *redo;
    QAction *reveal, *path, *isolate, *dim, *showEverything;
    QAction *resetLayout, *settings, *theme, *textLarger, *textSmaller, *textNormal;
    QAction *nextRegion, *previousRegion;
    QAction *showSource, *showTensor, *showDetails, *showOps;
    QAction *showReports, *showLineage, *showGradFn, *lineageLess, *lineageMore;
    std::vector<QAction *> reports; // one each of core/analysis/report_registry.h, in its order
    // doctor and capability_snapshot, which need no document; their data is the name.
    std::vector<QAction *> installation;
    QAction *previousBad, *nextBad;
    QAction *about, *aboutQt, *shortcuts;
    std::map<views::ThemeMode, QAction *> themeModes;
    std::map<Perspective, QAction *> perspectives;
    QMenu *recentMenu = nullptr;
    QMenu *docksMenu = nullptr;
    QMenu *answersMenu = nullptr;
    std::vector<QAction *> helpers; // those that run a model; their data is the name

    void fillMenus(QMenuBar &bar);
    // Every command that can be started now by name.
    std::vector<QAction *> all() const;
    // Those that need an open document.
    void setDocumentOpen(bool isOpen);

private:
    QAction *add(const QString &text, const QKeySequence &keys = {});
    QAction *addLetter(const QString &text, const QKeySequence &keys);
    void makeFile();
    void makeGo();
    void makeRun();
    void makeView(const views::Theme &theme);
    void makeReports();

    QWidget *m_window;
    std::vector<QAction *> m_all;
    std::vector<QAction *> m_needDocument;
};

} // namespace app
