// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/dtype.h"
#include "core/base/load_report.h"
#include "core/base/value.h"
#include "core/io/tlspec_files.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace core {

inline constexpr std::int64_t kNewestTlspecVersion = 9;

// One tensor file of a bundle as manifest.json announces it.
struct TlspecBlob
{
    std::string id;   // "0000000001"
    std::string kind; // "out", "grad", "grad_fn_grad", "buffer_initial_value", ...
    std::string label;
    std::string path; // "blobs/0000000001.safetensors"
    std::string sha256;
    DType dtype = DType::unknown;
    std::vector<std::int64_t> shape;
    std::uint64_t bytes = 0;
    bool requiresGrad = false;
    bool present = true; // false: the file is missing
};

struct TlspecManifest
{
    Value json;
    std::int64_t version = 0;
    std::vector<TlspecBlob> blobs;
    std::unordered_map<std::string_view, const TlspecBlob *> byId; // into blobs

    const TlspecBlob *find(std::string_view id) const
    {
        const auto found = byId.find(id);
        return found == byId.end() ? nullptr : found->second;
    }
};

// Reads and checks manifest.json: kind, version, counts, safe paths. Errors carry unsafe_path, bad_json,
// nesting_too_deep, or unsupported with a remedy for the bundle kinds that are no trace; notes
// count_mismatch, newer_version, missing_record, unknown_dtype.
Result<std::shared_ptr<const TlspecManifest>> readTlspecManifest(const TlspecFiles &files,
                                                                 LoadReport &report);

} // namespace core
