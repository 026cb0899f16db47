// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/io/stored_tensor.h"
#include "core/io/zip_reader.h"

#include <string>
#include <utility>
#include <vector>

namespace core {

// The array of a .npy file, in either byte and element order. Errors are those of readNpyHeader().
Result<StoredTensor> readNpy(const std::shared_ptr<const ByteSource> &source);

// The arrays of a .npz archive by name (without ".npy"), in the archive's order. An array of a type that is
// not supported is in SKIPPED with the reason; a damaged one fails the whole file.
struct NpzFile
{
    std::vector<std::pair<std::string, StoredTensor>> arrays;
    std::vector<std::pair<std::string, Status>> skipped;
};
Result<NpzFile> readNpz(const ZipArchive &archive);

} // namespace core
