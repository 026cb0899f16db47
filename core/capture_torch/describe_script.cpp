// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/describe_task.h"
#include "core/capture_torch/script_model.h"
#include "core/capture_torch/silent_observer.h"

namespace core {

namespace {

// Counts what a model declares. A tensor with several names is told once.
class StateCounter final : public SilentObserver
{
public:
    struct Count
    {
        std::uint64_t tensors = 0;
        std::uint64_t elements = 0;
        std::uint64_t bytes = 0;
    };

    Value modules = Value::list();
    Count parameters;
    Count buffers;
    Count constants;

    void moduleDeclared(const ModuleInfo &module) override { modules.append(module.path); }
    void namedTensor(TensorRole role, const std::vector<std::string> &, const at::Tensor &tensor) override
    {
        Count &count = role == TensorRole::parameter ? parameters
                       : role == TensorRole::buffer  ? buffers
                                                     : constants;
        ++count.tensors;
        count.elements += static_cast<std::uint64_t>(tensor.numel());
        count.bytes += static_cast<std::uint64_t>(tensor.numel()) * tensor.itemsize();
    }
};

Value countValue(const StateCounter::Count &count)
{
    return Value::object({{"tensors", count.tensors}, {"elements", count.elements}, {"bytes", count.bytes}});
}

// Ops of all graphs by first appearance; a graph that is called twice counts once.
Value opsOf(const ScriptProgram &program)
{
    Value::List ops;
    for (const ScriptNode &node : program.nodes) {
        if (node.kind.starts_with("prim::"))
            continue;
        std::string name = node.kind;
        if (const std::size_t colons = name.find("::"); colons != std::string::npos)
            name.replace(colons, 2, ".");
        bool known = false;
        for (Value &op : ops)
            if (op.at("op").toString() == name) {
                op.set("count", op.at("count").toInt() + 1);
                known = true;
                break;
            }
        if (!known)
            ops.push_back(Value::object({{"op", name}, {"count", 1}, {"refusal", Value()}}));
    }
    return ops;
}

} // namespace

Result<Value> describeScript(const std::filesystem::path &path)
{
    const Result<std::unique_ptr<ScriptModel>> model = ScriptModel::load(path);
    if (!model)
        return model.error();
    StateCounter state;
    (*model)->tellState(state);
    Value inputs = Value::list();
    for (const ScriptArgument &argument : (*model)->arguments())
        inputs.append(Value::object({{"name", argument.name},
                                     {"path", argument.name},
                                     {"expected", argument.type},
                                     {"specification", nullptr},
                                     {"fixed", false},
                                     {"required", !argument.hasDefault}}));
    const bool frozen = (*model)->isFrozen();
    return Value::object({{"format", "torchscript"},
                          {"model_class", (*model)->className()},
                          {"mode", frozen ? Value() : Value((*model)->isTraining() ? "train" : "eval")},
                          {"traced", (*model)->isTraced()},
                          {"frozen", frozen},
                          {"inputs", std::move(inputs)},
                          {"outputs", Value::list()},
                          {"ops", opsOf((*model)->program())},
                          {"modules", std::move(state.modules)},
                          {"parameters", countValue(state.parameters)},
                          {"buffers", countValue(state.buffers)},
                          {"constants", countValue(state.constants)},
                          {"sample_inputs", false},
                          {"refusal", nullptr}});
}

} // namespace core
