// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/frame/perspective.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/capture/capture_request.h"

#include <QMainWindow>
#include <QTimer>

#include <optional>
#include <vector>

class QDialog;
class QStackedWidget;

namespace core {
class Value;
} // namespace core

namespace views {
class GraphPane;
class LaneView;
class Theme;
} // namespace views

namespace app {

class Actions;
class Banner;
class CaptureDialog;
class CapturePage;
class CommandBar;
class DockLayout;
class DocumentBar;
class ExplorationUndo;
struct Message;
class MessagePage;
class PaletteDialog;
struct LiveAnswer;
class Session;
class StartPage;
class StatusRow;
class TitleBar;

// The window: rows of the frame, pages, docks and actions, joined to the session. It owns no data, runs no
// job and knows no file format. Owned by main.
class MainWindow : public QMainWindow
{
    Q_OBJECT

public:
    MainWindow(Session &session, views::Theme &theme, QWidget *parent = nullptr);
    ~MainWindow() override;

    Actions &actions() const { return *m_actions; }
    DockLayout &docks() const { return *m_docks; }
    // The bundled sample, empty when there is none.
    void setSamplePath(const QString &path);
    void openFile(const QString &path);
    // Opens what was open last time, or offers it when that session did not end by itself.
    void restoreSession();
    // Brings the reports to the front with report NAME; RUN starts it when it has what it needs.
    void openReport(const QString &name, bool run);
    void openReportOrHelper(const QString &name);

protected:
    void closeEvent(QCloseEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dragLeaveEvent(QDragLeaveEvent *event) override;
    void dropEvent(QDropEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;

private:
    void makeRows();
    void makePages();
    void connectActions();
    void connectGoActions();
    void connectLookActions();
    void connectReports();
    void connectSession();
    void restoreGeometryOrDefault();

    void showDocuments();
    void showPerspective();
    void showRunState();
    void showUnanswered();
    void showCheckpoint();
    void showFacts();
    void showSelection();
    void showOpening();
    void showJobs();
    void showStartPage();
    void showOpenFailure(const QString &path, const core::Status &status);
    void fillRecentMenu();
    void chooseFile();
    void setTheme(int mode);
    void moveFocus(int direction);
    void copyName() const;
    void makeViews();
    void feedMarks();
    void showPalette(const QString &text);
    void stepBadElement(int direction);
    void showShortcuts();
    void showAbout();
    void showSettings();
    void showUndo();
    void exportPicture();
    void watchTables();
    void showDoctor(const QString &name);
    void showOpMenu(const QPoint &position);
    void findInView();
    void cancelJob();
    void connectCapture();
    void askCapture(const QString &model);
    CaptureDialog *makeCaptureDialog();
    CaptureDialog *raiseCaptureDialog(const std::string &task, const QString &model);
    void tellOtherRun();
    void offerRun();
    void askBeforeQuit();
    void askHelper(const QString &name);
    void keepAnswer(const QString &task, const core::Value &report);
    void showAnswer(const LiveAnswer &answer);
    void fillAnswersMenu();
    CaptureDialog *askAgain(const core::CaptureRequest &request);
    void showCapture();
    void endCapture(const QString &tracePath, const core::Status &status);
    void showStoppedEarly(const core::CaptureRequest &request);
    void showCaptureFailure(const core::CaptureRequest &request, const core::Status &status);
    void showMessage(const Message &message);
    void selectBreadcrumb(int index);
    core::ModuleId rootModule() const;

    Session &m_session;
    views::Theme &m_theme;
    Actions *m_actions;
    DockLayout *m_docks;
    ExplorationUndo *m_undo;
    TitleBar *m_titleBar = nullptr;
    CommandBar *m_commandBar = nullptr;
    DocumentBar *m_documentBar = nullptr;
    Banner *m_banner = nullptr;
    StatusRow *m_statusRow = nullptr;
    QStackedWidget *m_pages = nullptr;
    StartPage *m_startPage = nullptr;
    MessagePage *m_messagePage = nullptr;
    QWidget *m_centre = nullptr;
    views::LaneView *m_lane = nullptr;
    views::GraphPane *m_graph = nullptr;
    PaletteDialog *m_palette = nullptr;
    CapturePage *m_capturePage = nullptr;
    QDialog *m_captureWindow = nullptr;
    std::vector<LiveAnswer> m_answers; // newest first
    bool m_offersRun = false;          // the banner leads back to the run
    bool m_quitsAfterRun = false;
    // A helper that ended without its answer, whose trace may look like one that ended well.
    struct Unanswered
    {
        QString tracePath;
        core::CaptureRequest request;
        core::Status status;
    };
    std::optional<Unanswered> m_unanswered; // the last one
    QTimer m_jobClock;
    QString m_samplePath;
};

} // namespace app
