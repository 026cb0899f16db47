// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/base/load_report.h"
#include "core/base/value.h"
#include "core/io/file_kind.h"
#include "core/io/stored_tensor.h"

#include <filesystem>
#include <string>
#include <vector>

namespace core {

// One named tensor of a checkpoint.
struct StateTensor
{
    std::string name; // "block.0.weight"; nested dictionaries are joined by '/': "model/0.weight"
    StoredTensor values;
    std::string layout = "strided";
    int storage = -1; // tensors with the same number share memory; -1: not known
    int same = -1;    // the first tensor that is the same object under another name; -1: none
    bool isParameter = false;
};

// A value of a checkpoint that is no readable tensor: a number, a text, a tensor of an unknown type.
struct StateSkipped
{
    std::string name;
    std::string type;   // Python's name: "float", "NoneType", "str"; of a tensor its dtype
    std::string reason; // "not_a_tensor", "unknown_dtype", "missing_record", "quantized", ...
    Value value;        // of a plain value
    std::vector<std::int64_t> shape;
    std::size_t before = 0; // how many of the file's tensors stand before it
};

// All tensors of one checkpoint file in the file's order. The values stay in the file and are read by
// readElements().
struct StateDict
{
    FileKind kind = FileKind::unknown;
    std::vector<StateTensor> tensors;
    std::vector<StateSkipped> skipped;
    LoadReport report;
};

// Reads any checkpoint: .safetensors (also the index of a sharded one), .npz, .npy, torch.save files in
// either form, nested checkpoints, whole pickled modules, TorchScript archives; found by content. Storages up
// to 256 MiB are checked against their CRCs (note crc_mismatch). Nothing is executed. Other files are
// unknownFormat with what they look like.
Result<StateDict> readStateDict(const std::filesystem::path &path, const JobContext &job);

} // namespace core
