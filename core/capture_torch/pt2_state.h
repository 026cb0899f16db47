// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/load_report.h"
#include "core/base/result.h"
#include "core/capture_torch/pt2_archive.h"
#include "core/capture_torch/pt2_program.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace core::pt2 {

// The parameters, buffers and constants of one run, by state name. A run may change them in place: load them
// again for the next one. Tensors that are the same memory with the same shape are one tensor with several
// names.
class State
{
public:
    void add(const std::string &name, at::Tensor tensor);
    const at::Tensor *find(const std::string &name) const; // nullptr when there is none
    std::size_t size() const { return m_tensors.size(); }
    // All names of the tensor that NAME stands for, NAME first. Needs settle() before.
    std::vector<std::string> namesOf(const std::string &name) const;

    // Gives tied names one tensor and parameters their requires_grad, as PROGRAM says. corrupt with detail
    // missing_record names the first state tensor that PROGRAM needs and that is not here.
    Status settle(const Program &program);
    // For a rerun in higher precision: real floating tensors become TYPE, in place of the ones that are here.
    void convertFloating(c10::ScalarType type);

    const std::map<std::string, at::Tensor> &tensors() const { return m_tensors; }

private:
    void findNames();

    std::map<std::string, at::Tensor> m_tensors;
    std::unordered_map<const c10::TensorImpl *, std::vector<std::string>> m_names; // in order of m_tensors
};

// Reads the weights and constants; a fresh copy at every call. Errors: those of ZipArchive, readTorchSave and
// viewStorage. Notes: foreign_global, fake_weight.
Result<State> loadState(const Archive &archive, LoadReport &report);
// The inputs the model was exported with, as (args, kwargs); none when the file has none.
Result<std::optional<c10::IValue>> loadSampleInputs(const Archive &archive, LoadReport &report);

} // namespace core::pt2
