// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/main_window.h"

#include "app/actions.h"
#include "app/dialogs/live_report_dialog.h"
#include "app/dock_layout.h"
#include "app/exploration_undo.h"
#include "app/frame/banner.h"
#include "app/frame/command_bar.h"
#include "app/frame/document_bar.h"
#include "app/frame/focus_ring.h"
#include "app/frame/status_row.h"
#include "app/frame/title_bar.h"
#include "app/pages/message_page.h"
#include "app/pages/start_page.h"
#include "app/session.h"
#include "app/session_store.h"

#include <QApplication>
#include <QCloseEvent>
#include <QMimeData>
#include <QScreen>
#include <QStackedWidget>
#include <QStatusBar>
#include <QVBoxLayout>
#include <QWindow>

namespace app {

namespace {

constexpr QSize kDefaultSize(1600, 1000);
constexpr QSize kSmallestSize(1024, 640);
constexpr int kResizeMargin = 5;

QStringList localFiles(const QMimeData *data)
{
    QStringList files;
    for (const QUrl &url : data->urls())
        if (url.isLocalFile())
            files.push_back(url.toLocalFile());
    return files;
}

Qt::Edges edgesAt(const QPoint &position, const QSize &size)
{
    Qt::Edges edges;
    edges.setFlag(Qt::LeftEdge, position.x() < kResizeMargin);
    edges.setFlag(Qt::RightEdge, position.x() >= size.width() - kResizeMargin);
    edges.setFlag(Qt::TopEdge, position.y() < kResizeMargin);
    edges.setFlag(Qt::BottomEdge, position.y() >= size.height() - kResizeMargin);
    return edges;
}

} // namespace

MainWindow::MainWindow(Session &session, views::Theme &theme, QWidget *parent)
    : QMainWindow(parent), m_session(session), m_theme(theme), m_actions(new Actions(theme, this)),
      m_docks(new DockLayout(this, theme, session)), m_undo(new ExplorationUndo(this))
{
    setAcceptDrops(true);
    setMinimumSize(kSmallestSize);
    setWindowIcon(views::themedIcon(theme, views::IconName::appMark, core::ColorToken::accent));
    setContextMenuPolicy(Qt::NoContextMenu);
    makeRows();
    makePages();
    connectActions();
    connectSession();
    connect(m_docks, &DockLayout::menuWanted, this, &MainWindow::showOpMenu);
    connect(m_docks, &DockLayout::docksMade, this, &MainWindow::watchTables);
    new FocusRing(m_theme, this);
    restoreGeometryOrDefault();
    setSamplePath({});
    showDocuments();
}

// What the children end while they go must not be shown any more.
MainWindow::~MainWindow()
{
    m_session.jobs().disconnect(this);
    m_session.captures().disconnect(this);
    m_session.disconnect(this);
}

void MainWindow::makeRows()
{
    const bool ownFrame = !m_session.settings().useDesktopTitleBar();
    setWindowFlag(Qt::FramelessWindowHint, ownFrame);
    m_titleBar = new TitleBar(m_theme, this);
    m_titleBar->setWindowButtonsShown(ownFrame);
    m_actions->fillMenus(*m_titleBar->menuBar());
    m_commandBar = new CommandBar(m_theme,
                                  {m_actions->back, m_actions->forward, m_actions->theme, m_actions->settings,
                                   m_actions->exportPicture},
                                  this);
    m_documentBar = new DocumentBar(m_theme, this);
    m_banner = new Banner(m_theme, this);
    auto *rows = new QWidget(this);
    auto *column = new QVBoxLayout(rows);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    for (QWidget *row : std::initializer_list<QWidget *>{m_titleBar, m_commandBar, m_documentBar, m_banner})
        column->addWidget(row);
    setMenuWidget(rows);
    m_statusRow = new StatusRow(m_theme, this);
    statusBar()->setSizeGripEnabled(false);
    statusBar()->setContentsMargins(0, 0, 0, 0);
    statusBar()->addPermanentWidget(m_statusRow, 1);
    const auto fitStatus = [this] { statusBar()->setFixedHeight(m_statusRow->minimumHeight()); };
    connect(&m_theme, &views::Theme::changed, this, fitStatus);
    fitStatus();
}

void MainWindow::makePages()
{
    m_pages = new QStackedWidget(this);
    m_startPage = new StartPage(m_theme, m_pages);
    m_messagePage = new MessagePage(m_theme, m_pages);
    m_centre = new QWidget(m_pages);
    m_centre->setObjectName(QStringLiteral("centre"));
    m_centre->setLayout(new QVBoxLayout);
    m_centre->layout()->setContentsMargins(0, 0, 0, 0);
    for (QWidget *page : std::initializer_list<QWidget *>{m_startPage, m_messagePage, m_centre})
        m_pages->addWidget(page);
    setCentralWidget(m_pages);
    connect(m_startPage, &StartPage::openRequested, this, &MainWindow::chooseFile);
    connect(m_startPage, &StartPage::captureRequested, m_actions->capture, &QAction::trigger);
    connect(m_startPage, &StartPage::sampleRequested, m_actions->openSample, &QAction::trigger);
    connect(m_startPage, &StartPage::fileRequested, this, &MainWindow::openFile);
    connect(m_startPage, &StartPage::clearRecentRequested, this, [this] {
        m_session.settings().clearRecentFiles();
        m_startPage->setRecentFiles(m_session.settings().recentFiles());
    });
}

void MainWindow::restoreGeometryOrDefault()
{
    const QByteArray geometry = m_session.settings().bytes(QStringLiteral("window/geometry"));
    if (!geometry.isEmpty() && restoreGeometry(geometry))
        return;
    const QScreen *screen = QGuiApplication::primaryScreen();
    const QSize room = screen != nullptr ? screen->availableSize() : kDefaultSize;
    resize(kDefaultSize.boundedTo(room).expandedTo(kSmallestSize));
}

void MainWindow::openFile(const QString &path)
{
    m_session.open(path);
}

void MainWindow::restoreSession()
{
    Settings &settings = m_session.settings();
    const std::vector<StoredDocument> killed = takeKilledDocuments(settings);
    const bool isSecond = isAnotherSessionRunning(settings); // what ended last may be of a window beside it
    const std::vector<StoredDocument> documents = !killed.empty() ? killed
                                                  : isSecond      ? std::vector<StoredDocument>()
                                                                  : storedDocuments(settings);
    beginSession(settings);
    if (!killed.empty())
        storeDocuments(settings, killed); // until others are opened, should this session be killed too
    if (documents.empty() || !settings.restoresDocuments() || m_session.isOpening())
        return;
    if (killed.empty()) {
        m_session.reopen(documents);
        return;
    }
    m_banner->showMessage(tr("The last session did not end by itself"),
                          documents.size() == 1 ? tr("1 document was open.")
                                                : tr("%1 documents were open.").arg(documents.size()),
                          {{tr("Open them again"), [this, documents] {
                                m_banner->dismiss();
                                m_session.reopen(documents);
                            }}});
}

// A run of hours is not lost to a slip: whoever closes the window is asked what becomes of it.
void MainWindow::closeEvent(QCloseEvent *event)
{
    if (m_session.captures().isRunning()) {
        event->ignore();
        askBeforeQuit();
        return;
    }
    m_docks->remember();
    m_session.rememberDocuments();
    endSession(m_session.settings());
    m_session.settings().setBytes(QStringLiteral("window/geometry"), saveGeometry());
    QMainWindow::closeEvent(event);
}

void MainWindow::resizeEvent(QResizeEvent *event)
{
    QMainWindow::resizeEvent(event);
    m_docks->setNarrow(width() < DockLayout::kNarrowBelow);
}

void MainWindow::dragEnterEvent(QDragEnterEvent *event)
{
    if (localFiles(event->mimeData()).isEmpty())
        return;
    event->acceptProposedAction();
    m_startPage->setDropHot(true);
}

void MainWindow::dragLeaveEvent(QDragLeaveEvent *)
{
    m_startPage->setDropHot(false);
}

void MainWindow::dropEvent(QDropEvent *event)
{
    m_startPage->setDropHot(false);
    const QStringList files = localFiles(event->mimeData());
    if (files.isEmpty())
        return;
    event->acceptProposedAction();
    for (const QString &file : files)
        openFile(file);
}

// A window without the desktop's frame is resized by its own edges.
void MainWindow::mousePressEvent(QMouseEvent *event)
{
    const Qt::Edges edges = edgesAt(event->position().toPoint(), size());
    if (event->button() == Qt::LeftButton && edges && windowFlags().testFlag(Qt::FramelessWindowHint) &&
        !isMaximized() && windowHandle() != nullptr) {
        windowHandle()->startSystemResize(edges);
        return;
    }
    if (event->button() == Qt::BackButton)
        m_session.goBack();
    else if (event->button() == Qt::ForwardButton)
        m_session.goForward();
    else
        QMainWindow::mousePressEvent(event);
}

void MainWindow::setSamplePath(const QString &path)
{
    m_samplePath = path;
    m_actions->openSample->setVisible(!path.isEmpty());
    m_startPage->setSampleAvailable(!path.isEmpty());
}

} // namespace app
