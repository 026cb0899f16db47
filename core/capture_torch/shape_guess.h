// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/dtype.h"
#include "core/base/job_context.h"
#include "core/base/result.h"
#include "core/base/value.h"

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace core {

class RunnableModel;
class ScriptModel;
struct CaptureRequest;

// What a caller may say about the input that is looked for (reports.md section 11.17).
struct GuessOptions
{
    std::int64_t batchSize = 1;
    std::optional<DType> dtype;
    std::optional<std::int64_t> channels;
    std::optional<std::int64_t> spatialRank;
    std::optional<std::int64_t> seqLen;
    bool square = true;
    std::int64_t minSize = 1;
    std::int64_t maxSize = 512;
    std::vector<std::int64_t> preferredSizes = {224, 256, 384, 299, 128, 96, 64, 32, 28};
    std::int64_t maxProbes = 64;
    std::uint64_t seed = 0;
    bool inputSpecs = false; // given: no single input is meant
    double timeLimitSeconds = 0.0;
};
// From the helper's options by their names on the page. invalidArgument says which one is out of range.
Result<GuessOptions> guessOptionsFromValue(const Value &options);

// How the values of a guessed input are made.
struct ValueRange
{
    std::string recipe = "uniform"; // "uniform", "randint"
    double low = 0.0;
    double high = 1.0;
};

struct GuessedInput
{
    std::string name;                // of forward's argument
    c10::IValue value;               // a tensor, or what holds it
    std::string type = "Tensor";     // of the argument
    std::vector<std::int64_t> shape; // of a tensor
    DType dtype = DType::unknown;    // unknown: a number
    ValueRange range;
    std::string spec; // as for --input: "f32[1,3,224,224]=rand"; a number as its text
};

struct GuessAttempt
{
    std::vector<std::int64_t> shape;
    std::string outcome; // "ok" or the model's words
};

// An input on which the model was run, or why there is none. `strategy` and `reason` are the words of the
// page; "export_spec" is ours: the file itself says what it takes.
struct ShapeGuess
{
    bool found = false;
    std::vector<GuessedInput>
        inputs; // in the order of forward's arguments; the first tensor is the one meant
    std::vector<std::int64_t> flexibleDims;
    std::optional<std::string> constrainingModule;
    std::string constrainingOp;
    std::string sourceLine; // "net.py:12"; empty: not known
    std::string strategy = "none";
    std::string reason;
    std::string message;
    std::vector<GuessAttempt> attempts;

    // The tensor that the shape is of; nullptr when nothing was found.
    const GuessedInput *primary() const;
};

// Looks for inputs of MODEL by what its modules, parameters and graph say, and by running copies of it in
// evaluation mode without gradients. MODEL, its state and the global generators stay as they are. cancelled
// when the job was; everything else is in the answer.
Result<ShapeGuess> guessScriptInputs(const ScriptModel &model, const GuessOptions &options,
                                     const JobContext &job);

// The same for any model: a .pt2 states its inputs, they are made from that (or are its sample inputs) and
// tried out.
Result<ShapeGuess> guessInputs(const RunnableModel &model, const CaptureRequest &request,
                               const GuessOptions &options, const JobContext &job);

} // namespace core
