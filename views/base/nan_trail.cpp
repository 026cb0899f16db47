// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/nan_trail.h"

#include "core/analysis/backward_ledger.h"
#include "core/analysis/nonfinite_why.h"
#include "views/base/counted_text.h"
#include "views/base/formatting.h"

#include <QCoreApplication>

#include <algorithm>

namespace views {

namespace {

using core::NodeState;
using core::NonFiniteEntry;

constexpr std::size_t kMostSteps = 500;

QString words(const char *text)
{
    return QCoreApplication::translate("views::NanTrail", text);
}

QString countOf(const core::TensorStats &counts)
{
    return countText(counts.nonFinite());
}

class ForwardTrail
{
public:
    ForwardTrail(const core::Trace &trace, const core::NonFiniteScan &scan, const core::GraphMarks &marks)
        : m_trace(trace), m_scan(scan), m_marks(marks), m_events(trace.ops().size())
    {
    }

    std::vector<TrailStep> run()
    {
        for (const core::NonFiniteSource &source : m_scan.sources)
            if (!source.byDesign)
                m_steps.push_back({NodeState::origin,
                                   words("Came in bad"),
                                   fromView(source.name),
                                   countOf(source.counts),
                                   {},
                                   {},
                                   0});
        for (const NonFiniteEntry &birth : m_scan.births)
            addBirth(birth);
        if (m_scan.nanBirth && !m_scan.nanBirth->byDesign)
            set(m_scan.nanBirth->op, NodeState::origin, words("Origin: first NaN"),
                countOf(m_scan.nanBirth->counts));
        for (const NonFiniteEntry &sink : m_scan.sinks)
            if (!sink.byDesign)
                set(sink.op, NodeState::sink,
                    words("Stops: %1 gives finite values")
                        .arg(fromView(m_trace.string(m_trace.call(sink.call).func))),
                    words("not sound"));
        walk();
        return std::move(m_steps);
    }

private:
    struct Event
    {
        NodeState state = NodeState::clean;
        QString title;
        QString value;
    };

    void set(core::OpId op, NodeState state, const QString &title, const QString &value)
    {
        m_events[op.index()] = {state, title, value};
    }

    bool isFirst(const std::optional<NonFiniteEntry> &first, const NonFiniteEntry &entry) const
    {
        return first && first->op == entry.op;
    }

    // Of the fills that are there by design only the first one is told, and those that an origin reads.
    void addBirth(const NonFiniteEntry &birth)
    {
        const bool first = isFirst(m_scan.firstInf, birth);
        if (birth.byDesign) {
            if (m_marks.of(birth.op) == NodeState::cause)
                set(birth.op, NodeState::cause,
                    first ? words("First Inf, and the cause") : words("Cause of what comes"),
                    countOf(birth.counts));
            else if (first)
                set(birth.op, NodeState::cause, words("First Inf, by design"), words("by design"));
            return;
        }
        const bool firstNan = isFirst(m_scan.firstNan, birth);
        set(birth.op, NodeState::origin,
            firstNan ? words("Origin: first NaN")
            : first  ? words("Origin: first Inf")
                     : words("Born again"),
            countOf(birth.counts));
    }

    // Rows that are no event of their own are carriers, told as one step a run.
    void walk()
    {
        for (const core::OpId op : m_trace.orderedOps()) {
            const core::OpRow &row = m_trace.op(op);
            const Event &event = m_events[op.index()];
            const core::TensorStats *stats =
                row.tensor.isValid() ? m_marks.stats(m_trace, row.tensor) : nullptr;
            if (event.state != NodeState::clean) {
                endRun();
                add(event.state, event.title, event.value, op);
            } else if (row.kind == core::CallKind::output && stats != nullptr && stats->nonFinite() > 0) {
                endRun();
                add(NodeState::reached, words("Reaches an output"), countOf(*stats), op);
            } else if (m_marks.of(op) == NodeState::propagated && row.kind == core::CallKind::compute) {
                if (m_run == 0)
                    m_runFirst = op;
                m_runLast = op;
                ++m_run;
            }
        }
        endRun();
    }

    void endRun()
    {
        if (m_run == 0)
            return;
        add(NodeState::propagated, words("Carried by %1").arg(countedText(m_run, "op", "ops")), {},
            m_runFirst);
        if (m_run > 1)
            m_steps.back().name += QStringLiteral(" … ") + fromView(m_trace.publicLabel(m_runLast));
        m_run = 0;
    }

    void add(NodeState state, const QString &title, const QString &value, core::OpId op)
    {
        m_steps.push_back({state, title, fromView(m_trace.publicLabel(op)), value, op, {}, 0});
    }

    const core::Trace &m_trace;
    const core::NonFiniteScan &m_scan;
    const core::GraphMarks &m_marks;
    std::vector<Event> m_events; // by op
    std::vector<TrailStep> m_steps;
    std::size_t m_run = 0;
    core::OpId m_runFirst;
    core::OpId m_runLast;
};

class BackwardTrail
{
public:
    BackwardTrail(const core::Trace &trace, int pass) : m_trace(trace), m_pass(pass) {}

    // After run().
    std::vector<BadLeaf> takeLeaves() { return std::move(m_leaves); }

    std::vector<TrailStep> run(const std::vector<core::GradientTransition> &transitions)
    {
        std::size_t unchecked = 0;
        for (const core::GradientTransition &at : transitions) {
            unchecked += at.verdict == "unchecked" ? 1 : 0;
            if (at.verdict == "propagated") {
                if (m_run++ == 0)
                    m_first = &at;
                m_last = &at;
                continue;
            }
            if (at.verdict == "healed" && isLeaf(at)) {
                m_leaves.push_back({at.node, leafName(at), countOf(at.arriving.counts), m_pass});
                continue;
            }
            const bool isEvent = at.verdict == "birth" || at.verdict == "root_seed" || at.verdict == "healed";
            if (!isEvent)
                continue;
            endRun();
            if (at.verdict == "birth")
                add(NodeState::origin, words("Backward: born here"), at, at.emitted.counts);
            else if (at.verdict == "healed")
                add(NodeState::healed, words("Healed: gradient is finite"), at, at.arriving.counts);
            else
                add(NodeState::origin, words("Backward: enters from the loss"), at, at.arriving.counts);
        }
        endRun();
        addLeaves();
        if (unchecked > 0)
            m_steps.push_back({NodeState::clean,
                               words("Not checked"),
                               countedText(unchecked, "grad function", "grad functions"),
                               {},
                               {},
                               {},
                               m_pass});
        return std::move(m_steps);
    }

private:
    void add(NodeState state, const QString &title, const core::GradientTransition &at,
             const core::TensorStats &counts)
    {
        m_steps.push_back({state, title, nameOf(at), countOf(counts), at.op, at.node, m_pass});
    }

    // Nothing leaves it because the gradient stays there: that cures nothing.
    bool isLeaf(const core::GradientTransition &at) const
    {
        return at.emitted.leaves == 0 &&
               m_trace.string(m_trace.gradNode(at.node).className) == "AccumulateGrad";
    }

    QString leafName(const core::GradientTransition &at) const
    {
        const QString leaf = fromView(m_trace.string(m_trace.gradNode(at.node).parameter));
        return leaf.isEmpty() ? nameOf(at) : leaf;
    }

    // One step for all: they fire between what else goes on.
    void addLeaves()
    {
        if (m_leaves.empty())
            return;
        const BadLeaf &first = m_leaves.front();
        const bool one = m_leaves.size() == 1;
        m_steps.push_back(
            {NodeState::reached,
             one ? words("Reaches the gradient of")
                 : words("Reaches %1").arg(countedText(m_leaves.size(), "gradient", "gradients")),
             one ? first.name : first.name + QStringLiteral(" … ") + m_leaves.back().name,
             one ? first.value : QString(),
             {},
             first.node,
             m_pass});
    }

    QString nameOf(const core::GradientTransition &at) const
    {
        return fromView(m_trace.string(m_trace.gradNode(at.node).className));
    }

    void endRun()
    {
        if (m_run == 0)
            return;
        add(NodeState::propagated,
            words("Carried by %1").arg(countedText(m_run, "grad function", "grad functions")), *m_first,
            m_first->emitted.counts);
        if (m_run > 1)
            m_steps.back().name += QStringLiteral(" … ") + nameOf(*m_last);
        m_run = 0;
    }

    const core::Trace &m_trace;
    int m_pass;
    std::vector<TrailStep> m_steps;
    std::vector<BadLeaf> m_leaves;
    std::size_t m_run = 0;
    const core::GradientTransition *m_first = nullptr;
    const core::GradientTransition *m_last = nullptr;
};

// What the reasons look at: the tensors that went into the births.
core::Status prepareForward(core::TraceStatistics &statistics, const core::NonFiniteScan &scan,
                            const core::JobContext &job)
{
    const core::Trace &trace = statistics.trace();
    std::vector<core::TensorId> tensors;
    const auto want = [&](const NonFiniteEntry &birth) {
        for (const core::ArgumentRow &argument : trace.arguments(birth.call))
            for (const core::TensorId tensor : trace.tensorIds(argument.tensors))
                if (tensor.isValid())
                    tensors.push_back(tensor);
    };
    for (const NonFiniteEntry &birth : scan.births)
        want(birth);
    if (scan.nanBirth)
        want(*scan.nanBirth);
    return statistics.prepare(tensors, job);
}

void explainForward(const core::TraceStatistics &statistics, const core::NonFiniteScan &scan, NanTrail &trail)
{
    const auto explain = [&](const NonFiniteEntry &birth) {
        if (const core::Value token = core::forwardWhy(birth, statistics); token.isString())
            trail.whys.emplace(birth.op, token.toString());
    };
    for (const NonFiniteEntry &birth : scan.births)
        explain(birth);
    if (scan.nanBirth)
        explain(*scan.nanBirth);
}

} // namespace

core::Result<std::shared_ptr<const NanTrail>> makeNanTrail(std::shared_ptr<const core::Trace> shared,
                                                           const core::NonFiniteScan &scan,
                                                           const core::GraphMarks &marks,
                                                           const core::JobContext &job)
{
    core::TraceStatistics statistics(shared);
    const core::Trace &trace = *shared;
    auto trail = std::make_shared<NanTrail>();
    if (const core::Status status = prepareForward(statistics, scan, job); !status)
        return status;
    trail->trace = std::move(shared);
    trail->steps = ForwardTrail(trace, scan, marks).run();
    explainForward(statistics, scan, *trail);
    for (std::size_t pass = 0; pass < trace.backwards().size() && !trace.gradFires().empty(); ++pass) {
        const auto transitions = core::backwardTransitions(statistics, core::BackwardId(pass), job);
        if (!transitions)
            return transitions.error();
        for (const core::GradientTransition &at : *transitions)
            if (at.verdict == "birth")
                if (const core::Value token = core::backwardWhy(at, statistics); token.isString())
                    trail->gradWhys.emplace(at.node, token.toString());
        BackwardTrail backward(trace, static_cast<int>(pass) + 1);
        for (TrailStep &step : backward.run(*transitions))
            trail->steps.push_back(std::move(step));
        for (BadLeaf &leaf : backward.takeLeaves())
            trail->badLeaves.push_back(std::move(leaf));
    }
    if (trail->steps.size() > kMostSteps) {
        trail->leftOut = trail->steps.size() - kMostSteps;
        trail->steps.resize(kMostSteps);
    }
    return std::shared_ptr<const NanTrail>(std::move(trail));
}

std::shared_ptr<const NanTrail> missingTrail(std::shared_ptr<const core::Trace> trace,
                                             const core::Status &failure)
{
    auto trail = std::make_shared<NanTrail>();
    trail->trace = std::move(trace);
    trail->failure = failure;
    return trail;
}

} // namespace views
