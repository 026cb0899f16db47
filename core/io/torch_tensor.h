// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/io/torch_save.h"

#include <optional>
#include <string>

namespace core {

// What a call in a torch.save pickle would rebuild, when that is a tensor.
struct TorchTensor
{
    StoredTensor values;      // of a sparse one: its dense form in memory
    std::string layout;       // "strided", "sparse_coo"
    std::string storageKey;   // tensors with the same key share memory; empty for sparse ones
    bool isParameter = false; // an nn.Parameter
    bool requiresGrad = false;
    // Why the values cannot be read: missing_record, unknown_dtype, quantized, meta, sparse_csr, subclass,
    // too_large. VALUES has no storage then; its dtype and shape are given as far as they are known.
    std::string unreadable;
};

// nullopt when VALUE is no tensor. An error when it is a broken one (tensor_out_of_bounds, bad_stride, ...).
Result<std::optional<TorchTensor>> torchTensor(const TorchFile &file, PickleValue value);

} // namespace core
