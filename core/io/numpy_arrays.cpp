// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/numpy_arrays.h"

#include "core/io/npy.h"

#include <fmt/format.h>

namespace core {

Result<StoredTensor> readNpy(const std::shared_ptr<const ByteSource> &source)
{
    const auto info = readNpyHeader(*source);
    if (!info)
        return info.status();
    if (info->dtype == DType::unknown)
        return Status(ErrorCode::unsupported,
                      fmt::format("{}: elements of the NumPy type {}, which is no type of tensors",
                                  source->name(), info->descr))
            .withDetail("unknown_dtype");
    StoredTensor tensor;
    tensor.dtype = info->dtype;
    tensor.shape = info->shape;
    tensor.strides = info->fortranOrder ? columnMajorStrides(tensor.shape) : rowMajorStrides(tensor.shape);
    tensor.isBigEndian = info->bigEndian && info->itemBytes > 1;
    tensor.storage = sliceSource(source, info->dataOffset, info->dataBytes, source->name());
    if (Status status = checkStoredTensor(tensor, source->name()); !status)
        return status;
    return tensor;
}

NpzFile readNpz(const ZipArchive &archive)
{
    NpzFile file;
    for (const ZipEntry &entry : archive.entries()) {
        if (entry.isDirectory())
            continue;
        std::string name(entry.name);
        if (name.ends_with(".npy"))
            name.resize(name.size() - 4);
        const auto source = archive.open(entry);
        auto tensor = source ? readNpy(*source) : Result<StoredTensor>(source.status());
        if (tensor)
            file.arrays.emplace_back(std::move(name), std::move(*tensor));
        else
            file.skipped.push_back({std::move(name), tensor.error(), file.arrays.size()});
    }
    return file;
}

} // namespace core
