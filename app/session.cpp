// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session.h"

#include "views/base/counted_text.h"

#include <QCoreApplication>
#include <QFileInfo>

#include <algorithm>

namespace app {

namespace {

const QString kOpenJob = QStringLiteral("open");

QString findingsJob(int document)
{
    return QStringLiteral("findings/%1").arg(document);
}

QString layoutProgram()
{
    return QCoreApplication::applicationDirPath() + QStringLiteral("/layout_worker");
}

bool isBad(const core::Trace &trace, core::OpId op)
{
    const core::TensorId tensor = trace.op(op).tensor;
    const core::TensorStats *stats = tensor.isValid() ? trace.stats(tensor) : nullptr;
    return stats != nullptr && stats->nonFinite() > 0;
}

} // namespace

Session::Session(Settings &settings, QObject *parent)
    : QObject(parent), m_settings(settings), m_layouts(m_jobs, layoutProgram()),
      m_lineageLayouts(m_jobs, layoutProgram(), nullptr, QStringLiteral("layout/lineage")),
      m_gradFnLayouts(m_jobs, layoutProgram(), nullptr, QStringLiteral("layout/gradFn")), m_captures(m_jobs),
      m_reports(m_jobs)
{
    connect(&m_selection, &views::TraceSelection::changed, this, &Session::recordStep);
    connect(&m_jobs, &JobRunner::warned, this, [this](const QString &title, const QStringList &warnings) {
        for (const QString &warning : warnings)
            note(QStringLiteral("%1: %2").arg(title, warning));
    });
}

Session::~Session() = default;

Document *Session::current() const
{
    return m_current >= 0 ? m_documents[static_cast<std::size_t>(m_current)].get() : nullptr;
}

void Session::open(const QString &path)
{
    const QString absolute = QFileInfo(path).absoluteFilePath();
    if (isOpening()) {
        if (absolute != m_opening && !m_waiting.contains(absolute))
            m_waiting.push_back(absolute);
        return;
    }
    startOpening(absolute);
}

void Session::startOpening(const QString &path)
{
    m_opening = path;
    // It starts while the file is read: its picture will be wanted next.
    m_layouts.warmUp();
    m_jobs.start(
        kOpenJob, tr("Opening %1").arg(QFileInfo(path).fileName()), this,
        [path](core::JobContext &job) { return loadFile(path, job); },
        [this, path](core::Result<LoadedFile> file) { opened(path, std::move(file)); });
    Q_EMIT openingChanged();
}

void Session::openNext()
{
    if (!m_waiting.isEmpty())
        startOpening(m_waiting.takeFirst());
    else
        finishReopening();
}

void Session::cancelOpen()
{
    m_jobs.cancel(kOpenJob);
    m_opening.clear();
    m_waiting.clear();
    m_reopening.clear();
    Q_EMIT openingChanged();
}

void Session::opened(const QString &path, core::Result<LoadedFile> file)
{
    m_opening.clear();
    Q_EMIT openingChanged();
    if (!file) {
        // Of several files only the last one's message stays on the screen.
        note(QStringLiteral("%1: %2").arg(path, QString::fromStdString(file.error().message())));
        Q_EMIT openFailed(path, file.error());
    } else if (file->isModel) {
        m_settings.addRecentFile(path);
        Q_EMIT captureWished(path);
    } else {
        auto document = std::make_unique<Document>();
        document->id = m_nextDocument++;
        document->path = path;
        document->title = QFileInfo(path).fileName();
        document->trace = file->trace;
        document->statistics = std::make_shared<core::TraceStatistics>(file->trace);
        takePlace(*document);
        m_settings.addRecentFile(path);
        replaceOrAppend(std::move(document));
    }
    openNext();
}

void Session::reopen(std::vector<StoredDocument> documents)
{
    m_reopening = std::move(documents);
    for (const StoredDocument &document : m_reopening)
        open(document.path);
}

// A document of the last session is shown as it was left.
void Session::takePlace(Document &document)
{
    const auto stored =
        std::find_if(m_reopening.begin(), m_reopening.end(),
                     [&](const StoredDocument &other) { return other.path == document.path; });
    if (stored == m_reopening.end())
        return;
    document.perspective = stored->perspective;
    const core::OpId op = document.trace->findLabel(stored->op.toStdString());
    if (op.isValid())
        document.item = views::OpItem{op};
}

void Session::finishReopening()
{
    for (const StoredDocument &stored : m_reopening)
        if (stored.isCurrent)
            for (std::size_t i = 0; i < m_documents.size(); ++i)
                if (m_documents[i]->path == stored.path)
                    setCurrent(static_cast<int>(i));
    m_reopening.clear();
}

void Session::rememberDocuments() const
{
    std::vector<StoredDocument> stored;
    for (const auto &document : m_documents) {
        const bool isCurrent = document.get() == current();
        const views::SelectedItem item = isCurrent ? m_selection.item() : document->item;
        const core::OpId op = views::opOf(*document->trace, item);
        stored.push_back(
            {document->path, document->perspective,
             op.isValid() ? QString::fromStdString(std::string(document->trace->label(op))) : QString(),
             isCurrent});
    }
    storeDocuments(m_settings, stored);
}

// Opening a file that is open already is a reload: it takes the place of the old one and keeps its
// perspective and, where it still exists, its op.
void Session::replaceOrAppend(std::unique_ptr<Document> document)
{
    const auto same = std::find_if(m_documents.begin(), m_documents.end(),
                                   [&](const auto &open) { return open->path == document->path; });
    int index = static_cast<int>(m_documents.size());
    keepItem(); // the shown document may be another one than that which is read anew
    if (same != m_documents.end()) {
        index = static_cast<int>(same - m_documents.begin());
        document->perspective = (*same)->perspective;
        const core::Trace &before = *(*same)->trace;
        const core::OpId op = views::opOf(before, (*same)->item);
        if (const core::OpId now = op.isValid() ? document->trace->findLabel(before.label(op)) : core::OpId();
            now.isValid())
            document->item = views::OpItem{now};
        m_jobs.cancel(findingsJob((*same)->id));
        m_reports.removeDocument((*same)->id);
        *same = std::move(document);
    } else {
        m_documents.push_back(std::move(document));
    }
    const Document &added = *m_documents[static_cast<std::size_t>(index)];
    m_reports.addDocument(added.id, {added.path, added.title, added.trace, added.statistics});
    m_current = -1;
    setCurrent(index);
    startFindings(*current());
}

void Session::startFindings(Document &document)
{
    const int id = document.id;
    m_jobs.start(
        findingsJob(id), tr("Looking for NaN and Inf in %1").arg(document.title), this,
        [trace = document.trace, statistics = document.statistics](core::JobContext &job) {
            return views::makeTraceFacts(trace, statistics, job);
        },
        [this, id](core::Result<std::shared_ptr<const views::TraceFacts>> facts) {
            findingsEnded(id, std::move(facts));
        });
}

// Facts that could not be had are facts too: every pane says so, instead of waiting for ever.
void Session::findingsEnded(int id, core::Result<std::shared_ptr<const views::TraceFacts>> facts)
{
    const auto found = std::find_if(m_documents.begin(), m_documents.end(),
                                    [id](const auto &open) { return open->id == id; });
    if (found == m_documents.end())
        return;
    Document &document = **found;
    document.facts = facts ? std::move(facts).value() : views::missingFacts(*document.trace, facts.error());
    const core::Status &failure = document.facts->failure;
    m_reports.setAudit(id, document.facts->audit, failure.isOk() ? document.facts->auditFailure : failure);
    if (!failure.isOk())
        note(tr("%1: NaN and Inf were not looked for: %2")
                 .arg(document.title, QString::fromStdString(failure.message())));
    if (const std::size_t births = document.facts->allBirths(); births > 0)
        m_settings.addRecentFile(document.path, views::countedText(births, "birth", "births"));
    if (&document == current()) {
        Q_EMIT factsChanged();
        standOnOrigin();
    }
}

// What is selected belongs to the shown document.
void Session::keepItem()
{
    if (Document *shown = current())
        shown->item = m_selection.item();
}

void Session::note(const QString &line)
{
    m_log.push_back(line);
    Q_EMIT logged(line);
}

std::shared_ptr<const SearchIndex> Session::searchIndex() const
{
    return current() != nullptr ? current()->searchIndex : nullptr;
}

void Session::makeSearchIndex()
{
    Document *document = current();
    if (document == nullptr ||
        (document->searchIndex && document->searchIndex->facts() == document->facts.get()))
        return;
    const int id = document->id;
    m_jobs.start(
        QStringLiteral("search"), tr("Making %1 ready to be searched").arg(document->title), this,
        [trace = document->trace, facts = document->facts](core::JobContext &) {
            return std::make_shared<const SearchIndex>(trace, facts);
        },
        [this, id](std::shared_ptr<const SearchIndex> index) {
            for (const auto &open : m_documents)
                if (open->id == id)
                    open->searchIndex = index;
            Q_EMIT searchIndexChanged();
        });
}

void Session::reloadCurrent()
{
    if (const Document *document = current())
        open(document->path);
}

void Session::setCurrent(int index)
{
    if (index == m_current || index < 0 || index >= static_cast<int>(m_documents.size()))
        return;
    keepItem();
    // What was found in the former document must not meet the trace of the new one: the panes forget it
    // first.
    m_current = -1;
    Q_EMIT factsChanged();
    m_current = index;
    const Document &document = *current();
    m_reports.setCurrent(document.id);
    m_selection.setTrace(document.trace, document.item);
    recordStep();
    rememberDocuments();
    Q_EMIT documentsChanged();
    Q_EMIT perspectiveChanged();
    Q_EMIT factsChanged();
}

void Session::close(int index)
{
    if (index < 0 || index >= static_cast<int>(m_documents.size()))
        return;
    keepItem();
    m_jobs.cancel(findingsJob(m_documents[static_cast<std::size_t>(index)]->id));
    m_reports.removeDocument(m_documents[static_cast<std::size_t>(index)]->id);
    m_documents.erase(m_documents.begin() + index);
    if (m_documents.empty()) {
        m_current = -1;
        m_history.clear();
        Q_EMIT factsChanged();
        m_selection.setTrace(nullptr);
        rememberDocuments();
        Q_EMIT documentsChanged();
        Q_EMIT historyChanged();
        return;
    }
    const int next = std::min(index <= m_current ? std::max(m_current - 1, 0) : m_current,
                              static_cast<int>(m_documents.size()) - 1);
    m_current = -1;
    setCurrent(next);
}

Perspective Session::perspective() const
{
    return current() != nullptr ? current()->perspective : Perspective::overview;
}

void Session::setPerspective(Perspective perspective)
{
    Document *document = current();
    if (document == nullptr || document->perspective == perspective)
        return;
    document->perspective = perspective;
    recordStep();
    Q_EMIT perspectiveChanged();
    standOnOrigin();
}

// Whoever hunts NaN and has not chosen anything yet begins where it was born.
void Session::standOnOrigin()
{
    const Document *document = current();
    if (m_restoring || document == nullptr || document->perspective != Perspective::nanHunt ||
        !document->facts || !document->facts->headline.isValid() ||
        !std::holds_alternative<std::monostate>(m_selection.item()))
        return;
    m_selection.activate(views::OpItem{document->facts->headline});
}

void Session::recordStep()
{
    if (m_restoring || current() == nullptr)
        return;
    m_history.push({current()->id, m_selection.item(), current()->perspective});
    Q_EMIT historyChanged();
}

void Session::goBack()
{
    if (const auto step = m_history.back())
        restore(*step);
}

void Session::goForward()
{
    if (const auto step = m_history.forward())
        restore(*step);
}

// A step of a document that was closed meanwhile restores nothing.
void Session::restore(const Step &step)
{
    const auto found = std::find_if(m_documents.begin(), m_documents.end(),
                                    [&](const auto &document) { return document->id == step.document; });
    if (found != m_documents.end()) {
        m_restoring = true;
        setCurrent(static_cast<int>(found - m_documents.begin()));
        setPerspective(step.perspective);
        m_selection.select(step.item);
        m_restoring = false;
    }
    Q_EMIT historyChanged();
}

void Session::stepOp(int direction)
{
    const Document *document = current();
    if (document == nullptr || document->trace->orderedOps().empty())
        return;
    const auto ops = document->trace->orderedOps();
    const auto here = std::find(ops.begin(), ops.end(), m_selection.op());
    if (here == ops.end()) {
        m_selection.selectOp(direction > 0 ? ops.front() : ops.back());
        return;
    }
    const auto next = std::clamp<std::ptrdiff_t>((here - ops.begin()) + direction, 0,
                                                 static_cast<std::ptrdiff_t>(ops.size()) - 1);
    m_selection.selectOp(ops[static_cast<std::size_t>(next)]);
}

void Session::stepEvent(int direction)
{
    const Document *document = current();
    if (document == nullptr)
        return;
    const auto ops = document->trace->orderedOps();
    const auto count = static_cast<std::ptrdiff_t>(ops.size());
    const auto here = std::find(ops.begin(), ops.end(), m_selection.op());
    std::ptrdiff_t at = here == ops.end() ? (direction > 0 ? -1 : count) : here - ops.begin();
    const auto isEvent = [&](core::OpId op) {
        if (document->facts)
            return document->facts->marks.of(op) != core::NodeState::clean &&
                   document->facts->marks.of(op) != core::NodeState::propagated;
        return isBad(*document->trace, op);
    };
    for (at += direction; at >= 0 && at < count; at += direction)
        if (isEvent(ops[static_cast<std::size_t>(at)])) {
            m_selection.activate(views::OpItem{ops[static_cast<std::size_t>(at)]});
            return;
        }
}

void Session::goToOrigin()
{
    const Document *document = current();
    if (document != nullptr && document->facts && document->facts->headline.isValid())
        m_selection.activate(views::OpItem{document->facts->headline});
}

} // namespace app
