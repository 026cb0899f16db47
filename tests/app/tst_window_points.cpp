// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/actions.h"
#include "app/dock_layout.h"
#include "app/exploration_undo.h"
#include "app/frame/document_bar.h"
#include "app/frame/focus_ring.h"
#include "app/frame/status_row.h"
#include "app/op_menu.h"
#include "tests/support/window_fixture.h"
#include "views/base/elided_label.h"
#include "views/base/filter_line.h"
#include "views/base/formatting.h"
#include "views/base/table_view.h"
#include "views/graph/graph_pane.h"
#include "views/lane/lane_view.h"
#include "views/ops/ops_pane.h"

#include <QAbstractButton>
#include <QAbstractScrollArea>
#include <QAccessible>
#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSet>
#include <QTest>
#include <QTimer>

#include <algorithm>
#include <filesystem>

using app::PaneKind;

// Points of the acceptance list of the window that need all of it: docs/window-checks.md says which.
class TestWindowPoints : public QObject, protected support::WindowFixture
{
    Q_OBJECT

private:
    views::GraphPane &graph() const { return *m_window->findChild<views::GraphPane *>(); }
    views::OpsPane &ops() const
    {
        return *qobject_cast<views::OpsPane *>(m_window->docks().pane(PaneKind::ops));
    }
    const core::Trace &trace() const { return *m_session->current()->trace; }

private Q_SLOTS:
    void initTestCase() { QVERIFY(views::loadBundledFonts()); }
    void init()
    {
        QVERIFY(makeFirstWindow({1600, 1000}));
        QVERIFY(open(goldenTrace()));
        QTRY_VERIFY_WITH_TIMEOUT(graph().state().hasPicture(), kOpenMs);
    }
    void cleanup() { dropWindow(); }

    // G01
    void allViewsFollowWithinATenthOfASecond()
    {
        m_window->docks().reveal(PaneKind::ops);
        m_window->docks().reveal(PaneKind::details);
        QCoreApplication::processEvents();
        const core::OpId op = trace().computeOps().back();
        QElapsedTimer clock;
        clock.start();
        m_session->selection().selectOp(op);
        QCoreApplication::processEvents();
        QVERIFY2(clock.elapsed() < 100, qPrintable(QString::number(clock.elapsed())));
        const QModelIndexList rows = ops().table().selectionModel()->selectedRows();
        QCOMPARE(rows.size(), 1);
        QCOMPARE(m_window->docks().pane(PaneKind::details)->item(), views::SelectedItem(views::OpItem{op}));
        QVERIFY(m_window->windowTitle().contains("opscope"));
    }

    // G06
    void everyXOfTheLaneSelectsTheOpUnderIt()
    {
        auto *lane = m_window->findChild<views::LaneView *>();
        QVERIFY(lane->isVisible());
        QCOMPARE(lane->model().forward.size(), trace().orderedOps().size());
        for (int x = 100; x < lane->width() - 20; x += 97) {
            const core::OpId under = lane->opAt(x);
            if (!under.isValid())
                continue;
            QTest::mouseClick(lane, Qt::LeftButton, {}, QPoint(x, lane->height() / 2));
            QCOMPARE(m_session->selection().op(), under);
        }
    }

    // G07
    void theStatusRowNamesFileCoverageSelectionAndZoom()
    {
        m_session->selection().selectOp(trace().computeOps().front());
        QString words;
        for (const QLabel *label : m_window->findChild<app::StatusRow *>()->findChildren<QLabel *>())
            if (label->isVisible())
                words += label->text() + '|';
        QVERIFY2(words.contains(m_session->current()->title), qPrintable(words));
        QVERIFY2(words.contains("outputs saved"), qPrintable(words));
        QVERIFY2(words.contains("zoom"), qPrintable(words));
        QVERIFY2(words.contains(views::fromView(trace().publicLabel(trace().computeOps().front()))),
                 qPrintable(words));
    }

    // G05 and G04: at every size what does not fit is cut with an ellipsis and has a tooltip, or is shorter.
    void noTextIsCut_data()
    {
        QTest::addColumn<QSize>("size");
        QTest::addColumn<int>("perspective");
        for (const QSize size : {QSize(1024, 640), QSize(1280, 800), QSize(1600, 1000), QSize(3840, 2160)})
            for (const app::Perspective perspective : app::kPerspectives)
                QTest::addRow("%dx%d.%s", size.width(), size.height(),
                              qPrintable(app::perspectiveKey(perspective)))
                    << size << static_cast<int>(perspective);
    }
    void noTextIsCut()
    {
        QFETCH(QSize, size);
        QFETCH(int, perspective);
        m_window->resize(size);
        m_session->setPerspective(static_cast<app::Perspective>(perspective));
        m_session->goToOrigin();
        QTRY_COMPARE(m_window->size(), size);
        QCoreApplication::processEvents(); // what was resized lays out its children
        QCoreApplication::processEvents();
        QStringList cut;
        const auto check = [&](const QWidget &widget, const QString &text, int wanted, int has) {
            if (widget.isVisible() && !widget.visibleRegion().isEmpty() && wanted > has)
                cut.push_back(QStringLiteral("%1 \"%2\" wants %3, has %4")
                                  .arg(widget.metaObject()->className(), text)
                                  .arg(wanted)
                                  .arg(has));
        };
        for (const QLabel *label : m_window->findChildren<QLabel *>())
            if (qobject_cast<const views::ElidedLabel *>(label) == nullptr && !label->wordWrap())
                check(*label, label->text(), label->fontMetrics().horizontalAdvance(label->text()),
                      label->contentsRect().width());
        for (const QAbstractButton *button : m_window->findChildren<QAbstractButton *>())
            if (!button->text().isEmpty() && button->icon().isNull())
                check(*button, button->text(), button->fontMetrics().horizontalAdvance(button->text()),
                      button->width());
        QVERIFY2(cut.isEmpty(), qPrintable(cut.join('\n')));
        // The selection can be read whole in the status row.
        for (const views::ElidedLabel *label :
             m_window->findChild<app::StatusRow *>()->findChildren<views::ElidedLabel *>())
            if (label->isVisible() && label->accessibleName().startsWith("Selection"))
                QVERIFY2(!label->isElided(), qPrintable(label->text()));
    }

    // Of two documents, what was found in the first never stands beside the trace of the second.
    void aSecondDocumentForgetsTheFirst()
    {
        for (const PaneKind kind : {PaneKind::audit, PaneKind::details, PaneKind::why, PaneKind::trail})
            m_window->docks().reveal(kind);
        m_session->goToOrigin();
        int forgotten = 0;
        connect(m_session.get(), &app::Session::factsChanged, this,
                [&] { forgotten += m_session->current() == nullptr ? 1 : 0; });
        const QDir folder(QStringLiteral(OPSCOPE_GOLDENS_DIR "/30_two_backward_passes"));
        m_window->openFile(folder.filePath(folder.entryList({"*.tlspec"}, QDir::Files | QDir::Dirs).front()));
        QTRY_VERIFY_WITH_TIMEOUT(m_session->documents().size() == 2 && m_session->current()->facts, 20000);
        QCOMPARE(forgotten, 1);
        m_session->setCurrent(0);
        QCOMPARE(forgotten, 2);
        m_session->close(0);
        m_session->close(0);
        QVERIFY(m_session->current() == nullptr);
    }

    // A deep module gives way from the left; the window keeps its size.
    void longBreadcrumbsGiveWay()
    {
        m_window->resize(1024, 640);
        auto *bar = m_window->findChild<app::DocumentBar *>();
        QStringList parts = {QStringLiteral("Model")};
        for (int i = 0; i < 30; ++i)
            parts.push_back(QStringLiteral("transformer_layer_%1").arg(i));
        bar->setBreadcrumb(parts);
        QCoreApplication::processEvents();
        QCoreApplication::processEvents();
        QCOMPARE(m_window->width(), 1024);
        QStringList shown;
        for (const QLabel *label : bar->findChildren<QLabel *>())
            if (label->isVisible() && !label->text().isEmpty())
                shown.push_back(label->text());
        QVERIFY2(shown.contains(parts.back()), qPrintable(shown.join('|')));
        QVERIFY2(shown.contains(QStringLiteral("…")), qPrintable(shown.join('|')));
    }

    // G10: a timer of 5 ms is the user; the longest time it waits is what input would wait.
    void inputIsAnsweredWhileAFileOpens()
    {
        qint64 longest = 0;
        QElapsedTimer since;
        since.start();
        QTimer user;
        connect(&user, &QTimer::timeout, this, [&] { longest = std::max(longest, since.restart()); });
        user.start(5);
        m_session->reloadCurrent();
        QVERIFY(QTest::qWaitFor([this] { return !m_session->isOpening(); }, 20000));
        QVERIFY(QTest::qWaitFor([this] { return m_session->current()->facts != nullptr; }, 20000));
        qInfo("longest wait while opening: %lld ms", static_cast<long long>(longest));
        QVERIFY2(longest < 500, qPrintable(QString::number(longest)));
    }

    void pathDimsAndEscapeEndsIt()
    {
        m_window->actions().origin->trigger();
        m_window->actions().path->trigger();
        QVERIFY(graph().hasEmphasis());
        QVERIFY(std::find(graph().emphasis().begin(), graph().emphasis().end(),
                          m_session->current()->facts->headline) != graph().emphasis().end());
        QTest::keyClick(m_window.get(), Qt::Key_Escape);
        QVERIFY(!graph().hasEmphasis());
        m_window->actions().isolate->trigger();
        QVERIFY(graph().hasEmphasis());
        m_window->actions().showEverything->trigger();
        QVERIFY(!graph().hasEmphasis());
    }

    void theMenuOfAnOpIsTheSameEverywhere()
    {
        const core::OpId op = m_session->current()->facts->headline;
        m_session->selection().selectOp(op);
        QMenu menu;
        app::fillOpMenu(menu, m_session->selection(), m_window->actions());
        QStringList titles;
        for (const QAction *action : menu.actions())
            if (!action->isSeparator())
                titles.push_back(action->text().remove('&'));
        QVERIFY2(titles.join('|').contains("Path to origin"), qPrintable(titles.join('|')));
        QVERIFY(titles.first().startsWith("Inputs"));
        QVERIFY(titles.contains("Copy name"));
        // Following an input goes there.
        const auto inputs = trace().parents(op);
        QVERIFY(!inputs.empty());
        menu.actions().first()->menu()->actions().first()->trigger();
        QCOMPARE(m_session->selection().op(), inputs.front());
    }

    void filtersCanBeTakenBack()
    {
        m_window->docks().reveal(PaneKind::ops);
        ops().filterLine().setText("nan>0");
        QVERIFY(m_window->actions().undo->isEnabled());
        m_window->actions().undo->trigger();
        QCOMPARE(ops().filterLine().text(), QString());
        m_window->actions().redo->trigger();
        QCOMPARE(ops().filterLine().text(), QStringLiteral("nan>0"));
    }

    // Statistics that a bundle did not record are measured and shown in the table.
    void measuredStatisticsAreShown()
    {
        m_window->docks().reveal(PaneKind::ops);
        const views::TableModel &model = ops().model();
        const auto &facts = *m_session->current()->facts;
        const core::OpId bad = facts.headline;
        QVERIFY(views::statsOf(trace(), &facts, trace().op(bad).tensor) != nullptr);
        int nanColumn = -1;
        for (int i = 0; i < model.columnCount(); ++i)
            if (model.headerData(i, Qt::Horizontal, Qt::DisplayRole).toString() == "NaN")
                nanColumn = i;
        QVERIFY(nanColumn >= 0);
        int filled = 0;
        for (int row = 0; row < model.rowCount(); ++row)
            filled += model.index(row, nanColumn).data().toString() != QStringLiteral("–") ? 1 : 0;
        QVERIFY2(filled > model.rowCount() / 2, qPrintable(QString::number(filled)));
    }

    // G82: nothing is written beside the trace.
    void nothingIsWrittenBesideTheTrace()
    {
        QTemporaryDir beside;
        const QString copy = beside.filePath(QFileInfo(goldenTrace()).fileName());
        std::filesystem::copy(goldenTrace().toStdString(), copy.toStdString(),
                              std::filesystem::copy_options::recursive);
        QVERIFY(open(copy));
        m_window->actions().origin->trigger();
        for (const PaneKind kind : app::kPaneKinds)
            m_window->docks().reveal(kind);
        m_window->close();
        QCOMPARE(QDir(beside.path()).entryList(QDir::AllEntries | QDir::NoDotAndDotDot).size(), 1);
    }

    // G82: nothing that speaks to a network is in the process, so nothing can be sent.
    void noNetworkLibraryIsLoaded()
    {
        QFile maps(QStringLiteral("/proc/self/maps"));
        QVERIFY(maps.open(QIODevice::ReadOnly));
        const QByteArray loaded = maps.readAll();
        QVERIFY(loaded.contains("libQt6Widgets"));
        for (const char *const library : {"libQt6Network", "libcurl", "libssl", "libgnutls"})
            QVERIFY2(!loaded.contains(library), library);
    }

    // What a screen reader is told of every control, in every perspective: a name and what it is.
    void readersAreToldOfEveryControl()
    {
        for (const app::Perspective perspective : app::kPerspectives) {
            m_session->setPerspective(perspective);
            QCoreApplication::processEvents(); // rows of tabs that are empty now step back
            QStringList silent;
            for (QWidget *widget : m_window->findChildren<QWidget *>()) {
                const bool ofQt = widget->objectName().startsWith("qt_") || widget->inherits("QHeaderView");
                if (!widget->isVisible() || ofQt || (widget->focusPolicy() & Qt::TabFocus) == 0)
                    continue;
                QAccessibleInterface *reader = QAccessible::queryAccessibleInterface(widget);
                const auto *field = qobject_cast<const QLineEdit *>(widget->parentWidget());
                if (reader == nullptr || reader->role() == QAccessible::NoRole ||
                    (reader->text(QAccessible::Name).isEmpty() && field == nullptr))
                    silent.push_back(QString("%1 %2 in %3")
                                         .arg(widget->metaObject()->className(), widget->objectName(),
                                              widget->parentWidget()->metaObject()->className()));
            }
            QVERIFY2(silent.isEmpty(), qPrintable(silent.join("\n")));
        }
    }

    // F6 comes to the lane, the graph and every pane in front, and one sees where it is.
    void regionsAreVisitedAndTheFocusIsSeen()
    {
        QApplication::setActiveWindow(m_window.get());
        const auto *ring = m_window->findChild<app::FocusRing *>();
        QVERIFY(ring != nullptr);
        QSet<const QWidget *> panes;
        for (int i = 0; i < 12; ++i) {
            m_window->actions().nextRegion->trigger();
            const QWidget *focused = QApplication::focusWidget();
            QVERIFY(focused != nullptr);
            if (qobject_cast<const QAbstractScrollArea *>(focused) != nullptr)
                QCOMPARE(ring->target(), focused);
            for (const QWidget *at = focused; at != nullptr; at = at->parentWidget())
                if (qobject_cast<const views::Pane *>(at) != nullptr)
                    panes.insert(at);
        }
        for (const QWidget *wanted :
             {static_cast<const QWidget *>(m_window->findChild<views::LaneView *>()),
              static_cast<const QWidget *>(m_window->findChild<views::GraphPane *>()),
              static_cast<const QWidget *>(m_window->docks().pane(PaneKind::modules)),
              static_cast<const QWidget *>(m_window->docks().pane(PaneKind::findings)),
              static_cast<const QWidget *>(m_window->docks().pane(PaneKind::audit))})
            QVERIFY2(panes.contains(wanted), qPrintable(wanted->accessibleName()));
    }
};

QTEST_MAIN(TestWindowPoints)
#include "tst_window_points.moc"
