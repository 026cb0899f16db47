// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/script_markers.h"

#include "core/capture_torch/script_frames.h"

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/autocast.h>
#include <torch/csrc/jit/passes/canonicalize_graph_fuser_ops.h>
#include <torch/csrc/jit/passes/constant_propagation.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/csrc/jit/passes/peephole.h>
#include <torch/csrc/jit/runtime/custom_operator.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace core {

namespace {

using torch::jit::Block;
using torch::jit::Node;
using torch::jit::Stack;
using ScriptValue = torch::jit::Value;

// A marker is an operator of the interpreter, a plain function: this is the only way to tell it who listens.
thread_local ScriptListener *t_listener = nullptr;

// opscope::enter(int graph, self of a method, int count)
void enterMarker(Stack &stack)
{
    const auto count = static_cast<std::size_t>(torch::jit::pop(stack).toInt());
    const c10::IValue *const first = &*(stack.end() - static_cast<std::ptrdiff_t>(count));
    if (t_listener != nullptr)
        t_listener->graphEntered(static_cast<std::uint32_t>(first[0].toInt()),
                                 count > 1 ? &first[1] : nullptr);
    torch::jit::drop(stack, count);
}

// opscope::leave(int graph, outputs..., int count)
void leaveMarker(Stack &stack)
{
    const auto count = static_cast<std::size_t>(torch::jit::pop(stack).toInt());
    const auto first = stack.end() - static_cast<std::ptrdiff_t>(count);
    if (t_listener != nullptr)
        t_listener->graphLeft(static_cast<std::uint32_t>(first->toInt()), {first + 1, stack.end()});
    torch::jit::drop(stack, count);
}

void atMarker(Stack &stack)
{
    const auto node = static_cast<std::uint32_t>(torch::jit::pop(stack).toInt());
    if (t_listener != nullptr)
        t_listener->nodeReached(node);
}

// opscope::block(int node, int block, int turn)
void blockMarker(Stack &stack)
{
    const std::int64_t turn = torch::jit::pop(stack).toInt();
    const std::int64_t block = torch::jit::pop(stack).toInt();
    const std::int64_t node = torch::jit::pop(stack).toInt();
    if (t_listener != nullptr)
        t_listener->blockEntered(static_cast<std::uint32_t>(node), static_cast<std::uint32_t>(block), turn);
}

void afterMarker(Stack &stack)
{
    const auto node = static_cast<std::uint32_t>(torch::jit::pop(stack).toInt());
    if (t_listener != nullptr)
        t_listener->blocksLeft(node);
}

torch::jit::Operator marker(const char *schema, void (*function)(Stack &))
{
    return {schema, [function](Stack &stack) { function(stack); }, c10::AliasAnalysisKind::CONSERVATIVE};
}

const torch::jit::RegisterOperators kMarkers({
    marker("opscope::enter(...) -> ()", enterMarker),
    marker("opscope::leave(...) -> ()", leaveMarker),
    marker("opscope::at(int node) -> ()", atMarker),
    marker("opscope::block(int node, int block, int turn) -> ()", blockMarker),
    marker("opscope::after(int node) -> ()", afterMarker),
});

// Nodes that never dispatch an op and call nothing.
bool isSilent(const Node *node)
{
    switch (node->kind()) {
    case c10::prim::Constant:
    case c10::prim::GetAttr:
    case c10::prim::SetAttr:
    case c10::prim::ListConstruct:
    case c10::prim::ListUnpack:
    case c10::prim::TupleConstruct:
    case c10::prim::TupleUnpack:
    case c10::prim::TupleIndex:
    case c10::prim::DictConstruct:
    case c10::prim::CreateObject:
    case c10::prim::unchecked_cast:
    case c10::prim::unchecked_unwrap_optional:
    case c10::prim::Uninitialized:
    case c10::prim::Print:
        return true;
    default:
        return node->kind().is_attr();
    }
}

bool isNumber(const c10::TypePtr &type)
{
    switch (type->kind()) {
    case c10::TypeKind::IntType:
    case c10::TypeKind::FloatType:
    case c10::TypeKind::BoolType:
    case c10::TypeKind::NumberType:
    case c10::TypeKind::ComplexType:
        return true;
    case c10::TypeKind::ListType:
        return isNumber(type->expectRef<c10::ListType>().getElementType());
    case c10::TypeKind::OptionalType:
        return isNumber(type->expectRef<c10::OptionalType>().getElementType());
    default:
        return false;
    }
}

bool isAutocast(const c10::Type &type)
{
    return type.annotation_str().find("autocast") != std::string::npos;
}

class Marker
{
public:
    explicit Marker(ScriptProgram &program) : m_program(program) {}

    void module(torch::jit::Module &module)
    {
        m_unit = module._ivalue()->compilation_unit();
        for (const torch::jit::Module &part : module.modules())
            for (const torch::jit::Method &method : part.get_methods())
                function(method.function(), true);
        readConstants();
    }

private:
    // The executor would read tensor constants that are used as numbers when it compiles a graph, in the
    // middle of the first run: no ops of the model, and absent from later runs.
    void readConstants()
    {
        for (torch::jit::Function *function : m_done) {
            const std::shared_ptr<torch::jit::Graph> graph = torch::jit::toGraphFunction(*function).graph();
            torch::jit::CanonicalizeOps(graph);
        }
        for (const std::shared_ptr<torch::jit::Graph> &graph : m_forked)
            torch::jit::CanonicalizeOps(graph);
    }

    void function(torch::jit::Function &function, bool isMethod)
    {
        if (!function.isGraphFunction() || !m_done.insert(&function).second)
            return;
        const std::shared_ptr<torch::jit::Graph> graph = torch::jit::toGraphFunction(function).graph();
        const auto id = static_cast<std::uint32_t>(m_program.graphs.size());
        m_program.graphs.push_back({function.name(), isMethod});
        m_name = function.name();
        block(graph->block());
        edges(*graph, id, isMethod);
        // Functions that this one calls, found while its nodes were marked.
        for (torch::jit::Function *called : std::exchange(m_called, {}))
            this->function(*called, false);
    }

    ScriptValue *constant(Node *before, std::int64_t value)
    {
        const torch::jit::WithInsertPoint here(before);
        return before->owningGraph()->insertConstant(value);
    }

    Node *mark(Node *before, const char *name, std::vector<ScriptValue *> inputs)
    {
        Node *made = before->owningGraph()->create(c10::Symbol::fromQualString(name), inputs, 0);
        made->setSourceRange(before->sourceRange());
        return made->insertBefore(before);
    }

    void edges(torch::jit::Graph &graph, std::uint32_t id, bool isMethod)
    {
        Node *const first = *graph.nodes().begin();
        std::vector<ScriptValue *> inputs = {constant(first, id)};
        if (isMethod)
            inputs.push_back(graph.inputs()[0]);
        inputs.push_back(constant(first, static_cast<std::int64_t>(inputs.size())));
        mark(first, "opscope::enter", inputs);
        Node *const last = graph.return_node();
        std::vector<ScriptValue *> outputs = {constant(last, id)};
        outputs.insert(outputs.end(), graph.outputs().begin(), graph.outputs().end());
        outputs.push_back(constant(last, static_cast<std::int64_t>(outputs.size())));
        mark(last, "opscope::leave", outputs);
    }

    void block(Block *block)
    {
        const std::vector<Node *> nodes(block->nodes().begin(), block->nodes().end());
        for (Node *node : nodes) {
            if (isSilent(node))
                continue;
            const auto id = static_cast<std::uint32_t>(m_program.nodes.size());
            m_ids.emplace(node, id);
            describe(node);
            mark(node, "opscope::at", {constant(node, id)});
            if (node->kind() == c10::prim::Enter && isAutocast(*node->inputs()[0]->type()))
                m_program.usesAutocast = true;
            called(node);
            blocks(node, id);
            if (node->kind() != c10::prim::fork)
                continue;
            m_forked.push_back(node->g(c10::attr::Subgraph));
            this->block(m_forked.back()->block());
        }
    }

    void blocks(Node *node, std::uint32_t id)
    {
        for (std::size_t i = 0; i < node->blocks().size(); ++i) {
            Block *const inner = node->blocks()[i];
            block(inner);
            Node *const first = *inner->nodes().begin(); // the return node of an empty block
            ScriptValue *const turn =
                node->kind() == c10::prim::Loop ? inner->inputs()[0] : constant(first, 0);
            mark(first, "opscope::block",
                 {constant(first, id), constant(first, static_cast<std::int64_t>(i)), turn});
        }
        if (node->blocks().empty())
            return;
        Node *const next = node->next();
        mark(next, "opscope::after", {constant(next, id)});
    }

    // Functions, and methods of classes that are no modules; those of modules are marked anyway.
    void called(Node *node)
    {
        if (node->inputs().empty())
            return;
        const c10::TypePtr type = node->inputs()[0]->type();
        if (node->kind() == c10::prim::CallFunction) {
            if (const auto function = type->cast<c10::FunctionType>())
                m_called.push_back(function->function());
        } else if (node->kind() == c10::prim::CallMethod) {
            calledMethod(type, node->s(c10::attr::name));
        } else if (node->kind() == c10::prim::Enter && !isAutocast(*type)) {
            calledMethod(type, "__enter__");
            calledMethod(type, "__exit__");
        }
    }

    void calledMethod(const c10::TypePtr &type, const std::string &name)
    {
        if (const auto known = type->cast<c10::ClassType>()) {
            torch::jit::Function *const method = known->is_module() ? nullptr : known->findMethod(name);
            if (method != nullptr)
                m_called.push_back(method);
            return;
        }
        // Of an interface: whatever has a method of that name.
        if (type->kind() != c10::TypeKind::InterfaceType || type->is_module())
            return;
        if (!m_soughtMethods.insert(name).second)
            return;
        for (torch::jit::Function *function : m_unit->get_functions()) {
            const auto &arguments = function->getSchema().arguments();
            if (function->name() == name && !arguments.empty() && !arguments[0].type()->is_module())
                m_called.push_back(function);
        }
    }

    void describe(Node *node)
    {
        ScriptNode facts;
        facts.kind = node->kind().toQualString();
        const auto [block, isNew] = m_hasPlaces.try_emplace(node->owningBlock(), false);
        if (isNew)
            block->second = hasPlaces(*node->owningBlock());
        facts.place = block->second ? placeOf(node, m_name) : scriptPlace(node->sourceRange(), m_name);
        for (ScriptValue *input : node->inputs())
            if (isNumber(input->type()))
                merge(numberSources(input), facts.numberSources);
        if (m_texts.insert(sourceIdentity(node->sourceRange())).second)
            addSource(node->sourceRange());
        m_program.nodes.push_back(std::move(facts));
    }

    void addSource(const torch::jit::SourceRange &range)
    {
        if (auto piece = sourcePiece(range);
            piece && m_pieces.insert(piece->file + ':' + std::to_string(piece->firstLine)).second)
            m_program.sources.push_back(std::move(*piece));
    }

    using Sources = std::vector<std::uint32_t>;

    static void merge(const Sources &more, Sources &out)
    {
        for (const std::uint32_t id : more)
            if (out.size() < kMostSources && std::find(out.begin(), out.end(), id) == out.end())
                out.push_back(id);
    }

    // The numbers that a number is made of: none behind a node that takes it out of a tensor.
    static std::vector<ScriptValue *> numbersBehind(Node *node)
    {
        std::vector<ScriptValue *> numbers;
        if (node->kind() == c10::prim::If || node->kind() == c10::prim::Loop)
            for (Block *inner : node->blocks())
                for (ScriptValue *result : inner->outputs())
                    if (isNumber(result->type()))
                        numbers.push_back(result);
        for (ScriptValue *input : node->inputs())
            if (isNumber(input->type()))
                numbers.push_back(input);
        return numbers;
    }

    // Walks a number back over scalar arithmetic to the nodes that took it out of a tensor. Each value is
    // walked once, without recursion: a script may have a hundred thousand additions in a row.
    const Sources &numberSources(ScriptValue *value)
    {
        std::vector<std::pair<ScriptValue *, bool>> open = {
            {value, false}}; // true: what is behind it was walked
        while (!open.empty()) {
            const auto [at, walked] = open.back();
            open.pop_back();
            Node *const node = at->node();
            if (walked) {
                Sources sources;
                for (ScriptValue *number : numbersBehind(node))
                    merge(m_sources[number], sources);
                m_sources[at] = std::move(sources);
                continue;
            }
            const auto [known, isNew] = m_sources.try_emplace(at);
            if (!isNew)
                continue;
            if (takesFromTensor(node)) {
                if (const auto id = m_ids.find(node); id != m_ids.end())
                    known->second.push_back(id->second);
                continue;
            }
            open.emplace_back(at, true);
            for (ScriptValue *number : numbersBehind(node))
                open.emplace_back(number, false);
        }
        return m_sources[value];
    }

    static bool takesFromTensor(const Node *node)
    {
        const auto inputs = node->inputs();
        return std::any_of(inputs.begin(), inputs.end(), [](const ScriptValue *input) {
            return input->type()->isSubtypeOf(*c10::TensorType::get());
        });
    }

    // More sources than these would make the links of long scripts grow with the square of their length.
    static constexpr std::size_t kMostSources = 256;

    ScriptProgram &m_program;
    std::unordered_set<torch::jit::Function *> m_done;
    std::unordered_map<const Node *, std::uint32_t> m_ids;
    std::unordered_map<const ScriptValue *, Sources> m_sources;
    std::unordered_map<const torch::jit::Block *, bool> m_hasPlaces;
    std::unordered_set<const void *> m_texts; // looked at, all of them kept by the graphs
    std::unordered_set<std::string> m_pieces;
    std::unordered_set<std::string> m_soughtMethods; // of interfaces
    std::vector<torch::jit::Function *> m_called;
    std::vector<std::shared_ptr<torch::jit::Graph>> m_forked; // what runs as tasks
    std::shared_ptr<torch::jit::CompilationUnit> m_unit;
    std::string m_name;
};

bool hasCalls(Block *block)
{
    return std::any_of(block->nodes().begin(), block->nodes().end(), [](Node *node) {
        return node->kind() == c10::prim::CallFunction ||
               (node->kind() == c10::prim::CallMethod &&
                node->inputs()[0]->type()->kind() == c10::TypeKind::ClassType) ||
               std::any_of(node->blocks().begin(), node->blocks().end(), hasCalls);
    });
}

// With the executor's optimisation off the inliner takes a callee as it is, and its calls with it.
void inlineAll(torch::jit::Graph &graph)
{
    constexpr int kMostLevels = 128;
    for (int level = 0; level < kMostLevels && hasCalls(graph.block()); ++level)
        torch::jit::Inline(graph);
}

// With the executor's optimisation off nobody applies autocast regions.
void applyAutocast(torch::jit::Module &module)
{
    const auto method = module.find_method("forward");
    if (!method)
        return;
    auto graph = torch::jit::toGraphFunction(method->function()).graph();
    inlineAll(*graph);
    torch::jit::PeepholeOptimize(graph, true);
    torch::jit::ConstantPropagationImmutableTypes(graph);
    torch::jit::Autocast(graph);
}

} // namespace

ScriptProgram markScript(torch::jit::Module &module)
{
    ScriptProgram program;
    Marker(program).module(module);
    if (program.usesAutocast)
        applyAutocast(module);
    return program;
}

ScriptListenerScope::ScriptListenerScope(ScriptListener &listener)
    : m_before(std::exchange(t_listener, &listener))
{
}

ScriptListenerScope::~ScriptListenerScope()
{
    t_listener = m_before;
}

} // namespace core
