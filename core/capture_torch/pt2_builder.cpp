// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/pt2_builder.h"

#include "core/capture_torch/pt2_metadata.h"

#include <algorithm>
#include <array>

namespace core::pt2 {

namespace {

constexpr std::string_view kOps = "torch.ops.";
constexpr std::string_view kHigherOrder = "torch.ops.higher_order.";
// torch 2.4 wrote some of them by the class behind them: "torch._higher_order_ops.wrap.wrap_with_autocast".
constexpr std::string_view kHigherOrderClass = "torch._higher_order_ops.";
constexpr std::string_view kWithEffects = "torch.ops.higher_order.with_effects";

struct HigherOrderEntry
{
    std::string_view name;
    HigherOrder kind;
    std::size_t graphs;       // subgraphs it has
    std::size_t operandsFrom; // positional arguments that are not graphs, before the operands
};
constexpr std::array kHigherOrders = {
    HigherOrderEntry{"cond", HigherOrder::cond, 2, 1},
    HigherOrderEntry{"while_loop", HigherOrder::whileLoop, 2, 0},
    HigherOrderEntry{"scan", HigherOrder::scan, 1, 0},
    HigherOrderEntry{"map", HigherOrder::map, 1, 0},
    HigherOrderEntry{"map_impl", HigherOrder::map, 1, 0},
    HigherOrderEntry{"wrap_with_set_grad_enabled", HigherOrder::setGradEnabled, 1, 1},
    HigherOrderEntry{"wrap_with_autocast", HigherOrder::autocast, 1, 4},
    HigherOrderEntry{"invoke_subgraph", HigherOrder::inlined, 1, 1},
    HigherOrderEntry{"wrap", HigherOrder::inlined, 1, 0},
    HigherOrderEntry{"strict_mode", HigherOrder::inlined, 1, 0},
    HigherOrderEntry{"tag_activation_checkpoint", HigherOrder::inlined, 1, 0},
    HigherOrderEntry{"wrap_activation_checkpoint", HigherOrder::inlined, 1, 0},
    HigherOrderEntry{"hints_wrapper", HigherOrder::inlined, 1, 0},
};

const HigherOrderEntry *findHigherOrder(std::string_view target)
{
    if (!target.starts_with(kHigherOrder))
        return nullptr;
    for (const HigherOrderEntry &entry : kHigherOrders)
        if (entry.name == target.substr(kHigherOrder.size()))
            return &entry;
    return nullptr;
}

// "torch.ops.aten.add.Tensor" -> aten::add, Tensor.
std::optional<c10::OperatorName> operatorName(std::string_view target)
{
    const std::string_view rest = target.substr(kOps.size());
    const auto first = rest.find('.');
    const auto last = rest.rfind('.');
    if (first == std::string_view::npos || first == last)
        return std::nullopt;
    std::string name(rest.substr(0, first));
    name += "::";
    name += rest.substr(first + 1, last - first - 1);
    const std::string_view overload = rest.substr(last + 1);
    return c10::OperatorName(name, overload == "default" ? std::string() : std::string(overload));
}

// All names of an output, wherever they stand.
template <class Function>
void forEachName(const Value &output, Function function)
{
    const Tagged content = tagged(output);
    if (content.value->isList()) {
        for (const Value &item : content.value->toList())
            function(argumentName(item));
        return;
    }
    function(argumentName(output));
}

std::string nodeName(const Value &json)
{
    if (const Value *name = json.find("name");
        name != nullptr && name->isString() && !name->toString().empty())
        return name->toString();
    for (const Value &output : json.at("outputs").toList()) {
        std::string first;
        forEachName(output, [&](const std::string &name) {
            if (first.empty())
                first = name;
        });
        if (!first.empty())
            return first;
    }
    const std::string target = displayTarget(json.at("target").toString());
    return target.substr(target.find('.') + 1);
}

} // namespace

std::string displayTarget(std::string_view target)
{
    return std::string(target.starts_with(kOps) ? target.substr(kOps.size()) : target);
}

GraphBuilder::GraphBuilder(Shared &shared, std::string path)
    : m_shared(shared), m_graph(std::make_shared<Graph>()),
      m_binder([this](const std::string &name) { return findSlot(name); })
{
    m_graph->path = std::move(path);
}

Slot GraphBuilder::findSlot(const std::string &name) const
{
    const auto found = m_slots.find(name);
    return found == m_slots.end() ? kNoSlot : found->second;
}

Result<std::shared_ptr<Graph>> GraphBuilder::build(const Value &graph)
{
    const Value::List &nodes = graph.at("nodes").toList();
    for (const Value &node : nodes)
        for (const Value &output : node.at("outputs").toList())
            forEachName(output, [this](const std::string &name) { m_allNames[name] = true; });

    if (Status status = declareInputs(graph.at("inputs").toList()); !status)
        return status;
    m_graph->nodes.reserve(nodes.size());
    for (const Value &node : nodes)
        if (Status status = addNode(node); !status)
            return status;
    if (Status status = bindOutputs(graph.at("outputs").toList()); !status)
        return status;
    noteUses();
    return m_graph;
}

Status GraphBuilder::define(const std::string &name, Node &node, Slot &slot)
{
    slot = kNoSlot;
    if (name.empty())
        return Status::ok();
    if (m_slots.contains(name))
        return Status(ErrorCode::corrupt,
                      "two nodes of graph \"" + m_graph->path + "\" define \"" + name + '"')
            .withDetail("duplicate_value");
    slot = m_graph->slots++;
    m_slots.emplace(name, slot);
    m_producers.push_back(node.info.id);
    return Status::ok();
}

Status GraphBuilder::declareInputs(const Value::List &inputs)
{
    Node none;
    none.info.id = kNoNode;
    for (const Value &input : inputs) {
        Slot slot = kNoSlot;
        if (Status status = define(argumentName(input), none, slot); !status)
            return status;
        m_graph->inputs.push_back(slot);
    }
    return Status::ok();
}

Status GraphBuilder::addNode(const Value &json)
{
    const Value::List &inputs = json.at("inputs").toList();
    if (json.at("target").toString() == kWithEffects && inputs.size() > 1 &&
        inputs[1].at("arg").at("as_operator").toString().starts_with(kOps))
        return addEffect(json);
    if (const std::string &target = json.at("target").toString(); target.starts_with(kHigherOrderClass)) {
        Value renamed = json;
        renamed.set("target", std::string(kHigherOrder) + target.substr(target.rfind('.') + 1));
        return addPlain(renamed);
    }
    return addPlain(json);
}

// with_effects(token, op, arguments...) gives (token, results...). It is the op: a token only keeps the order
// of such ops, which is the graph's here, so tokens are slots that nothing fills.
Status GraphBuilder::addEffect(const Value &json)
{
    const Value::List &inputs = json.at("inputs").toList();
    const Value::List &outputs = json.at("outputs").toList();
    const std::string &target = inputs[1].at("arg").at("as_operator").toString();
    const auto name = operatorName(target);
    const auto op = name ? c10::Dispatcher::singleton().findSchema(*name) : std::nullopt;
    Value arguments = Value::list();
    for (std::size_t i = 2; i < inputs.size(); ++i) {
        Value input = inputs[i];
        if (input.at("name").toString().empty() && op && i - 2 < op->schema().arguments().size())
            input.set("name", op->schema().arguments()[i - 2].name());
        arguments.append(std::move(input));
    }
    Value results = Value::list();
    for (std::size_t i = 1; i < outputs.size(); ++i)
        if (tagged(outputs[i]).tag != "as_none")
            results.append(outputs[i]);
    Node none;
    none.info.id = kNoNode;
    Slot token = kNoSlot;
    if (!outputs.empty())
        if (Status status = define(argumentName(outputs[0]), none, token); !status)
            return status;
    Value plain = json;
    plain.set("target", target);
    plain.set("inputs", std::move(arguments));
    plain.set("outputs", std::move(results));
    return addPlain(plain);
}

Status GraphBuilder::addPlain(const Value &json)
{
    Node node;
    if (Status status = readInfo(json, node); !status)
        return status;
    const std::string &target = json.at("target").toString();
    Status bound;
    if (target.starts_with(kHigherOrder))
        bound = bindHigherOrder(json, node);
    else if (target.starts_with(kOps))
        bound = bindDispatched(json, node);
    else
        bound = bindNumber(json, node);
    if (!bound)
        return bound;
    if (Status status = defineResults(json, node); !status)
        return status;
    auto &sources = node.info.numberSources;
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
    m_graph->nodes.push_back(std::move(node));
    return Status::ok();
}

Status GraphBuilder::readInfo(const Value &json, Node &node)
{
    if (!json.at("target").isString())
        return Status(ErrorCode::corrupt, "a node of graph \"" + m_graph->path + "\" has no target")
            .withDetail("bad_program");
    node.info.id = m_shared.program.nodeCount++;
    node.info.name = nodeName(json);
    node.info.target = displayTarget(json.at("target").toString());
    node.info.subgraph = m_graph->path;
    const Value &metadata = json.at("metadata");
    node.info.modules = parseModuleStack(metadata.at("nn_module_stack").toString());
    const std::string &stack = metadata.at("stack_trace").toString();
    node.info.frames = parseStackTrace(stack);
    const auto number = static_cast<std::uint32_t>(m_shared.stacks.size() + 1);
    node.info.stackNumber = m_shared.stacks.try_emplace(stack, number).first->second;
    node.moduleCall = moduleCallSite(node.info.modules);
    auto &ops = m_shared.program.ops;
    const auto [op, added] = m_shared.ops.try_emplace(node.info.target, ops.size());
    if (added)
        ops.push_back({node.info.target, 0});
    ++ops[op->second].count;
    return Status::ok();
}

std::uint32_t GraphBuilder::moduleCallSite(const std::vector<ModuleLevel> &levels)
{
    std::uint32_t site = kNoModuleCall;
    for (const ModuleLevel &level : levels) {
        auto &calls = m_shared.program.moduleCalls;
        const auto [found, added] =
            m_shared.moduleCalls.try_emplace({site, level.callKey}, static_cast<std::uint32_t>(calls.size()));
        if (added)
            calls.push_back({site, level});
        site = found->second;
    }
    return site;
}

void GraphBuilder::refuse(Node &node, const char *reason, const std::string &detail)
{
    node.kind = NodeKind::refused;
    m_shared.program.refusals.push_back(
        {reason, node.info.target + (detail.empty() ? "" : ": " + detail), node.info.name});
}

Status GraphBuilder::undefined(const std::string &name, const Node &node) const
{
    const std::string reader =
        "node " + node.info.name + " (" + node.info.target + ") reads \"" + name + "\", ";
    if (m_allNames.contains(name))
        return Status(ErrorCode::corrupt, reader + "which a later node makes").withDetail("cyclic_graph");
    return Status(ErrorCode::corrupt, reader + "which nothing makes").withDetail("undefined_value");
}

Status GraphBuilder::takeBinderFindings(Node &node, const std::string &argument)
{
    if (const std::string name = m_binder.takeUndefined(); !name.empty())
        return undefined(name, node);
    if (const std::string problem = m_binder.takeProblem(); !problem.empty()) {
        m_shared.report.add("unknown_argument", "node " + node.info.name + " (" + node.info.target +
                                                    "), argument \"" + argument + "\": " + problem);
        refuse(node, "unsupported_argument", problem);
    }
    for (const std::string &device : m_binder.takeDevices())
        m_shared.program.mappedDevices.push_back({device, "node " + node.info.name});
    for (const Slot slot : m_binder.takeNumberSlots())
        if (slot != kNoSlot && m_producers[slot] != kNoNode)
            node.info.numberSources.push_back(m_producers[slot]);
    return Status::ok();
}

Status GraphBuilder::bindDispatched(const Value &json, Node &node)
{
    const auto name = operatorName(json.at("target").toString());
    node.op = name ? c10::Dispatcher::singleton().findSchema(*name) : std::nullopt;
    node.kind = NodeKind::dispatched;
    if (!node.op) {
        refuse(node, "missing_op");
        for (const Value &input : json.at("inputs").toList()) // still check the names it reads
            m_binder.bindUntyped(input.at("arg"));
        m_binder.takeProblem();
        return takeBinderFindings(node, {});
    }
    const auto &schema = node.op->schema().arguments();
    std::vector<bool> given(schema.size(), false);
    node.arguments.resize(schema.size());
    for (const Value &input : json.at("inputs").toList()) {
        const std::string &argument = input.at("name").toString();
        const auto found = std::find_if(schema.begin(), schema.end(),
                                        [&](const c10::Argument &entry) { return entry.name() == argument; });
        if (found == schema.end()) {
            refuse(node, "unsupported_argument", "this LibTorch has no argument \"" + argument + '"');
            continue;
        }
        const auto index = static_cast<std::size_t>(found - schema.begin());
        node.arguments[index] = m_binder.bind(input.at("arg"), found->type(), found->N().value_or(0));
        given[index] = true;
        if (Status status = takeBinderFindings(node, argument); !status)
            return status;
    }
    for (std::size_t i = 0; i < schema.size(); ++i) {
        if (given[i])
            continue;
        if (schema[i].default_value())
            node.arguments[i].constant = *schema[i].default_value();
        else if (schema[i].type()->kind() != c10::TypeKind::OptionalType)
            refuse(node, "unsupported_argument", "no value for \"" + schema[i].name() + '"');
    }
    return Status::ok();
}

Status GraphBuilder::bindNumber(const Value &json, Node &node)
{
    node.number = findNumberFunction(json.at("target").toString());
    node.kind = NodeKind::number;
    if (node.number == nullptr)
        refuse(node, "unsupported_node");
    for (const Value &input : json.at("inputs").toList()) {
        node.arguments.push_back(m_binder.bindUntyped(input.at("arg")));
        if (Status status = takeBinderFindings(node, input.at("name").toString()); !status)
            return status;
    }
    return Status::ok();
}

Status GraphBuilder::addSubgraph(const Value &graph, Node &node)
{
    const std::string &prefix = m_graph->path;
    GraphBuilder builder(m_shared, prefix + (prefix.empty() ? "" : "/") + node.info.name + '/' +
                                       graph.at("name").toString());
    auto built = builder.build(graph.at("graph"));
    if (!built)
        return built.error();
    node.subgraphs.push_back(*std::move(built));
    return Status::ok();
}

Status GraphBuilder::bindHigherOrder(const Value &json, Node &node)
{
    const HigherOrderEntry *entry = findHigherOrder(json.at("target").toString());
    node.kind = NodeKind::higherOrder;
    if (entry != nullptr)
        node.higherOrder = entry->kind;
    else
        refuse(node, "unsupported_node");
    for (const Value &input : json.at("inputs").toList()) {
        const Tagged content = tagged(input.at("arg"));
        if (content.tag == "as_graph") {
            if (Status status = addSubgraph(*content.value, node); !status)
                return status;
            continue;
        }
        if (!input.at("name").toString().empty())
            continue; // a keyword such as use_reentrant: it changes nothing in a plain run
        node.arguments.push_back(m_binder.bindUntyped(input.at("arg")));
        if (Status status = takeBinderFindings(node, {}); !status)
            return status;
    }
    if (entry == nullptr)
        return Status::ok();
    node.operandsFrom = entry->operandsFrom;
    if (node.subgraphs.size() != entry->graphs || node.arguments.size() < entry->operandsFrom)
        refuse(node, "unsupported_node",
               std::to_string(node.subgraphs.size()) + " subgraphs and " +
                   std::to_string(node.arguments.size()) + " arguments, expected " +
                   std::to_string(entry->graphs) + " and at least " + std::to_string(entry->operandsFrom));
    if (entry->kind == HigherOrder::scan && node.arguments.size() > 3)
        refuse(node, "unsupported_node", "the scan of PyTorch 2.6 with dim and reverse");
    return Status::ok();
}

Status GraphBuilder::defineList(const Value &items, Node &node)
{
    NodeResult result;
    result.isList = true;
    for (const Value &item : items.toList()) {
        Slot slot = kNoSlot;
        node.info.outputs.push_back(argumentName(item));
        if (Status status = define(argumentName(item), node, slot); !status)
            return status;
        result.slots.push_back(slot);
    }
    node.results.push_back(std::move(result));
    return Status::ok();
}

Status GraphBuilder::defineResults(const Value &json, Node &node)
{
    const Value::List &outputs = json.at("outputs").toList();
    for (const Value &output : outputs) {
        const Tagged content = tagged(output);
        if (content.value->isList() && content.tag != "as_none") {
            if (Status status = defineList(*content.value, node); !status)
                return status;
            continue;
        }
        NodeResult result;
        Slot slot = kNoSlot;
        const std::string &name = argumentName(output);
        node.info.outputs.push_back(name);
        if (Status status = define(name, node, slot); !status)
            return status;
        result.slots.push_back(slot);
        node.results.push_back(std::move(result));
    }
    // One list for an op that returns several values.
    const std::size_t returns = node.op ? node.op->schema().returns().size() : 1;
    if (node.kind == NodeKind::dispatched && node.results.size() == 1 && node.results[0].isList &&
        returns > 1) {
        const std::vector<Slot> slots = std::move(node.results[0].slots);
        node.results.clear();
        for (const Slot slot : slots)
            node.results.push_back({false, {slot}});
    }
    return Status::ok();
}

Status GraphBuilder::bindOutputs(const Value::List &outputs)
{
    Node none;
    none.info.name = "output";
    none.info.target = "graph output";
    for (const Value &output : outputs) {
        m_graph->outputs.push_back(m_binder.bindUntyped(output));
        if (Status status = takeBinderFindings(none, {}); !status)
            return status;
    }
    return Status::ok();
}

// Python's generated code drops a value after its last use; so do runs, by the lists made here.
void GraphBuilder::noteUses()
{
    constexpr std::size_t kNever = std::size_t(-1);
    std::vector<std::size_t> last(m_graph->slots, kNever);
    const auto use = [&last](const Argument &argument, std::size_t at) {
        if (argument.slot != kNoSlot)
            last[argument.slot] = at;
        for (const Operand &operand : argument.items)
            if (operand.slot != kNoSlot)
                last[operand.slot] = at;
    };
    for (std::size_t i = 0; i < m_graph->nodes.size(); ++i) {
        const Node &node = m_graph->nodes[i];
        for (const Argument &argument : node.arguments)
            use(argument, i);
        for (const NodeResult &result : node.results)
            for (const Slot slot : result.slots)
                if (slot != kNoSlot)
                    last[slot] = i;
    }
    for (const Argument &output : m_graph->outputs)
        use(output, kNever);
    for (Slot slot = 0; slot < m_graph->slots; ++slot)
        if (last[slot] != kNever)
            m_graph->nodes[last[slot]].releases.push_back(slot);
}

Result<std::unordered_map<std::string, Slot>> buildGraphs(Program &program, LoadReport &report)
{
    try {
        GraphBuilder::Shared shared{program, report, {}, {}, {}};
        GraphBuilder builder(shared, {});
        auto graph = builder.build(program.document->graph());
        if (!graph)
            return graph.error();
        program.graph = *std::move(graph);
        return builder.slots();
    } catch (const std::exception &error) {
        return Status(ErrorCode::corrupt, std::string("the program cannot be read: ") + error.what())
            .withDetail("bad_program");
    }
}

} // namespace core::pt2
