// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/capture_torch/op_facts.h"
#include "core/trace/trace.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// From what a trace recorded back to LibTorch values.
namespace core {

// A tensor with the recorded values, shape, strides and requires-grad, not sharing memory with others.
// WRITTEN: no leaf, so that an op may change it. A parameter, buffer or constant without payload comes from
// STATE. notFound when the values are nowhere.
Result<at::Tensor> recordedTensor(const Trace &trace, TensorId id, bool written,
                                  const std::map<std::string, at::Tensor> &state);

// An argument that is no tensor, from its JSON text. Nothing when it cannot be made again (a generator, an
// object).
std::optional<c10::IValue> valueToIValue(std::string_view json, const c10::Argument &argument, CodeKind code);

// A list of tensors as the argument wants it: Tensor[] or Tensor?[].
c10::IValue tensorListValue(const c10::Argument &argument,
                            const std::vector<std::optional<at::Tensor>> &tensors);

// Same shape, dtype and bits, every NaN equal to every NaN.
bool sameBits(const at::Tensor &left, const at::Tensor &right);
// Null when the shapes differ or nothing is comparable.
Value maximumDifference(const at::Tensor &left, const at::Tensor &right);

} // namespace core
