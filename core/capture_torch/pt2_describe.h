// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/load_report.h"
#include "core/base/result.h"
#include "core/base/value.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace core {

// What a .pt2 file says about itself, for `info`, the capture dialog and `doctor`. Plain data.
struct Pt2Description
{
    struct Input
    {
        std::string name;
        std::string path;          // place in (args, kwargs): "x", "batch.image"
        std::string expected;      // "float32[2,s0,8]", "int"
        std::string dtype;         // empty for a number
        Value shape;               // list of numbers and symbol names; null for a number
        std::string specification; // a text that parseTensorSpec takes; hints stand for dynamic sizes
        bool isFixed = false;      // frozen at export, EXPECTED is its value
    };
    struct Op
    {
        std::string target; // "aten.linear.default"
        std::uint64_t count = 0;
        std::string refusal; // why it cannot run here ("missing_op", ..); empty when it can
    };
    struct State
    {
        std::uint64_t tensors = 0;
        std::uint64_t elements = 0;
        std::uint64_t bytes = 0;
    };

    std::string generation; // "2.1 to 2.7", "2.8", "2.9 and later"
    std::string torchVersion;
    std::string schemaVersion;
    std::string dialect;
    std::string mode;       // "train", "eval", "mixed", or "" when no op depends on it
    std::string modelClass; // of the root module; empty when the file does not say
    std::vector<Input> inputs;
    std::vector<std::string> outputs; // paths
    std::vector<Op> ops;              // by first appearance, nested graphs included
    std::vector<std::string> modules; // paths
    State parameters;
    State buffers;
    State constants;
    // How many tensors of how many bytes the main graph's nodes make; views make none. Hints stand for
    // dynamic sizes, and what has none is left out and counted.
    std::map<std::uint64_t, std::uint64_t> valueSizes;
    std::uint64_t valuesOfUnknownSize = 0;
    std::vector<std::string> mappedDevices; // "cuda:0 (node to)"
    std::vector<std::string> nativeCode;
    bool hasSampleInputs = false;
    std::string guards;  // Python text, shown and never run
    std::string refusal; // why the program cannot run here; empty when it can
};

// Opens and checks the program without reading its weights and without running anything. Errors: those of
// Archive::open and buildProgram.
Result<Pt2Description> describePt2(const std::filesystem::path &path, LoadReport &report);

Value toValue(const Pt2Description &description);

} // namespace core
