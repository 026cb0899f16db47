// SPDX-License-Identifier: GPL-3.0-or-later
// Autograd nodes, their firings, backward passes and gradients of a TorchLens bundle.
#include "core/io/pickle_value_text.h"
#include "core/io/tlspec_importer.h"

#include <fmt/format.h>

#include <cmath>

namespace core {
namespace {

constexpr std::string_view kNodeAttributes[] = {
    "grad_fn_object_id",
    "class_qualname",
    "is_custom",
    "order",
    "type",
    "type_index",
    "step_index",
    "ordinal_index",
    "has_op",
    "modules",
    "module_membership_source",
    "origin_backward_pass",
    "parents",
    "children",
    "class_source_file",
    "class_source_line",
    "forward_source_file",
    "forward_source_line",
    "backward_source_file",
    "backward_source_line",
};

constexpr std::string_view kPassAttributes[] = {
    "trigger",     "implicit",     "root_meta",     "order", "order_attribution_coverage",
    "peak_memory", "engine_flags", "inputs_subset",
};

Value attributes(PickleValue object, std::span<const std::string_view> names)
{
    Value result;
    for (const std::string_view name : names)
        if (const PickleValue value = pickleAttribute(object, name); !value.isNone())
            result.set(name, pickleToValue(value));
    return result;
}

} // namespace

void TlspecImporter::indexGradNodes()
{
    for (const auto &[key, node] : picklePairs(top("grad_fn_logs"))) {
        const auto id = static_cast<RecordId>(m_gradNodes.size());
        m_gradNodes.emplace(key.toInt(-1), id);
        m_gradNodeByLabel.emplace(pickleText(pickleAttribute(node, "label")), id);
    }
}

Status TlspecImporter::addGradNodes()
{
    std::unordered_set<RecordId> added;
    for (const auto &[key, node] : picklePairs(top("grad_fn_logs"))) {
        GradNodeRecord record;
        record.id = m_gradNodes.at(key.toInt(-1));
        if (!added.insert(record.id).second)
            continue;
        record.className = pickleText(pickleAttribute(node, "class_name"));
        record.label = pickleText(pickleAttribute(node, "label"));
        record.opLabel = pickleText(pickleAttribute(node, "op_label"));
        record.module = pickleText(pickleAttribute(node, "module_address"));
        record.parameter = pickleText(top("_grad_fn_param_refs").find(record.label));
        if (const auto call = m_gradCalls.find(key.toInt(-1)); call != m_gradCalls.end())
            record.call = call->second;
        for (const PickleValue next : pickleItems(pickleAttribute(node, "next_grad_fn_ids")))
            if (const auto target = m_gradNodes.find(next.toInt(-1)); target != m_gradNodes.end())
                record.next.push_back({target->second, 0});
        record.attributes = attributes(node, kNodeAttributes);
        if (Status status = m_builder.add(std::move(record)); !status)
            return status;
    }
    return Status::ok();
}

Status TlspecImporter::addBackwards()
{
    for (const auto &[key, pass] : picklePairs(top("backward_pass_logs"))) {
        BackwardRecord record;
        record.id = static_cast<RecordId>(m_backwards.size());
        if (!m_backwards.emplace(key.toInt(), record.id).second)
            continue;
        record.index = static_cast<std::uint32_t>(std::max<std::int64_t>(key.toInt(), 0));
        for (const PickleValue root : pickleItems(pickleAttribute(pass, "root_grad_fn_ids")))
            if (const auto node = m_gradNodes.find(root.toInt(-1)); node != m_gradNodes.end())
                record.roots.push_back(node->second);
        record.savePolicy = pickleText(pickleAttribute(pass, "save_grads_policy"));
        if (const std::string status = pickleText(pickleAttribute(pass, "status")); !status.empty())
            record.status = status == "ok" ? "finished" : status;
        const PickleValue duration = pickleNumber(pickleAttribute(pass, "duration"));
        if (duration.isValid() && duration.toDouble() >= 0.0 && duration.toDouble() < 9e9)
            record.durationNs = std::llround(duration.toDouble() * 1e9);
        record.attributes = attributes(pass, kPassAttributes);
        const RecordId id = record.id;
        if (Status status = m_builder.add(std::move(record)); !status)
            return status;
        if (Status status = addFires(pass, id); !status)
            return status;
    }
    return Status::ok();
}

// A slot without a payload is a gradient that was not kept or did not exist: the bundle does not say which.
Result<std::vector<RecordId>> TlspecImporter::gradientTensors(PickleValue list)
{
    std::vector<RecordId> tensors;
    for (const PickleValue reference : pickleItems(list)) {
        const TlspecBlob *gradient = blob(reference);
        if (gradient == nullptr) {
            tensors.push_back(kNoRecord);
            continue;
        }
        TensorRecord tensor;
        tensor.id = newTensor();
        tensor.role = TensorRole::gradient;
        tensor.dtype = gradient->dtype;
        tensor.shape = gradient->shape;
        tensor.payload = payload(gradient, PayloadState::notSaved);
        tensors.push_back(tensor.id);
        if (Status status = m_builder.add(std::move(tensor)); !status)
            return status;
    }
    return tensors;
}

// The list is in the order in which the nodes fired.
Status TlspecImporter::addFires(PickleValue pass, RecordId backward)
{
    std::uint32_t order = 0;
    std::optional<double> start;
    for (const PickleValue call : pickleItems(pickleAttribute(pass, "grad_fn_calls"))) {
        GradFireRecord fire;
        fire.id = order;
        fire.backward = backward;
        fire.order = order++;
        const auto node = m_gradNodeByLabel.find(pickleText(pickleAttribute(call, "label")));
        if (node != m_gradNodeByLabel.end())
            fire.node = node->second;
        const PickleValue emitted = pickleAttribute(call, "grad_inputs");
        const PickleValue arriving = pickleAttribute(call, "grad_outputs");
        fire.payloadsRecorded = !emitted.isNone() || !arriving.isNone();
        auto in = gradientTensors(arriving);
        auto out = gradientTensors(emitted);
        if (!in || !out)
            return in ? out.status() : in.status();
        fire.arriving = std::move(*in);
        fire.emitted = std::move(*out);
        const PickleValue started = pickleNumber(pickleAttribute(call, "_time_started"));
        const PickleValue finished = pickleNumber(pickleAttribute(call, "_time_finished"));
        if (started.isValid()) {
            start = start.value_or(started.toDouble());
            fire.startNs = std::llround(std::clamp(started.toDouble() - *start, 0.0, 9e8) * 1e9);
            // Releases that did not measure the end repeat the start: then the duration is not known.
            if (finished.isValid() && finished.toDouble() > started.toDouble())
                fire.durationNs =
                    std::llround(std::clamp(finished.toDouble() - started.toDouble(), 0.0, 9e8) * 1e9);
        }
        if (Status status = m_builder.add(std::move(fire)); !status)
            return status;
    }
    return Status::ok();
}

// Each op's gradient of each pass, and the one that stands on the op itself, which belongs to no pass: an
// output that a pass began from has only that.
Status TlspecImporter::addGradients()
{
    for (const Op &op : m_ops) {
        const std::vector<PickleValue> records = pickleItems(op.fields[fGradRecords]);
        for (const PickleValue item : records) {
            const auto pass = m_backwards.find(pickleAttribute(item, "backward_pass_index").toInt(-1));
            if (pass == m_backwards.end())
                continue;
            TensorRecord tensor;
            tensor.shape = shape(pickleAttribute(item, "shape"), tensor.shapeKnown);
            const PickleValue type = pickleAttribute(item, "dtype");
            tensor.dtype = type.is(PickleKind::string) ? dtypeFromName(type.text()).value_or(DType::unknown)
                                                       : dtype(type, PickleValue());
            tensor.payload = payload(blob(pickleAttribute(item, "grad")), PayloadState::notSaved);
            if (Status status = addGradient(op.tensor, pass->second, std::move(tensor)); !status)
                return status;
        }
        const TlspecBlob *own = blob(op.fields[fGrad]);
        // A bundle written without gradients still says which ops had one.
        const bool isDropped = own == nullptr && records.empty() && op.fields[fHasGrad].toBool();
        if (own == nullptr && !isDropped)
            continue;
        TensorRecord tensor;
        tensor.shapeKnown = own != nullptr;
        if (own != nullptr) {
            tensor.shape = own->shape;
            tensor.dtype = own->dtype;
        }
        tensor.payload = payload(own, PayloadState::notSaved);
        if (Status status = addGradient(op.tensor, kNoRecord, std::move(tensor)); !status)
            return status;
    }
    return Status::ok();
}

Status TlspecImporter::addGradient(RecordId forward, RecordId backward, TensorRecord tensor)
{
    tensor.id = newTensor();
    tensor.role = TensorRole::gradient;
    GradientRecord gradient;
    gradient.tensor = forward;
    gradient.backward = backward;
    gradient.gradient = tensor.id;
    if (Status status = m_builder.add(std::move(tensor)); !status)
        return status;
    return m_builder.add(std::move(gradient));
}

} // namespace core
