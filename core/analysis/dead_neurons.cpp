// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/graph_reports.h"
#include "core/analysis/payload_reason.h"
#include "core/analysis/report_parts.h"
#include "core/analysis/visit_elements.h"
#include "core/base/element_codec.h"
#include "core/trace/op_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_set>

namespace core {
namespace {

constexpr std::size_t kSampledUnits = 10;

// Spatial rank of a convolution or pooling by its name, 0 for others.
int spatialRank(std::string_view func)
{
    static const std::unordered_set<std::string_view> kFamilies = {
        "conv",    "conv_transpose",      "convolution", "max_pool",          "avg_pool",
        "lp_pool", "fractional_max_pool", "max_unpool",  "adaptive_avg_pool", "adaptive_max_pool"};
    std::string_view name = func;
    if (name.ends_with("_with_indices"))
        name.remove_suffix(13);
    if (name.size() < 3 || name.back() != 'd')
        return 0;
    const char digit = name[name.size() - 2];
    return digit >= '1' && digit <= '3' && kFamilies.contains(name.substr(0, name.size() - 2)) ? digit - '0'
                                                                                               : 0;
}

bool isChannelNorm(std::string_view func)
{
    static const std::unordered_set<std::string_view> kNorms = {"batch_norm",
                                                                "native_batch_norm",
                                                                "group_norm",
                                                                "native_group_norm",
                                                                "instance_norm",
                                                                "cudnn_batch_norm",
                                                                "sync_batch_norm",
                                                                "_native_batch_norm_legit",
                                                                "_batch_norm_impl_index",
                                                                "_native_batch_norm_legit_functional"};
    return kNorms.contains(func);
}

// Ops after which the axes of the input mean nothing any more, whatever the shape.
bool movesAxes(std::string_view func)
{
    static const std::unordered_set<std::string_view> kMoves = {
        "permute", "transpose", "transpose_", "t",    "t_",      "swapaxes", "swapdims",    "moveaxis",
        "movedim", "reshape",   "reshape_as", "view", "view_as", "flatten",  "unflatten",   "ravel",
        "adjoint", "T",         "mT",         "H",    "rot90",   "numpy_T",  "_unsafe_view"};
    return kMoves.contains(func);
}

// Why the values of an op cannot be judged, empty when they can: readable, real, floating.
std::string_view unavailableReason(const Trace &trace, TensorId tensor)
{
    const std::string_view reason = payloadReason(trace, tensor);
    if (reason != "ok")
        return reason;
    const DType dtype = trace.tensor(tensor).dtype;
    if (isComplex(dtype))
        return "complex";
    return isFloating(dtype) ? "" : "non-floating";
}

// Channel axes: own ones of convolutions, pooling and per-channel norms, handed on to ops of the same shape.
class ChannelAxes
{
public:
    explicit ChannelAxes(const Trace &trace) : m_trace(trace), m_axis(trace.ops().size(), -1)
    {
        for (std::size_t i = 0; i < trace.ops().size(); ++i)
            m_axis[i] = axisOf(OpId(i));
    }

    int of(OpId op) const { return m_axis[op.index()]; }

private:
    int axisOf(OpId op) const
    {
        const OpRow &row = m_trace.op(op);
        if (row.kind != CallKind::compute || !row.tensor.isValid())
            return -1;
        const std::string_view func = m_trace.string(m_trace.callOf(op).func);
        const auto rank = static_cast<int>(m_trace.shape(row.tensor).size());
        if (const int spatial = spatialRank(func); spatial > 0)
            return rank - 1 - spatial >= 0 ? rank - 1 - spatial : -1;
        if (func == "convolution" || func == "_convolution" || func == "_convolution_mode")
            return rank >= 2 ? 1 : -1;
        if (isChannelNorm(func))
            return rank >= 2 ? 1 : -1;
        if (movesAxes(func))
            return -1;
        for (const OpId parent : m_trace.parents(op)) {
            const TensorId from = m_trace.op(parent).tensor;
            if (parent.index() >= op.index() || !from.isValid() || m_axis[parent.index()] < 0)
                continue;
            const auto a = m_trace.shape(from);
            const auto b = m_trace.shape(row.tensor);
            if (std::equal(a.begin(), a.end(), b.begin(), b.end()))
                return m_axis[parent.index()];
        }
        return -1;
    }

    const Trace &m_trace;
    std::vector<int> m_axis;
};

// Units of which some element is larger than the limit (or is NaN).
Result<std::vector<bool>> liveUnits(const Trace &trace, TensorId tensor, std::size_t axis, double limit,
                                    const JobContext &job)
{
    if (const auto reader = TensorReader::open(trace, tensor); !reader)
        return reader.status(); // before memory is taken for what the shape promises
    const auto shape = trace.shape(tensor);
    std::uint64_t inner = 1;
    for (std::size_t d = axis + 1; d < shape.size(); ++d)
        inner *= static_cast<std::uint64_t>(shape[d]);
    const auto units = static_cast<std::uint64_t>(shape[axis]);
    std::vector<bool> alive(units, false);
    std::uint64_t dead = units;
    const DType dtype = trace.tensor(tensor).dtype;
    std::vector<std::byte> buffer;
    const Status status = visitElements(
        trace, tensor, job, buffer, [&](const std::byte *data, std::size_t count, std::uint64_t first) {
            std::uint64_t unit = (first / inner) % units;
            std::uint64_t inRun = first % inner;
            for (std::size_t i = 0; i < count && dead > 0;) {
                const auto run = static_cast<std::size_t>(std::min<std::uint64_t>(inner - inRun, count - i));
                for (std::size_t k = i; k < i + run && !alive[unit]; ++k)
                    if (!(std::fabs(elementAsDouble(dtype, data, k)) <= limit)) {
                        alive[unit] = true;
                        --dead;
                    }
                i += run;
                inRun = 0;
                unit = unit + 1 == units ? 0 : unit + 1;
            }
            return dead > 0;
        });
    if (!status)
        return status;
    return alive;
}

class DeadUnits
{
public:
    DeadUnits(const ReportRequest &request, const JobContext &job)
        : m_trace(*request.trace), m_job(job), m_dim(request.option("dim")),
          m_limit(request.option("max_activation").toDouble()), m_axes(m_trace)
    {
    }

    Result<Report> run()
    {
        const std::unordered_set<OpId> returned = returnedByModel();
        for (const OpId op : m_trace.orderedOps()) {
            const OpRow &row = m_trace.op(op);
            const bool wanted = row.kind == CallKind::compute
                                    ? row.outputOf.count > 0 || returned.contains(op)
                                    : returned.contains(op);
            // Where no op ran at all, nothing has units.
            if (!wanted || row.step == 0 || !row.tensor.isValid())
                continue;
            if (Status status = addRow(op); !status)
                return status;
        }
        return report();
    }

private:
    // The ops whose tensors the model returned; the output row itself where that was an input.
    std::unordered_set<OpId> returnedByModel() const
    {
        std::unordered_set<OpId> ops;
        for (std::size_t i = 0; i < m_trace.ops().size(); ++i) {
            if (m_trace.op(OpId(i)).kind != CallKind::output)
                continue;
            const auto parents = m_trace.parents(OpId(i));
            const CallKind made = parents.empty() ? CallKind::input : m_trace.op(parents.front()).kind;
            // A returned buffer is state and no activation: nothing in it is a unit.
            if (made != CallKind::buffer)
                ops.insert(made == CallKind::compute ? parents.front() : OpId(i));
        }
        return ops;
    }

    Value returningModule(OpId op) const
    {
        std::string_view best;
        for (const ModuleCallId id : m_trace.moduleCallIds(m_trace.op(op).outputOf)) {
            const std::string_view address =
                m_trace.string(m_trace.module(m_trace.moduleCall(id).module).address);
            if (best.empty() ||
                std::count(address.begin(), address.end(), '.') > std::count(best.begin(), best.end(), '.'))
                best = address;
        }
        return best.empty() ? Value() : Value(best);
    }

    std::optional<std::size_t> unitAxis(OpId op, std::size_t rank) const
    {
        const auto size = static_cast<std::int64_t>(rank);
        std::int64_t axis = 0;
        if (!m_dim.isNull()) {
            axis = m_dim.toInt() < 0 ? m_dim.toInt() + size : m_dim.toInt();
        } else if (m_axes.of(op) >= 0) {
            axis = m_axes.of(op);
        } else {
            axis = rank >= 4 ? 1 : size - 1;
        }
        return axis >= 0 && axis < size ? std::optional<std::size_t>(static_cast<std::size_t>(axis))
                                        : std::nullopt;
    }

    Status addRow(OpId op)
    {
        const TensorId tensor = m_trace.op(op).tensor;
        ReportRow row;
        row.op = op;
        row.cells = {m_trace.label(op),           returningModule(op), {}, {}, {}, Value::list(), "",
                     sourceLineValue(m_trace, op)};
        const std::string_view reason = unavailableReason(m_trace, tensor);
        const auto axis = unitAxis(op, m_trace.shape(tensor).size());
        if (!reason.empty() || !axis) {
            row.cells[6] = reason.empty() ? "invalid-dim" : reason;
            ++m_skipped;
        } else if (Status status = count(row, tensor, *axis); !status) {
            return status;
        }
        m_rows.push_back(std::move(row));
        return Status::ok();
    }

    Status count(ReportRow &row, TensorId tensor, std::size_t axis)
    {
        const auto units = static_cast<std::uint64_t>(m_trace.shape(tensor)[axis]);
        std::uint64_t elements = 1;
        for (const std::int64_t size : m_trace.shape(tensor))
            elements *= static_cast<std::uint64_t>(size);
        std::uint64_t dead = 0;
        if (elements > 0) {
            const auto alive = liveUnits(m_trace, tensor, axis, m_limit, m_job);
            if (!alive)
                return alive.error();
            for (std::uint64_t unit = 0; unit < units; ++unit) {
                if ((*alive)[unit])
                    continue;
                if (dead++ < kSampledUnits)
                    row.cells[5].append(static_cast<std::int64_t>(unit));
            }
        }
        row.cells[2] = static_cast<std::int64_t>(units);
        row.cells[3] = static_cast<std::int64_t>(dead);
        row.cells[4] = units == 0 ? 0.0 : static_cast<double>(dead) / static_cast<double>(units);
        if (dead > 0)
            addFinding(row, dead, units);
        return Status::ok();
    }

    void addFinding(const ReportRow &row, std::uint64_t dead, std::uint64_t units)
    {
        ReportFinding finding;
        finding.severity = Severity::warning;
        finding.check = "dead_neurons";
        finding.message = fmt::format("{}: {} of {} units are never above {}{}", row.cells[0].toString(),
                                      dead, units, m_limit, whereText(m_trace, row.op));
        finding.ops = {row.op};
        finding.opLabels = {row.cells[0].toString()};
        if (!row.cells[1].isNull())
            finding.modules = {row.cells[1].toString()};
        m_findings.push_back(std::move(finding));
    }

    Report report()
    {
        Report report = startReport("dead_neurons", std::string(m_trace.subject()));
        report.isTabular = true;
        report.table.columns = {{"op", CellKind::op, {}},
                                {"module", CellKind::text, {}},
                                {"total_units", CellKind::integer, {}},
                                {"dead_count", CellKind::integer, {}},
                                {"dead_frac", CellKind::number, {}},
                                {"sample_dead_idx", CellKind::list, {}},
                                {"reason", CellKind::text, {}},
                                {"source_line", CellKind::text, {}}};
        report.table.rows = std::move(m_rows);
        report.findings = std::move(m_findings);
        report.found = !report.findings.empty();
        const bool measured = report.table.rows.size() > static_cast<std::size_t>(m_skipped);
        report.status = report.found ? "dead_units" : measured ? "ok" : "empty";
        report.coverage = fmt::format("{} of {} rows measured; one trace is one sample",
                                      report.table.rows.size() - static_cast<std::size_t>(m_skipped),
                                      report.table.rows.size());
        report.attrs =
            Value::object({{"skipped", m_skipped},
                           {"dim", m_dim},
                           {"max_activation", m_limit},
                           {"note", "one trace is too small a sample for a claim about the data set"},
                           {"torchlens_capture_honesty", honestyValue(m_trace)}});
        return report;
    }

    const Trace &m_trace;
    const JobContext &m_job;
    Value m_dim;
    double m_limit;
    ChannelAxes m_axes;
    std::vector<ReportRow> m_rows;
    std::vector<ReportFinding> m_findings;
    std::int64_t m_skipped = 0;
};

} // namespace

Result<Report> deadNeurons(const ReportRequest &request, const JobContext &job)
{
    return DeadUnits(request, job).run();
}

} // namespace core
