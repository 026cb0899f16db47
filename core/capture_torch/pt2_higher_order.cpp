// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/branch_gradients.h"
#include "core/capture_torch/pt2_arguments.h"
#include "core/capture_torch/pt2_executor.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/stack.h>

// The part of the executor that runs control flow and regions. Every op of a body is a real op of the run;
// only the select and stack that loops over a dimension need are the executor's own.
namespace core::pt2 {

namespace {

using Values = std::vector<c10::IValue>;

std::string regionKind(const NodeInfo &info)
{
    constexpr std::string_view kPrefix = "higher_order.";
    return info.target.starts_with(kPrefix) ? info.target.substr(kPrefix.size()) : info.target;
}

Values operands(const Node &node, std::size_t from, std::size_t to, const Values &slots)
{
    Values result;
    for (std::size_t i = from; i < std::min(to, node.arguments.size()); ++i)
        evaluateInto(result, node.arguments[i], slots);
    return result;
}

Values joined(Values first, const Values &second)
{
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

std::int64_t turns(const Values &inputs, const char *name)
{
    TORCH_CHECK(!inputs.empty() && inputs[0].isTensor() && inputs[0].toTensor().dim() > 0, name,
                " needs at least one tensor of one dimension or more to go over");
    const std::int64_t count = inputs[0].toTensor().size(0);
    TORCH_CHECK(count > 0, name, " over 0 elements has no results to stack");
    return count;
}

// Sets autocast for the CPU and puts back what was there.
class AutocastScope
{
public:
    AutocastScope(bool enabled, std::optional<at::ScalarType> type, bool cache)
        : m_enabled(at::autocast::is_autocast_enabled(at::kCPU)),
          m_type(at::autocast::get_autocast_dtype(at::kCPU)),
          m_cache(at::autocast::is_autocast_cache_enabled())
    {
        at::autocast::set_autocast_enabled(at::kCPU, enabled);
        if (type)
            at::autocast::set_autocast_dtype(at::kCPU, *type);
        at::autocast::set_autocast_cache_enabled(cache);
        at::autocast::increment_nesting();
    }
    ~AutocastScope()
    {
        if (at::autocast::decrement_nesting() == 0)
            at::autocast::clear_cache();
        at::autocast::set_autocast_enabled(at::kCPU, m_enabled);
        at::autocast::set_autocast_dtype(at::kCPU, m_type);
        at::autocast::set_autocast_cache_enabled(m_cache);
    }
    AutocastScope(const AutocastScope &) = delete;
    AutocastScope &operator=(const AutocastScope &) = delete;

private:
    bool m_enabled;
    at::ScalarType m_type;
    bool m_cache;
};

} // namespace

void Executor::runHigherOrder(const Node &node, Values &slots)
{
    Values results;
    switch (node.higherOrder) {
    case HigherOrder::cond:
        results = differentiated(node, runCond(node, slots), slots, "cond");
        break;
    case HigherOrder::whileLoop:
        results = differentiated(node, runWhileLoop(node, slots), slots, "while_loop");
        break;
    case HigherOrder::scan:
        results = differentiated(node, runScan(node, slots), slots, "scan");
        break;
    case HigherOrder::map:
        results = differentiated(node, runMap(node, slots), slots, "map");
        break;
    case HigherOrder::setGradEnabled: {
        const at::AutoGradMode mode(isTrue(evaluate(node.arguments[0], slots)));
        results =
            runRegion(node, 0, operands(node, node.operandsFrom, node.arguments.size(), slots), std::nullopt);
        break;
    }
    case HigherOrder::autocast:
        results = runAutocast(node, slots);
        break;
    case HigherOrder::inlined:
        results =
            runRegion(node, 0, operands(node, node.operandsFrom, node.arguments.size(), slots), std::nullopt);
        break;
    case HigherOrder::none:
        TORCH_CHECK(false, node.info.target, " is not supported");
    }
    storeFlat(node, results, slots);
}

// RESULTS of the control flow KIND, to autograd one function of all its operands.
Values Executor::differentiated(const Node &node, Values results, const Values &slots,
                                std::string_view kind) const
{
    const Values given = operands(node, 0, node.arguments.size(), slots);
    if (m_observer != nullptr)
        m_observer->internalOpsBegin(&node.info);
    results = withOperandGradients(given, std::move(results), kind);
    if (m_observer != nullptr)
        m_observer->internalOpsEnd();
    return results;
}

void Executor::storeFlat(const Node &node, const Values &results, Values &slots) const
{
    std::size_t next = 0;
    for (const NodeResult &result : node.results)
        for (const Slot slot : result.slots) {
            TORCH_CHECK(next < results.size(), "gave ", results.size(), " values, the program expects more");
            if (slot != kNoSlot)
                slots[slot] = results[next];
            ++next;
        }
}

Values Executor::runRegion(const Node &node, std::size_t subgraph, Values inputs,
                           std::optional<std::uint32_t> turn)
{
    const Graph &graph = *node.subgraphs[subgraph];
    if (m_observer == nullptr)
        return runGraph(graph, std::move(inputs));
    RegionInfo region;
    region.node = &node.info;
    region.kind = regionKind(node.info);
    region.part = graph.path.substr(graph.path.rfind('/') + 1);
    region.iteration = turn.value_or(0);
    m_observer->regionEntered(region);
    if (turn)
        m_moduleCalls->beginTurn(node.moduleCall);
    Values results = runGraph(graph, std::move(inputs));
    if (turn)
        m_moduleCalls->endTurn();
    m_observer->regionLeft(region);
    return results;
}

Values Executor::runCond(const Node &node, const Values &slots)
{
    const bool taken = isTrue(evaluate(node.arguments[0], slots));
    return runRegion(node, taken ? 0 : 1, operands(node, 1, node.arguments.size(), slots), std::nullopt);
}

Values Executor::runWhileLoop(const Node &node, const Values &slots)
{
    Values carried = operands(node, 0, 1, slots);
    const Values extra = operands(node, 1, node.arguments.size(), slots);
    for (std::uint32_t turn = 0;; ++turn) {
        const Values condition = runRegion(node, 0, joined(carried, extra), turn);
        TORCH_CHECK(condition.size() == 1, "the condition of the loop gave ", condition.size(), " values");
        if (!isTrue(condition[0]))
            return carried;
        carried = runRegion(node, 1, joined(carried, extra), turn);
    }
}

Values Executor::slices(const Node &node, const Values &stackedInputs, std::int64_t index)
{
    Values result;
    if (m_observer != nullptr)
        m_observer->internalOpsBegin(&node.info);
    for (const c10::IValue &input : stackedInputs)
        result.emplace_back(input.toTensor().select(0, index));
    if (m_observer != nullptr)
        m_observer->internalOpsEnd();
    return result;
}

at::Tensor Executor::stacked(const Node &node, const std::vector<at::Tensor> &parts)
{
    if (m_observer != nullptr)
        m_observer->internalOpsBegin(&node.info);
    at::Tensor result = at::stack(parts);
    if (m_observer != nullptr)
        m_observer->internalOpsEnd();
    return result;
}

Values Executor::runScan(const Node &node, const Values &slots)
{
    Values carried = operands(node, 0, 1, slots);
    const Values inputs = operands(node, 1, 2, slots);
    const Values extra = operands(node, 2, node.arguments.size(), slots);
    const std::size_t carriedCount = carried.size();
    const std::int64_t count = turns(inputs, "scan");
    std::vector<std::vector<at::Tensor>> columns;
    for (std::int64_t turn = 0; turn < count; ++turn) {
        Values given = joined(joined(carried, slices(node, inputs, turn)), extra);
        const Values results = runRegion(node, 0, std::move(given), static_cast<std::uint32_t>(turn));
        TORCH_CHECK(results.size() >= carriedCount, "the body of scan gave ", results.size(), " values, ",
                    carriedCount, " are carried");
        carried.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(carriedCount));
        columns.resize(results.size() - carriedCount);
        for (std::size_t i = 0; i < columns.size(); ++i)
            columns[i].push_back(results[carriedCount + i].toTensor());
    }
    for (const auto &column : columns)
        carried.emplace_back(stacked(node, column));
    return carried;
}

Values Executor::runMap(const Node &node, const Values &slots)
{
    const Values inputs = operands(node, 0, 1, slots);
    const Values extra = operands(node, 1, node.arguments.size(), slots);
    const std::int64_t count = turns(inputs, "map");
    std::vector<std::vector<at::Tensor>> columns;
    for (std::int64_t turn = 0; turn < count; ++turn) {
        Values given = joined(slices(node, inputs, turn), extra);
        const Values results = runRegion(node, 0, std::move(given), static_cast<std::uint32_t>(turn));
        columns.resize(results.size());
        for (std::size_t i = 0; i < columns.size(); ++i)
            columns[i].push_back(results[i].toTensor());
    }
    Values results;
    for (const auto &column : columns)
        results.emplace_back(stacked(node, column));
    return results;
}

// Arguments: device type, dtype or none, enabled, cache enabled or none.
Values Executor::runAutocast(const Node &node, const Values &slots)
{
    const c10::IValue type = evaluate(node.arguments[1], slots);
    const c10::IValue enabled = evaluate(node.arguments[2], slots);
    const c10::IValue cache = evaluate(node.arguments[3], slots);
    const AutocastScope scope(m_options.autocast && isTrue(enabled),
                              type.isInt() ? std::optional(static_cast<at::ScalarType>(type.toInt()))
                                           : std::nullopt,
                              cache.isNone() ? at::autocast::is_autocast_cache_enabled() : isTrue(cache));
    return runRegion(node, 0, operands(node, node.operandsFrom, node.arguments.size(), slots), std::nullopt);
}

} // namespace core::pt2
