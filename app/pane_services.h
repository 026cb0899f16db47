// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace views {
class GradFnPane;
class LineagePane;
class ReportsPane;
} // namespace views

class QWidget;

// How the panes of reports and pictures are joined to the services of the session. Part of the pane factory.
namespace app {

class Session;
class Settings;

void feedReports(views::ReportsPane &pane, Session &session);
void feedLineage(views::LineagePane &pane, Session &session);
void feedGradFn(views::GradFnPane &pane, Session &session);

// The tables in OWNER get their columns back from SETTINGS, tell what the user does to them, and can be saved
// as files.
void keepTables(QWidget &owner, Settings &settings);

} // namespace app
