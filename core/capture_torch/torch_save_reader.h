// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/byte_source.h"
#include "core/base/load_report.h"
#include "core/base/result.h"

#include <ATen/core/ivalue.h>

#include <memory>
#include <string>
#include <vector>

namespace core {

// What a torch.save file holds: tensors, numbers, strings, and containers of them. Nothing in the pickle is
// executed or imported.
struct TorchSaveContent
{
    // Tuple, GenericDict (string keys), GenericList, Tensor, int, float, bool, str or None. What is none of
    // these is None here and stands in foreign.
    c10::IValue root;
    std::vector<std::string> foreign; // "posix.system"; distinct, in order of appearance
    std::vector<std::string> devices; // distinct, other than the CPU: mapped to it
};

// Reads a zip that torch.save wrote (all versions since 1.6). Errors: what ZipArchive and PickleGraph say,
// corrupt with missing_record or storage_too_small, unsupported for big-endian data. Notes: foreign_global.
Result<TorchSaveContent> readTorchSave(std::shared_ptr<const ByteSource> source, LoadReport &report);

} // namespace core
