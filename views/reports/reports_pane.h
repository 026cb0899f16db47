// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/pane.h"
#include "views/base/table_model.h"
#include "views/reports/report_board.h"

#include <QElapsedTimer>
#include <QTimer>

class QComboBox;
class QLabel;
class QPushButton;
class QScrollArea;
class QSplitter;
class QToolButton;

namespace views {

class OptionForm;
class ReportCard;
class ReportTableWidget;
class TableView;

// All reports of the current trace with their states; of the chosen one the card, the options and the table.
// Facts: the board. Wishes: to run or cancel a report, to choose a second file, the selection. Does not
// follow the selection, but marks the row of the selected op. Owned by its dock; GUI thread.
class ReportsPane : public Pane
{
    Q_OBJECT

public:
    explicit ReportsPane(const PaneContext &context, QWidget *parent = nullptr);

    bool canBePinned() const override { return false; }
    void setBoard(std::shared_ptr<const ReportBoard> board);
    // Shows report NAME.
    void choose(const QString &name);
    const QString &chosen() const { return m_chosen; }
    // Runs the chosen report with what the form says.
    void runChosen();
    void focusFilter();
    // The chosen report cannot run before the user chose something: an op, a second file.
    bool asksFirst() const;
    // The options of the chosen report, where it has any.
    void showOptions();

    TableView &list() const { return *m_list; }
    ReportTableWidget &table() const { return *m_table; }
    OptionForm &form() const { return *m_form; }
    ReportCard &card() const { return *m_card; }
    QComboBox &otherBox() const { return *m_other; }

    // Which report is chosen and how the pane is divided; for the settings.
    QByteArray viewState() const;
    void restoreViewState(const QByteArray &state);

Q_SIGNALS:
    void runWished(const views::ReportWish &wish);
    void cancelWished(const QString &name);
    // A second file for report NAME; TENSORS: a file of named tensors will do.
    void fileWished(const QString &name, bool tensors);
    // The source line of what was activated should be seen.
    void sourceWished();
    void viewStateChanged();

protected:
    void showTrace() override;
    void showItem() override;
    void themeChanged() override;
    void resizeEvent(QResizeEvent *event) override;
    void showEvent(QShowEvent *event) override;

private:
    void build();
    QWidget *buildDetail();
    QWidget *buildHead();
    QWidget *buildOther();
    void connectParts();
    const ReportEntry *entry() const;
    void arrange();
    QString cardKey() const;
    void showBoard();
    void showChosen(bool other);
    void showControls(const ReportEntry &entry);
    void fillOthers(const ReportEntry &entry);
    QString otherPath() const;
    QString emptyWords(const ReportEntry &entry) const;
    void pick(core::OpId op, const QString &name, bool activate);
    void toggleOptions(bool shown);

    std::shared_ptr<const ReportBoard> m_board;
    QString m_chosen;
    TableModel m_listModel;
    TableView *m_list = nullptr;
    QSplitter *m_outer = nullptr;
    QSplitter *m_top = nullptr;   // card and options
    QSplitter *m_inner = nullptr; // those and the table
    QLabel *m_name = nullptr;
    QLabel *m_description = nullptr;
    QPushButton *m_run = nullptr;
    QPushButton *m_cancel = nullptr;
    QToolButton *m_options = nullptr;
    QToolButton *m_copyCard = nullptr;
    QWidget *m_otherRow = nullptr;
    QComboBox *m_other = nullptr;
    OptionForm *m_form = nullptr;
    QScrollArea *m_formArea = nullptr;
    ReportCard *m_card = nullptr;
    ReportTableWidget *m_table = nullptr;
    QTimer m_clock;
    QElapsedTimer m_since;
    bool m_picking = false;
    bool m_newDocument = true;
    bool m_boardDue = false; // it came while the pane was hidden
};

} // namespace views
