// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/grad_fn_walk.h"

#include "core/analysis/report_parts.h"
#include "core/analysis/trace_lookup.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace core {
namespace {

std::string shapeText(std::span<const std::int64_t> shape)
{
    std::string text = "(";
    for (std::size_t i = 0; i < shape.size(); ++i)
        text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    return text + ")";
}

class Walker
{
public:
    Walker(const Trace &trace, std::int64_t maxNodes)
        : m_trace(trace), m_maxNodes(static_cast<std::size_t>(std::max<std::int64_t>(1, maxNodes))),
          m_number(trace.gradNodes().size(), kNone)
    {
    }

    GradFnSketch sketch;

    void addRoot(OpId op, GradNodeId node)
    {
        GradFnNode root;
        root.kind = GradFnKind::root;
        root.name = "output";
        root.op = op;
        if (op.isValid())
            describe(root, m_trace.op(op).tensor);
        root.requiresGrad = -1;
        if (!root.shape.isNull())
            root.name += " " + shapeText(m_trace.shape(m_trace.op(op).tensor));
        root.id = static_cast<std::uint32_t>(sketch.nodes.size());
        sketch.nodes.push_back(root);
        visit(node, root.id);
        while (!m_stack.empty()) {
            const auto [at, consumer] = m_stack.back();
            m_stack.pop_back();
            visit(at, consumer);
        }
    }

private:
    static constexpr std::uint32_t kNone = 0xffffffffU;

    void describe(GradFnNode &node, TensorId tensor) const
    {
        if (!tensor.isValid())
            return;
        const TensorRow &row = m_trace.tensor(tensor);
        if (row.shapeKnown)
            node.shape = shapeValue(m_trace.shape(tensor));
        if (row.dtype != DType::unknown)
            node.dtype = torchDTypeName(row.dtype);
        node.requiresGrad = row.requiresGrad ? 1 : 0;
    }

    void visit(GradNodeId id, std::uint32_t consumer)
    {
        if (!id.isValid())
            return;
        std::uint32_t &number = m_number[id.index()];
        const bool isNew = number == kNone;
        if (isNew) {
            const bool full = sketch.nodes.size() >= m_maxNodes;
            number = add(id);
            if (full)
                sketch.truncated = true;
            else
                push(id, number);
        }
        if (m_edges.insert({number, consumer}).second)
            sketch.edges.emplace_back(number, consumer);
    }

    // In reverse, so that the first input is walked first.
    void push(GradNodeId id, std::uint32_t number)
    {
        const auto next = m_trace.nextEdges(id);
        for (std::size_t i = next.size(); i-- > 0;)
            m_stack.emplace_back(next[i].node, number);
    }

    std::uint32_t add(GradNodeId id)
    {
        const GradNodeRow &row = m_trace.gradNode(id);
        GradFnNode node;
        node.id = static_cast<std::uint32_t>(sketch.nodes.size());
        node.name = m_trace.string(row.className);
        node.node = id;
        node.paramName = m_trace.string(row.parameter);
        if (row.parameter.isValid() || node.name == "AccumulateGrad") {
            node.kind = GradFnKind::leaf;
            describe(node, leafTensor(row.parameter));
        } else if (row.call.isValid() && m_trace.call(row.call).rows.count > 0) {
            node.op = OpId(m_trace.call(row.call).rows.begin);
        }
        sketch.nodes.push_back(std::move(node));
        return sketch.nodes.back().id;
    }

    TensorId leafTensor(StringId address) const
    {
        if (!address.isValid())
            return {};
        for (const ParamRow &row : m_trace.params())
            if (row.address == address)
                return row.tensor;
        for (const OpRow &row : m_trace.ops())
            if (row.kind == CallKind::input && m_trace.call(row.call).address == address)
                return row.tensor;
        return {};
    }

    const Trace &m_trace;
    std::size_t m_maxNodes;
    std::vector<std::uint32_t> m_number; // by autograd node
    std::vector<std::pair<GradNodeId, std::uint32_t>> m_stack;
    std::set<std::pair<std::uint32_t, std::uint32_t>> m_edges;
};

std::string escaped(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        out += c;
    }
    return out;
}

Result<std::vector<OpId>> wantedOps(const ReportRequest &request)
{
    std::vector<OpId> ops;
    const Value &outputs = request.option("outputs");
    for (const Value &key : outputs.isList() ? outputs.toList() : Value::List{}) {
        const auto op = lookUpOp(*request.trace, key);
        if (!op)
            return op.error();
        ops.push_back(*op);
    }
    return ops;
}

Value sketchValue(const GradFnSketch &sketch)
{
    Value nodes = Value::list();
    for (const GradFnNode &node : sketch.nodes)
        nodes.append(Value::object(
            {{"node_id", node.id},
             {"kind", gradFnKindName(node.kind)},
             {"name", node.name},
             {"param_name", node.paramName.empty() ? Value() : Value(node.paramName)},
             {"shape", node.shape},
             {"dtype", node.dtype.empty() ? Value() : Value(node.dtype)},
             {"requires_grad", node.requiresGrad < 0 ? Value() : Value(node.requiresGrad == 1)}}));
    Value edges = Value::list();
    for (const auto &[from, to] : sketch.edges)
        edges.append(Value::list({from, to}));
    return Value::object({{"nodes", std::move(nodes)},
                          {"edges", std::move(edges)},
                          {"truncated", sketch.truncated},
                          {"n_nodes", sketch.nodes.size()}});
}

Result<Report> sketchReport(std::string_view name, const ReportRequest &request, bool withDot)
{
    const Trace &trace = *request.trace;
    const auto ops = wantedOps(request);
    const auto refuse = [&](const Status &status) {
        return refusedReport(
            std::string(name), std::string(trace.subject()),
            {status.detail() == "grad_fn_walk_no_graph" ? "GradFnWalkError" : "InvalidArgumentError",
             status.detail(), status.message(), status.remedy()});
    };
    if (!ops)
        return refuse(ops.error());
    const auto sketch = walkGradFn(trace, *ops, request.option("max_nodes").toInt());
    if (!sketch)
        return refuse(sketch.error());
    Report report = startReport(std::string(name), std::string(trace.subject()));
    report.status = sketch->truncated ? "truncated" : "found";
    report.coverage = fmt::format("structure only: {} nodes, {} edges{}", sketch->nodes.size(),
                                  sketch->edges.size(), sketch->truncated ? ", cut at the ceiling" : "");
    report.result = sketchValue(*sketch);
    if (withDot)
        report.result.set("dot", sketchDot(*sketch));
    report.table.columns = {{"node_id", CellKind::integer, {}},
                            {"kind", CellKind::text, {}},
                            {"name", CellKind::text, {}},
                            {"param_name", CellKind::text, {}},
                            {"shape", CellKind::list, {}},
                            {"dtype", CellKind::text, {}},
                            {"op", CellKind::op, {}}};
    for (const GradFnNode &node : sketch->nodes)
        report.table.rows.push_back({{node.id, gradFnKindName(node.kind), node.name,
                                      node.paramName.empty() ? Value() : Value(node.paramName), node.shape,
                                      node.dtype.empty() ? Value() : Value(node.dtype),
                                      node.op.isValid() ? Value(trace.label(node.op)) : Value()},
                                     node.op,
                                     {}});
    return report;
}

// The row whose op made the value of row OP: of an output of the model not itself.
OpId makerOf(const Trace &trace, OpId op)
{
    if (trace.op(op).kind != CallKind::output)
        return op;
    const OpId producer = trace.producer(trace.op(op).tensor);
    if (producer.isValid() && trace.op(producer).kind != CallKind::output)
        return producer;
    const auto parents = trace.parents(op);
    return parents.size() == 1 ? parents.front() : OpId();
}

// The autograd node that made the value of row OP. Bundles tie no tensor to its node, but nodes to their ops:
// of several nodes of one op it is the one that no other of them feeds on.
GradNodeId nodeOf(const Trace &trace, OpId op)
{
    const TensorId tensor = trace.op(op).tensor;
    if (tensor.isValid() && trace.tensor(tensor).gradNode.isValid())
        return trace.tensor(tensor).gradNode;
    const OpId maker = makerOf(trace, op);
    if (!maker.isValid())
        return {};
    const auto isOfMaker = [&](GradNodeId node) {
        return node.isValid() && trace.gradNode(node).call == trace.op(maker).call;
    };
    std::vector<GradNodeId> nodes;
    std::set<GradNodeId> inner;
    for (std::size_t i = 0; i < trace.gradNodes().size(); ++i) {
        const GradNodeId node(i);
        if (!isOfMaker(node))
            continue;
        nodes.push_back(node);
        for (const auto &next : trace.nextEdges(node))
            if (isOfMaker(next.node) && next.node != node)
                inner.insert(next.node);
    }
    const auto outer =
        std::find_if(nodes.begin(), nodes.end(), [&](GradNodeId node) { return inner.count(node) == 0; });
    return outer == nodes.end() ? GradNodeId() : *outer;
}

std::vector<OpId> outputRows(const Trace &trace)
{
    std::vector<OpId> rows;
    for (std::size_t i = 0; i < trace.ops().size(); ++i)
        if (trace.op(OpId(i)).kind == CallKind::output)
            rows.emplace_back(i);
    return rows;
}

} // namespace

std::string_view gradFnKindName(GradFnKind kind)
{
    switch (kind) {
    case GradFnKind::root:
        return "root";
    case GradFnKind::leaf:
        return "leaf";
    case GradFnKind::op:
        break;
    }
    return "op";
}

Result<GradFnSketch> walkGradFn(const Trace &trace, std::span<const OpId> ops, std::int64_t maxNodes)
{
    Walker walker(trace, maxNodes);
    const std::vector<OpId> outputs = ops.empty() ? outputRows(trace) : std::vector<OpId>();
    for (const OpId op : ops.empty() ? std::span<const OpId>(outputs) : ops)
        if (const GradNodeId node = nodeOf(trace, op); node.isValid())
            walker.addRoot(op, node);
    // Where no output is known to have a node, the backward passes know where they began.
    if (ops.empty() && walker.sketch.nodes.empty())
        for (const BackwardRow &pass : trace.backwards())
            for (const GradNodeId root : trace.gradNodeIds(pass.roots))
                walker.addRoot(trace.producer(pass.loss), root);
    if (walker.sketch.nodes.empty())
        return Status(ErrorCode::invalidArgument,
                      fmt::format("{}: no autograd graph hangs on {}", trace.subject(),
                                  ops.empty() ? "the outputs" : "the ops asked for"))
            .withDetail("grad_fn_walk_no_graph")
            .withRemedy("capture with grad mode on and inputs or parameters that require gradients");
    return std::move(walker.sketch);
}

std::string sketchDot(const GradFnSketch &sketch)
{
    std::string dot = "digraph grad_fn {\n  rankdir=TB;\n  node [fontname=\"sans-serif\", fontsize=10];\n";
    for (const GradFnNode &node : sketch.nodes) {
        std::string label = node.name;
        if (!node.paramName.empty())
            label = node.paramName;
        if (node.kind == GradFnKind::leaf && !node.shape.isNull())
            label += "\\n" + toJson(node.shape);
        if (node.kind == GradFnKind::root && !node.dtype.empty())
            label += "\\n" + node.dtype;
        std::string text;
        for (std::size_t at = 0, end = 0; end != std::string::npos; at = end + 2) {
            end = label.find("\\n", at);
            text += (at == 0 ? "" : "\\n") +
                    escaped(std::string_view(label).substr(at, end == std::string::npos ? end : end - at));
        }
        const char *style = node.kind == GradFnKind::leaf
                                ? (node.requiresGrad == 0 ? "shape=box, style=filled, fillcolor=\"#dddddd\""
                                                          : "shape=box, style=filled, fillcolor=\"#cfe8cf\"")
                                : (node.kind == GradFnKind::root
                                       ? "shape=box, style=\"rounded,filled\", fillcolor=\"#cfdff5\""
                                       : "shape=box, style=rounded");
        dot += fmt::format("  n{} [label=\"{}\", {}];\n", node.id, text, style);
    }
    for (const auto &[from, to] : sketch.edges)
        dot += fmt::format("  n{} -> n{};\n", from, to);
    const std::string note =
        sketch.truncated ? fmt::format("\\ncut at {} nodes", sketch.nodes.size()) : std::string();
    dot += fmt::format("  labelloc=b;\n  label=\"structure only: no values, no times{}\";\n}}\n", note);
    return dot;
}

Result<Report> walkGradFnReport(const ReportRequest &request, const JobContext &)
{
    return sketchReport("walk_grad_fn", request, false);
}

Result<Report> sketchGradFnReport(const ReportRequest &request, const JobContext &)
{
    return sketchReport("sketch_grad_fn", request, true);
}

} // namespace core
