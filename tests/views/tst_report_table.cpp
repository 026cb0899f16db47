// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/formatting.h"
#include "views/base/row_filter.h"
#include "views/base/table_export.h"
#include "views/base/table_view.h"
#include "views/reports/report_facts.h"
#include "views/reports/report_table.h"
#include "views/reports/report_table_source.h"

#include <QHeaderView>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLocale>
#include <QSignalSpy>
#include <QTest>

#include <ctime>
#include <memory>

namespace {

core::ReportTable manyRows(std::int64_t count)
{
    core::ReportTable table;
    table.columns = {{"op", core::CellKind::op, {}},
                     {"norm", core::CellKind::number, {}},
                     {"kind", core::CellKind::text, {}}};
    for (std::int64_t i = 0; i < count; ++i)
        table.rows.push_back({{"op_" + std::to_string((i * 7919) % count),
                               static_cast<double>((i * 104729) % count) + 0.5, "kind"},
                              {},
                              {}});
    return table;
}

} // namespace

// The rows of a report as a table: filtered, sorted, copied, with columns that are remembered.
class TestReportTable : public QObject
{
    Q_OBJECT

private:
    views::Theme m_theme;

private Q_SLOTS:
    void initTestCase() { QVERIFY(views::loadBundledFonts()); }

    void tablesFilterByTheirColumns_data()
    {
        QTest::addColumn<QString>("text");
        QTest::addColumn<int>("rows");
        QTest::addColumn<QString>("problem");
        QTest::newRow("everything") << "" << 100 << "";
        QTest::newRow("comparison") << "norm<10" << 10 << "";
        QTest::newRow("and") << "norm>=10 norm<20" << 10 << "";
        QTest::newRow("or") << "norm<10 | norm>=90" << 20 << "";
        QTest::newRow("not") << "-norm<10" << 90 << "";
        QTest::newRow("pattern") << "op:op_1*" << 11 << "";
        QTest::newRow("text") << "\"op_42\"" << 1 << "";
        QTest::newRow("regex") << "/op_[0-9]$/" << 10 << "";
        QTest::newRow("unknown column") << "nrom<10" << -1 << "no column is called “nrom”; there is norm";
        QTest::newRow("no number") << "norm<ten" << -1 << "“ten” is no number";
        QTest::newRow("words") << "op<3" << -1 << "column op holds no numbers";
        QTest::newRow("dangling") << "norm<10 |" << -1 << "missing";
        QTest::newRow("open quote") << "\"op" << -1 << "no partner";
    }
    void tablesFilterByTheirColumns()
    {
        QFETCH(QString, text);
        QFETCH(int, rows);
        QFETCH(QString, problem);
        const views::ReportTableSource source(manyRows(100));
        const auto parsed = views::RowFilter::parse(text, source.columns());
        QCOMPARE(parsed.problem.has_value(), !problem.isEmpty());
        if (parsed.problem)
            QVERIFY2(parsed.problem->message.contains(problem), qPrintable(parsed.problem->message));
        else
            QCOMPARE(static_cast<int>(parsed.filter.matching(source).size()), rows);
    }

    // Lists and mixed columns sort by their numbers; sums have every digit.
    void cellsSortAndReadAsNumbers()
    {
        core::ReportTable table;
        table.columns = {{"shape", core::CellKind::list, {}},
                         {"value", core::CellKind::text, {}},
                         {"flops", core::CellKind::number, {}},
                         {"message", core::CellKind::text, {}}};
        for (const int size : {10, 9, 100}) {
            core::ReportRow row;
            row.cells = {core::Value(core::Value::List{size, 3}), core::Value(-size),
                         core::Value(2511411234.0), core::Value("at /a/b/model.py:7")};
            table.rows.push_back(std::move(row));
        }
        const views::ReportTableSource source(table);
        QVERIFY(source.key(1, 0) < source.key(0, 0));
        QVERIFY(source.key(0, 0) < source.key(2, 0));
        QVERIFY(source.key(2, 1) < source.key(0, 1));
        QVERIFY(source.key(0, 1) < source.key(1, 1));
        QCOMPARE(source.text(0, 2), QLocale().toString(2511411234LL));
        QCOMPARE(source.text(0, 3), QStringLiteral("at model.py:7"));
        QCOMPARE(source.exactText(0, 3), QStringLiteral("at /a/b/model.py:7"));
    }

    void copiesInFourFormsWithFullPrecision()
    {
        views::TableModel model;
        core::ReportTable table;
        table.columns = {{"op", core::CellKind::op, {}}, {"norm", core::CellKind::number, {}}};
        table.rows = {{{"a|b", 0.1234567890123}, {}, {}}, {{"c,\"d\"\te", core::Value()}, {}, {}}};
        model.setSource(std::make_shared<const views::ReportTableSource>(table));
        const std::vector<int> rows = {0, 1};
        QCOMPARE(tableText(model, rows, views::TableFormat::tsv),
                 QString("op\tnorm\na|b\t0.1234567890123\nc,\"d\" e\t"));
        QCOMPARE(tableText(model, rows, views::TableFormat::csv),
                 QString("op,norm\r\na|b,0.1234567890123\r\n\"c,\"\"d\"\"\te\",\r\n"));
        QCOMPARE(tableText(model, rows, views::TableFormat::markdown),
                 QString("| op | norm |\n|---|---:|\n| a\\|b | 0.1234567890123 |\n| c,\"d\"\te |  |"));
        const QJsonArray json =
            QJsonDocument::fromJson(tableText(model, rows, views::TableFormat::json).toUtf8()).array();
        QCOMPARE(json.size(), 2);
        QCOMPARE(json[0].toObject()["norm"].toDouble(), 0.1234567890123);
        QVERIFY(json[1].toObject()["norm"].isNull());
    }

    void aHundredThousandRowsSortAndFilterInTime()
    {
        auto source = std::make_shared<const views::ReportTableSource>(manyRows(100000));
        views::TableModel model;
        model.setSource(source);
        source->key(0, 0);
        const auto processorMs = [] { return 1000.0 * static_cast<double>(clock()) / CLOCKS_PER_SEC; };
        double start = processorMs();
        model.sort(1, Qt::DescendingOrder);
        QVERIFY2(processorMs() - start < 200.0, qPrintable(QString::number(processorMs() - start)));
        QCOMPARE(model.index(0, 1).data().toString(), views::numberText(99999.5));
        start = processorMs();
        const auto parsed = views::RowFilter::parse("norm<50000", source->columns());
        model.setFilter(parsed.filter.matching(*source));
        QVERIFY2(processorMs() - start < 200.0, qPrintable(QString::number(processorMs() - start)));
        QCOMPARE(model.rowCount(), 50000);
    }

    void columnsAreRemembered()
    {
        views::TableModel model;
        model.setSource(std::make_shared<const views::ReportTableSource>(manyRows(10)));
        views::TableView table(m_theme, model);
        QSignalSpy wanted(&table, &views::TableView::layoutWanted);
        QSignalSpy edited(&table, &views::TableView::layoutEdited);
        table.resize(500, 300);
        table.show();
        QVERIFY(QTest::qWaitForWindowExposed(&table));
        table.resetWidths();
        table.setStateKey("report/x/rows");
        QCOMPARE(wanted.count(), 1);
        table.setColumnWidth(0, 211);
        table.horizontalHeader()->moveSection(1, 0);
        table.sortByColumn(1, Qt::DescendingOrder);
        table.setColumnShown(1, false);
        table.setColumnShown(2, false);
        table.setColumnShown(0, false); // the last one stays
        QVERIFY(!table.isColumnHidden(0));
        table.setColumnShown(2, true);
        QVERIFY(edited.count() >= 1);
        const QByteArray state = edited.last()[1].toByteArray();

        views::TableModel again;
        again.setSource(std::make_shared<const views::ReportTableSource>(manyRows(10)));
        views::TableView other(m_theme, again);
        other.resetWidths();
        other.restoreLayout(state);
        QCOMPARE(other.columnWidth(0), 211);
        QCOMPARE(other.horizontalHeader()->visualIndex(1), 0);
        QVERIFY(other.isColumnHidden(1));
        QCOMPARE(again.sortColumn(), 1);
        QCOMPARE(again.sortOrder(), Qt::DescendingOrder);
        other.restoreLayout("{broken");
        QCOMPARE(other.columnWidth(0), 211);
        other.resetColumns();
        QVERIFY(!other.isColumnHidden(1));
        QCOMPARE(again.sortColumn(), -1);
    }

    // At larger text rows and columns are larger; what is remembered is the width at the usual text.
    void columnsGrowWithTheText()
    {
        views::TableModel model;
        model.setSource(std::make_shared<const views::ReportTableSource>(manyRows(10)));
        views::TableView table(m_theme, model);
        table.resetWidths();
        table.setColumnWidth(0, 100);
        const int row = table.rowHeight(0);
        const int header = table.horizontalHeader()->height();
        m_theme.setTextPercent(150);
        QCOMPARE(table.columnWidth(0), 150);
        QCOMPARE(table.rowHeight(0), row * 3 / 2);
        QCOMPARE(table.horizontalHeader()->height(), header * 3 / 2);
        const QByteArray state = table.layoutState();
        views::TableView other(m_theme, model);
        other.resetWidths();
        other.restoreLayout(state);
        QCOMPARE(other.columnWidth(0), 150);
        m_theme.setTextPercent(100);
        QCOMPARE(table.columnWidth(0), 100);
        QCOMPARE(other.columnWidth(0), 100);
        QCOMPARE(table.rowHeight(0), row);
    }

    // A narrow table scrolls rather than squeeze the column that takes the rest.
    void theRestIsNeverTooNarrow()
    {
        core::ReportTable rows;
        rows.columns = {{"op", core::CellKind::op, {}}, {"value", core::CellKind::text, {}}};
        rows.rows.push_back({{"relu_1_1", "what there is to say of it"}, {}, {}});
        views::TableModel model;
        model.setSource(std::make_shared<const views::ReportTableSource>(rows));
        views::TableView table(m_theme, model);
        table.resize(600, 200);
        table.show();
        table.resetWidths();
        table.setColumnWidth(0, 200);
        QVERIFY(table.columnWidth(1) > 300);
        table.resize(300, 200);
        QCOMPARE(table.columnWidth(1), 160);
        m_theme.setTextPercent(200);
        QCOMPARE(table.columnWidth(1), 320);
        m_theme.setTextPercent(100);
        table.resize(600, 200);
        QVERIFY(table.columnWidth(1) > 300);
    }

    // What an answer says beside its rows: names and values, inner objects by their path.
    void factsAreATable()
    {
        core::Report report;
        report.reportType = "check_determinism";
        report.status = "repeatable_under_test";
        report.result = core::Value::object(
            {{"runs", 2},
             {"rtol", core::Value()},
             {"divergent_ops", core::Value::list()},
             {"environment_witnesses", core::Value::list({core::Value::list({"torch.get_num_threads", "1"}),
                                                          core::Value::list({"cpu_capability", "AVX2"})})},
             {"witness", core::Value::object({{"output_agrees", true}})},
             {"shape", core::Value::list({1, 16, 4})},
             {"attempts", core::Value::list({core::Value::list({core::Value::list({1, 16, 4}), "ok"})})}});
        const core::ReportTable table = views::factsTable(report);
        const auto valueOf = [&](const std::string &name) {
            for (const core::ReportRow &row : table.rows)
                if (row.cells[0].toString() == name)
                    return core::cellText(row.cells[1]);
            return std::string("no such fact");
        };
        QCOMPARE(table.rows.size(), 8U);
        QCOMPARE(valueOf("runs"), std::string("2"));
        QCOMPARE(valueOf("rtol"), std::string());
        QCOMPARE(valueOf("divergent_ops"), std::string("none"));
        QCOMPARE(valueOf("environment_witnesses.cpu_capability"), std::string("AVX2"));
        QCOMPARE(valueOf("witness.output_agrees"), std::string("true"));
        QCOMPARE(valueOf("shape"), std::string("1 16 4"));
        QCOMPARE(valueOf("attempts.1"), std::string("[[1, 16, 4], \"ok\"]"));
        // An answer without rows shows them at once.
        report.table.columns = {{"op", core::CellKind::op, {}}};
        views::ReportTableWidget widget(m_theme);
        widget.setReport("check_determinism", std::make_shared<const core::Report>(report), {});
        QCOMPARE(widget.model().rowCount(), 8);
    }
};

QTEST_MAIN(TestReportTable)
#include "tst_report_table.moc"
