// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report.h"
#include "core/base/value.h"

#include <optional>
#include <string>
#include <vector>

namespace core {

// What doctor() knows before it judges. Values are objects as the probes gave them; a probe that could not
// run is a Status instead and becomes a row of its own. Members of the objects are listed with the function
// that fills them.
struct DoctorFacts
{
    // capture_worker, task "doctor" (core/capture_torch/doctor_probe.h): torch_version, cpu_capability,
    // threads, determinism, build, cuda {available, devices}, flags {HAS_*: true, false or null: not probed},
    // interception {checked, missed, examples}, fingerprint.
    Value torch;
    Status torchStatus;
    // layout_worker: graphviz_version, milliseconds.
    Value layout;
    Status layoutStatus;
    // The caller's own process: fonts [family...], display (a text, null without one), optional {name: true
    // or false}, sandbox {..}.
    Value host;
    // Of a model file and its inputs, absent without one; of the same task: kind, model_type, mode, tied
    // [[first, second]...], missing_ops, unsupported, quantized, fp8, devices, dtypes, cuda_constants, vmap,
    // inputs [...], inputs_error, parameters {count, bytes}, notes.
    std::optional<Value> model;
    Status modelStatus;
};

// Flags whose absence is a fact about this build and no fault.
const std::vector<std::string> &optionalCapabilities();
// Every flag of capability_snapshot() in a fixed order, as booleans; a flag that was not probed is false.
Value capabilitySnapshot(const DoctorFacts &facts);

// DoctorReport of reports.md section 11.1: rows in a fixed order (environment first, then model), result with
// model_type, torch_version, checks and capability_snapshot. found when a row is an error.
Report doctorReport(const DoctorFacts &facts);
Report capabilitySnapshotReport(const DoctorFacts &facts);
// The row KEY of a doctor report; notFound for an unknown key.
Result<Value> doctorCheck(const Report &report, std::string_view key);
// Fixed-width table: Row, Status, Severity, Detected, Details, Suggestion; columns at most 60 characters
// wide.
std::string doctorTable(const Report &report);
// Markdown: model type, PyTorch version, number of rows, then the table.
std::string doctorMarkdown(const Report &report);

} // namespace core
