// SPDX-License-Identifier: GPL-3.0-or-later
// Modules, module calls, parameters and buffers of a TorchLens bundle.
#include "core/io/pickle_value_text.h"
#include "core/io/tlspec_importer.h"

#include <cmath>

namespace core {
namespace {

constexpr std::string_view kModuleAttributes[] = {
    "class_qualname",       "class_source_file",   "class_source_line", "forward_source_file",
    "forward_source_line",  "init_source_file",    "init_source_line",  "forward_signature",
    "init_signature",       "custom_attributes",   "custom_methods",    "num_params",
    "num_params_trainable", "num_params_frozen",   "forward_pre_hooks", "forward_hooks",
    "backward_hooks",       "full_backward_hooks", "num_calls",
};

constexpr std::string_view kParamAttributes[] = {
    "name",         "num_params",       "param_memory",  "module_address", "barcode",
    "num_calls",    "used_by_ops",      "_has_grad",     "_grad_shape",    "_grad_dtype",
    "_grad_memory", "co_parent_params", "has_optimizer",
};

// The root module is called "self" in bundles and "" in a trace.
std::string address(PickleValue value)
{
    std::string text = pickleText(value);
    return text == "self" ? std::string() : text;
}

Value attributes(PickleValue object, std::span<const std::string_view> names)
{
    Value result;
    for (const std::string_view name : names)
        if (const PickleValue value = pickleAttribute(object, name); !value.isNone())
            result.set(name.substr(name.front() == '_' ? 1 : 0), pickleToValue(value));
    return result;
}

} // namespace

Status TlspecImporter::addModules()
{
    const PickleValue accessor = top("_io_module_accessor_state");
    const auto modules = picklePairs(pickleAttribute(accessor, "_dict"));
    RecordId next = 0;
    for (const auto &[key, module] : modules)
        m_modules.emplace(pickleText(key), next++);
    RecordId id = 0;
    for (const auto &[key, module] : modules) {
        ModuleRecord record;
        record.id = id++;
        record.address = address(key);
        record.className = pickleText(pickleAttribute(module, "class_name"));
        const PickleValue parent = pickleAttribute(module, "address_parent");
        record.parent = parent.isNone() ? kNoRecord : moduleId(pickleText(parent));
        if (const PickleValue training = pickleAttribute(module, "training");
            training.is(PickleKind::boolean))
            record.training = training.toBool();
        for (const std::string &alias : pickleStrings(pickleAttribute(module, "all_addresses")))
            if (alias != pickleText(key)) {
                record.aliases.push_back(alias);
                m_modules.emplace(alias, record.id);
            }
        record.attributes = attributes(module, kModuleAttributes);
        if (Status status = m_builder.add(std::move(record)); !status)
            return status;
    }
    return addModuleCalls();
}

RecordId TlspecImporter::moduleId(const std::string &wanted) const
{
    const auto found = m_modules.find(wanted);
    return found == m_modules.end() ? kNoRecord : found->second;
}

Status TlspecImporter::addModuleCalls()
{
    const PickleValue accessor = top("_io_module_accessor_state");
    const auto calls = picklePairs(pickleAttribute(accessor, "_pass_dict"));
    RecordId next = 0;
    for (const auto &[key, call] : calls)
        m_moduleCalls.emplace(pickleText(key), next++);
    RecordId id = 0;
    for (const auto &[key, call] : calls) {
        ModuleCallRecord record;
        record.id = id++;
        const std::string label = pickleText(key);
        record.module = moduleId(label.substr(0, label.rfind(':')));
        PickleValue index = pickleAttribute(call, "call_index");
        if (!index.isValid())
            index = pickleAttribute(call, "pass_num");
        record.index = static_cast<std::uint32_t>(std::max<std::int64_t>(index.toInt(1), 0));
        const auto parent = m_moduleCalls.find(pickleText(pickleAttribute(call, "call_parent")));
        if (parent != m_moduleCalls.end() && parent->second != record.id)
            record.parent = parent->second;
        record.stack = stack(pickleAttribute(call, "code_context"));
        for (const std::string &op : pickleStrings(pickleAttribute(call, "input_ops")))
            if (const RecordId tensor = tensorOf(op); tensor != kNoRecord)
                record.inputs.push_back(tensor);
        for (const std::string &op : pickleStrings(pickleAttribute(call, "output_ops")))
            if (const RecordId tensor = tensorOf(op); tensor != kNoRecord)
                record.outputs.push_back(tensor);
        const PickleValue duration = pickleNumber(pickleAttribute(call, "forward_duration"));
        if (duration.isValid() && duration.toDouble() >= 0.0 && duration.toDouble() < 9e9)
            record.durationNs = std::llround(duration.toDouble() * 1e9);
        record.method = "forward";
        if (Status status = m_builder.add(std::move(record)); !status)
            return status;
    }
    return Status::ok();
}

Status TlspecImporter::addParams()
{
    std::unordered_map<std::string_view, const TlspecBlob *> weights;
    for (const TlspecBlob &blob : m_manifest->blobs)
        if (blob.kind == "runnable_weight")
            weights.emplace(blob.label, &blob);
    RecordId id = 0;
    for (const auto &[key, param] : picklePairs(pickleAttribute(top("param_logs"), "_dict"))) {
        ParamRecord record;
        record.id = id++;
        record.address = pickleText(key);
        for (const std::string &alias : pickleStrings(pickleAttribute(param, "all_addresses")))
            if (alias != record.address)
                record.aliases.push_back(alias);
        PickleValue trainable = pickleAttribute(param, "is_trainable");
        if (!trainable.isValid())
            trainable = pickleAttribute(param, "trainable");
        record.trainable = trainable.toBool();
        record.attributes = attributes(param, kParamAttributes);
        TensorRecord tensor;
        tensor.id = newTensor();
        tensor.role = TensorRole::parameter;
        tensor.address = record.address;
        tensor.requiresGrad = record.trainable;
        tensor.dtype = dtype(pickleAttribute(param, "dtype"), pickleAttribute(param, "dtype_ref"));
        tensor.shape = shape(pickleAttribute(param, "shape"), tensor.shapeKnown);
        const auto weight = weights.find(record.address);
        tensor.payload = payload(weight == weights.end() ? nullptr : weight->second, PayloadState::notSaved);
        record.tensor = tensor.id;
        m_paramTensors.emplace(record.address, tensor.id);
        if (Status status = m_builder.add(std::move(tensor)); !status)
            return status;
        if (Status status = m_builder.add(std::move(record)); !status)
            return status;
    }
    return Status::ok();
}

// A buffer's first version is its value before the run, when that was kept; else the version first read.
Status TlspecImporter::addBuffers()
{
    std::vector<std::pair<std::string, PickleValue>> buffers;
    for (const auto &[key, reference] : picklePairs(top("_buffer_initial_values")))
        buffers.emplace_back(pickleText(key), reference);
    std::unordered_map<std::string, const Op *> firstRead;
    for (const Op &op : m_ops)
        if (op.fields[fIsBuffer].toBool() && firstRead.emplace(pickleText(op.fields[fAddress]), &op).second)
            if (const std::string name = pickleText(op.fields[fAddress]);
                !top("_buffer_initial_values").find(name).isValid())
                buffers.emplace_back(name, PickleValue());
    RecordId id = 1U << 24U; // beyond the parameters
    for (const auto &[name, reference] : buffers) {
        ParamRecord record;
        record.id = id++;
        record.isBuffer = true;
        record.address = name;
        if (const PickleValue persistent = top("_buffer_persistence").find(name); persistent.isValid())
            record.attributes.set("persistent", persistent.toBool());
        const auto read = firstRead.find(name);
        if (const TlspecBlob *initial = blob(reference); initial != nullptr) {
            TensorRecord tensor;
            tensor.id = newTensor();
            tensor.role = TensorRole::buffer;
            tensor.address = name;
            tensor.dtype = initial->dtype;
            tensor.shape = initial->shape;
            tensor.payload = payload(initial, PayloadState::notSaved);
            record.tensor = tensor.id;
            if (Status status = m_builder.add(std::move(tensor)); !status)
                return status;
        } else if (read != firstRead.end()) {
            record.tensor = read->second->tensor;
        }
        if (Status status = m_builder.add(std::move(record)); !status)
            return status;
    }
    return Status::ok();
}

} // namespace core
