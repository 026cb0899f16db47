// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/byte_source.h"
#include "core/base/result.h"
#include "core/capture_torch/storage_view.h"

#include <ATen/core/Tensor.h>

#include <string>

namespace core {

// All bytes of SOURCE as a storage, aligned as LibTorch aligns. unreadable when SOURCE does not deliver,
// limitExceeded when there is no memory; NAME is for messages.
Result<c10::Storage> readStorage(const ByteSource &source, const std::string &name);

// A tensor over STORAGE. corrupt with detail storage_too_small names NAME and both numbers when it would
// reach outside; unsupported with detail unknown_dtype.
Result<at::Tensor> viewStorage(const c10::Storage &storage, const StorageView &view, const std::string &name);

} // namespace core
