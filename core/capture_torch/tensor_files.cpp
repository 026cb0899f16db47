// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/tensor_files.h"

#include "core/capture_torch/torch_save_reader.h"
#include "core/capture_torch/torch_storage.h"
#include "core/io/npy.h"
#include "core/io/safetensors.h"
#include "core/io/zip_reader.h"

#include <ATen/core/Dict.h>

#include <algorithm>

namespace core {

namespace {

using Names = std::vector<std::string>;

Status chooseOne(const InputFile &file, const Names &names)
{
    std::string list;
    for (std::size_t i = 0; i < names.size() && i < 8; ++i)
        list += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > 8)
        list += ", ...";
    if (names.empty())
        return {ErrorCode::invalidArgument, file.path.string() + ": holds no tensor"};
    if (file.entry.empty())
        return Status(ErrorCode::invalidArgument, file.path.string() + ": holds " +
                                                      std::to_string(names.size()) + " tensors (" + list +
                                                      "), which one is meant is not said")
            .withRemedy("write FILE:NAME");
    return {ErrorCode::invalidArgument,
            file.path.string() + ": has no tensor \"" + file.entry + "\", only " + list};
}

// The position of the wanted name: ENTRY, or the only one there is.
std::size_t position(const InputFile &file, const Names &names)
{
    if (file.entry.empty())
        return names.size() == 1 ? 0 : names.size();
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), file.entry) - names.begin());
}

void swapBytes(const c10::Storage &storage, std::size_t width)
{
    auto *bytes = static_cast<std::byte *>(storage.mutable_data());
    for (std::size_t at = 0; width > 1 && at + width <= storage.nbytes(); at += width)
        std::reverse(bytes + at, bytes + at + width);
}

std::vector<std::int64_t> fortranStrides(const std::vector<std::int64_t> &shape)
{
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t i = 1; i < shape.size(); ++i)
        strides[i] = strides[i - 1] * std::max<std::int64_t>(shape[i - 1], 1);
    return strides;
}

Result<at::Tensor> readNpy(const std::shared_ptr<const ByteSource> &source, const std::string &name)
{
    auto info = readNpyHeader(*source);
    if (!info)
        return info.error();
    if (info->dtype == DType::unknown)
        return Status(ErrorCode::unsupported, name + ": an array type that is no tensor type");
    auto storage = readStorage(*sliceSource(source, info->dataOffset, info->dataBytes, name), name);
    if (!storage)
        return storage.error();
    if (info->bigEndian)
        swapBytes(*storage, isComplex(info->dtype) ? itemSize(info->dtype) / 2 : itemSize(info->dtype));
    StorageView view;
    view.dtype = info->dtype;
    view.sizes = info->shape;
    if (info->fortranOrder)
        view.strides = fortranStrides(info->shape);
    return viewStorage(*storage, view, name);
}

Result<at::Tensor> readNpz(const std::shared_ptr<const ByteSource> &source, const InputFile &file)
{
    LoadReport report;
    auto zip = ZipArchive::open(source, report);
    if (!zip)
        return zip.error();
    Names names;
    std::vector<const ZipEntry *> entries;
    for (const ZipEntry &entry : (*zip)->entries())
        if (entry.name.ends_with(".npy")) {
            names.emplace_back(entry.name.substr(0, entry.name.size() - 4));
            entries.push_back(&entry);
        }
    const std::size_t chosen = position(file, names);
    if (chosen >= names.size())
        return chooseOne(file, names);
    auto member = (*zip)->open(*entries[chosen]);
    if (!member)
        return member.error();
    return readNpy(*member, file.path.string() + ": " + names[chosen]);
}

Result<at::Tensor> readSafetensorsFile(const std::shared_ptr<const ByteSource> &source, const InputFile &file)
{
    LoadReport report;
    auto header = readSafetensors(*source, report);
    if (!header)
        return header.error();
    Names names;
    for (const SafetensorsEntry &entry : header->tensors)
        names.push_back(entry.name);
    const std::size_t chosen = position(file, names);
    if (chosen >= names.size())
        return chooseOne(file, names);
    const SafetensorsEntry &entry = header->tensors[chosen];
    const std::string name = file.path.string() + ": " + entry.name;
    auto storage = readStorage(*sliceSource(source, entry.offset, entry.bytes, name), name);
    if (!storage)
        return storage.error();
    return viewStorage(*storage, {entry.dtype, 0, entry.shape, {}}, name);
}

Result<at::Tensor> readTorchSaveFile(std::shared_ptr<const ByteSource> source, const InputFile &file)
{
    LoadReport report;
    auto content = readTorchSave(std::move(source), report);
    if (!content)
        return content.error();
    if (content->root.isTensor())
        return content->root.toTensor();
    Names names;
    std::vector<at::Tensor> tensors;
    if (content->root.isGenericDict())
        for (const auto &item : content->root.toGenericDict())
            if (item.value().isTensor()) {
                names.push_back(item.key().toStringRef());
                tensors.push_back(item.value().toTensor());
            }
    const std::size_t chosen = position(file, names);
    if (chosen >= names.size())
        return chooseOne(file, names);
    return tensors[chosen];
}

} // namespace

Result<at::Tensor> readTensorFile(const InputFile &file)
{
    auto source = openFile(file.path);
    if (!source)
        return source.error();
    try {
        switch (file.kind) {
        case InputFileKind::npy:
            return readNpy(*source, file.path.string());
        case InputFileKind::npz:
            return readNpz(*source, file);
        case InputFileKind::safetensors:
            return readSafetensorsFile(*source, file);
        case InputFileKind::torchSave:
            return readTorchSaveFile(*std::move(source), file);
        case InputFileKind::image:
        case InputFileKind::wav:
        case InputFileKind::text:
            return Status(ErrorCode::unsupported,
                          file.path.string() +
                              ": images, sounds and text are made into arrays before a worker starts");
        }
    } catch (const std::exception &error) {
        return Status(ErrorCode::corrupt, file.path.string() + ": " + error.what());
    }
    return Status(ErrorCode::internal, file.path.string() + ": unknown kind of file");
}

} // namespace core
