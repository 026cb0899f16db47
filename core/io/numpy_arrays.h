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

// A member of an .npz archive that is no readable array: of a type that tensors lack, or damaged.
struct NpzSkipped
{
    std::string name;
    Status status;          // why
    std::size_t before = 0; // how many of the arrays stand before it
};

// The arrays of a .npz archive by name (without ".npy"), in the archive's order. One that cannot be read does
// not keep the others from being read.
struct NpzFile
{
    std::vector<std::pair<std::string, StoredTensor>> arrays;
    std::vector<NpzSkipped> skipped;
};
NpzFile readNpz(const ZipArchive &archive);

} // namespace core
