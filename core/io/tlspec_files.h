// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/byte_source.h"
#include "core/base/load_report.h"
#include "core/base/result.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace core {

// The files of a TorchLens bundle, wherever they are: in a directory or in a zip archive of one. Names are
// relative with '/' ("blobs/0000000001.safetensors"). Immutable and thread safe.
class TlspecFiles
{
public:
    virtual ~TlspecFiles() = default;

    virtual Result<std::shared_ptr<const ByteSource>> open(std::string_view name) const = 0;
    // Known without touching the file itself.
    virtual bool contains(std::string_view name) const = 0;
    // The bundle's own name, for messages.
    virtual const std::string &name() const = 0;
};

// PATH is the bundle's directory. Rejected with the token link when a file of the bundle is a symbolic link;
// one pass over the directories, no file is touched.
Result<std::shared_ptr<const TlspecFiles>> openTlspecDirectory(const std::filesystem::path &path);
// A zip archive with manifest.json at its root or in its only top directory.
Result<std::shared_ptr<const TlspecFiles>> openTlspecZip(std::shared_ptr<const ByteSource> source,
                                                         LoadReport &report);

} // namespace core
