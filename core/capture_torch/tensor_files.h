// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/capture/input_spec.h"

#include <ATen/core/Tensor.h>

namespace core {

// The tensor in FILE (.npy, .npz, torch.save, .safetensors), with the strides it is stored with. A file that
// holds several tensors needs the entry's name; the error lists the names. notFound, unreadable, corrupt,
// unsupported (dtypes LibTorch lacks).
Result<at::Tensor> readTensorFile(const InputFile &file);

} // namespace core
