// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/frame/perspective.h"

#include <QWidget>

#include <map>

class QAction;
class QHBoxLayout;
class QToolButton;

namespace views {
class Theme;
}

namespace app {

class JobLight;
class PaletteField;
class PerspectiveButton;

// The row under the menus: Back, Forward, perspectives with their badges, the palette field, theme, settings
// and the job light. It shows and wishes; what the wishes do is the main window's. Owned by the main window.
class CommandBar : public QWidget
{
    Q_OBJECT

public:
    struct Actions
    {
        QAction *back;
        QAction *forward;
        QAction *theme;
        QAction *settings;
        QAction *exportGraph;
    };

    CommandBar(const views::Theme &theme, const Actions &actions, QWidget *parent = nullptr);

    void setPerspective(Perspective perspective);
    // A COUNT of 0 takes the badge away.
    void setBadge(Perspective perspective, int count);
    void setJobs(const QString &text, bool busy);

Q_SIGNALS:
    void perspectiveRequested(app::Perspective perspective);
    void paletteRequested();
    void jobsRequested();

private:
    void addPerspectives(const views::Theme &theme, QHBoxLayout *layout);
    QToolButton *actionButton(const views::Theme &theme, QAction *action);

    std::map<Perspective, PerspectiveButton *> m_perspectives;
    PaletteField *m_palette;
    JobLight *m_jobs;
};

} // namespace app
