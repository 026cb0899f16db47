// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/payload_reason.h"
#include "core/analysis/report_parts.h"
#include "core/analysis/rerun_reports.h"
#include "core/analysis/visit_elements.h"
#include "core/base/element_codec.h"
#include "core/trace/op_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

namespace core {
namespace {

// Two pieces of the same dtype under a policy; NaN equals NaN, and an infinity only itself.
class Agreement
{
public:
    Agreement(DType dtype, const AgreementPolicy &policy)
        : m_dtype(dtype), m_exact(policy.isExact() || !canBeNonFinite(dtype)),
          m_rtol(policy.rtol.value_or(0.0)), m_atol(policy.atol.value_or(0.0))
    {
    }

    bool agree(const std::byte *a, const std::byte *b, std::size_t count) const
    {
        if (std::memcmp(a, b, count * itemSize(m_dtype)) == 0)
            return true;
        if (!canBeNonFinite(m_dtype))
            return false;
        for (std::size_t i = 0; i < count; ++i) {
            if (!agree(elementAsDouble(m_dtype, a, i), elementAsDouble(m_dtype, b, i)))
                return false;
            if (isComplex(m_dtype) &&
                !agree(elementImaginary(m_dtype, a, i), elementImaginary(m_dtype, b, i)))
                return false;
        }
        return true;
    }

private:
    bool agree(double a, double b) const
    {
        if (a == b || (std::isnan(a) && std::isnan(b)))
            return true;
        return !m_exact && std::isfinite(a) && std::isfinite(b) &&
               std::fabs(a - b) <= m_atol + m_rtol * std::fabs(b);
    }

    DType m_dtype;
    bool m_exact;
    double m_rtol;
    double m_atol;
};

class RunPair
{
public:
    RunPair(const Trace &first, const Trace &rerun, const AgreementPolicy &policy, const JobContext &job)
        : m_first(first), m_rerun(rerun), m_policy(policy), m_job(job)
    {
    }

    Result<RunComparison> run()
    {
        std::unordered_map<std::string_view, OpId> inRerun;
        for (const OpId op : m_rerun.computeOps())
            inRerun.emplace(m_rerun.label(op), op);
        for (const OpId op : m_first.computeOps()) {
            const auto found = inRerun.find(m_first.label(op));
            if (found == inRerun.end()) {
                diverged(m_first, op, "absent in a rerun");
                continue;
            }
            const OpId other = found->second;
            inRerun.erase(found);
            if (Status status = compare(op, other); !status)
                return status;
        }
        for (const OpId op : m_rerun.computeOps())
            if (inRerun.contains(m_rerun.label(op)))
                diverged(m_rerun, op, "only in the rerun");
        return std::move(m_result);
    }

private:
    void diverged(const Trace &trace, OpId op, std::string why)
    {
        m_result.divergences.push_back(
            {std::string(trace.label(op)), std::move(why), sourceLineValue(trace, op), moduleValue(trace, op),
             std::string(trace.string(trace.callOf(op).func)), &trace == &m_first ? op : OpId()});
    }

    // Calls without a tensor: their numbers.
    void compareNumbers(OpId op, OpId other)
    {
        const std::string_view a = m_first.string(m_first.callOf(op).valueJson);
        const std::string_view b = m_rerun.string(m_rerun.callOf(other).valueJson);
        if (a != b)
            diverged(m_first, op, fmt::format("value {} became {}", a, b));
    }

    Status compare(OpId op, OpId other)
    {
        const TensorId a = m_first.op(op).tensor;
        const TensorId b = m_rerun.op(other).tensor;
        if (!a.isValid() && !b.isValid()) {
            compareNumbers(op, other);
            return Status::ok();
        }
        if (a.isValid() && m_first.tensor(a).payload.state == PayloadState::uninitialised)
            return Status::ok(); // memory that nobody wrote yet holds anything
        if (payloadReason(m_first, a) != "ok" || payloadReason(m_rerun, b) != "ok") {
            ++m_result.unchecked;
            return Status::ok();
        }
        ++m_result.compared;
        if (const TensorStats *stats = m_first.stats(a); stats != nullptr && !stats->isAllFinite())
            m_result.nonFinite.emplace_back(m_first.label(op));
        const auto shapeA = m_first.shape(a);
        const auto shapeB = m_rerun.shape(b);
        if (!std::equal(shapeA.begin(), shapeA.end(), shapeB.begin(), shapeB.end())) {
            diverged(m_first, op, "the shape differs");
            return Status::ok();
        }
        if (m_first.tensor(a).dtype != m_rerun.tensor(b).dtype) {
            diverged(m_first, op, "the dtype differs");
            return Status::ok();
        }
        return compareValues(op, a, b);
    }

    Status compareValues(OpId op, TensorId a, TensorId b)
    {
        const Agreement agreement(m_first.tensor(a).dtype, m_policy);
        bool agree = true;
        const Status read = visitPairs(m_first, a, m_rerun, b, m_job,
                                       [&](const std::byte *x, const std::byte *y, std::size_t count) {
                                           agree = agreement.agree(x, y, count);
                                           return agree;
                                       });
        if (!read)
            return read;
        if (!agree)
            diverged(m_first, op,
                     m_policy.isExact() ? "values differ" : "values differ beyond the tolerance");
        return Status::ok();
    }

    const Trace &m_first;
    const Trace &m_rerun;
    const AgreementPolicy &m_policy;
    const JobContext &m_job;
    RunComparison m_result;
};

// What the reruns say together.
struct Verdict
{
    std::string word;
    std::vector<const RunDivergence *> divergences; // each op once, in the order of the first rerun
    std::vector<std::string> nonFinite;
    std::uint64_t unchecked = 0;
};

Verdict verdictOf(const std::vector<RunComparison> &reruns)
{
    Verdict verdict;
    std::uint64_t compared = 0;
    for (const RunComparison &rerun : reruns) {
        verdict.unchecked = std::max(verdict.unchecked, rerun.unchecked);
        compared += rerun.compared;
        if (verdict.nonFinite.empty())
            verdict.nonFinite = rerun.nonFinite;
        for (const RunDivergence &divergence : rerun.divergences)
            if (std::none_of(verdict.divergences.begin(), verdict.divergences.end(),
                             [&](const RunDivergence *known) { return known->op == divergence.op; }))
                verdict.divergences.push_back(&divergence);
    }
    // Reruns may separate at different ops: the order is that of execution in the first run.
    std::stable_sort(verdict.divergences.begin(), verdict.divergences.end(),
                     [](const RunDivergence *a, const RunDivergence *b) {
                         return a->row.isValid() && (!b->row.isValid() || a->row.index() < b->row.index());
                     });
    verdict.word = !verdict.divergences.empty()             ? "nondeterminism_observed"
                   : verdict.unchecked > 0 && compared == 0 ? "inconclusive"
                                                            : "repeatable_under_test";
    return verdict;
}

Value divergenceValue(const RunDivergence &divergence)
{
    return Value::object({{"op", divergence.op},
                          {"why", divergence.why},
                          {"source_line", divergence.sourceLine},
                          {"func_name", divergence.func}});
}

struct RandomOps
{
    std::vector<std::string> labels;
    std::string basis;
};

// Ops before and after which the generator was in different states; when there is none, those that by their
// name could draw random numbers (dropout in evaluation mode).
RandomOps randomOps(const Trace &trace)
{
    RandomOps measured = {{}, "pre_op_rng_snapshots"};
    RandomOps named = {{}, "stochastic_func_names"};
    for (const OpId op : trace.computeOps()) {
        if (trace.callOf(op).consumesRng)
            measured.labels.emplace_back(trace.label(op));
        if (isStochasticName(trace.string(trace.callOf(op).func)))
            named.labels.emplace_back(trace.label(op));
    }
    return measured.labels.empty() ? named : measured;
}

// From the root module where the file says it, else from the ops that are told which mode they run in.
Value modelMode(const Trace &trace)
{
    for (const ModuleRow &module : trace.modules())
        if (trace.string(module.address).empty() && module.training >= 0)
            return module.training > 0 ? "train" : "eval";
    bool told = false;
    for (const OpId op : trace.computeOps())
        for (const ArgumentRow &argument : trace.arguments(trace.op(op).call)) {
            const std::string_view name = trace.string(argument.name);
            if (name != "training" && name != "train" && name != "use_input_stats")
                continue;
            told = true;
            if (trace.string(argument.valueJson) == "true")
                return "train";
        }
    return told ? Value("eval") : Value();
}

Value seedVerdict(const DeterminismFacts &facts)
{
    if (!facts.seedSensitivity)
        return {};
    if (!facts.otherSeed)
        return "inconclusive";
    if (!facts.otherSeed->divergences.empty())
        return "sensitive_to_seed";
    return facts.otherSeed->unchecked > 0 ? "inconclusive" : "insensitive_under_test";
}

// JSON numbers here have 63 bits, seeds 64.
Value seedValue(std::uint64_t seed)
{
    return seed >> 63U == 0 ? Value(seed) : Value(std::to_string(seed));
}

Value remediesOf(const DeterminismFacts &facts, const Verdict &verdict)
{
    Value remedies = Value::list();
    if (!facts.copyError.empty()) {
        remedies.append(
            "give the model in a form that can be copied: a file of its own for each run (a model "
            "factory in Python)");
        remedies.append("capture two runs of your own and compare them with first_divergence");
        return remedies;
    }
    if (verdict.word == "nondeterminism_observed") {
        remedies.append("compare rng_consuming_ops with the first divergence: an op that draws no random "
                        "numbers differs by threads, uninitialised memory or the clock");
        remedies.append("run it again with --threads 1");
    }
    if (verdict.unchecked > 0)
        remedies.append("some values could not be compared: quantized, sparse or meta tensors");
    return remedies;
}

std::string messageOf(const DeterminismFacts &facts, const Verdict &verdict, const Value &seedWord)
{
    if (!facts.copyError.empty())
        return "inconclusive: the model cannot be copied, so no run was made: " + facts.copyError;
    std::string text = fmt::format("{}: {} isolated runs with the seed {} compared {}; {} runs in total",
                                   verdict.word, facts.runs, facts.seed,
                                   facts.policy.isExact() ? std::string("bit for bit")
                                                          : fmt::format("within rtol {} and atol {}",
                                                                        facts.policy.rtol.value_or(0.0),
                                                                        facts.policy.atol.value_or(0.0)),
                                   facts.runs + (facts.seedSensitivity ? 1 : 0));
    if (!verdict.divergences.empty())
        text += fmt::format("; first at {}: {}", verdict.divergences.front()->op,
                            verdict.divergences.front()->why);
    if (!seedWord.isNull())
        text += "; with another seed: " + seedWord.toString();
    return text;
}

Value firstBadThing(const Verdict &verdict, const std::string &message)
{
    const RunDivergence *first = verdict.divergences.empty() ? nullptr : verdict.divergences.front();
    FirstBadThing bad;
    bad.found = first != nullptr;
    bad.tool = "check_determinism";
    bad.kind = first != nullptr ? "nondeterminism" : "none";
    bad.labelStatus = first != nullptr ? "final" : "none";
    if (first != nullptr) {
        bad.label = first->op;
        bad.module = first->module;
        bad.sourceLine = first->sourceLine;
    }
    bad.coverage = verdict.unchecked == 0 ? "complete" : "found_first_among_checked";
    bad.detectionBasis = "double_run";
    bad.message = message;
    return bad.toValue();
}

void addFindings(Report &report, const Verdict &verdict)
{
    report.table.columns = {{"op", CellKind::op, {}},
                            {"why", CellKind::text, {}},
                            {"func_name", CellKind::text, {}},
                            {"module", CellKind::text, {}},
                            {"source_line", CellKind::text, {}}};
    for (const RunDivergence *divergence : verdict.divergences) {
        ReportRow row;
        row.op = divergence->row;
        row.cells = {divergence->op, divergence->why, divergence->func, divergence->module,
                     divergence->sourceLine};
        report.table.rows.push_back(std::move(row));
        ReportFinding finding;
        finding.severity = Severity::warning;
        finding.check = "check_determinism";
        finding.code = "nondeterminism";
        finding.message = divergence->op + ": " + divergence->why;
        if (!divergence->sourceLine.isNull())
            finding.message += " at " + divergence->sourceLine.toString();
        if (divergence->row.isValid())
            finding.ops = {divergence->row};
        finding.opLabels = {divergence->op};
        report.findings.push_back(std::move(finding));
    }
}

} // namespace

Result<RunComparison> compareRuns(const Trace &first, const Trace &rerun, const AgreementPolicy &policy,
                                  const JobContext &job)
{
    return RunPair(first, rerun, policy, job).run();
}

Report determinismReport(const DeterminismFacts &facts)
{
    Verdict verdict = verdictOf(facts.reruns);
    if (!facts.first)
        verdict.word = "inconclusive";
    const Value seedWord = seedVerdict(facts);
    const std::string message = messageOf(facts, verdict, seedWord);
    Value divergent = Value::list();
    for (const RunDivergence *divergence : verdict.divergences)
        divergent.append(divergence->op);
    const auto optional = [](const std::optional<double> &number) {
        return number ? Value(*number) : Value();
    };
    const RandomOps random = facts.first ? randomOps(*facts.first) : RandomOps{{}, "stochastic_func_names"};
    Report report = startReport("check_determinism", facts.subject);
    report.result = Value::object(
        {{"verdict", verdict.word},
         {"runs", facts.first ? facts.runs : 0},
         {"seed", seedValue(facts.seed)},
         {"policy", facts.policy.isExact() ? "exact" : "tolerance"},
         {"rtol", optional(facts.policy.rtol)},
         {"atol", optional(facts.policy.atol)},
         {"isolation", "fresh_deepcopy_per_run"},
         {"run_policy", "same_seed_isolated"},
         {"model_mode", facts.first ? modelMode(*facts.first) : Value()},
         {"environment_witnesses", facts.witnesses},
         {"first_divergence",
          verdict.divergences.empty() ? Value() : divergenceValue(*verdict.divergences.front())},
         {"divergent_ops", std::move(divergent)},
         {"nonfinite_ops", labelList(verdict.nonFinite)},
         {"unchecked_payloads", verdict.unchecked},
         {"rng_consuming_ops", labelList(random.labels)},
         {"rng_attribution_basis", random.basis},
         {"host_entropy_witnesses", Value::list()},
         {"seed_sensitivity_verdict", seedWord},
         {"remedies", remediesOf(facts, verdict)},
         {"message", message},
         {"first_bad_thing", firstBadThing(verdict, message)}});
    addFindings(report, verdict);
    report.found = !verdict.divergences.empty();
    report.status = verdict.word;
    report.coverage = message;
    return report;
}

} // namespace core
