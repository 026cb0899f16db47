// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions.h"
#include "app/dialogs/doctor_dialog.h"
#include "app/dock_layout.h"
#include "app/frame/pane_header.h"
#include "app/frame/title_bar.h"
#include "app/pages/message_page.h"
#include "app/session_store.h"
#include "tests/support/window_fixture.h"
#include "views/audit/audit_pane.h"
#include "views/base/pane.h"
#include "views/log/log_pane.h"
#include "views/reports/reports_pane.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QDockWidget>
#include <QDropEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QMimeData>
#include <QProcess>
#include <QSettings>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTabBar>
#include <QTest>

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

using app::PaneKind;
using app::Perspective;

// The window as a whole, on a real bundle.
class TestWindow : public QObject, protected support::WindowFixture
{
    Q_OBJECT

private:
    // The files that the sessions in CONFIG have open, in no order.
    static QStringList documentsOfSessions(const QString &config)
    {
        QSettings settings(config, QSettings::IniFormat);
        QStringList files;
        settings.beginGroup("sessions");
        for (const QString &session : settings.childGroups())
            for (const QVariant &document : settings.value(session + "/documents").toList())
                files << document.toMap().value("path").toString();
        return files;
    }

    // Qt moves docks in several rounds of events.
    static void settle()
    {
        for (int round = 0; round < 20; ++round)
            QCoreApplication::processEvents();
    }

    QStringList shownDocks() const
    {
        QStringList names;
        for (const QDockWidget *dock : m_window->findChildren<QDockWidget *>())
            if (!dock->isHidden())
                names.push_back(dock->objectName());
        names.sort();
        return names;
    }

private Q_SLOTS:
    void initTestCase()
    {
        QVERIFY(views::loadBundledFonts());
        QVERIFY(QFileInfo::exists(goldenTrace()));
    }
    void init() { QVERIFY(makeFirstWindow({1600, 1000})); }
    void cleanup() { dropWindow(); }

    void startsWithoutADocument()
    {
        QCOMPARE(m_window->windowTitle(), QStringLiteral("opscope"));
        // Nothing to clear.
        for (const QAbstractButton *button : m_window->findChildren<QAbstractButton *>())
            QVERIFY(!button->isVisible() || !button->accessibleName().startsWith("Clear the list"));
        QVERIFY(!m_window->docks().isEntered());
        QVERIFY(!m_window->actions().reload->isEnabled());
        QVERIFY(m_window->actions().open->isEnabled());
    }

    void opensATraceAndShowsIt()
    {
        QVERIFY(open(goldenTrace()));
        QVERIFY(m_window->windowTitle().endsWith("opscope"));
        QVERIFY(m_window->docks().isEntered());
        QVERIFY(m_window->docks().pane(PaneKind::ops)->trace() != nullptr);
        QVERIFY(m_session->current()->facts->hasFinding());
        m_window->actions().origin->trigger();
        QCOMPARE(m_session->selection().op(), m_session->current()->facts->headline);
        QCOMPARE(m_settings->recentFiles().size(), 1U);
        QVERIFY(!m_settings->recentFiles().front().badge.isEmpty());
    }

    void saysWhatAnUnknownFileIs()
    {
        QFile file(m_folder.filePath("note.txt"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("just words");
        file.close();
        QSignalSpy failed(m_session.get(), &app::Session::openFailed);
        m_window->openFile(file.fileName());
        QTRY_COMPARE(failed.count(), 1);
        auto *page = m_window->findChild<app::MessagePage *>();
        QVERIFY(page->isVisible());
        QVERIFY2(page->titleText().contains("note.txt is not a trace"), qPrintable(page->titleText()));
        QVERIFY(m_session->current() == nullptr);
    }

    // Weights alone are no dead end: what can be asked about them is asked.
    void aCheckpointOpensWithItsReport()
    {
        const QByteArray head = "{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}";
        QFile file(m_folder.filePath("weights.safetensors"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        const quint64 size = quint64(head.size());
        file.write(reinterpret_cast<const char *>(&size), sizeof(size));
        file.write(head + QByteArray("\0\0\xc0\x7f\0\0\x80\x3f", 8)); // NaN, 1
        file.close();
        QVERIFY(open(file.fileName()));
        QCOMPARE(m_session->current()->trace->params().size(), 1U);
        const auto state = [this] {
            const auto board = m_session->reports().board();
            const views::ReportEntry *entry = board ? board->find("param_health") : nullptr;
            return entry == nullptr ? views::ReportState::notRun : entry->state;
        };
        QTRY_COMPARE(state(), views::ReportState::done);
        QVERIFY(m_window->docks().pane(PaneKind::reports)->isVisible());
        QVERIFY(m_session->reports().board()->find("param_health")->report->found);
    }

    void aFailedOpenLeavesTheDocument()
    {
        QVERIFY(open(goldenTrace()));
        const auto *trace = m_session->current()->trace.get();
        QSignalSpy failed(m_session.get(), &app::Session::openFailed);
        m_window->openFile(m_folder.filePath("missing.opscope"));
        QTRY_COMPARE(failed.count(), 1);
        QCOMPARE(m_session->current()->trace.get(), trace);
    }

    void droppedFilesOpen()
    {
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(goldenTrace())});
        QDragEnterEvent enter(QPoint(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(m_window.get(), &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent drop(QPointF(50, 50), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(m_window.get(), &drop);
        QTRY_VERIFY_WITH_TIMEOUT(m_session->current() != nullptr, 20000);
    }

    // From opening a trace to the origin and its line: one key (G13).
    void nanHuntBeginsAtTheOrigin()
    {
        QVERIFY(open(goldenTrace()));
        const core::OpId headline = m_session->current()->facts->headline;
        QVERIFY(headline.isValid());
        QVERIFY(!m_session->selection().op().isValid());
        m_session->setPerspective(Perspective::nanHunt);
        QCOMPARE(m_session->selection().op(), headline);
        // What was chosen stays chosen.
        const auto ops = m_session->current()->trace->orderedOps();
        m_session->setPerspective(Perspective::overview);
        m_session->selection().selectOp(ops[0]);
        m_session->setPerspective(Perspective::nanHunt);
        QCOMPARE(m_session->selection().op(), ops[0]);
    }

    void whatDidNotRunOpensFromTheAudit()
    {
        QVERIFY(open(goldenTrace()));
        const auto *audit = m_window->findChild<views::AuditPane *>();
        QVERIFY(audit != nullptr);
        QAbstractButton *row = nullptr;
        for (QAbstractButton *button : audit->findChildren<QAbstractButton *>())
            if (button->accessibleName().startsWith("lineage "))
                row = button;
        QVERIFY(row != nullptr);
        row->click();
        const auto *reports = m_window->findChild<views::ReportsPane *>();
        QVERIFY(reports != nullptr);
        QTRY_VERIFY(reports->isVisible());
        QCOMPARE(reports->chosen(), QStringLiteral("lineage"));
    }

    void historyRestoresItemAndPerspective()
    {
        QVERIFY(open(goldenTrace()));
        const auto ops = m_session->current()->trace->orderedOps();
        m_session->selection().selectOp(ops[0]);
        m_session->setPerspective(Perspective::nanHunt);
        m_session->selection().selectOp(ops[1]);
        m_window->actions().back->trigger();
        QCOMPARE(m_session->selection().op(), ops[0]);
        QCOMPARE(m_session->perspective(), Perspective::nanHunt);
        m_window->actions().back->trigger();
        QCOMPARE(m_session->perspective(), Perspective::overview);
        m_window->actions().forward->trigger();
        QCOMPARE(m_session->perspective(), Perspective::nanHunt);
    }

    void perspectivesKeepTheirOwnDocks()
    {
        QVERIFY(open(goldenTrace()));
        QVERIFY(QTest::qWaitFor([&] { return m_window->docks().isEntered(); }));
        auto *log = m_window->findChild<QDockWidget *>("log");
        QVERIFY(log != nullptr);
        log->close();
        m_window->actions().perspectives.at(Perspective::nanHunt)->trigger();
        QCOMPARE(m_session->perspective(), Perspective::nanHunt);
        QVERIFY(!log->isHidden());
        m_window->actions().perspectives.at(Perspective::overview)->trigger();
        QVERIFY(log->isHidden());
        m_window->actions().resetLayout->trigger();
        QVERIFY(!log->isHidden());
    }

    // A dock that only one perspective ships must not follow into the other.
    void aPerspectiveComesBackAsItWas()
    {
        QVERIFY(open(goldenTrace()));
        const QStringList overview = shownDocks();
        QAction *hunt = m_window->actions().perspectives.at(Perspective::nanHunt);
        QAction *back = m_window->actions().perspectives.at(Perspective::overview);
        hunt->trigger();
        const QStringList hunted = shownDocks();
        QVERIFY(hunted != overview);
        for (int round = 0; round < 2; ++round) {
            back->trigger();
            QVERIFY2(shownDocks() == overview,
                     qPrintable(shownDocks().join(" ") + " not " + overview.join(" ")));
            hunt->trigger();
            QVERIFY2(shownDocks() == hunted, qPrintable(shownDocks().join(" ") + " not " + hunted.join(" ")));
        }
    }

    void noEmptyRowOfTabsLiesOverAPane_data()
    {
        QTest::addColumn<bool>("beginsNarrow");
        QTest::newRow("wide") << false;
        QTest::newRow("narrow, then wide") << true;
    }
    void noEmptyRowOfTabsLiesOverAPane()
    {
        QFETCH(const bool, beginsNarrow);
        if (beginsNarrow)
            m_window->resize(1024, 640);
        QVERIFY(open(goldenTrace()));
        m_window->resize(1600, 1000);
        settle();
        for (const Perspective perspective :
             {Perspective::nanHunt, Perspective::overview, Perspective::nanHunt}) {
            m_window->actions().perspectives.at(perspective)->trigger();
            settle();
            for (const PaneKind kind : {PaneKind::findings, PaneKind::tensor, PaneKind::ops}) {
                m_window->docks().reveal(kind);
                settle();
                for (const QTabBar *bar :
                     m_window->findChildren<QTabBar *>(QString(), Qt::FindDirectChildrenOnly))
                    QVERIFY(bar->count() > 0 || !bar->isVisible() ||
                            !bar->geometry().intersects(m_window->rect()));
            }
        }
    }

    void docksCanBeFloatedAndBroughtBack()
    {
        QVERIFY(open(goldenTrace()));
        auto *modules = m_window->findChild<QDockWidget *>("modules");
        modules->setFloating(true);
        QVERIFY(modules->isFloating());
        m_window->actions().resetLayout->trigger();
        QVERIFY(!modules->isFloating());
        modules->hide();
        m_window->docks().reveal(PaneKind::modules);
        QVERIFY(!modules->isHidden());
    }

    void everyActionHasANameAndShortcutsDoNotClash()
    {
        m_window->actions().setDocumentOpen(true);
        QHash<QString, QString> keys;
        for (const QAction *action : m_window->actions().all()) {
            QVERIFY(!action->text().isEmpty());
            if (action->shortcut().isEmpty())
                continue;
            const QString sequence = action->shortcut().toString();
            QVERIFY2(!keys.contains(sequence),
                     qPrintable(sequence + ": " + keys[sequence] + ", " + action->text()));
            keys[sequence] = action->text();
        }
        QVERIFY(keys.size() > 20);
    }

    void shortcutsWork()
    {
        QVERIFY(open(goldenTrace()));
        m_window->activateWindow();
        m_session->selection().selectOp(m_session->current()->trace->orderedOps()[0]);
        m_window->actions().nextOp->trigger();
        QCOMPARE(m_session->selection().op(), m_session->current()->trace->orderedOps()[1]);
        m_window->actions().nextEvent->trigger();
        QVERIFY(m_session->selection().op().isValid());
        m_window->actions().closeDocument->trigger();
        QVERIFY(m_session->current() == nullptr);
        QVERIFY(!m_window->docks().isEntered());
    }

    void everyControlHasAnAccessibleName()
    {
        QVERIFY(open(goldenTrace()));
        for (const Perspective perspective : app::kPerspectives) {
            m_session->setPerspective(perspective);
            QStringList nameless;
            for (const QWidget *widget : m_window->findChildren<QWidget *>()) {
                const bool control = qobject_cast<const QAbstractButton *>(widget) != nullptr ||
                                     qobject_cast<const QLineEdit *>(widget) != nullptr ||
                                     qobject_cast<const QComboBox *>(widget) != nullptr ||
                                     (qobject_cast<const QAbstractItemView *>(widget) != nullptr &&
                                      !widget->objectName().startsWith("qt_")) ||
                                     qobject_cast<const views::Pane *>(widget) != nullptr;
                const bool ofQt = widget->objectName().startsWith("qt_") || widget->inherits("QTabBar") ||
                                  widget->inherits("QHeaderView") || widget->inherits("QTableCornerButton") ||
                                  (widget->parentWidget() != nullptr &&
                                   (widget->parentWidget()->inherits("QTabBar") ||
                                    widget->parentWidget()->inherits("QAbstractSpinBox") ||
                                    widget->parentWidget()->inherits("QLineEdit") ||
                                    widget->parentWidget()->inherits("QComboBoxPrivateContainer") ||
                                    widget->parentWidget()->inherits("QTableView")));
                if (control && !ofQt && widget->accessibleName().isEmpty()) {
                    const auto *button = qobject_cast<const QAbstractButton *>(widget);
                    if (button == nullptr || button->text().isEmpty())
                        nameless.push_back(QString("%1 %2 in %3")
                                               .arg(widget->metaObject()->className(), widget->objectName(),
                                                    widget->parentWidget()->metaObject()->className()));
                }
            }
            QVERIFY2(nameless.isEmpty(), qPrintable(nameless.join("\n")));
        }
    }

    void smallWindowsKeepEverythingReachable()
    {
        QVERIFY(open(goldenTrace()));
        m_window->resize(1024, 640);
        QVERIFY(QTest::qWaitFor([&] { return m_window->width() == 1024 && m_window->height() == 640; }));
        for (const PaneKind kind : {PaneKind::audit, PaneKind::modules, PaneKind::ops}) {
            m_window->docks().reveal(kind);
            QVERIFY(!m_window->docks().pane(kind)->isHidden());
        }
    }

    // A visit to a small size does not squeeze the docks for good.
    void docksAreAsWideAgainAsBefore()
    {
        m_window->resize(1600, 1000);
        QVERIFY(open(goldenTrace()));
        settle();
        const auto *audit = m_window->findChild<QDockWidget *>("audit");
        const auto *modules = m_window->findChild<QDockWidget *>("modules");
        QVERIFY(audit != nullptr && modules != nullptr);
        const int before = audit->width();
        const int left = modules->width();
        QVERIFY2(before > 300, qPrintable(QString::number(before)));
        m_window->resize(1024, 640);
        settle();
        m_window->resize(1600, 1000);
        settle();
        QVERIFY2(std::abs(audit->width() - before) < 30, qPrintable(QString::number(audit->width())));
        QVERIFY2(std::abs(modules->width() - left) < 30, qPrintable(QString::number(modules->width())));
    }

    void themeSwitchRepaintsEverything()
    {
        QVERIFY(open(goldenTrace()));
        m_theme->setMode(views::ThemeMode::dark);
        views::applyTheme(*qApp, *m_theme);
        const QImage dark = m_window->grab().toImage();
        m_theme->setMode(views::ThemeMode::light);
        const QImage light = m_window->grab().toImage();
        // No large area may keep the dark surface.
        int darkPixels = 0;
        for (int y = 0; y < light.height(); y += 8)
            for (int x = 0; x < light.width(); x += 8)
                darkPixels += light.pixelColor(x, y).lightness() < 60 ? 1 : 0;
        const int all = (light.width() / 8) * (light.height() / 8);
        QVERIFY2(darkPixels < all / 20, qPrintable(QString("%1 of %2").arg(darkPixels).arg(all)));
        QVERIFY(dark.pixelColor(dark.width() / 2, 5).lightness() < 80);
    }

    // Closing another tab, or reading it anew, leaves what is selected here.
    void otherTabsLeaveTheSelection()
    {
        const QString first = goldenTrace();
        const QString second = goldenTrace("30_two_backward_passes");
        QVERIFY(open(first));
        const auto openSecond = [&] {
            m_window->openFile(second);
            QTRY_VERIFY_WITH_TIMEOUT(!m_session->isOpening() && m_session->documents().size() == 2 &&
                                         m_session->current()->path == second,
                                     20000);
        };
        openSecond();
        m_session->setCurrent(0);
        const core::OpId op = m_session->current()->trace->computeOps().back();
        m_session->selection().selectOp(op);
        openSecond(); // read anew, and shown
        m_session->setCurrent(0);
        QCOMPARE(m_session->selection().op(), op);
        m_session->close(1);
        QCOMPARE(m_session->documents().size(), 1U);
        QCOMPARE(m_session->selection().op(), op);
    }

    // A session that was killed is known as one by the next, whatever it was started with.
    void aKilledSessionIsKnownAsOne()
    {
        const QString config = m_folder.filePath("killed.ini");
        const auto isRunning = [&] {
            QSettings settings(config, QSettings::IniFormat);
            settings.beginGroup("sessions");
            return settings.childGroups().size() == 1;
        };
        QProcess program;
        program.start(QStringLiteral(OPSCOPE_BIN_DIR "/opscope"), {"--config", config, goldenTrace()});
        QVERIFY(program.waitForStarted(20000));
        QTRY_VERIFY_WITH_TIMEOUT(isRunning(), 20000);
        program.kill();
        QVERIFY(program.waitForFinished(20000));
        QVERIFY(isRunning());
    }

    // Two windows at once, in every order of their ends: neither takes the other's documents away.
    void windowsBesideEachOtherKeepTheirDocuments()
    {
        const QString config = m_folder.filePath("two.ini");
        const QString first = goldenTrace();
        const QString second = goldenTrace("08_nan_in_input");
        QProcess a;
        QProcess b;
        a.start(QStringLiteral(OPSCOPE_BIN_DIR "/opscope"), {"--config", config, first});
        QTRY_COMPARE_WITH_TIMEOUT(documentsOfSessions(config), QStringList{first}, 20000);
        b.start(QStringLiteral(OPSCOPE_BIN_DIR "/opscope"), {"--config", config, second});
        QTRY_COMPARE_WITH_TIMEOUT(documentsOfSessions(config).size(), 2, 20000);
        b.kill();
        QVERIFY(b.waitForFinished(20000));
        // The one that was killed is offered, the one that runs is left alone.
        app::Settings settings(config);
        QVERIFY(app::isAnotherSessionRunning(settings));
        std::vector<app::StoredDocument> killed = app::takeKilledDocuments(settings);
        QCOMPARE(killed.size(), std::size_t(1));
        QCOMPARE(killed.front().path, second);
        QVERIFY(app::takeKilledDocuments(settings).empty());
        QCOMPARE(documentsOfSessions(config), QStringList{first});
        a.kill();
        QVERIFY(a.waitForFinished(20000));
        QVERIFY(!app::isAnotherSessionRunning(settings));
        killed = app::takeKilledDocuments(settings);
        QCOMPARE(killed.size(), std::size_t(1));
        QCOMPARE(killed.front().path, first);
    }

    void aSessionThatEndsLeavesItsDocuments()
    {
        app::Settings settings(m_folder.filePath("ends.ini"));
        app::storeDocuments(settings, {{goldenTrace(), {}, {}, true}});
        app::beginSession(settings);
        QVERIFY(!app::isAnotherSessionRunning(settings));
        QVERIFY(app::takeKilledDocuments(settings).empty()); // its own is none
        app::storeDocuments(settings, {});
        QCOMPARE(app::storedDocuments(settings).size(), std::size_t(1));
        app::endSession(settings);
        QVERIFY(app::storedDocuments(settings).empty());
        app::storeDocuments(settings, {{goldenTrace(), {}, {}, true}});
        app::endSession(settings); // once more: nothing
        QCOMPARE(app::storedDocuments(settings).size(), std::size_t(1));
        // A number that another program has got since.
        settings.setValue("sessions/1-x/documents", settings.value("session/documents"));
        QVERIFY(!app::isAnotherSessionRunning(settings));
        QCOMPARE(app::takeKilledDocuments(settings).size(), std::size_t(1));
    }

    // What jobs complain of stands in the log.
    void complaintsStandInTheLog()
    {
        QVERIFY(open(goldenTrace()));
        auto *log = qobject_cast<views::LogPane *>(m_window->docks().pane(PaneKind::log));
        QVERIFY(log != nullptr);
        m_window->docks().reveal(PaneKind::log);
        m_session->jobs().start(
            "complaint", "Discarding", this,
            [](core::JobContext &job) {
                job.warn("run.opscope cannot be removed");
                return 0;
            },
            [](int) {});
        QTRY_VERIFY2(log->text().contains("Discarding: run.opscope cannot be removed"),
                     qPrintable(log->text()));
    }

    // The doctor needs no document; its answer is a card and a table, and it can be stopped.
    void theDoctorAnswers()
    {
        QAction *doctor = m_window->actions().installation.front();
        QVERIFY(doctor->isEnabled());
        doctor->trigger();
        auto *dialog = m_window->findChild<app::DoctorDialog *>();
        QVERIFY(dialog != nullptr && dialog->isVisible() && !dialog->isModal());
        QCOMPARE(dialog->entry().state, views::ReportState::running);
        for (QAbstractButton *button : dialog->findChildren<QAbstractButton *>())
            if (button->text() == QStringLiteral("Cancel"))
                button->click();
        QTRY_COMPARE_WITH_TIMEOUT(dialog->entry().state, views::ReportState::failed, 20000);
        dialog->check();
        QTRY_COMPARE_WITH_TIMEOUT(dialog->entry().state, views::ReportState::done, 180000);
        QCOMPARE(dialog->entry().report->reportType, std::string("doctor"));
        QVERIFY(dialog->entry().report->table.rows.size() > 5);
    }

    // Every bar of the frame has room for text of twice the size, the menus among it.
    void largeTextFitsTheFrame()
    {
        QVERIFY(open(goldenTrace()));
        const QString sheet = qApp->styleSheet();
        const QFont font = QApplication::font();
        views::applyTheme(*qApp, *m_theme);
        m_theme->setTextPercent(200);
        settle();
        auto *menus = m_window->findChild<QMenuBar *>();
        QVERIFY(menus != nullptr);
        for (const QAction *menu : menus->actions())
            QVERIFY2(menus->rect().contains(menus->actionGeometry(const_cast<QAction *>(menu))),
                     qPrintable(menu->text()));
        QVERIFY(menus->height() <= m_window->findChild<app::TitleBar *>()->height());
        const auto *tabs = m_window->findChild<QTabBar *>(QStringLiteral("documentTabs"));
        QVERIFY2(tabs->y() >= 0 && tabs->sizeHint().height() <= tabs->parentWidget()->height(),
                 qPrintable(QString::number(tabs->sizeHint().height())));
        for (const auto *header : m_window->findChildren<app::PaneHeader *>())
            QVERIFY(!header->isVisible() || header->height() == 0 ||
                    header->height() >= header->fontMetrics().height());
        QVERIFY(m_window->statusBar()->height() >= m_window->statusBar()->fontMetrics().height());
        m_theme->setTextPercent(100);
        qApp->setStyleSheet(sheet);
        QApplication::setFont(font);
    }

    void geometryAndRecentFilesSurvive()
    {
        m_window->resize(1300, 800);
        QVERIFY(open(goldenTrace()));
        m_window->close();
        m_window.reset();
        m_session.reset();
        m_settings = std::make_unique<app::Settings>(m_folder.filePath("opscope.ini"));
        m_session = std::make_unique<app::Session>(*m_settings);
        m_window = std::make_unique<app::MainWindow>(*m_session, *m_theme);
        QCOMPARE(m_window->size(), QSize(1300, 800));
        QCOMPARE(m_settings->recentFiles().size(), 1U);
    }
};

QTEST_MAIN(TestWindow)
#include "tst_window.moc"
