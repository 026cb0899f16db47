// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/input_tree_clone.h"

#include "core/capture_torch/reference_listener.h"

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <c10/core/GradMode.h>

#include <functional>
#include <map>

namespace core {

namespace {

using ChangeTensor = std::function<at::Tensor(const at::Tensor &)>;

// VALUE rebuilt with every tensor in it changed by CHANGE.
c10::IValue rebuilt(const c10::IValue &value, const ChangeTensor &change)
{
    if (value.isTensor())
        return value.toTensor().defined() ? c10::IValue(change(value.toTensor())) : value;
    if (value.isTensorList()) {
        c10::List<at::Tensor> list;
        for (const at::Tensor &item : value.toTensorVector())
            list.push_back(item.defined() ? change(item) : item);
        return list;
    }
    if (value.isList()) {
        c10::List<c10::IValue> list(value.toList().elementType());
        for (const c10::IValue &item : value.toListRef())
            list.push_back(rebuilt(item, change));
        return list;
    }
    if (value.isTuple()) {
        std::vector<c10::IValue> items;
        for (const c10::IValue &item : value.toTupleRef().elements())
            items.push_back(rebuilt(item, change));
        // A named tuple stays one: forward takes no other in its place.
        if (const auto type = value.toTupleRef().type<c10::TupleType>(); type != nullptr && type->schema())
            return c10::ivalue::Tuple::createNamed(std::move(items), type);
        return c10::ivalue::Tuple::create(std::move(items));
    }
    if (value.isGenericDict()) {
        const auto dict = value.toGenericDict();
        c10::impl::GenericDict made(dict.keyType(), dict.valueType());
        for (const auto &item : dict)
            made.insert(item.key(), rebuilt(item.value(), change));
        return made;
    }
    return value;
}

// Clones each tensor object once.
class Cloner
{
public:
    at::Tensor operator()(const at::Tensor &tensor)
    {
        at::Tensor &clone = m_clones[tensor.unsafeGetTensorImpl()];
        if (!clone.defined()) {
            clone = tensor.detach().clone();
            clone.set_requires_grad(tensor.requires_grad());
        }
        return clone;
    }

private:
    std::map<const c10::TensorImpl *, at::Tensor> m_clones;
};

} // namespace

c10::IValue cloneInputTree(const c10::IValue &value)
{
    Cloner cloner;
    return rebuilt(value, std::ref(cloner));
}

std::vector<ModelInput> cloneInputs(const std::vector<ModelInput> &inputs)
{
    Cloner cloner;
    std::vector<ModelInput> clones;
    for (const ModelInput &input : inputs)
        clones.push_back({input.name, rebuilt(input.value, std::ref(cloner)), input.origin});
    return clones;
}

void convertInputs(std::vector<ModelInput> &inputs, c10::ScalarType type)
{
    const c10::NoGradGuard noGrad;
    const auto convert = [type](const at::Tensor &tensor) {
        const bool changes =
            !tensor.is_quantized() && referenceType(tensor.scalar_type(), type) != tensor.scalar_type();
        return changes ? tensor.to(referenceType(tensor.scalar_type(), type))
                             .set_requires_grad(tensor.requires_grad())
                       : tensor;
    };
    for (ModelInput &input : inputs)
        input.value = rebuilt(input.value, convert);
}

} // namespace core
