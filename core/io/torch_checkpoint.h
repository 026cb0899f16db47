// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/io/state_dict.h"
#include "core/io/torch_save.h"

namespace core {

// Walks the object of a torch.save file and adds its tensors and other leaves to STATE: dictionaries and
// lists by
// '/' paths, pickled modules by dotted names. Errors: nesting_too_deep, too_many_values, and those of broken
// tensors. Notes: cycle, foreign_global (a call that was not made), foreign_classes, unknown_dtype,
// missing_record.
Status readTorchCheckpoint(const TorchFile &file, const JobContext &job, StateDict &state);

} // namespace core
