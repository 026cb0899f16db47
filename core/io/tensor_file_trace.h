// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/io/state_dict.h"
#include "core/trace/trace.h"

#include <filesystem>
#include <memory>
#include <string>

namespace core {

// A file of named tensors as a trace that holds nothing but parameters (info().attributes "tensor_file"
// true): what the reports on weights take. An entry that is no readable tensor has no tensor row and says its
// "type", "skip" reason and "shape" in its attributes; it has its place in the file's order. Values are read
// from the file on demand.
Result<std::shared_ptr<const Trace>> traceOfStateDict(StateDict state, const std::string &subject,
                                                      const JobContext &job);

// A trace of any format, or any checkpoint that readStateDict() reads.
Result<std::shared_ptr<const Trace>> openTraceOrTensors(const std::filesystem::path &path,
                                                        const JobContext &job);

} // namespace core
