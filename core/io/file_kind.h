// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/byte_source.h"
#include "core/base/result.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace core {

class ZipArchive;

enum class FileKind : std::uint8_t {
    unknown,
    nativeTrace,
    tlspecDirectory,
    tlspecZip,
    pt2,
    torchScript,
    torchSave,       // torch.save, zip form
    torchSaveLegacy, // torch.save before 1.6
    safetensors,
    safetensorsIndex,
    npy,
    npz,
    kineto,
    executionTrace,
};
std::string_view fileKindName(FileKind kind); // "pt2", "torch_zip", ...

// What a file is, told by its content alone, never by its name.
struct FileIdentity
{
    FileKind kind = FileKind::unknown;
    bool isGzip = false;     // the content stands in a gzip file
    std::string description; // "a TorchScript archive", "a PNG picture"
    std::string remedy;      // for unknown: what would work, or empty
};

// Reads the first bytes, and of a zip archive the directory. Errors: notFound, unreadable, is_a_directory,
// empty_file, and those of a damaged zip archive (zip_no_end_record, ...). A file that is none of ours is no
// error here.
Result<FileIdentity> identifyFile(const std::filesystem::path &path);
// The same for an open file.
Result<FileIdentity> identifySource(const std::shared_ptr<const ByteSource> &source);
FileIdentity identifyArchive(const ZipArchive &archive);

// unknownFormat (detail unknown_format) that says what NAME looks like and what would work.
Status notOneOfOurs(const std::string &name, const FileIdentity &identity, std::string_view wanted);

} // namespace core
