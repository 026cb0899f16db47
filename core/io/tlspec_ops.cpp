// SPDX-License-Identifier: GPL-3.0-or-later
// Ops, calls and their output tensors of a TorchLens bundle.
#include "core/base/utf8.h"
#include "core/io/pickle_value_text.h"
#include "core/io/tlspec_importer.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace core {
namespace {

// Names of the fields in the order of OpField, each with what older releases called it.
struct FieldName
{
    std::string_view name;
    std::string_view older = {};
};

constexpr FieldName kFieldNames[] = {
    {"label", "layer_label_w_pass"},
    {"layer_label", "layer_label_no_pass"},
    {"_label_raw", "tensor_label_raw"},
    {"type", "layer_type"},
    {"type_index", "layer_type_num"},
    {"step_index", "op_num"},
    {"raw_index", "realtime_tensor_num"},
    {"pass_index", "pass_num"},
    {"num_passes", "layer_passes_total"},
    {"func_name"},
    {"func_call_id"},
    {"out", "activation"},
    {"has_saved_activation"},
    {"shape", "activation_shape"},
    {"dtype", "activation_dtype"},
    {"dtype_ref"},
    {"device_ref"},
    {"activation_memory", "memory"},
    {"_grad_records"},
    {"code_context"},
    {"func_duration"},
    {"flops_forward"},
    {"flops_backward"},
    {"func_autocast_state"},
    {"arg_names"},
    {"parent_arg_positions"},
    {"non_tensor_pos_args"},
    {"non_tensor_kwargs"},
    {"num_pos_args"},
    {"is_inplace"},
    {"grad_fn_class_name"},
    {"grad_fn_object_id"},
    {"parents"},
    {"children"},
    {"is_input", "is_input_layer"},
    {"is_output", "is_output_layer"},
    {"is_buffer", "is_buffer_layer"},
    {"modules"},
    {"atomic_module_call"},
    {"is_atomic_module", "is_leaf_module_output"},
    {"output_of_module_calls", "module_passes_exited"},
    {"address"},
    {"io_role"},
    {"_param_logs"},
    {"grad"},
    {"has_grad"},
};

// Further fields worth keeping; those that are None, false or empty are left out.
constexpr std::string_view kAttributes[] = {
    "label_short",
    "layer_label_short",
    "raw_index",
    "ordinal_index",
    "lookup_keys",
    "func_call_id",
    "func_qualname",
    "has_saved_activation",
    "has_grad",
    "save_grads",
    "autograd_memory",
    "num_autograd_tensors",
    "gradient_memory",
    "bytes_delta_at_call",
    "bytes_peak_at_call",
    "multi_output_index",
    "multi_output_name",
    "in_multi_output",
    "container_path",
    "container_spec",
    "io_role",
    "address",
    "buffer_pass",
    "buffer_source",
    "buffer_write_kind",
    "buffer_value_changed",
    "is_internal_source",
    "is_internal_sink",
    "is_orphan",
    "is_final_output",
    "is_output_parent",
    "has_input_ancestor",
    "has_output_descendant",
    "is_scalar_bool",
    "bool_value",
    "is_terminal_bool",
    "is_terminal_conditional_bool",
    "terminal_conditional_id",
    "in_conditionals",
    "conditional_branch_stack",
    "conditional_context_kind",
    "fx_qualpath",
    "fx_call_index",
    "func_config",
    "var_names",
    "equivalence_class",
    "site_key",
    "grad_fn_class_name",
    "is_transform",
    "transform_kind",
    "input_to_module_calls",
    "input_was_parameter",
    "intervention_replaced",
    "annotations",
    "num_params",
    "num_params_trainable",
    "num_params_frozen",
    "param_memory",
};

std::string stripAnnotation(const std::string &name)
{
    return name.substr(0, name.find_first_of(": ="));
}

std::string argumentName(const std::vector<std::string> &names, std::int64_t position)
{
    return position >= 0 && position < static_cast<std::int64_t>(names.size())
               ? stripAnnotation(names[static_cast<std::size_t>(position)])
               : std::string();
}

std::int64_t nanoseconds(PickleValue duration)
{
    const PickleValue number = pickleNumber(duration);
    const double seconds = number.isValid() ? number.toDouble() : -1.0;
    return seconds >= 0.0 && seconds < 9e9 ? std::llround(seconds * 1e9) : -1;
}

std::optional<std::int64_t> count(PickleValue value)
{
    const PickleValue number = pickleNumber(value);
    return number.isNumber() ? std::optional(number.toInt()) : std::nullopt;
}

std::uint32_t small(PickleValue value, std::uint32_t fallback)
{
    const std::int64_t number = value.toInt(fallback);
    return number >= 0 && number < 0x7fffffff ? static_cast<std::uint32_t>(number) : fallback;
}

// k of "linear_1_k"; 0 for inputs, outputs and buffers, whose labels have none.
std::uint32_t labelStep(std::string_view layerLabel)
{
    const std::size_t last = layerLabel.rfind('_');
    std::uint32_t step = 0;
    if (last != std::string_view::npos && layerLabel.find('_') != last)
        std::from_chars(layerLabel.data() + last + 1, layerLabel.data() + layerLabel.size(), step);
    return step;
}

bool isEmptyValue(const Value &value)
{
    return value.isNull() || (value.isBool() && !value.toBool()) ||
           (value.isList() && value.toList().empty()) || (value.isObject() && value.toObject().empty());
}

} // namespace

TlspecImporter::Fields TlspecImporter::readFields(PickleValue state)
{
    static_assert(std::size(kFieldNames) == fFieldCount);
    Fields fields;
    for (std::size_t i = 0; i < state.size(); ++i) {
        const PickleValue key = state.key(i);
        const auto [known, isNew] = m_fieldOfKey.emplace(key.index(), fFieldCount);
        for (std::size_t field = 0; isNew && field < fFieldCount; ++field)
            if (key.text() == kFieldNames[field].name ||
                (!kFieldNames[field].older.empty() && key.text() == kFieldNames[field].older))
                known->second = field;
        if (known->second != fFieldCount)
            fields[known->second] = state.value(i);
    }
    return fields;
}

Status TlspecImporter::readOps(const JobContext &job)
{
    const auto list = pickleItems(top("layer_list"));
    m_ops.reserve(list.size());
    std::unordered_set<std::uint32_t> seen;
    for (const PickleValue item : list) {
        if (Status status = job.checkpoint("reading the bundle's ops"); !status)
            return status;
        const PickleValue state = item.state();
        if (!state.is(PickleKind::dict) || !seen.insert(item.index()).second)
            continue;
        Op op;
        op.state = state;
        op.fields = readFields(state);
        op.label = pickleText(op.fields[fLabel]);
        if (op.label.empty())
            continue;
        op.tensor = newTensor();
        m_byLabel.emplace(op.label, m_ops.size());
        if (small(op.fields[fPasses], 1) == 1)
            m_byLabel.emplace(pickleText(op.fields[fLayerLabel]), m_ops.size());
        m_ops.push_back(std::move(op));
    }
    if (m_ops.size() != list.size())
        report().add("unreadable_op", fmt::format("{} of {} ops in the metadata cannot be read",
                                                  list.size() - m_ops.size(), list.size()));
    return Status::ok();
}

// Neighbours in the list that share a call id, a function and a kind are the outputs of one call.
Status TlspecImporter::addOps(const JobContext &job)
{
    const auto sameCall = [](const Op &a, const Op &b) {
        const std::int64_t id = a.fields[fCallId].toInt(-1);
        return id >= 0 && id == b.fields[fCallId].toInt(-1) &&
               a.fields[fFunc].text() == b.fields[fFunc].text() && !a.fields[fIsOutput].toBool() &&
               !b.fields[fIsOutput].toBool() && !a.fields[fIsBuffer].toBool() &&
               !b.fields[fIsBuffer].toBool();
    };
    for (std::size_t first = 0; first < m_ops.size();) {
        std::size_t next = first + 1;
        while (next < m_ops.size() && sameCall(m_ops[first], m_ops[next]))
            ++next;
        if (Status status = addCall(first, next - first); !status)
            return status;
        first = next;
        if (Status status = job.checkpoint("reading the bundle's ops"); !status)
            return status;
        job.report("reading ops", first, m_ops.size());
    }
    return Status::ok();
}

Status TlspecImporter::addCall(std::size_t first, std::size_t count)
{
    const Op &op = m_ops[first];
    const Fields &fields = op.fields;
    CallRecord call;
    call.id = static_cast<RecordId>(first);
    if (fields[fIsInput].toBool())
        call.kind = CallKind::input;
    else if (fields[fIsOutput].toBool())
        call.kind = CallKind::output;
    else if (fields[fIsBuffer].toBool())
        call.kind = CallKind::buffer;
    call.op = pickleText(fields[fFunc]);
    call.func = call.op;
    const auto modules = pickleStrings(fields[fModules]);
    const auto moduleCall = m_moduleCalls.find(modules.empty() ? "self:1" : modules.back());
    if (moduleCall != m_moduleCalls.end() && (!modules.empty() || call.kind == CallKind::compute))
        call.moduleCall = moduleCall->second;
    call.stack = stack(fields[fContext]);
    call.durationNs = nanoseconds(fields[fDuration]);
    call.inPlace = fields[fInPlace].toBool();
    const PickleValue autocast = fields[fAutocast];
    call.gradEnabled = autocast.find("__execution__").find("grad_enabled").toBool();
    for (const auto &[device, setting] : picklePairs(autocast))
        if (device.text() != "__execution__" && setting.find("enabled").toBool())
            call.autocast = setting.find("dtype").name();
    if (call.kind == CallKind::input || call.kind == CallKind::output) {
        const std::string role = pickleText(fields[fIoRole]);
        const std::size_t dot = role.find('.');
        call.address = dot == std::string::npos ? std::string() : role.substr(dot + 1);
    } else if (call.kind == CallKind::buffer) {
        call.address = pickleText(fields[fAddress]);
    }
    call.arguments = arguments(op);
    for (std::size_t i = first; i < first + count; ++i) {
        call.outputs.push_back(m_ops[i].tensor);
        call.imported.push_back(importedRow(m_ops[i]));
        if (Status status = addOutputTensor(m_ops[i], call.id, static_cast<std::uint32_t>(i - first));
            !status)
            return status;
        if (const std::int64_t id = m_ops[i].fields[fGradId].toInt(-1);
            id >= 0 && call.kind != CallKind::output && m_gradNodes.count(id) != 0) {
            call.gradNodes.push_back(m_gradNodes.at(id));
            m_gradCalls.emplace(id, call.id);
        }
    }
    for (const std::string &label : pickleStrings(fields[fParents]))
        if (const RecordId tensor = tensorOf(label); tensor != kNoRecord)
            call.parents.push_back(tensor);
    return m_builder.add(std::move(call));
}

Status TlspecImporter::addOutputTensor(Op &op, RecordId call, std::uint32_t slot)
{
    const Fields &fields = op.fields;
    TensorRecord tensor;
    tensor.id = op.tensor;
    tensor.call = call;
    tensor.slot = slot;
    tensor.role = fields[fIsInput].toBool()    ? TensorRole::input
                  : fields[fIsBuffer].toBool() ? TensorRole::buffer
                                               : TensorRole::output;
    if (tensor.role == TensorRole::buffer)
        tensor.address = pickleText(fields[fAddress]);
    tensor.dtype = dtype(fields[fDType], fields[fDTypeRef]);
    tensor.shape = shape(fields[fShape], tensor.shapeKnown);
    if (const std::string device = cleanUtf8(fields[fDeviceRef].state().item(1).text()); !device.empty())
        tensor.device = device;
    const TlspecBlob *out = blob(fields[fOut]);
    const bool isUnsupported = m_unsupported.count(op.label) != 0;
    tensor.payload = payload(out, isUnsupported ? PayloadState::unsupported : PayloadState::notSaved);
    const std::string gradClass = pickleText(fields[fGradClass]);
    tensor.requiresGrad =
        (out != nullptr && out->requiresGrad) || (!gradClass.empty() && gradClass != "none");
    if (const auto node = m_gradNodes.find(fields[fGradId].toInt(-1)); node != m_gradNodes.end())
        tensor.gradNode = node->second;
    return m_builder.add(std::move(tensor));
}

ImportedRow TlspecImporter::importedRow(const Op &op) const
{
    const Fields &fields = op.fields;
    ImportedRow row;
    row.label = op.label;
    row.layerLabel = pickleText(fields[fLayerLabel]);
    row.type = pickleText(fields[fType]);
    row.rawLabel = pickleText(fields[fRawLabel]);
    row.typeIndex = small(fields[fTypeIndex], 0);
    row.totalIndex = labelStep(row.layerLabel);
    row.step = small(fields[fStepIndex], 0);
    row.pass = small(fields[fPass], 1);
    row.passCount = small(fields[fPasses], 1);
    row.parents = pickleStrings(fields[fParents]);
    row.children = pickleStrings(fields[fChildren]);
    row.flopsForward = count(fields[fFlopsForward]);
    row.flopsBackward = count(fields[fFlopsBackward]);
    row.memory = count(fields[fMemory]);
    row.outputOfModuleCalls = pickleStrings(fields[fOutputOf]);
    if (fields[fIsAtomic].toBool()) {
        const std::string call = pickleText(fields[fAtomicModule]);
        row.atomicModule = call.substr(0, call.rfind(':'));
    }
    row.attributes = opAttributes(op);
    return row;
}

Value TlspecImporter::opAttributes(const Op &op) const
{
    static const std::unordered_set<std::string_view> kWanted(std::begin(kAttributes), std::end(kAttributes));
    Value attributes;
    attributes.set("raw_label", pickleText(op.fields[fRawLabel]));
    for (std::size_t i = 0; i < op.state.size(); ++i) {
        const std::string_view key = op.state.key(i).text();
        if (kWanted.count(key) == 0)
            continue;
        Value value = pickleToValue(op.state.value(i));
        if (!isEmptyValue(value) || key == "bool_value" || key == "has_saved_activation" || key == "has_grad")
            attributes.set(key, std::move(value));
    }
    return attributes;
}

RecordId TlspecImporter::tensorOf(const std::string &label) const
{
    const auto found = m_byLabel.find(label);
    return found == m_byLabel.end() ? kNoRecord : m_ops[found->second].tensor;
}

// Tensor arguments stand with their position (a path when they are inside of a list); a parameter's position
// is known only by its name.
void TlspecImporter::placeParents(const Op &op, std::map<std::int64_t, ArgumentRecord> &placed,
                                  std::vector<ArgumentRecord> &named) const
{
    const auto names = pickleStrings(op.fields[fArgNames]);
    const PickleValue positions = op.fields[fPositions];
    for (const auto &[key, label] : picklePairs(positions.find("args"))) {
        const bool isPath = key.is(PickleKind::tuple);
        const std::int64_t position = isPath ? key.item(0).toInt(-1) : key.toInt(-1);
        ArgumentRecord &argument = placed[position];
        argument.name = argumentName(names, position);
        argument.isTensorList = argument.isTensorList || (isPath && key.size() > 1);
        argument.tensors.push_back(tensorOf(pickleText(label)));
    }
    for (const auto &[key, label] : picklePairs(positions.find("kwargs"))) {
        ArgumentRecord argument;
        argument.name = pickleText(key.is(PickleKind::tuple) ? key.item(0) : key);
        argument.isTensorList = key.is(PickleKind::tuple) && key.size() > 1;
        argument.tensors.push_back(tensorOf(pickleText(label)));
        named.push_back(std::move(argument));
    }
    for (const PickleValue param : pickleItems(op.fields[fParams])) {
        const auto tensor = m_paramTensors.find(pickleText(pickleAttribute(param, "address")));
        if (tensor == m_paramTensors.end())
            continue;
        ArgumentRecord argument;
        argument.name = pickleText(pickleAttribute(param, "name"));
        argument.tensors.push_back(tensor->second);
        std::int64_t position = 0;
        while (position < static_cast<std::int64_t>(names.size()) &&
               argumentName(names, position) != argument.name)
            ++position;
        if (position < static_cast<std::int64_t>(names.size()) && placed.count(position) == 0)
            placed.emplace(position, std::move(argument));
        else
            named.push_back(std::move(argument));
    }
}

// Other positional values are listed without their positions: they are given names only when the places that
// are left are as many as the values.
std::vector<ArgumentRecord> TlspecImporter::arguments(const Op &op) const
{
    std::map<std::int64_t, ArgumentRecord> placed;
    std::vector<ArgumentRecord> named;
    placeParents(op, placed, named);
    const auto names = pickleStrings(op.fields[fArgNames]);
    const auto values = pickleItems(op.fields[fPosArgs]);
    const std::int64_t positions = op.fields[fArgCount].toInt(0);
    std::vector<std::int64_t> free;
    for (std::int64_t i = 0; i < positions && i < 1000; ++i)
        if (placed.count(i) == 0)
            free.push_back(i);
    for (std::size_t i = 0; i < values.size(); ++i) {
        ArgumentRecord argument;
        argument.value = pickleToValue(values[i]);
        if (free.size() == values.size()) {
            argument.name = argumentName(names, free[i]);
            placed.emplace(free[i], std::move(argument));
        } else {
            named.push_back(std::move(argument));
        }
    }
    std::vector<ArgumentRecord> all;
    for (auto &[position, argument] : placed)
        all.push_back(std::move(argument));
    for (ArgumentRecord &argument : named)
        all.push_back(std::move(argument));
    for (const auto &[key, value] : picklePairs(op.fields[fKeywords])) {
        ArgumentRecord argument;
        argument.name = pickleText(key);
        argument.value = pickleToValue(value);
        all.push_back(std::move(argument));
    }
    return all;
}

} // namespace core
