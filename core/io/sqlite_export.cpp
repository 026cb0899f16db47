// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/sqlite_export.h"

#include "core/io/record_json.h"
#include "core/io/sqlite_file.h"
#include "core/trace/tensor_reader.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace core {
namespace {

constexpr std::size_t kCheckEvery = 4096;

constexpr std::array kSchema = {
    "CREATE TABLE info(name TEXT PRIMARY KEY, value TEXT)",
    "CREATE TABLE calls(id INTEGER PRIMARY KEY, kind TEXT, op TEXT, func TEXT, module_call INTEGER,"
    " stack INTEGER, node TEXT, address TEXT, value TEXT, control_flow TEXT, autocast TEXT, grad INTEGER,"
    " in_place INTEGER, is_view INTEGER, rng INTEGER, uninitialised INTEGER, finished INTEGER, thread "
    "INTEGER,"
    " start_ns INTEGER, duration_ns INTEGER)",
    "CREATE TABLE ops(id INTEGER PRIMARY KEY, label TEXT, layer TEXT, type TEXT, pass INTEGER, step INTEGER,"
    " call INTEGER, output INTEGER, tensor INTEGER, module TEXT, source_line TEXT, flops_forward INTEGER,"
    " flops_backward INTEGER, bytes INTEGER)",
    "CREATE TABLE edges(parent INTEGER, child INTEGER)",
    "CREATE TABLE arguments(call INTEGER, position INTEGER, name TEXT, item INTEGER, tensor INTEGER,"
    " value TEXT, written INTEGER)",
    "CREATE TABLE tensors(id INTEGER PRIMARY KEY, role TEXT, address TEXT, call INTEGER, output INTEGER,"
    " dtype TEXT, shape TEXT, strides TEXT, storage INTEGER, storage_offset INTEGER, requires_grad INTEGER,"
    " device TEXT, payload TEXT, payload_entry TEXT, payload_offset INTEGER, payload_bytes INTEGER)",
    "CREATE TABLE stats(tensor INTEGER PRIMARY KEY, elements INTEGER, nan INTEGER, pos_inf INTEGER,"
    " neg_inf INTEGER, zero INTEGER, subnormal INTEGER, min REAL, max REAL, abs_min REAL, abs_max REAL,"
    " mean REAL, std REAL, first_nan INTEGER, first_pos_inf INTEGER, first_neg_inf INTEGER)",
    "CREATE TABLE modules(id INTEGER PRIMARY KEY, address TEXT, class TEXT, parent INTEGER, training "
    "INTEGER)",
    "CREATE TABLE module_calls(id INTEGER PRIMARY KEY, module INTEGER, label TEXT, number INTEGER,"
    " parent INTEGER, method TEXT, duration_ns INTEGER)",
    "CREATE TABLE params(id INTEGER PRIMARY KEY, address TEXT, kind TEXT, trainable INTEGER, tensor INTEGER)",
    "CREATE TABLE frames(id INTEGER PRIMARY KEY, file TEXT, line INTEGER, func TEXT, text TEXT, origin TEXT)",
    "CREATE TABLE stacks(stack INTEGER, depth INTEGER, frame INTEGER)",
    "CREATE TABLE grad_nodes(id INTEGER PRIMARY KEY, class TEXT, label TEXT, call INTEGER, parameter TEXT)",
    "CREATE TABLE grad_edges(node INTEGER, position INTEGER, next INTEGER, input INTEGER)",
    "CREATE TABLE gradients(backward INTEGER, tensor INTEGER, gradient INTEGER, note TEXT)",
    "CREATE TABLE diagnostics(token TEXT, message TEXT, call INTEGER)",
};
constexpr std::array kIndexes = {
    "CREATE INDEX ops_label ON ops(label)",           "CREATE INDEX ops_call ON ops(call)",
    "CREATE INDEX edges_child ON edges(child)",       "CREATE INDEX edges_parent ON edges(parent)",
    "CREATE INDEX arguments_call ON arguments(call)", "CREATE INDEX stacks_stack ON stacks(stack)",
};

template <class Id>
SqlCell idCell(Id id)
{
    return id.isValid() ? SqlCell(static_cast<std::int64_t>(id.index())) : SqlCell();
}

SqlCell countCell(std::int64_t count)
{
    return count == kUnknown ? SqlCell() : SqlCell(count);
}

SqlCell textCell(std::string_view text)
{
    return text.empty() ? SqlCell() : SqlCell(text);
}

SqlCell flag(bool set)
{
    return SqlCell(std::int64_t(set ? 1 : 0));
}

SqlCell number(std::uint64_t value)
{
    return SqlCell(static_cast<std::int64_t>(value));
}

std::string listText(std::span<const std::int64_t> numbers)
{
    std::string out = "[";
    for (const std::int64_t each : numbers)
        out += (out.size() > 1 ? "," : "") + std::to_string(each);
    return out + "]";
}

class Exporter
{
public:
    Exporter(const Trace &trace, SqliteFile &file, const JobContext &job)
        : m_trace(trace), m_file(file), m_job(job)
    {
    }

    Status run()
    {
        for (const char *statement : kSchema)
            if (Status status = m_file.execute(statement); !status)
                return status;
        using Part = Status (Exporter::*)();
        constexpr Part kParts[] = {&Exporter::info,    &Exporter::calls,     &Exporter::ops,
                                   &Exporter::tensors, &Exporter::modules,   &Exporter::params,
                                   &Exporter::frames,  &Exporter::gradients, &Exporter::diagnostics};
        for (const Part part : kParts)
            if (Status status = (this->*part)(); !status)
                return status;
        for (const char *statement : kIndexes)
            if (Status status = m_file.execute(statement); !status)
                return status;
        return Status::ok();
    }

private:
    std::string_view text(StringId id) const { return m_trace.string(id); }

    // Calls ROW for every number below COUNT, with a look at the job from time to time.
    template <class Row>
    Status each(std::size_t count, Row row)
    {
        for (std::size_t i = 0; i < count; ++i) {
            if (i % kCheckEvery == 0)
                if (Status status = m_job.checkpoint("writing the database"); !status)
                    return status;
            if (Status status = row(i); !status)
                return status;
        }
        return Status::ok();
    }

    Status info()
    {
        const TraceInfo &info = m_trace.info();
        SqlInsert insert(m_file, "info", 2);
        const std::pair<const char *, std::string> rows[] = {
            {"subject", std::string(m_trace.subject())},
            {"status", std::string(traceStatusName(info.status))},
            {"producer", info.producer},
            {"created", info.createdUtc},
            {"model_path", info.modelPath},
            {"model_kind", info.modelKind},
            {"model_class", info.modelClass},
            {"request", toJson(info.request)},
            {"environment", toJson(info.environment)},
            {"failure", info.failure.message},
            {"failure_op", info.failure.op}};
        for (const auto &[name, value] : rows)
            if (Status status = insert.row({SqlCell(name), textCell(value)}); !status)
                return status;
        return Status::ok();
    }

    Status calls()
    {
        SqlInsert insert(m_file, "calls", 20);
        SqlInsert arguments(m_file, "arguments", 7);
        return each(m_trace.calls().size(), [&](std::size_t i) {
            const CallRow &row = m_trace.calls()[i];
            Status status = insert.row({number(i),
                                        SqlCell(callKindWord(row.kind)),
                                        textCell(text(row.op)),
                                        textCell(text(row.func)),
                                        idCell(row.moduleCall),
                                        idCell(row.stack),
                                        textCell(text(row.nodeName)),
                                        textCell(text(row.address)),
                                        textCell(text(row.valueJson)),
                                        textCell(text(row.controlFlow)),
                                        textCell(text(row.autocast)),
                                        flag(row.gradEnabled),
                                        flag(row.inPlace),
                                        flag(row.view),
                                        flag(row.consumesRng),
                                        flag(row.uninitialised),
                                        flag(row.finished),
                                        number(row.thread),
                                        countCell(row.startNs),
                                        countCell(row.durationNs)});
            return status ? argumentsOf(CallId(i), arguments) : status;
        });
    }

    // An argument that is no tensor, or one tensor, is one row; a list of tensors one row an item.
    Status argumentsOf(CallId id, SqlInsert &insert)
    {
        const auto recorded = m_trace.arguments(id);
        for (std::size_t i = 0; i < recorded.size(); ++i) {
            const ArgumentRow &row = recorded[i];
            const auto tensors = m_trace.tensorIds(row.tensors);
            for (std::size_t k = 0; k < std::max<std::size_t>(tensors.size(), 1); ++k)
                if (Status status = insert.row({number(id.index()), number(i), SqlCell(text(row.name)),
                                                row.isTensorList ? number(k) : SqlCell(),
                                                k < tensors.size() ? idCell(tensors[k]) : SqlCell(),
                                                tensors.empty() ? textCell(text(row.valueJson)) : SqlCell(),
                                                flag(row.isWritten)});
                    !status)
                    return status;
        }
        return Status::ok();
    }

    Status ops()
    {
        SqlInsert insert(m_file, "ops", 14);
        SqlInsert edges(m_file, "edges", 2);
        return each(m_trace.ops().size(), [&](std::size_t i) {
            const OpId id(i);
            const OpRow &row = m_trace.op(id);
            const std::string line = m_trace.sourceLine(id).value_or("");
            Status status = insert.row(
                {number(i), SqlCell(m_trace.label(id)), SqlCell(text(row.layerLabel)),
                 textCell(text(row.type)), number(row.pass), number(row.step), idCell(row.call),
                 number(row.slot), idCell(row.tensor), SqlCell(m_trace.moduleAddress(id)), textCell(line),
                 countCell(row.flopsForward), countCell(row.flopsBackward), countCell(row.bytes)});
            for (const OpId parent : m_trace.parents(id))
                if (status)
                    status = edges.row({number(parent.index()), number(i)});
            return status;
        });
    }

    Status tensors()
    {
        SqlInsert insert(m_file, "tensors", 16);
        SqlInsert measured(m_file, "stats", 16);
        return each(m_trace.tensors().size(), [&](std::size_t i) {
            const TensorId id(i);
            const TensorRow &row = m_trace.tensor(id);
            const std::string shape = listText(m_trace.shape(id));
            const std::string strides =
                row.strides.count == 0 ? std::string() : listText(m_trace.strides(id));
            const PayloadRow &payload = row.payload;
            const bool saved = payload.state == PayloadState::saved;
            const Status status = insert.row(
                {number(i), SqlCell(tensorRoleWord(row.role)), textCell(text(row.address)), idCell(row.call),
                 number(row.slot), SqlCell(dtypeName(row.dtype)), row.shapeKnown ? SqlCell(shape) : SqlCell(),
                 textCell(strides), idCell(row.storage), SqlCell(row.storageOffset), flag(row.requiresGrad),
                 textCell(text(row.device)), SqlCell(payloadStateName(payload.state)),
                 saved ? textCell(text(payload.entry)) : SqlCell(),
                 saved ? number(payload.offset) : SqlCell(), saved ? number(payload.bytes) : SqlCell()});
            const TensorStats *stats = m_trace.stats(id);
            return status && stats != nullptr ? statsRow(measured, i, *stats) : status;
        });
    }

    static Status statsRow(SqlInsert &insert, std::size_t tensor, const TensorStats &stats)
    {
        const auto real = [&stats](double value) { return stats.hasFinite() ? SqlCell(value) : SqlCell(); };
        const auto first = [](std::int64_t at) { return at < 0 ? SqlCell() : SqlCell(at); };
        return insert.row({number(tensor), number(stats.elements), number(stats.nan), number(stats.posInf),
                           number(stats.negInf), number(stats.zero), number(stats.subnormal), real(stats.min),
                           real(stats.max), real(stats.absMin), real(stats.absMax), real(stats.mean),
                           real(stats.std), first(stats.firstNan), first(stats.firstPosInf),
                           first(stats.firstNegInf)});
    }

    Status modules()
    {
        SqlInsert insert(m_file, "modules", 5);
        const Status status = each(m_trace.modules().size(), [&](std::size_t i) {
            const ModuleRow &row = m_trace.modules()[i];
            return insert.row({number(i), SqlCell(text(row.address)), textCell(text(row.className)),
                               idCell(row.parent),
                               row.training < 0 ? SqlCell() : SqlCell(std::int64_t(row.training))});
        });
        if (!status)
            return status;
        SqlInsert calls(m_file, "module_calls", 7);
        return each(m_trace.moduleCalls().size(), [&](std::size_t i) {
            const ModuleCallRow &row = m_trace.moduleCalls()[i];
            return calls.row({number(i), idCell(row.module), SqlCell(text(row.label)), number(row.index),
                              idCell(row.parent), textCell(text(row.method)), countCell(row.durationNs)});
        });
    }

    Status params()
    {
        SqlInsert insert(m_file, "params", 5);
        return each(m_trace.params().size(), [&](std::size_t i) {
            const ParamRow &row = m_trace.params()[i];
            return insert.row({number(i), SqlCell(text(row.address)),
                               SqlCell(row.isBuffer ? "buffer" : "parameter"), flag(row.trainable),
                               idCell(row.tensor)});
        });
    }

    Status frames()
    {
        const TraceTables &tables = m_trace.tables();
        SqlInsert insert(m_file, "frames", 6);
        const Status status = each(tables.frames.size(), [&](std::size_t i) {
            const FrameRow &row = tables.frames[i];
            return insert.row({number(i), textCell(text(row.file)),
                               row.line.isKnown() ? number(row.line.oneBased()) : SqlCell(),
                               textCell(text(row.function)), textCell(text(row.text)),
                               SqlCell(frameOriginWord(row.origin))});
        });
        if (!status)
            return status;
        SqlInsert stacks(m_file, "stacks", 3);
        return each(tables.stacks.size(), [&](std::size_t i) {
            Status written;
            std::uint64_t depth = 0;
            for (const FrameId frame : m_trace.frames(StackId(i)))
                if (written)
                    written = stacks.row({number(i), number(depth++), idCell(frame)});
            return written;
        });
    }

    Status gradients()
    {
        SqlInsert nodes(m_file, "grad_nodes", 5);
        SqlInsert edges(m_file, "grad_edges", 4);
        Status status = each(m_trace.gradNodes().size(), [&](std::size_t i) {
            const GradNodeRow &row = m_trace.gradNodes()[i];
            Status written = nodes.row({number(i), textCell(text(row.className)), textCell(text(row.label)),
                                        idCell(row.call), textCell(text(row.parameter))});
            std::uint64_t position = 0;
            for (const GradEdgeRow &edge : m_trace.nextEdges(GradNodeId(i)))
                if (written)
                    written =
                        edges.row({number(i), number(position++), idCell(edge.node), number(edge.input)});
            return written;
        });
        if (!status)
            return status;
        SqlInsert insert(m_file, "gradients", 4);
        return each(m_trace.gradients().size(), [&](std::size_t i) {
            const GradientRow &row = m_trace.gradients()[i];
            return insert.row(
                {idCell(row.backward), idCell(row.tensor), idCell(row.gradient), textCell(text(row.note))});
        });
    }

    Status diagnostics()
    {
        SqlInsert insert(m_file, "diagnostics", 3);
        return each(m_trace.diagnostics().size(), [&](std::size_t i) {
            const DiagnosticRow &row = m_trace.diagnostics()[i];
            return insert.row({SqlCell(text(row.token)), textCell(text(row.message)), idCell(row.call)});
        });
    }

    const Trace &m_trace;
    SqliteFile &m_file;
    const JobContext &m_job;
};

} // namespace

Status writeSqlite(const Trace &trace, const std::filesystem::path &path, const JobContext &job)
{
    Result<std::unique_ptr<SqliteFile>> file = SqliteFile::create(path);
    if (!file)
        return file.error();
    Status status = Exporter(trace, **file, job).run();
    return status ? (*file)->commit() : status;
}

} // namespace core
