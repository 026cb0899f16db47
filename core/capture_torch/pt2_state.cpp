// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/pt2_state.h"

#include "core/capture_torch/reference_listener.h"
#include "core/capture_torch/torch_dtype.h"
#include "core/capture_torch/torch_save_reader.h"
#include "core/capture_torch/torch_storage.h"

#include <ATen/core/Dict.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <tuple>

namespace core::pt2 {

namespace {

using AliasKey = std::tuple<const void *, std::int64_t, std::vector<std::int64_t>, std::vector<std::int64_t>,
                            c10::ScalarType>;

AliasKey aliasKey(const at::Tensor &tensor)
{
    return {tensor.storage().unsafeGetStorageImpl(), tensor.storage_offset(), tensor.sizes().vec(),
            tensor.strides().vec(), tensor.scalar_type()};
}

// An entry that the exporter left empty (weights were fake tensors): zeros of that shape.
at::Tensor zerosFor(const StateRecord &record)
{
    return at::zeros(record.view.sizes,
                     at::TensorOptions(toScalarType(record.view.dtype).value_or(at::kFloat)));
}

bool needsBytes(const StorageView &view)
{
    return std::find(view.sizes.begin(), view.sizes.end(), 0) == view.sizes.end();
}

Result<TorchSaveContent> openTorchSave(const ZipArchive &zip, const std::string &entryName,
                                       LoadReport &report)
{
    const ZipEntry *entry = zip.find(entryName);
    if (entry == nullptr)
        return Status(ErrorCode::corrupt, zip.fileName() + ": no entry " + entryName)
            .withDetail("missing_record");
    auto source = zip.open(*entry);
    if (!source)
        return source.error();
    auto content = readTorchSave(*std::move(source), report);
    return content ? std::move(content) : Result<TorchSaveContent>(content.error().prefixed(entryName));
}

Status loadDictionary(const ZipArchive &zip, const std::string &entryName, State &state, LoadReport &report)
{
    if (const ZipEntry *entry = zip.find(entryName); entry == nullptr || entry->size == 0)
        return Status::ok();
    auto content = openTorchSave(zip, entryName, report);
    if (!content)
        return content.error();
    if (!content->root.isGenericDict())
        return Status(ErrorCode::corrupt, zip.fileName() + ": " + entryName + " holds no dictionary")
            .withDetail("bad_pickle");
    for (const auto &item : content->root.toGenericDict())
        if (item.value().isTensor())
            state.add(item.key().toStringRef(), item.value().toTensor());
    return Status::ok();
}

struct Loading
{
    State &state;
    LoadReport &report;
};

Status loadRecord(const ZipArchive &zip, const StateRecord &record,
                  std::map<std::string, c10::Storage> &storages, Loading loading)
{
    const ZipEntry *entry = zip.find(record.entry);
    if (entry == nullptr)
        return Status::ok(); // noted when opened; State::settle refuses if the program needs it
    if (record.isPickled) {
        auto content = openTorchSave(zip, record.entry, loading.report);
        if (!content)
            return content.error();
        if (content->root.isTensor())
            loading.state.add(record.name, content->root.toTensor());
        return Status::ok();
    }
    if (entry->size == 0 && needsBytes(record.view)) {
        loading.report.add("fake_weight",
                           zip.fileName() + ": \"" + record.name + "\" has no data, zeros stand for it");
        loading.state.add(record.name, zerosFor(record));
        return Status::ok();
    }
    auto storage = storages.find(record.entry);
    if (storage == storages.end()) {
        auto source = zip.open(*entry);
        if (!source)
            return source.error();
        auto read = readStorage(**source, record.entry);
        if (!read)
            return read.error();
        storage = storages.emplace(record.entry, *std::move(read)).first;
    }
    auto tensor = viewStorage(storage->second, record.view, record.name);
    if (!tensor)
        return tensor.error();
    loading.state.add(record.name, *std::move(tensor));
    return Status::ok();
}

} // namespace

void State::add(const std::string &name, at::Tensor tensor)
{
    m_tensors[name] = std::move(tensor);
}

const at::Tensor *State::find(const std::string &name) const
{
    const auto found = m_tensors.find(name);
    return found == m_tensors.end() ? nullptr : &found->second;
}

std::vector<std::string> State::namesOf(const std::string &name) const
{
    std::vector<std::string> names{name};
    const at::Tensor *tensor = find(name);
    if (tensor == nullptr)
        return names;
    if (const auto known = m_names.find(tensor->unsafeGetTensorImpl()); known != m_names.end())
        for (const std::string &other : known->second)
            if (other != name)
                names.push_back(other);
    return names;
}

void State::findNames()
{
    m_names.clear();
    for (const auto &[name, tensor] : m_tensors)
        m_names[tensor.unsafeGetTensorImpl()].push_back(name);
}

Status State::settle(const Program &program)
{
    std::map<AliasKey, at::Tensor> unique;
    for (auto &[name, tensor] : m_tensors)
        if (tensor.has_storage() && tensor.numel() > 0)
            tensor = unique.try_emplace(aliasKey(tensor), tensor).first->second;
    findNames();
    for (const ProgramInput &input : program.inputs) {
        if (input.stateName.empty())
            continue;
        const at::Tensor *tensor = find(input.stateName);
        if (tensor == nullptr)
            return Status(ErrorCode::corrupt, "the program needs \"" + input.stateName +
                                                  "\", which is not among the " +
                                                  std::to_string(m_tensors.size()) + " tensors of the file")
                .withDetail("missing_record");
        const bool differentiable = tensor->is_floating_point() || tensor->is_complex();
        if (input.kind == ProgramInput::Kind::parameter && input.tensor.requiresGrad && differentiable)
            tensor->requires_grad_(true);
    }
    return Status::ok();
}

void State::convertFloating(c10::ScalarType type)
{
    at::NoGradGuard guard;
    std::map<c10::TensorImpl *, at::Tensor> done;
    for (auto &[name, tensor] : m_tensors) {
        const c10::ScalarType wanted = referenceType(tensor.scalar_type(), type);
        if (tensor.is_quantized() || wanted == tensor.scalar_type())
            continue;
        const auto [found, added] = done.try_emplace(tensor.unsafeGetTensorImpl());
        if (added) {
            found->second = tensor.detach().to(wanted);
            found->second.requires_grad_(tensor.requires_grad());
        }
        tensor = found->second;
    }
    findNames();
}

Result<State> loadState(const Archive &archive, LoadReport &report)
{
    State state;
    try {
        for (const std::string &dictionary : archive.dictionaries())
            if (Status status = loadDictionary(archive.zip(), dictionary, state, report); !status)
                return status;
        std::map<std::string, c10::Storage> storages;
        for (const StateRecord &record : archive.records())
            if (Status status = loadRecord(archive.zip(), record, storages, {state, report}); !status)
                return status;
    } catch (const std::exception &error) {
        return Status(ErrorCode::corrupt, archive.zip().fileName() + ": " + error.what());
    }
    return state;
}

Result<std::optional<c10::IValue>> loadSampleInputs(const Archive &archive, LoadReport &report)
{
    if (archive.sampleEntry().empty())
        return std::optional<c10::IValue>();
    auto content = openTorchSave(archive.zip(), archive.sampleEntry(), report);
    if (!content)
        return content.error();
    return std::optional<c10::IValue>(std::move(content->root));
}

} // namespace core::pt2
