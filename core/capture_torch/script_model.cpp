// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/script_model.h"

#include "core/base/value.h"
#include "core/capture_torch/library_ops.h"
#include "core/capture_torch/reference_listener.h"
#include "core/capture_torch/script_run.h"

#include <c10/util/Exception.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/runtime/jit_exception.h>
#include <torch/csrc/jit/serialization/import.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <sstream>
#include <tuple>

namespace core {

namespace {

// "__torch__.a.___torch_mangle_3.Net" -> "a.Net"
std::string plainTypeName(const c10::ClassTypePtr &type)
{
    std::string name = type->name() ? type->name()->qualifiedName() : std::string();
    constexpr std::string_view kPrefix = "__torch__.";
    if (name.starts_with(kPrefix))
        name.erase(0, kPrefix.size());
    for (std::size_t at = 0; (at = name.find("___torch_mangle_")) != std::string::npos;) {
        const std::size_t end = name.find('.', at);
        name.erase(at, end == std::string::npos ? end : end + 1 - at);
    }
    return name;
}

// Tensors of one group are the same memory seen the same way.
using TensorKey =
    std::tuple<const void *, std::int64_t, std::vector<std::int64_t>, std::vector<std::int64_t>, int>;

TensorKey keyOf(const at::Tensor &tensor)
{
    const bool memory = tensor.layout() == c10::kStrided && tensor.has_storage() && tensor.numel() > 0 &&
                        !tensor.is_quantized();
    const void *const where = memory ? static_cast<const void *>(tensor.storage().unsafeGetStorageImpl())
                                     : static_cast<const void *>(tensor.unsafeGetTensorImpl());
    if (!memory)
        return {where, 0, {}, {}, 0};
    return {where, tensor.storage_offset(), tensor.sizes().vec(), tensor.strides().vec(),
            static_cast<int>(tensor.scalar_type())};
}

struct NamedGroup
{
    TensorRole role;
    std::vector<std::string> names;
    at::Tensor tensor;
};

std::vector<NamedGroup> namedTensors(const torch::jit::Module &module)
{
    std::vector<NamedGroup> groups;
    std::map<TensorKey, std::size_t> known;
    const auto add = [&](TensorRole role, const std::string &name, const at::Tensor &tensor) {
        if (!tensor.defined())
            return;
        const auto [entry, fresh] = known.emplace(keyOf(tensor), groups.size());
        if (fresh)
            groups.push_back({role, {name}, tensor});
        else if (auto &names = groups[entry->second].names;
                 std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(name);
    };
    for (const auto &item : module.named_parameters())
        add(TensorRole::parameter, item.name, item.value);
    for (const auto &item : module.named_buffers())
        add(TensorRole::buffer, item.name, item.value);
    for (const auto &item : module.named_attributes())
        if (item.value.isTensor())
            add(TensorRole::constant, item.name, item.value.toTensor());
    return groups;
}

torch::jit::Module loaded(const std::filesystem::path &file)
{
    provideLibraryOps();
    return torch::jit::load(file.string(), c10::Device(c10::kCPU));
}

Status loadFailure(const std::filesystem::path &file, const std::string &message)
{
    const std::string prefix = file.filename().string() + ": ";
    if (const std::size_t at = message.find("Unknown builtin op: "); at != std::string::npos) {
        const std::size_t begin = at + 20;
        std::string op = message.substr(begin, message.find_first_of(".\n ", begin) - begin);
        return Status(ErrorCode::unsupported, prefix + "op " + op + " is not available")
            .withDetail("missing_op")
            .withRemedy("run the model where its custom ops are installed and record a trace there");
    }
    const std::size_t first = std::min(message.find_first_not_of(" \n"), message.size());
    std::string words = message.substr(first, message.find('\n', first) - first);
    if (words.empty())
        words = "LibTorch cannot load it";
    if (words.starts_with("ill formed octal specifier"))
        words = "a name in it has letters that LibTorch writes but does not read back (ill formed octal "
                "specifier)";
    if (words.starts_with("required keyword attribute 'value' is undefined"))
        return Status(ErrorCode::corrupt,
                      prefix + "a constant in it has no value: torch.jit.optimize_for_inference makes such "
                               "files, which LibTorch writes but does not read back")
            .withRemedy("save the module before torch.jit.optimize_for_inference, or after torch.jit.freeze");
    return {ErrorCode::corrupt, prefix + words};
}

// The key of a dict as a part of a path: "image", "0", "0.5", "true".
std::string keyText(const c10::IValue &key)
{
    if (key.isString())
        return key.toStringRef();
    if (key.isBool())
        return key.toBool() ? "true" : "false";
    if (key.isInt())
        return std::to_string(key.toInt());
    if (key.isDouble())
        return formatDouble(key.toDouble());
    std::ostringstream text; // a complex number, a tensor
    text << key;
    return text.str();
}

void leavesOf(const c10::IValue &value, const std::string &path,
              std::vector<std::pair<std::string, c10::IValue>> &out)
{
    const auto below = [&](const std::string &key) { return path.empty() ? key : path + '.' + key; };
    if (value.isTuple()) {
        const auto &tuple = value.toTupleRef();
        const auto type = tuple.type<c10::TupleType>();
        const c10::FunctionSchema *fields = type == nullptr ? nullptr : type->schema().get();
        for (std::size_t i = 0; i < tuple.elements().size(); ++i)
            leavesOf(tuple.elements()[i],
                     below(fields == nullptr ? std::to_string(i) : fields->arguments()[i].name()), out);
    } else if (value.isGenericDict()) {
        for (const auto &item : value.toGenericDict())
            leavesOf(item.value(), below(keyText(item.key())), out);
    } else if (value.isList()) {
        const auto items = value.toListRef();
        for (std::size_t i = 0; i < items.size(); ++i)
            leavesOf(items[i], below(std::to_string(i)), out);
    } else {
        out.emplace_back(path, value);
    }
}

// A forked task runs where it is forked: ops come in program order, and what listens needs no locks.
c10::IValue onThisThread(torch::jit::Method forward, std::vector<c10::IValue> positional,
                         const std::unordered_map<std::string, c10::IValue> &named)
{
    const auto future =
        forward.run_async(std::move(positional), named, [](const std::function<void()> &task) { task(); });
    future->waitAndThrow();
    return future->value();
}

// The interpreter puts its traceback before the message: where "ValueError: ..." begins, the first line
// behind the last listing of code that starts so. 0: nowhere.
std::size_t errorIn(std::string_view text)
{
    const std::size_t header = text.rfind("Traceback of TorchScript");
    for (std::size_t at = header; at != std::string_view::npos; at = text.find('\n', at + 1)) {
        const std::string_view line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
        const std::string_view name = line.substr(0, line.find(':'));
        const bool isName = std::all_of(name.begin(), name.end(), [](unsigned char c) {
            return std::isalnum(c) != 0 || c == '_' || c == '.';
        });
        const bool isError = name.ends_with("Error") || name.ends_with("Exception") ||
                             name.find('.') != std::string_view::npos;
        if (name.size() < line.size() && isName && isError)
            return at + 1;
    }
    return 0;
}

} // namespace

std::vector<std::pair<std::string, c10::IValue>> outputLeaves(const c10::IValue &value)
{
    std::vector<std::pair<std::string, c10::IValue>> leaves;
    leavesOf(value, "", leaves);
    return leaves;
}

std::string failureText(const std::exception &error)
{
    const auto *const known = dynamic_cast<const c10::Error *>(&error);
    std::string text = known == nullptr ? error.what() : known->what_without_backtrace();
    if (text.find("failed in the TorchScript interpreter") != std::string::npos)
        text.erase(0, errorIn(text));
    // "[enforce fail at inline_container.cc:214] . ": where in LibTorch's own text.
    if (const std::size_t end = text.find("] ");
        text.starts_with("[enforce fail at ") && end != std::string::npos)
        text.erase(0, std::min(text.find_first_not_of(". ", end + 1), text.size()));
    constexpr std::string_view kBuiltins = "builtins.";
    if (text.starts_with(kBuiltins))
        text.erase(0, kBuiltins.size());
    return text.substr(0, text.find_last_not_of(" \n") + 1);
}

Result<std::unique_ptr<ScriptModel>> ScriptModel::load(const std::filesystem::path &file)
{
    try {
        // The profiling executor specialises graphs after the first runs: rows would change from run to run.
        torch::jit::getProfilingMode() = false;
        torch::jit::setGraphExecutorOptimize(false);
        std::unique_ptr<ScriptModel> model(new ScriptModel(loaded(file)));
        if (!model->m_module.find_method("forward"))
            return Status(ErrorCode::unsupported,
                          file.filename().string() + ": the module has no method forward");
        model->shareTiedTensors();
        auto program = std::make_shared<ScriptProgram>(markScript(model->m_module));
        model->m_traced = std::any_of(program->nodes.begin(), program->nodes.end(),
                                      [](const ScriptNode &node) { return node.place.traced; });
        model->m_program = std::move(program);
        return model;
    } catch (const std::exception &error) {
        return loadFailure(file, failureText(error));
    }
}

Status ScriptModel::runPlain(const std::filesystem::path &file,
                             std::unordered_map<std::string, c10::IValue> named, bool training,
                             const std::function<void(const ScriptModel &, const c10::IValue &)> &use)
{
    const bool profiling = torch::jit::getProfilingMode();
    const bool optimizing = torch::jit::getGraphExecutorOptimize();
    const auto restore = [&] {
        torch::jit::getProfilingMode() = profiling;
        torch::jit::setGraphExecutorOptimize(optimizing);
    };
    try {
        torch::jit::getProfilingMode() = true;
        torch::jit::setGraphExecutorOptimize(true);
        ScriptModel model(loaded(file));
        model.shareTiedTensors();
        model.prepare(training);
        use(model, model.m_module.get_method("forward")({}, named));
        restore();
        return Status::ok();
    } catch (const std::exception &error) {
        restore();
        return Status(ErrorCode::modelFailed, failureText(error));
    }
}

Result<std::unique_ptr<ScriptModel>> ScriptModel::loadPlain(const std::filesystem::path &file)
{
    try {
        std::unique_ptr<ScriptModel> model(new ScriptModel(loaded(file)));
        model->shareTiedTensors();
        return model;
    } catch (const std::exception &error) {
        return loadFailure(file, failureText(error));
    }
}

// A tied parameter is one tensor to autograd only when the modules hold the same object.
void ScriptModel::shareTiedTensors()
{
    std::map<TensorKey, at::Tensor> first;
    for (torch::jit::Module part : m_module.modules()) {
        const auto type = part.type();
        for (std::size_t slot = 0; slot < type->numAttributes(); ++slot) {
            const c10::IValue &value = part._ivalue()->getSlot(slot);
            if (!value.isTensor() || !value.toTensor().defined() || value.toTensor().numel() == 0)
                continue;
            const auto [entry, fresh] = first.emplace(keyOf(value.toTensor()), value.toTensor());
            if (!fresh && !entry->second.is_same(value.toTensor()) &&
                entry->second.requires_grad() == value.toTensor().requires_grad())
                part._ivalue()->setSlot(slot, entry->second);
        }
    }
}

std::vector<ScriptArgument> ScriptModel::arguments() const
{
    std::vector<ScriptArgument> arguments;
    const c10::FunctionSchema &schema = m_module.get_method("forward").function().getSchema();
    for (std::size_t i = 1; i < schema.arguments().size(); ++i) {
        const c10::Argument &argument = schema.arguments()[i];
        arguments.push_back({argument.name(), argument.type()->annotation_str(),
                             argument.default_value().has_value(), i - 1});
    }
    return arguments;
}

std::string ScriptModel::className() const
{
    return plainTypeName(m_module.type());
}

bool ScriptModel::isFrozen() const
{
    return !m_module.hasattr("training");
}

void ScriptModel::prepare(bool training)
{
    if (!isFrozen())
        m_module.train(training);
}

void ScriptModel::convertFloating(c10::ScalarType type)
{
    const c10::NoGradGuard noGrad;
    const auto convert = [type](at::Tensor tensor) {
        const c10::ScalarType wanted =
            tensor.defined() && !tensor.is_quantized() ? referenceType(tensor.scalar_type(), type) : type;
        if (tensor.defined() && !tensor.is_quantized() && wanted != tensor.scalar_type())
            tensor.set_data(tensor.to(wanted));
    };
    // Tensors in lists and dicts too: a model keeps caches in them.
    const std::function<void(const c10::IValue &)> visit = [&](const c10::IValue &value) {
        if (value.isTensor())
            convert(value.toTensor());
        else if (value.isList())
            for (const c10::IValue &item : value.toListRef())
                visit(item);
        else if (value.isTuple())
            for (const c10::IValue &item : value.toTupleRef().elements())
                visit(item);
        else if (value.isGenericDict())
            for (const auto &item : value.toGenericDict())
                visit(item.value());
    };
    for (const torch::jit::Module part : m_module.modules())
        for (const c10::IValue &slot : part._ivalue()->slots())
            visit(slot);
}

std::unique_ptr<ScriptModel> ScriptModel::copy() const
{
    std::unique_ptr<ScriptModel> made(new ScriptModel(m_module.deepcopy()));
    made->m_program = m_program;
    made->m_traced = m_traced;
    return made;
}

void ScriptModel::tellState(RunObserver &observer) const
{
    std::vector<std::pair<const void *, ModuleInfo>> modules;
    std::map<const void *, std::size_t> known;
    for (const auto &item : m_module.named_modules()) {
        const void *const object = item.value._ivalue().get();
        const auto [entry, fresh] = known.emplace(object, modules.size());
        if (!fresh) {
            modules[entry->second].second.aliases.push_back(item.name);
            continue;
        }
        ModuleInfo info;
        info.path = item.name;
        info.type = plainTypeName(item.value.type());
        if (item.value.hasattr("training"))
            info.training = item.value.is_training();
        modules.emplace_back(object, std::move(info));
    }
    for (const auto &[object, info] : modules)
        observer.moduleDeclared(info);
    for (const NamedGroup &group : namedTensors(m_module))
        observer.namedTensor(group.role, group.names, group.tensor);
}

Result<c10::IValue> ScriptModel::run(std::vector<c10::IValue> positional,
                                     std::unordered_map<std::string, c10::IValue> named,
                                     RunObserver *observer)
{
    std::optional<ScriptRun> watched;
    m_lastFrames.clear();
    // The nodes go with WATCHED.
    const auto leave = [&] {
        if (!watched)
            return;
        m_lastFrames = watched->lastFrames();
        try {
            observer->nodesEnd();
        } catch (const StopRun &) {
            // The run is over, and the observer knows why it was to stop.
        }
    };
    try {
        const torch::jit::Method forward = m_module.get_method("forward");
        if (observer == nullptr)
            return forward(std::move(positional), named);
        std::unordered_map<const void *, ModuleInfo> modules;
        for (const auto &item : m_module.named_modules())
            modules.try_emplace(item.value._ivalue().get(),
                                ModuleInfo{item.name, plainTypeName(item.value.type()), {}, {}});
        watched.emplace(*m_program, std::move(modules), *observer);
        const ScriptListenerScope listening(*watched);
        const bool forks = std::any_of(m_program->nodes.begin(), m_program->nodes.end(),
                                       [](const ScriptNode &node) { return node.kind == "prim::fork"; });
        c10::IValue result = forks ? onThisThread(forward, std::move(positional), named)
                                   : forward(std::move(positional), named);
        watched->end();
        observer->nodesEnd();
        return result;
    } catch (const StopRun &) {
        leave();
        return Status(ErrorCode::cancelled, "the run was stopped").withDetail("stopped");
    } catch (const std::exception &error) {
        leave();
        return Status(ErrorCode::modelFailed, failureText(error));
    }
}

} // namespace core
