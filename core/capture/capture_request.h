// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/value.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace core {

// One input as the user gave it: a specification ("f32[1,3,224,224]=randn") or a file; NAME empty: by
// position.
struct InputText
{
    std::string name;
    std::string text;
};

// Which payloads a capture keeps. Statistics are always kept.
struct SavePolicy
{
    enum class Mode : std::uint8_t { all, none, chosen };
    Mode mode = Mode::all;
    std::vector<std::string> modules; // chosen: address patterns ("h.*.attn"), their calls whole
    std::vector<std::string> ops;     // chosen: op or function names ("softmax", "aten.mm.default")
    std::uint64_t maxBytesPerTensor = 64ULL << 20; // larger: statistics and a sample
};
// "all", "none", "module:PATTERN", "op:NAME", "max:BYTES" (with K, M, G), joined by commas. invalidArgument
// names the part.
Result<SavePolicy> parseSavePolicy(std::string_view text);
std::string savePolicyText(const SavePolicy &policy);

// What the loss of a backward pass is made of.
struct BackwardRequest
{
    std::string rule;   // "sum", "mean", "output", "cross_entropy", "mse"
    std::string path;   // which output; empty: the first
    std::string target; // file of the target for cross_entropy and mse
    std::uint32_t passes = 1;
    std::optional<double> lossScale;
    std::vector<std::string> inputGradients; // inputs that require a gradient
};

// Everything a capture needs to know; travels as one JSON value to capture_worker and stands in the trace's
// manifest.
struct CaptureRequest
{
    std::string modelPath;
    std::string outputPath;
    std::vector<InputText> inputs;
    std::string inputsTree; // path of a TREE.json; empty: none
    std::optional<std::uint64_t> seed;
    bool train = false;
    bool gradEnabled = true;
    SavePolicy save;
    bool saveSources = true;
    std::uint32_t threads = 1;
    std::uint32_t warmup = 0;
    std::uint32_t repeat = 0;           // plain runs that are only timed
    std::uint64_t memoryLimitBytes = 0; // 0: none
    double timeLimitSeconds = 0.0;      // 0: none
    std::optional<BackwardRequest> backward;
    std::string task = "capture"; // or a live helper's name: "find_nan", "check_determinism", ...
    Value options;                // of the task
    // What images and sounds were made into arrays, and how (input_preparation.h): input, file, array, dtype,
    // shape, how.
    Value preparedInputs = Value::list();
};

Value toValue(const CaptureRequest &request);
// invalidArgument naming the member that does not fit.
Result<CaptureRequest> captureRequestFromValue(const Value &value);

} // namespace core
