// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/state_dict.h"

#include "core/io/numpy_arrays.h"
#include "core/io/safetensors.h"
#include "core/io/torch_checkpoint.h"
#include "core/io/zip_reader.h"

#include <fmt/format.h>

#include <map>

namespace core {
namespace {

constexpr std::uint64_t kIndexBytes = std::uint64_t(512) << 20U;
constexpr std::uint64_t kVerifiedBytes = std::uint64_t(256) << 20U;

using Source = std::shared_ptr<const ByteSource>;

StateTensor tensorOf(const Source &source, const SafetensorsEntry &entry)
{
    StateTensor tensor;
    tensor.name = entry.name;
    tensor.values.dtype = entry.dtype;
    tensor.values.shape = entry.shape;
    tensor.values.strides = rowMajorStrides(entry.shape);
    tensor.values.storage = sliceSource(source, entry.offset, entry.bytes, source->name() + ":" + entry.name);
    return tensor;
}

void addEntry(StateDict &state, const Source &source, const SafetensorsEntry &entry)
{
    if (entry.dtype == DType::unknown) {
        state.skipped.push_back(
            {entry.name, entry.dtypeName, "unknown_dtype", Value(), entry.shape, state.tensors.size()});
        return;
    }
    state.tensors.push_back(tensorOf(source, entry));
}

Status readOneSafetensors(const Source &source, StateDict &state)
{
    const auto file = readSafetensors(*source, state.report);
    if (!file)
        return file.status();
    for (const SafetensorsEntry &entry : file->tensors)
        addEntry(state, source, entry);
    return Status::ok();
}

struct Shard
{
    Source source;
    std::map<std::string, SafetensorsEntry, std::less<>> entries;
};

Result<Shard> openShard(const std::filesystem::path &path, LoadReport &report)
{
    Shard shard;
    auto source = openFile(path);
    if (!source)
        return Status(source.error()).withDetail("missing_record");
    shard.source = std::move(*source);
    const auto file = readSafetensors(*shard.source, report);
    if (!file)
        return file.status();
    for (const SafetensorsEntry &entry : file->tensors)
        shard.entries.emplace(entry.name, entry);
    return shard;
}

// The index names for each tensor the file beside it that holds it.
Status readSharded(const std::filesystem::path &path, const Source &source, const JobContext &job,
                   StateDict &state)
{
    const auto bytes = readRange(*source, 0, source->size(), kIndexBytes);
    if (!bytes)
        return bytes.status();
    const auto json =
        parseJson({reinterpret_cast<const char *>(bytes->data()), bytes->size()}, source->name());
    if (!json)
        return Status(json.error()).withDetail("bad_json");
    std::map<std::string, Shard, std::less<>> shards;
    for (const auto &[name, value] : json->at("weight_map").toObject()) {
        if (Status status = job.checkpoint("reading the checkpoint"); !status)
            return status;
        const std::string &file = value.toString();
        if (!isSafeRelativePath(file))
            return Status(ErrorCode::corrupt,
                          fmt::format("{}: tensor {} is said to be in '{}', outside of the folder",
                                      source->name(), name, file))
                .withDetail("unsafe_path");
        auto shard = shards.find(file);
        if (shard == shards.end()) {
            auto opened = openShard(path.parent_path() / file, state.report);
            if (!opened && opened.error().detail() != "missing_record")
                return opened.status();
            if (!opened)
                state.report.add("missing_record", opened.error().message());
            shard = shards.emplace(file, opened ? std::move(*opened) : Shard()).first;
        }
        const auto entry = shard->second.entries.find(name);
        if (entry == shard->second.entries.end())
            state.skipped.push_back({name, "", "missing_record", Value(), {}, state.tensors.size()});
        else
            addEntry(state, shard->second.source, entry->second);
    }
    return Status::ok();
}

Status readArrays(const Source &source, StateDict &state)
{
    const auto archive = ZipArchive::open(source, state.report);
    if (!archive)
        return archive.status();
    NpzFile file = readNpz(**archive);
    for (auto &[name, values] : file.arrays)
        state.tensors.push_back({name, std::move(values), "strided", -1, false});
    for (const NpzSkipped &skipped : file.skipped) {
        state.skipped.push_back(
            {skipped.name, "ndarray", skipped.status.detail(), Value(), {}, skipped.before});
        state.report.add("skipped_array", skipped.status.message());
    }
    return Status::ok();
}

Status readTorch(const Source &source, const JobContext &job, StateDict &state)
{
    Result<std::shared_ptr<const TorchFile>> file(Status(ErrorCode::internal, "not opened"));
    if (state.kind == FileKind::torchSaveLegacy) {
        file = TorchFile::openLegacy(source);
    } else {
        auto archive = ZipArchive::open(source, state.report);
        if (!archive)
            return archive.status();
        file = TorchFile::openZip(std::move(*archive));
    }
    if (!file)
        return file.status();
    if ((*file)->isBigEndian())
        state.report.add("big_endian",
                         fmt::format("{}: written on a big-endian machine; the bytes are swapped when "
                                     "they are read",
                                     source->name()));
    if (Status status = readTorchCheckpoint(**file, job, state); !status)
        return status;
    if ((*file)->storageBytes() > kVerifiedBytes)
        return Status::ok();
    Status status = (*file)->verifyStorages(job);
    if (!status && status.detail() == "crc_mismatch") {
        state.report.add("crc_mismatch", status.message());
        return Status::ok();
    }
    return status;
}

Status readSingleArray(const Source &source, StateDict &state)
{
    auto values = readNpy(source);
    if (!values)
        return values.status();
    state.tensors.push_back({"", std::move(*values), "strided", -1, false});
    return Status::ok();
}

} // namespace

Result<StateDict> readStateDict(const std::filesystem::path &path, const JobContext &job)
{
    const auto identity = identifyFile(path);
    if (!identity)
        return identity.status();
    StateDict state;
    state.kind = identity->kind;
    const auto source = openFile(path);
    Status status = source.status();
    if (!status)
        return Status(ErrorCode::unknownFormat,
                      fmt::format("{}: {}, not a checkpoint", path.string(), identity->description))
            .withDetail("unknown_format");
    switch (identity->isGzip ? FileKind::unknown : identity->kind) {
    case FileKind::safetensors:
        status = readOneSafetensors(*source, state);
        break;
    case FileKind::safetensorsIndex:
        status = readSharded(path, *source, job, state);
        break;
    case FileKind::npz:
        status = readArrays(*source, state);
        break;
    case FileKind::npy:
        status = readSingleArray(*source, state);
        break;
    case FileKind::torchSave:
    case FileKind::torchSaveLegacy:
    case FileKind::torchScript:
        status = readTorch(*source, job, state);
        break;
    default:
        return notOneOfOurs((*source)->name(), *identity, "a checkpoint");
    }
    if (!status)
        return status;
    return state;
}

} // namespace core
