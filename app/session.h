// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/document.h"
#include "app/job_runner.h"
#include "app/palette/search_index.h"
#include "app/services/capture_service.h"
#include "app/services/layout_service.h"
#include "app/services/load_service.h"
#include "app/services/report_service.h"
#include "app/session_store.h"
#include "app/settings.h"
#include "core/base/result.h"
#include "views/base/history.h"
#include "views/base/trace_selection.h"

#include <QObject>
#include <QStringList>

#include <memory>
#include <vector>

namespace app {

// What the window is doing with a file that is not open yet.
struct OpenState
{
    QString path;
    core::Progress progress;
};

// The open documents, the one selection and its history, and the services that work for them. Owned by main,
// GUI thread. It knows no widget: the window asks it for wishes of the user and listens for facts.
class Session : public QObject
{
    Q_OBJECT

public:
    explicit Session(Settings &settings, QObject *parent = nullptr);
    ~Session() override;

    Settings &settings() const { return m_settings; }
    JobRunner &jobs() { return m_jobs; }
    views::TraceSelection &selection() { return m_selection; }
    LayoutService &layouts() { return m_layouts; }
    CaptureService &captures() { return m_captures; }
    ReportService &reports() { return m_reports; }
    // Each picture has a worker of its own, so that one does not take the place of another's request.
    LayoutService &lineageLayouts() { return m_lineageLayouts; }
    LayoutService &gradFnLayouts() { return m_gradFnLayouts; }

    // What the palette searches of the current document; null until it was made.
    std::shared_ptr<const SearchIndex> searchIndex() const;
    // Makes it in a job when it is not there (or the findings came meanwhile): searchIndexChanged().
    void makeSearchIndex();

    const std::vector<std::unique_ptr<Document>> &documents() const { return m_documents; }
    Document *current() const;
    int currentIndex() const { return m_current; }

    // Opens a trace in a job; a model file is asked to be captured instead (captureWished). The current
    // document stays until the new one is whole.
    // Files wished for meanwhile are opened one after the other.
    void open(const QString &path);
    // Ends the opening and forgets the files that wait.
    void cancelOpen();
    // Opens the documents of the last session, where one stood in them.
    void reopen(std::vector<StoredDocument> documents);
    // Keeps which documents are open for the next session.
    void rememberDocuments() const;
    bool isOpening() const { return !m_opening.isEmpty(); }
    const QString &openingPath() const { return m_opening; }
    void reloadCurrent();
    void setCurrent(int index);
    void close(int index);

    void setPerspective(Perspective perspective);
    Perspective perspective() const;

    bool canGoBack() const { return m_history.canGoBack(); }
    bool canGoForward() const { return m_history.canGoForward(); }
    void goBack();
    void goForward();

    // The previous (-1) or next (+1) op in execution order.
    void stepOp(int direction);
    // The previous (-1) or next (+1) op with NaN or Inf.
    void stepEvent(int direction);
    void goToOrigin();

    // What went wrong beside what was asked for, in words, for the log.
    const QStringList &log() const { return m_log; }

Q_SIGNALS:
    // The list of documents or the current one changed.
    void documentsChanged();
    // Something of the current document became known: findings, coverage.
    void factsChanged();
    void openingChanged();
    // A wish to open PATH ended without a document.
    void openFailed(const QString &path, const core::Status &status);
    // PATH is a model: it has to be run to be seen.
    void captureWished(const QString &path);
    void perspectiveChanged();
    void searchIndexChanged();
    void historyChanged();
    // The user wishes to see the source line of what is selected.
    void sourceWished();
    // A pane asks for report or helper NAME.
    void reportWished(const QString &name);
    // LINE was added to the log.
    void logged(const QString &line);

private:
    struct Step
    {
        int document = 0;
        views::SelectedItem item;
        Perspective perspective = Perspective::overview;
        bool operator==(const Step &) const = default;
    };

    void startOpening(const QString &path);
    void openNext();
    void opened(const QString &path, core::Result<LoadedFile> file);
    void takePlace(Document &document);
    void finishReopening();
    void replaceOrAppend(std::unique_ptr<Document> document);
    void startFindings(Document &document);
    void findingsEnded(int id, core::Result<std::shared_ptr<const views::TraceFacts>> facts);
    void keepItem();
    void note(const QString &line);
    void recordStep();
    void standOnOrigin();
    void restore(const Step &step);

    Settings &m_settings;
    JobRunner m_jobs;
    LayoutService m_layouts;
    LayoutService m_lineageLayouts;
    LayoutService m_gradFnLayouts;
    CaptureService m_captures;
    ReportService m_reports;
    views::TraceSelection m_selection;
    std::vector<std::unique_ptr<Document>> m_documents;
    int m_current = -1;
    int m_nextDocument = 1;
    QString m_opening;
    QStringList m_waiting;                   // to be opened after m_opening
    std::vector<StoredDocument> m_reopening; // not open yet
    views::History<Step> m_history;
    bool m_restoring = false;
    QStringList m_log;
};

} // namespace app
