// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/byte_source.h"
#include "core/base/result.h"
#include "core/capture_torch/pt2_program.h"

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
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
    // All names of the tensor that NAME stands for, NAME first.
    std::vector<std::string> namesOf(const std::string &name) const;

    // Gives tied names one tensor and parameters their requires_grad, as PROGRAM says. corrupt with detail
    // missing_record names the first state tensor that PROGRAM needs and that is not here.
    Status settle(const Program &program);
    // For a rerun in higher precision: real floating tensors become TYPE, in place of the ones that are here.
    void convertFloating(c10::ScalarType type);

    const std::map<std::string, at::Tensor> &tensors() const { return m_tensors; }

private:
    std::map<std::string, at::Tensor> m_tensors;
};

// A view of STORAGE as DTYPE. corrupt names NAME and both numbers when it would reach outside.
struct StorageView
{
    DType dtype = DType::unknown;
    std::int64_t offset = 0; // in elements
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides; // empty: row-major
};
Result<at::Tensor> viewStorage(const c10::Storage &storage, const StorageView &view, const std::string &name);

// BYTES of memory as a storage, aligned as LibTorch aligns; unreadable or limitExceeded when SOURCE does not
// deliver or there is no memory.
Result<c10::Storage> readStorage(const ByteSource &source, const std::string &name);

} // namespace core::pt2
