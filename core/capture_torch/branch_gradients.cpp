// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/branch_gradients.h"

#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/function.h>

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>

namespace core {
namespace {

using torch::autograd::Edge;
using torch::autograd::edge_list;
using torch::autograd::Node;
using torch::autograd::variable_list;

// Next edges: first those of the results, then those of the operands that get zeros.
class BranchBackward final : public Node
{
public:
    BranchBackward(std::string name, edge_list next, const std::vector<at::Tensor> &unused)
        : Node(std::move(next)), m_name(std::move(name))
    {
        for (const at::Tensor &operand : unused)
            m_unused.emplace_back(operand.sizes().vec(), operand.options());
    }

    std::string name() const override { return m_name; }

protected:
    variable_list apply(variable_list &&arriving) override
    {
        variable_list emitted = std::move(arriving);
        for (const auto &[shape, options] : m_unused)
            emitted.push_back(at::zeros(shape, options));
        return emitted;
    }

private:
    std::string m_name;
    std::vector<std::pair<std::vector<std::int64_t>, at::TensorOptions>> m_unused;
};

bool isDifferentiable(const c10::IValue &value)
{
    return value.isTensor() && value.toTensor().defined() &&
           (at::isFloatingType(value.toTensor().scalar_type()) ||
            at::isComplexType(value.toTensor().scalar_type()));
}

std::vector<at::Tensor> differentiable(const std::vector<c10::IValue> &values, bool requiringOnly)
{
    std::vector<at::Tensor> tensors;
    for (const c10::IValue &value : values)
        if (isDifferentiable(value) && (!requiringOnly || value.toTensor().requires_grad()))
            tensors.push_back(value.toTensor());
    return tensors;
}

using Place = std::pair<Node *, std::uint32_t>;

// The places among those of OPERANDS that a gradient of RESULTS arrives at. The walk stays inside the branch:
// its graphs close over nothing but their operands.
std::set<Place> reached(const edge_list &results, const edge_list &operands)
{
    std::set<Place> wanted;
    std::unordered_set<Node *> borders;
    for (const Edge &edge : operands) {
        wanted.emplace(edge.function.get(), edge.input_nr);
        borders.insert(edge.function.get());
    }
    std::set<Place> found;
    std::unordered_set<Node *> seen;
    std::vector<Edge> todo = results;
    while (!todo.empty()) {
        const Edge edge = std::move(todo.back());
        todo.pop_back();
        if (!edge.is_valid())
            continue;
        const Place place(edge.function.get(), edge.input_nr);
        if (wanted.contains(place))
            found.insert(place);
        if (borders.contains(edge.function.get()) || !seen.insert(edge.function.get()).second)
            continue;
        const edge_list &next = edge.function->next_edges();
        todo.insert(todo.end(), next.begin(), next.end());
    }
    return found;
}

edge_list edgesOf(const std::vector<at::Tensor> &tensors)
{
    edge_list edges;
    for (const at::Tensor &tensor : tensors)
        edges.push_back(torch::autograd::impl::gradient_edge(tensor));
    return edges;
}

std::string nodeName(std::string_view kind)
{
    std::string name;
    bool upper = true;
    for (const char letter : kind) {
        if (letter != '_')
            name += upper ? static_cast<char>(letter - 'a' + 'A') : letter;
        upper = letter == '_';
    }
    return name + "AutogradOpBackward";
}

} // namespace

std::vector<c10::IValue> withOperandGradients(const std::vector<c10::IValue> &operands,
                                              std::vector<c10::IValue> results, std::string_view kind)
{
    if (!c10::GradMode::is_enabled())
        return results;
    const std::vector<at::Tensor> requiring = differentiable(operands, true);
    const std::vector<at::Tensor> values = differentiable(results, false);
    const edge_list places = edgesOf(requiring);
    edge_list next = edgesOf(values);
    const std::set<Place> found = reached(next, places);
    std::vector<at::Tensor> unused;
    std::set<Place> added;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const Place place(places[i].function.get(), places[i].input_nr);
        if (found.contains(place) || !added.insert(place).second)
            continue;
        next.push_back(places[i]);
        unused.push_back(requiring[i]);
    }
    if (unused.empty() || values.empty())
        return results;
    const auto node = c10::make_intrusive<BranchBackward>(nodeName(kind), std::move(next), unused);
    for (c10::IValue &result : results) {
        if (!isDifferentiable(result))
            continue;
        at::Tensor alias = result.toTensor().detach();
        torch::autograd::create_gradient_edge(alias, node);
        result = std::move(alias);
    }
    return results;
}

bool isBranchNode(const Node &node)
{
    return dynamic_cast<const BranchBackward *>(&node) != nullptr;
}

} // namespace core
