// SPDX-License-Identifier: GPL-3.0-or-later
// The helper that sets our FLOP ledger beside that of PyTorch's dispatch formulas.
#include "core/analysis/report_parts.h"
#include "core/analysis/report_value.h"
#include "core/capture_torch/capture_environment.h"
#include "core/capture_torch/flop_counter.h"
#include "core/capture_torch/isolated_capture.h"
#include "core/capture_torch/live_task.h"
#include "core/capture_torch/model_capture.h"
#include "core/io/native_reader.h"
#include "core/trace/op_flops.h"
#include "core/trace/op_names.h"

#include <ATen/ops/allclose.h>
#include <c10/core/GradMode.h>
#include <torch/headeronly/version.h>

#include <algorithm>
#include <map>

namespace core {
namespace {

constexpr double kRelative = 1e-4;
constexpr double kAbsolute = 1e-5;

// What our rules say of a trace.
struct OwnLedger
{
    std::int64_t total = 0;
    std::int64_t counted = 0;
    std::vector<std::string> unknown; // labels
    struct Group
    {
        std::int64_t count = 0;
        std::vector<std::string> labels;
        std::vector<Value> shapes;
    };
    std::map<std::string, Group> groups; // of unknown ops, by function
};

constexpr std::size_t kExamples = 3;

OwnLedger ownLedger(const Trace &trace)
{
    OwnLedger ledger;
    for (const OpId op : trace.computeOps()) {
        const OpRow &row = trace.op(op);
        const std::string_view func = trace.string(trace.callOf(op).func);
        if (row.kind != CallKind::compute || !row.tensor.isValid() || isScalarBookkeeping(func))
            continue;
        if (row.flopsForward != kUnknown) {
            ledger.total += row.flopsForward;
            ++ledger.counted;
            continue;
        }
        ledger.unknown.emplace_back(trace.label(op));
        OwnLedger::Group &group = ledger.groups[std::string(pythonFunctionName(func))];
        ++group.count;
        if (group.labels.size() < kExamples) {
            group.labels.emplace_back(trace.label(op));
            group.shapes.push_back(shapeValue(trace.shape(row.tensor)));
        }
    }
    return ledger;
}

std::optional<at::Tensor> firstTensor(const ModelOutputs &outputs)
{
    for (const auto &[path, value] : outputs)
        if (value.isTensor() && value.toTensor().defined())
            return value.toTensor().detach().clone();
    return std::nullopt;
}

std::optional<bool> agree(const std::optional<at::Tensor> &a, const std::optional<at::Tensor> &b)
{
    if (!a || !b || a->is_meta() || b->is_meta()) // no values to compare
        return std::nullopt;
    if (a->sizes() != b->sizes())
        return false;
    const auto plain = [](const at::Tensor &tensor) {
        const at::Tensor dense = tensor.is_quantized()             ? tensor.dequantize()
                                 : tensor.layout() != at::kStrided ? tensor.to_dense()
                                                                   : tensor;
        return dense.is_complex() ? dense.to(at::kComplexFloat) : dense.to(at::kFloat);
    };
    return at::allclose(plain(*a), plain(*b), kRelative, kAbsolute, /*equal_nan=*/true);
}

Value countsValue(const std::map<std::string, std::int64_t> &counts)
{
    Value value = Value::object();
    for (const auto &[name, count] : counts)
        value.set(name, count);
    return value;
}

Value groupsValue(const OwnLedger &ledger)
{
    Value list = Value::list();
    for (const auto &[func, group] : ledger.groups) {
        Value shapes = Value::list();
        for (const Value &shape : group.shapes)
            shapes.append(shape);
        list.append(Value::object({{"func", func},
                                   {"count", group.count},
                                   {"labels", labelList(group.labels)},
                                   {"shapes", std::move(shapes)},
                                   {"remedy", "a rule for " + func + " in core/trace/op_flops_tables.cpp"}}));
    }
    return list;
}

Value coverageNotes(const OwnLedger &own, std::int64_t native)
{
    Value notes = Value::list();
    if (native == 0 && own.total > 0)
        notes.append("the dispatch formulas count nothing here: none of the ops that ran has one");
    if (!own.unknown.empty())
        notes.append("no rule for " + std::to_string(own.unknown.size()) +
                     " ops; the dispatch formulas never fill them");
    return notes;
}

class CrossCheck
{
public:
    CrossCheck(const CaptureRequest &request, const TaskContext &context)
        : m_request(request), m_context(context)
    {
    }

    CaptureOutcome run()
    {
        const PreservedRngState kept;
        const Result<LoadedModel> loaded = loadModel(m_request, m_context);
        if (!loaded)
            return failedOutcome(loaded.error());
        Result<std::unique_ptr<RunnableModel>> second = loaded->model->copy();
        if (!second)
            return failedOutcome(second.error());
        ModelCapture capture(m_request, m_context, *loaded->model, loaded->report);
        CaptureOutcome outcome = capture.run({});
        if (!outcome.error)
            return outcome;
        m_first = firstTensor(capture.outputs());
        if (Status status = countNative(**second); !status) {
            outcome.error = status;
            return outcome;
        }
        const std::optional<bool> same = agree(m_first, m_second);
        if (same && !*same) {
            CaptureOutcome refused = refusedOutcome(m_request, witnessError());
            refused.status = outcome.status;
            refused.summary = outcome.summary;
            return refused;
        }
        const auto trace = openNative(m_request.outputPath, JobContext(m_context.stop));
        if (trace)
            outcome.report = reportToValue(reportOf(ownLedger(**trace), same));
        else
            outcome.error = trace.error();
        return outcome;
    }

private:
    static ReportError witnessError()
    {
        return {"CaptureError", "flops_crosscheck_witness_failed",
                "the two runs gave different outputs, so their counts are of different programs",
                "run in evaluation mode, or with inputs and state that give the same output each time"};
    }

    // A run of its own, from the same state, inputs and seed.
    Status countNative(RunnableModel &model)
    {
        if (m_context.progress)
            m_context.progress({"counting dispatched ops", {}, 0, 0, {}});
        seedGenerators(m_request);
        const c10::AutoGradMode mode(m_request.gradEnabled);
        FlopCounter counter;
        const Result<ModelOutputs> outputs = model.run(m_request, nullptr, JobContext(m_context.stop));
        if (!outputs)
            return outputs.error();
        m_second = firstTensor(*outputs);
        m_native = counter.total();
        m_nativeByOp = counter.byOp();
        m_nativeUnknown = counter.uncounted();
        return Status::ok();
    }

    Report reportOf(const OwnLedger &own, const std::optional<bool> &same) const
    {
        Report report = startReport("flops_vs_dispatch", subjectOf(m_request));
        const std::int64_t delta = m_native - own.total;
        report.result = Value::object(
            {{"schema", "torchlens.flops_vs_dispatch.v1"},
             {"torch_version", TORCH_VERSION},
             {"convention", "fma2 (one multiply-accumulate = 2 FLOPs, both sides)"},
             {"torchlens_total", own.total},
             {"native_total", m_native},
             {"delta", delta},
             {"delta_native_minus_torchlens", delta},
             {"native_by_overload", countsValue(m_nativeByOp)},
             {"torchlens_unknown_ops", labelList(own.unknown)},
             {"torchlens_counted_ops", own.counted},
             {"torchlens_unknown_ledger", groupsValue(own)},
             {"native_unknown_ops", countsValue(m_nativeUnknown)},
             {"witness", Value::object({{"output_agrees", same ? Value(*same) : Value()},
                                        {"rng_restored", true},
                                        {"training_modes_restored", true}})},
             {"provenance", Value::object({{"sdpa_backend", "default"},
                                           {"execution_note",
                                            "two runs of two copies with one seed: one captured, one under "
                                            "the dispatch formulas"}})},
             {"coverage_notes", coverageNotes(own, m_native)}});
        report.table.columns = {{"op", CellKind::text, {}}, {"flops", CellKind::integer, "FLOPs"}};
        for (const auto &[name, flops] : m_nativeByOp)
            report.table.rows.push_back({{name, flops}, {}, {}});
        report.status = delta == 0 ? "agree" : "differ";
        report.coverage = "our rules " + std::to_string(own.total) + " FLOPs in " +
                          std::to_string(own.counted) + " ops (" + std::to_string(own.unknown.size()) +
                          " without a rule), dispatch formulas " + std::to_string(m_native) +
                          ", difference " + std::to_string(delta);
        return report;
    }

    const CaptureRequest &m_request;
    const TaskContext &m_context;
    std::optional<at::Tensor> m_first;
    std::optional<at::Tensor> m_second;
    std::int64_t m_native = 0;
    std::map<std::string, std::int64_t> m_nativeByOp;
    std::map<std::string, std::int64_t> m_nativeUnknown;
};

} // namespace

CaptureOutcome liveFlopsVsDispatch(const CaptureRequest &request, const TaskContext &context)
{
    return CrossCheck(request, context).run();
}

} // namespace core
