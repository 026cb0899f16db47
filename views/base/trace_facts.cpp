// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/trace_facts.h"

#include "core/analysis/backward_ledger.h"
#include "core/analysis/parameter_reports.h"
#include "core/analysis/report_registry.h"
#include "views/base/counted_text.h"
#include "views/base/formatting.h"
#include "views/base/graph_marks.h"

#include <QCoreApplication>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <map>
#include <string>
#include <utility>

namespace views {

bool stoppedShort(const core::Trace &trace)
{
    const core::TraceStatus status = trace.info().status;
    return status == core::TraceStatus::cancelled || status == core::TraceStatus::failed ||
           status == core::TraceStatus::crashed;
}

namespace {

using core::NodeState;
using core::NonFiniteEntry;
using core::NonFiniteKind;
using core::Severity;

constexpr const char *kBackwardCheck = "bisect_nan_backward";

QString words(const char *text)
{
    return QCoreApplication::translate("views::TraceFacts", text);
}

QString kindWords(NonFiniteKind kind)
{
    switch (kind) {
    case NonFiniteKind::nan:
        return QStringLiteral("NaN");
    case NonFiniteKind::inf:
        return QStringLiteral("Inf");
    case NonFiniteKind::nanAndInf:
        return words("NaN and Inf");
    case NonFiniteKind::none:
        return words("finite values");
    }
    return {};
}

QString funcOf(const core::Trace &trace, core::CallId call)
{
    return fromView(trace.string(trace.call(call).func));
}

class FindingWriter
{
public:
    FindingWriter(const core::TraceStatistics &statistics, TraceFacts &facts)
        : m_trace(statistics.trace()), m_statistics(statistics), m_facts(facts)
    {
    }

    void run()
    {
        for (const core::NonFiniteSource &source : m_facts.scan.sources)
            addSource(source);
        for (const NonFiniteEntry &birth : m_facts.scan.births)
            addBirth(birth);
        addOutputs();
        for (const NonFiniteEntry &sink : m_facts.scan.sinks)
            addSink(sink);
        std::stable_sort(m_facts.findings.begin(), m_facts.findings.end(),
                         [](const FindingRow &a, const FindingRow &b) { return a.severity < b.severity; });
    }

private:
    void add(Severity severity, NodeState state, const char *check, const QString &text, core::OpId op,
             const core::TensorStats &counts)
    {
        FindingRow row;
        row.severity = severity;
        row.state = state;
        row.check = QLatin1String(check);
        row.text = text;
        row.op = op;
        row.elementCount = counts.nonFinite();
        if (counts.elements > 0)
            row.elements = words("%1 of %2").arg(countText(counts.nonFinite()), countText(counts.elements));
        m_facts.findings.push_back(std::move(row));
    }
    bool isSame(const std::optional<NonFiniteEntry> &entry, const NonFiniteEntry &other) const
    {
        return entry && entry->op == other.op;
    }
    void addBirth(const NonFiniteEntry &birth)
    {
        const QString func = funcOf(m_trace, birth.call);
        if (birth.byDesign) {
            const bool isCause = m_facts.marks.of(birth.op) == NodeState::cause;
            add(Severity::info, NodeState::cause, "find_nan",
                (isCause ? words("−Inf by design, and the cause: %1 fills with a constant that becomes NaN")
                         : words("−Inf by design: %1 fills with a constant that is absorbed"))
                    .arg(func),
                birth.op, birth.counts);
            return;
        }
        ++m_facts.births;
        const bool first = isSame(m_facts.scan.nanBirth, birth) || isSame(m_facts.scan.firstInf, birth);
        const QString form = first ? words("First %1: %2 makes it from finite inputs")
                                   : words("%1 is born again: %2 makes it from finite inputs");
        add(Severity::critical, NodeState::origin, "find_nan", form.arg(kindWords(birth.kind), func),
            birth.op, birth.counts);
    }
    void addSink(const NonFiniteEntry &sink)
    {
        if (sink.byDesign) {
            add(Severity::info, NodeState::sink, "nonfinite_origin",
                words("−Inf by design ends here: %1 absorbs it").arg(funcOf(m_trace, sink.call)), sink.op,
                sink.counts);
            return;
        }
        add(Severity::warning, NodeState::sink, "nonfinite_origin",
            words("%1 stops here: %2 gives finite values, which is not sound")
                .arg(kindWords(sink.kind), funcOf(m_trace, sink.call)),
            sink.op, sink.counts);
    }
    void addSource(const core::NonFiniteSource &source)
    {
        if (source.byDesign)
            return;
        ++m_facts.births;
        add(Severity::critical, NodeState::origin, "nonfinite_origin",
            words("%1 holds %2 before the first op").arg(fromView(source.name), kindWords(source.kind)), {},
            source.counts);
    }
    // The NaN birth that needed an Inf input is no birth of the page's kind and gets its own row.
    void addOutputs()
    {
        const auto &birth = m_facts.scan.nanBirth;
        const bool listed =
            birth && std::any_of(m_facts.scan.births.begin(), m_facts.scan.births.end(),
                                 [&](const NonFiniteEntry &entry) { return entry.op == birth->op; });
        if (birth && !listed) {
            ++m_facts.births;
            add(Severity::critical, NodeState::origin, "nonfinite_origin",
                words("First NaN: %1 makes it from inputs without NaN").arg(funcOf(m_trace, birth->call)),
                birth->op, birth->counts);
        }
        for (const core::OpId op : m_trace.orderedOps()) {
            const core::OpRow &row = m_trace.op(op);
            const core::TensorStats *stats = row.kind == core::CallKind::output && row.tensor.isValid()
                                                 ? m_statistics.find(row.tensor)
                                                 : nullptr;
            if (stats != nullptr && stats->nonFinite() > 0)
                add(Severity::critical, NodeState::reached, "find_nan",
                    words("%1 reaches an output: %2")
                        .arg(kindWords(core::nonFiniteKind(*stats)), fromView(m_trace.publicLabel(op))),
                    op, *stats);
        }
    }

    const core::Trace &m_trace;
    const core::TraceStatistics &m_statistics;
    TraceFacts &m_facts;
};

// Findings of a trace without NaN and Inf: of the other checks of the audit.
std::size_t otherFindings(const TraceFacts &facts)
{
    return static_cast<std::size_t>(
        std::count_if(facts.findings.begin(), facts.findings.end(),
                      [](const FindingRow &row) { return row.severity != Severity::info; }));
}

const FindingRow *backwardFinding(const TraceFacts &facts)
{
    const auto found = std::find_if(facts.findings.begin(), facts.findings.end(), [](const FindingRow &row) {
        return row.check == QLatin1String(kBackwardCheck);
    });
    return found == facts.findings.end() ? nullptr : &*found;
}

QString nothingCheckedWords(const core::Trace &trace, const TraceCoverage &coverage)
{
    if (coverage.ops > 0)
        return words("No output was saved or measured; a NaN could hide in any of %1.")
            .arg(countedText(coverage.outputs, "output", "outputs"));
    return core::isTensorFile(trace)
               ? words("The file holds parameters and no op; param_health looks at them.")
               : words("The trace holds no op.");
}

void writeVerdict(const core::Trace &trace, TraceFacts &facts)
{
    const NonFiniteEntry *headline = facts.scan.headline();
    const std::size_t byDesign = facts.scan.byDesignBirths();
    if (headline != nullptr && facts.scan.hasFinding()) {
        facts.headline = headline->op;
        const bool reaches =
            std::any_of(facts.findings.begin(), facts.findings.end(),
                        [](const FindingRow &row) { return row.state == NodeState::reached; });
        const QString kind = kindWords(headline->kind);
        const bool both = headline->kind == NonFiniteKind::nanAndInf;
        facts.verdict = (reaches ? both ? words("%1 reach an output") : words("%1 reaches an output")
                         : both ? words("%1 are born")
                                 : words("%1 is born"))
                            .arg(kind);
        facts.verdictDetail =
            words("%1 of %2 elements in %3.")
                .arg(countText(headline->counts.nonFinite()), countText(headline->counts.elements),
                     fromView(trace.publicLabel(headline->op)));
    } else if (facts.scan.hasFinding()) {
        facts.verdict = words("Bad values came in");
        facts.verdictDetail = facts.findings.empty() ? QString() : facts.findings.front().text;
    } else if (const FindingRow *backward = backwardFinding(facts); backward != nullptr) {
        facts.headline = backward->op;
        facts.verdict = words("NaN or Inf in the backward pass");
        facts.verdictDetail = asSentence(backward->text);
    } else if (const std::size_t checked = facts.coverage.outputs - facts.coverage.outputsUnchecked;
               checked == 0 && otherFindings(facts) == 0) {
        facts.verdict = words("Nothing was checked");
        facts.verdictDetail = nothingCheckedWords(trace, facts.coverage);
    } else if (stoppedShort(trace)) {
        facts.verdict = words("No finding up to where the run stopped");
        facts.verdictDetail = words("Checked up to there: %1; what would have come after was not run.")
                                  .arg(countedText(checked, "output", "outputs"));
    } else if (const std::size_t others = otherFindings(facts); others > 0) {
        facts.verdict = (facts.coverage.outputsUnchecked > 0 ? words("No NaN or Inf in what was checked, %1")
                                                             : words("No NaN or Inf, %1"))
                            .arg(countedText(others, "other finding", "other findings"));
        facts.verdictDetail = asSentence(facts.findings.front().text);
    } else if (facts.coverage.outputsUnchecked > 0) {
        facts.verdict = words("No finding in what was checked");
        facts.verdictDetail = words("Neither saved nor measured: %1; a NaN could hide there.")
                                  .arg(countedText(facts.coverage.outputsUnchecked, "output", "outputs"));
    } else {
        facts.verdict = words("No finding");
        facts.verdictDetail = byDesign > 0
                                  ? words("−Inf by design in %1.").arg(countedText(byDesign, "mask", "masks"))
                                  : words("Every recorded output is finite.");
    }
}

FindingRow rowOf(const core::ReportFinding &finding)
{
    FindingRow row;
    row.severity = finding.severity;
    row.check = fromView(finding.check);
    row.text = withShortPlaces(fromView(finding.message));
    row.op = finding.ops.empty() ? core::OpId() : finding.ops.front();
    return row;
}

// Where the pictures show that a gradient was made bad, or bad from the start.
core::Status markBirths(core::BackwardId pass, core::TraceStatistics &statistics, TraceFacts &facts,
                        const core::JobContext &job)
{
    const auto transitions = core::backwardTransitions(statistics, pass, job);
    if (!transitions)
        return transitions.error();
    for (const core::GradientTransition &at : *transitions)
        if (at.op.isValid() && (at.verdict == "birth" || at.verdict == "root_seed"))
            facts.marks.bornInBackward.emplace(at.op, at.verdict == "birth" ? at.emitted.counts
                                                                            : at.arriving.counts);
    return core::Status::ok();
}

// What the audit leaves out: whether a backward pass made NaN or Inf of finite gradients. A pass that cannot
// be judged (nothing of it was saved) is told by the coverage of gradients.
core::Status addBackward(const std::shared_ptr<const core::Trace> &trace,
                         const std::shared_ptr<core::TraceStatistics> &statistics, TraceFacts &facts,
                         const core::JobContext &job)
{
    for (std::size_t pass = 0; pass < trace->backwards().size(); ++pass) {
        core::ReportRequest request;
        request.trace = trace;
        request.statistics = statistics;
        request.options = core::Value::object({{"bwd", static_cast<long long>(pass + 1)}});
        const core::Result<core::Report> report =
            core::runReport(*core::findReport(kBackwardCheck), std::move(request), job);
        if (!report)
            return report.error();
        for (const core::ReportFinding &finding : report->findings) {
            FindingRow row = rowOf(finding);
            row.check = QLatin1String(kBackwardCheck);
            facts.findings.push_back(std::move(row));
            facts.backwardBirths += finding.code == "birth" ? 1 : 0;
            ++facts.badPasses;
        }
        if (!report->findings.empty())
            if (const core::Status status = markBirths(core::BackwardId(pass), *statistics, facts, job);
                !status)
                return status;
    }
    return core::Status::ok();
}

constexpr std::size_t kAlike = 3; // more findings that say the same of other ops share a row

// What a finding says but for the op it names and the numbers.
std::string patternOf(const core::ReportFinding &finding)
{
    std::string text = finding.message;
    for (const std::string &label : finding.opLabels)
        for (std::size_t at = text.find(label); !label.empty() && at != std::string::npos;
             at = text.find(label))
            text.erase(at, label.size());
    std::erase_if(text, [](unsigned char c) { return std::ispunct(c) != 0 || std::isdigit(c) != 0; });
    return finding.check + ':' + std::to_string(static_cast<int>(finding.severity)) + ':' + text;
}

// ROW stands for COUNT that say the same.
void standFor(std::size_t count, FindingRow &row)
{
    row.elementCount = count;
    row.elements = words("%1 ops").arg(countText(count));
    row.text = words("%1 and %2 more like it").arg(row.text, countText(count - 1));
}

// The audit's own findings on NaN and Inf are told by the scan already, with their places and numbers.
void addAudit(std::shared_ptr<const core::Trace> trace,
              const std::shared_ptr<core::TraceStatistics> &statistics, TraceFacts &facts,
              const core::JobContext &job)
{
    core::ReportRequest request;
    request.trace = std::move(trace);
    request.statistics = statistics;
    request.options = core::Value::object();
    core::Result<core::Report> audit = core::runReport(*core::findReport("audit"), std::move(request), job);
    if (!audit) {
        facts.auditFailure = audit.error();
        return;
    }
    facts.audit = std::make_shared<const core::Report>(std::move(audit).value());
    std::vector<std::pair<std::string, FindingRow>> rows; // each with what it says
    std::map<std::string, std::size_t> alike;
    for (const core::ReportFinding &finding : facts.audit->findings) {
        if (finding.check == "find_nan" || finding.check == "bisect_nan" ||
            finding.check == "dtype_nonfinite")
            continue;
        rows.emplace_back(patternOf(finding), rowOf(finding));
        ++alike[rows.back().first];
    }
    for (auto &[pattern, row] : rows) {
        std::size_t &count = alike.at(pattern);
        if (count == 0)
            continue; // told by the row of the first
        if (count > kAlike)
            standFor(std::exchange(count, 0), row);
        facts.findings.push_back(std::move(row));
    }
    std::stable_sort(facts.findings.begin(), facts.findings.end(),
                     [](const FindingRow &a, const FindingRow &b) { return a.severity < b.severity; });
}

} // namespace

TraceCoverage coverageOf(const core::Trace &trace)
{
    TraceCoverage coverage;
    for (const core::CallRow &call : trace.calls()) {
        if (call.kind != core::CallKind::compute)
            continue;
        ++coverage.ops;
        coverage.opsFinished += call.finished ? 1 : 0;
        coverage.opsWithLine += trace.sourceFrame(call.stack).isValid() ? 1 : 0;
    }
    for (const core::OpId op : trace.computeOps()) {
        const core::OpRow &row = trace.op(op);
        if (row.kind != core::CallKind::compute || !row.tensor.isValid())
            continue;
        ++coverage.outputs;
        const bool saved = trace.tensor(row.tensor).payload.state == core::PayloadState::saved;
        const bool measured = trace.stats(row.tensor) != nullptr;
        coverage.outputsSaved += saved ? 1 : 0;
        coverage.outputsMeasured += measured ? 1 : 0;
        coverage.outputsUnchecked += core::isUnchecked(trace, op) ? 1 : 0;
    }
    coverage.fires = trace.gradFires().size();
    for (const core::GradFireRow &fire : trace.gradFires())
        coverage.firesSaved += fire.payloadsRecorded ? 1 : 0;
    coverage.sources = trace.sources().size();
    for (const core::SourceRow &source : trace.sources())
        coverage.sourcesEmbedded += trace.string(source.entry).empty() ? 0 : 1;
    return coverage;
}

bool takeFacts(std::shared_ptr<const TraceFacts> facts, std::shared_ptr<const TraceFacts> &mine)
{
    const bool isNews = facts && !facts->marks.measured.empty() && facts != mine;
    mine = std::move(facts);
    return isNews;
}

const core::TensorStats *statsOf(const core::Trace &trace, const TraceFacts *facts, core::TensorId tensor)
{
    if (!tensor.isValid())
        return nullptr;
    return facts != nullptr ? facts->marks.stats(trace, tensor) : trace.stats(tensor);
}

core::Result<std::shared_ptr<const TraceFacts>> makeTraceFacts(std::shared_ptr<const core::Trace> trace,
                                                               const core::JobContext &job)
{
    auto statistics = std::make_shared<core::TraceStatistics>(trace);
    return makeTraceFacts(std::move(trace), statistics, job);
}

core::Result<std::shared_ptr<const TraceFacts>>
makeTraceFacts(std::shared_ptr<const core::Trace> shared,
               const std::shared_ptr<core::TraceStatistics> &statistics, const core::JobContext &job)
{
    const auto start = std::chrono::steady_clock::now();
    const core::Trace &trace = *shared;
    auto facts = std::make_shared<TraceFacts>();
    facts->coverage = coverageOf(trace);
    core::Result<core::NonFiniteScan> scan = core::scanNonFinite(*statistics, job);
    if (!scan)
        return scan.error();
    facts->scan = std::move(scan).value();
    facts->marks = graphMarks(*statistics, facts->scan);
    FindingWriter(*statistics, *facts).run();
    if (core::Status status = addBackward(shared, statistics, *facts, job); !status)
        return status;
    addAudit(shared, statistics, *facts, job);
    // The checks measured the gradients that the file tells no statistics of.
    if (!trace.backwards().empty()) {
        auto born = std::move(facts->marks.bornInBackward);
        facts->marks = graphMarks(*statistics, facts->scan);
        facts->marks.bornInBackward = std::move(born);
    }
    if (core::Status status = job.checkpoint("the audit"); !status)
        return status;
    writeVerdict(trace, *facts);
    facts->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::shared_ptr<const TraceFacts>(std::move(facts));
}

std::vector<std::pair<QString, QString>> TraceFacts::skippedChecks() const
{
    std::vector<std::pair<QString, QString>> skipped;
    if (!audit)
        return skipped;
    for (const core::Value &pair : audit->result.at("skipped").toList())
        if (pair.toList().front().toString() != kBackwardCheck)
            skipped.emplace_back(fromView(pair.toList().front().toString()),
                                 fromView(pair.toList().back().toString()));
    return skipped;
}

bool TraceFacts::hasOtherFinding() const
{
    return std::any_of(findings.begin(), findings.end(), [](const FindingRow &row) {
        return row.severity != Severity::info && row.state == NodeState::clean &&
               row.check != QLatin1String(kBackwardCheck);
    });
}

std::shared_ptr<const TraceFacts> missingFacts(const core::Trace &trace, const core::Status &failure)
{
    auto facts = std::make_shared<TraceFacts>();
    facts->coverage = coverageOf(trace);
    facts->failure = failure;
    facts->verdict = words("NaN and Inf were not looked for");
    facts->verdictDetail = words("%1. Reload looks again.").arg(fromView(failure.message()));
    return facts;
}

} // namespace views
