// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/shape_facts.h"

#include "core/capture_torch/script_model.h"

#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/ir.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <regex>

namespace core {
namespace {

using torch::jit::Module;
using torch::jit::Node;

// "__torch__.torch.nn.modules.conv.___torch_mangle_60.Conv2d" -> "Conv2d"
std::string shortType(const Module &module)
{
    const auto &name = module.type()->name();
    return name ? name->name() : std::string();
}

const at::Tensor *find(const std::vector<std::pair<std::string, at::Tensor>> &list, const std::string &name)
{
    for (const auto &[known, tensor] : list)
        if (known == name)
            return &tensor;
    return nullptr;
}

// The first node of KIND in the methods of MODULE, not in those of its children.
const Node *findCall(const torch::jit::Block &block, std::initializer_list<std::string_view> kinds)
{
    for (const Node *node : block.nodes()) {
        const std::string_view kind = node->kind().toQualString();
        if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end())
            return node;
        for (const torch::jit::Block *inner : node->blocks())
            if (const Node *found = findCall(*inner, kinds))
                return found;
    }
    return nullptr;
}

const Node *findCall(const Module &module, std::initializer_list<std::string_view> kinds)
{
    for (const torch::jit::Method &method : module.get_methods()) {
        const torch::jit::GraphFunction *graph = torch::jit::tryToGraphFunction(method.function());
        if (graph == nullptr)
            continue;
        if (const Node *found = findCall(*graph->graph()->block(), kinds))
            return found;
    }
    return nullptr;
}

c10::IValue constantInput(const Node *node, const std::string &name)
{
    const c10::FunctionSchema *schema = node->maybeSchema();
    if (schema == nullptr)
        return {};
    const auto index = schema->argumentIndexWithName(name);
    if (!index || static_cast<std::size_t>(*index) >= node->inputs().size())
        return {};
    const auto value = torch::jit::toIValue(node->input(static_cast<std::size_t>(*index)));
    return value ? *value : c10::IValue();
}

// An attribute or a constant of the class; none otherwise.
c10::IValue memberOf(const Module &module, const std::string &name)
{
    if (module.hasattr(name))
        return module.attr(name);
    const auto slot = module.type()->findConstantSlot(name);
    return slot ? module.type()->getConstant(*slot) : c10::IValue();
}

bool isFloat(const at::Tensor &tensor)
{
    return tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kDouble ||
           tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16;
}

constexpr const char *kPackedName = "_packed_params";

// Modules of one kind by the end of their type's name, so that variants (Conv2dSame, QuantLinear) count too.
LayerKind kindOf(const std::string &type)
{
    const auto begins = [&](std::string_view what) { return std::string_view(type).starts_with(what); };
    if (type == "Embedding" || type == "EmbeddingBag" || type.ends_with("WordEmbedding"))
        return LayerKind::embedding;
    if (type == "RNN" || type == "LSTM" || type == "GRU")
        return LayerKind::recurrent;
    if (type == "RNNCell" || type == "LSTMCell" || type == "GRUCell")
        return LayerKind::cell;
    if (begins("ConvTranspose"))
        return LayerKind::transposedConv;
    if (begins("Conv1d") || begins("Conv2d") || begins("Conv3d") || type.ends_with("Conv2d"))
        return LayerKind::conv;
    if (type == "TransformerEncoderLayer")
        return LayerKind::transformer;
    if (type == "GroupNorm")
        return LayerKind::groupNorm;
    if (begins("BatchNorm") || begins("InstanceNorm") || begins("SyncBatchNorm") || begins("LayerNorm") ||
        begins("RMSNorm"))
        return LayerKind::norm;
    if (type == "Bilinear")
        return LayerKind::bilinear;
    return type.ends_with("Linear") ? LayerKind::linear : LayerKind::other;
}

void describeConv(const Module &module, const at::Tensor &weight, LayerFact &fact)
{
    std::int64_t groups = 1;
    if (const c10::IValue known = memberOf(module, "groups"); known.isInt())
        groups = known.toInt();
    c10::IValue stride = memberOf(module, "stride");
    if (const Node *call = findCall(module, {"aten::_convolution", "aten::conv1d", "aten::conv2d",
                                             "aten::conv3d", "aten::convolution"})) {
        if (const c10::IValue value = constantInput(call, "groups"); value.isInt())
            groups = value.toInt();
        if (const c10::IValue value = constantInput(call, "stride"); !value.isNone())
            stride = value;
        if (const c10::IValue value = constantInput(call, "transposed"); value.isBool() && value.toBool())
            fact.kind = LayerKind::other;
    }
    fact.features = weight.size(1) * groups;
    fact.outputs = weight.size(0);
    fact.kernel = weight.sizes().slice(2).vec();
    if (stride.isIntList() && !stride.toIntList().empty())
        fact.stride = stride.toIntList().get(0);
    else if (stride.isTuple() && !stride.toTupleRef().elements().empty() &&
             stride.toTupleRef().elements()[0].isInt())
        fact.stride = stride.toTupleRef().elements()[0].toInt();
    else if (!fact.kernel.empty() && stride.isNone())
        fact.stride = fact.kernel[0];
}

bool isBatchFirst(const Module &module, bool otherwise)
{
    if (const c10::IValue known = memberOf(module, "batch_first"); known.isBool())
        return known.toBool();
    if (const Node *call = findCall(module, {"aten::lstm", "aten::gru", "aten::rnn_tanh", "aten::rnn_relu"}))
        if (const c10::IValue value = constantInput(call, "batch_first"); value.isBool())
            return value.toBool();
    return otherwise;
}

// A norm over channels has one number for each; a layer norm has a weight of the dimensions it goes over.
bool describeNorm(const Module &module, const std::vector<std::pair<std::string, at::Tensor>> &own,
                  LayerFact &fact)
{
    const at::Tensor *const weight = find(own, "weight");
    at::Tensor numbers = weight == nullptr ? at::Tensor() : *weight;
    if (!numbers.defined())
        for (const auto &buffer : module.named_buffers(/*recurse=*/false))
            if (buffer.name == "running_mean")
                numbers = buffer.value;
    const bool channels =
        fact.type.find("LayerNorm") == std::string::npos && fact.type.find("RMSNorm") == std::string::npos;
    if (!channels) {
        fact.normalized = numbers.defined() ? numbers.sizes().vec() : std::vector<std::int64_t>();
        return !fact.normalized.empty();
    }
    if (!numbers.defined() || numbers.dim() != 1)
        return false;
    fact.features = numbers.size(0);
    const std::size_t digit = fact.type.find_first_of("123");
    fact.spatial = digit == std::string::npos ? 2 : fact.type[digit] - '0';
    return true;
}

// A recurrent layer whose weights are packed says its sizes by numbers.
bool describeBySizes(const Module &module, LayerFact &fact)
{
    const auto number = [&module](const char *name, std::int64_t otherwise) {
        const c10::IValue value = memberOf(module, name);
        return value.isInt() ? value.toInt() : otherwise;
    };
    fact.features = number("input_size", 0);
    fact.hidden = number("hidden_size", 0);
    const c10::IValue both = memberOf(module, "bidirectional");
    fact.states = number("num_layers", 1) * (both.isBool() && both.toBool() ? 2 : 1);
    return fact.features > 0;
}

bool describeRecurrent(const Module &module, const std::vector<std::pair<std::string, at::Tensor>> &own,
                       LayerFact &fact)
{
    const bool cell = fact.kind == LayerKind::cell;
    const at::Tensor *const input = find(own, cell ? "weight_ih" : "weight_ih_l0");
    const at::Tensor *const state = find(own, cell ? "weight_hh" : "weight_hh_l0");
    fact.batchFirst = !cell && isBatchFirst(module, false);
    if (input == nullptr && own.empty())
        return describeBySizes(module, fact);
    if (input == nullptr || input->dim() != 2)
        return false;
    fact.features = input->size(1);
    if (state != nullptr && state->dim() == 2)
        fact.hidden = state->size(1);
    fact.states = std::count_if(own.begin(), own.end(), [](const auto &item) {
        return std::string_view(item.first).starts_with("weight_hh_l");
    });
    return true;
}

// Fills what the kind says; false when its parameters do not have the form that is expected.
bool describe(const Module &module, const std::vector<std::pair<std::string, at::Tensor>> &own,
              LayerFact &fact)
{
    const at::Tensor *const weight = find(own, "weight");
    switch (fact.kind) {
    case LayerKind::embedding:
        if (weight == nullptr || weight->dim() != 2)
            return false;
        fact.vocabulary = weight->size(0);
        return true;
    case LayerKind::recurrent:
    case LayerKind::cell:
        return describeRecurrent(module, own, fact);
    case LayerKind::norm:
        return describeNorm(module, own, fact);
    case LayerKind::transposedConv:
        if (weight == nullptr || weight->dim() < 3 || weight->dim() > 5)
            return false;
        fact.features = weight->size(0);
        fact.kernel = weight->sizes().slice(2).vec();
        return true;
    case LayerKind::conv:
        if (weight == nullptr || weight->dim() < 3 || weight->dim() > 5)
            return false;
        describeConv(module, *weight, fact);
        return fact.kind == LayerKind::conv;
    case LayerKind::transformer: {
        if (!module.hasattr("self_attn") || !module.attr("self_attn").isModule())
            return false;
        const Module attention = module.attr("self_attn").toModule();
        if (!attention.hasattr("in_proj_weight") || !attention.attr("in_proj_weight").isTensor())
            return false;
        fact.features = attention.attr("in_proj_weight").toTensor().size(1);
        fact.batchFirst = isBatchFirst(attention, true);
        return true;
    }
    case LayerKind::groupNorm:
        if (weight == nullptr || weight->dim() != 1)
            return false;
        fact.features = weight->size(0);
        return true;
    case LayerKind::linear:
        if (weight == nullptr || weight->dim() != 2)
            return false;
        fact.features = weight->size(1);
        return true;
    case LayerKind::bilinear:
        if (weight == nullptr || weight->dim() != 3)
            return false;
        fact.features = weight->size(1);
        fact.vocabulary = weight->size(2);
        return true;
    case LayerKind::other:
        return false;
    }
    return false;
}

// The weight that a quantized layer keeps packed for its kernels; undefined when MODULE has none.
at::Tensor packedWeight(const Module &module)
{
    const c10::IValue packed = module.hasattr(kPackedName) ? module.attr(kPackedName) : c10::IValue();
    if (!packed.isObject() || packed.isModule())
        return {};
    torch::jit::Function *const unpack = packed.toObject()->type()->findMethod("unpack");
    if (unpack == nullptr)
        return {};
    c10::IValue parts;
    try {
        parts = (*unpack)({packed});
    } catch (const std::exception &) {
        return {}; // then this layer says nothing
    }
    const bool known = parts.isTuple() && !parts.toTupleRef().elements().empty() &&
                       parts.toTupleRef().elements()[0].isTensor();
    return known ? parts.toTupleRef().elements()[0].toTensor() : at::Tensor();
}

// Quantized layers have other names and no parameters: their packed weight says what they are.
void describePacked(const Module &module, std::vector<std::pair<std::string, at::Tensor>> &own,
                    LayerFact &fact)
{
    const at::Tensor weight = own.empty() ? packedWeight(module) : at::Tensor();
    if (!weight.defined() || weight.dim() < 2)
        return;
    own.emplace_back("weight", weight);
    if (fact.kind != LayerKind::transposedConv)
        fact.kind = weight.dim() > 2 ? LayerKind::conv : LayerKind::linear;
    const std::string inner = std::string(".") + kPackedName; // of a linear layer: in a module of its own
    if (fact.path.ends_with(inner))
        fact.path.erase(fact.path.size() - inner.size());
}

// A frozen model has no modules with parameters: what its calls hold as constants stands for them.
void addFrozenLayers(const torch::jit::Block &block, ShapeFacts &facts)
{
    for (const Node *node : block.nodes()) {
        const std::string_view kind = node->kind().toQualString();
        LayerFact fact;
        std::size_t weightAt = 1;
        if (kind == "aten::_convolution" || kind == "aten::conv1d" || kind == "aten::conv2d" ||
            kind == "aten::conv3d")
            fact.kind = LayerKind::conv;
        else if (kind == "aten::linear")
            fact.kind = LayerKind::linear;
        else if (kind == "aten::embedding") {
            fact.kind = LayerKind::embedding;
            weightAt = 0;
        }
        facts.hasAdaptivePool = facts.hasAdaptivePool || kind.starts_with("aten::adaptive_");
        const auto value = fact.kind == LayerKind::other || weightAt >= node->inputs().size()
                               ? std::optional<c10::IValue>()
                               : torch::jit::toIValue(node->input(weightAt));
        if (value && value->isTensor() && value->toTensor().dim() >= 2) {
            const at::Tensor &weight = value->toTensor();
            fact.type = std::string(kind);
            fact.features = weight.size(1);
            fact.vocabulary = weight.size(0);
            fact.outputs = weight.size(0);
            fact.kernel = weight.sizes().slice(2).vec();
            if (fact.kind == LayerKind::conv)
                if (const c10::IValue groups = constantInput(node, "groups"); groups.isInt())
                    fact.features *= groups.toInt();
            facts.layers.push_back(std::move(fact));
        }
        for (const torch::jit::Block *inner : node->blocks())
            addFrozenLayers(*inner, facts);
    }
}

bool isPositionName(const std::string &name)
{
    static const std::regex kPattern("pos_embed|position_embeddings|positional|position|grid",
                                     std::regex::icase);
    return std::regex_search(name, kPattern);
}

constexpr std::size_t kMostItems = 64;

// What the uses of LIST ask for; 0: nothing.
std::size_t itemsLookedUp(const torch::jit::Value &list)
{
    std::size_t items = 0;
    for (const torch::jit::Use &use : list.uses()) {
        const torch::jit::Node &node = *use.user;
        if (node.kind() == c10::prim::ListUnpack)
            items = std::max(items, node.outputs().size());
        if (node.kind() != c10::aten::__getitem__ || use.offset != 0)
            continue;
        const auto place = torch::jit::toIValue(node.input(1));
        if (place && place->isInt())
            items = std::max(
                items, static_cast<std::size_t>(place->toInt() < 0 ? -place->toInt() : place->toInt() + 1));
    }
    return std::min(items, kMostItems);
}

// How many items the code looks up in each list that forward takes, by argument: constant places, or an
// assignment to so many names. Lists that it only walks through are left out.
std::map<std::string, std::size_t> listLengths(const ScriptModel &model)
{
    std::map<std::string, std::size_t> lengths;
    const torch::jit::Method forward = model.module().get_method("forward");
    const torch::jit::GraphFunction *const function = torch::jit::tryToGraphFunction(forward.function());
    if (function == nullptr)
        return lengths;
    const auto &arguments = forward.function().getSchema().arguments();
    const auto inputs = function->graph()->inputs();
    for (std::size_t i = 1; i < arguments.size() && i < inputs.size(); ++i)
        if (const std::size_t items = itemsLookedUp(*inputs[i]);
            items > 0 && arguments[i].type()->kind() == c10::TypeKind::ListType)
            lengths[arguments[i].name()] = items;
    return lengths;
}

} // namespace

ShapeFacts shapeFactsOf(const ScriptModel &model)
{
    ShapeFacts facts;
    facts.arguments = model.arguments();
    facts.listLengths = listLengths(model);
    const std::vector<ScriptNode> &nodes = model.program().nodes;
    facts.takesSpectrum = std::any_of(nodes.begin(), nodes.end(),
                                      [](const ScriptNode &node) { return node.kind == "aten::stft"; });
    const Module &root = model.module();
    for (const auto &item : root.named_parameters())
        facts.parameters.emplace_back(item.name, item.value);
    facts.tables = facts.parameters;
    for (const auto &item : root.named_buffers())
        facts.tables.emplace_back(item.name, item.value);
    for (const auto &[name, tensor] : facts.tables) {
        facts.stateBytes += tensor.nbytes();
        facts.isLazy = facts.isLazy || !tensor.defined();
    }
    if (!facts.tables.empty() && isFloat(facts.tables.front().second))
        facts.floating = facts.tables.front().second.scalar_type();
    for (const auto &item : root.named_modules()) {
        LayerFact fact;
        fact.path = item.name;
        fact.type = shortType(item.value);
        fact.kind = kindOf(fact.type);
        facts.hasAdaptivePool = facts.hasAdaptivePool || (fact.type.find("Adaptive") != std::string::npos &&
                                                          fact.type.find("Pool") != std::string::npos);
        facts.isLazy = facts.isLazy || fact.type.starts_with("Lazy");
        std::vector<std::pair<std::string, at::Tensor>> own;
        for (const auto &parameter : item.value.named_parameters(/*recurse=*/false))
            own.emplace_back(parameter.name, parameter.value);
        describePacked(item.value, own, fact);
        if (!describe(item.value, own, fact))
            continue;
        fact.dtype =
            !own.empty() && isFloat(own.front().second) ? own.front().second.scalar_type() : facts.floating;
        facts.layers.push_back(std::move(fact));
    }
    if (facts.parameters.empty() && facts.layers.empty())
        if (const torch::jit::GraphFunction *forward =
                torch::jit::tryToGraphFunction(root.get_method("forward").function()))
            addFrozenLayers(*forward->graph()->block(), facts);
    return facts;
}

const LayerFact *firstLayer(const ShapeFacts &facts, LayerKind kind, std::optional<std::size_t> rank)
{
    const auto found = std::find_if(facts.layers.begin(), facts.layers.end(), [&](const LayerFact &layer) {
        return layer.kind == kind && (!rank || layer.kernel.size() == *rank);
    });
    return found == facts.layers.end() ? nullptr : &*found;
}

std::optional<std::int64_t> positionLimit(const ShapeFacts &facts)
{
    for (const auto &[name, tensor] : facts.tables) {
        if (tensor.dim() < 2 || !isPositionName(name))
            continue;
        return tensor.dim() >= 3 || tensor.size(0) == 1 ? tensor.size(1) : tensor.size(0);
    }
    return std::nullopt;
}

std::optional<std::int64_t> positionSide(const ShapeFacts &facts, std::int64_t stride, std::int64_t width)
{
    for (const auto &[name, tensor] : facts.tables) {
        // A relative table has heads, not channels, as its last size: it says nothing about the image.
        if (tensor.dim() < 2 || !isPositionName(name) || tensor.size(-1) != width)
            continue;
        const std::int64_t length = tensor.dim() >= 3 ? tensor.size(1) : tensor.size(0);
        for (const std::int64_t specials : {2, 1, 0}) {
            const std::int64_t patches = length - specials;
            const auto side = static_cast<std::int64_t>(
                std::llround(std::sqrt(double(std::max<std::int64_t>(patches, 0)))));
            if (patches > 0 && side * side == patches)
                return side * stride;
        }
    }
    return std::nullopt;
}

} // namespace core
