// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/tensor_file_trace.h"

#include "core/io/trace_registry.h"
#include "core/trace/trace_builder.h"

#include <fmt/format.h>

#include <charconv>

namespace core {
namespace {

// Entry "N" is tensor N of the file, as if it lay there in row-major order.
class StateDictStore final : public TensorStore
{
public:
    explicit StateDictStore(std::vector<StateTensor> tensors) : m_tensors(std::move(tensors)) {}

    Status read(std::string_view entry, std::uint64_t offset, std::span<std::byte> out) const override
    {
        std::size_t index = 0;
        const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), index);
        if (error != std::errc() || end != entry.data() + entry.size() || index >= m_tensors.size())
            return {ErrorCode::notFound, fmt::format("tensor {} is not in this file", entry)};
        const StoredTensor &tensor = m_tensors[index].values;
        const std::size_t item = itemSize(tensor.dtype);
        if (item == 0 || offset % item != 0 || out.size() % item != 0)
            return {ErrorCode::internal,
                    fmt::format("{}: {} bytes from {} are not whole elements of {} bytes",
                                m_tensors[index].name, out.size(), offset, item)};
        return readElements(tensor, offset / item, out);
    }
    std::span<const std::byte> view(std::string_view, std::uint64_t, std::uint64_t) const override
    {
        return {};
    }
    Result<std::string> text(std::string_view entry, std::uint64_t) const override
    {
        return Status(ErrorCode::notFound, fmt::format("source {} is not in this file", entry));
    }

private:
    std::vector<StateTensor> m_tensors;
};

// A further name of a tensor has a row of its own for the one tensor.
Status addName(TraceBuilder &builder, const StateTensor &tensor, RecordId entry, RecordId id)
{
    ParamRecord param;
    param.id = id;
    param.address = tensor.name;
    param.tensor = entry;
    return builder.add(std::move(param));
}

Status addTensor(TraceBuilder &builder, const StateTensor &tensor, RecordId entry, RecordId id)
{
    if (tensor.same >= 0)
        return addName(builder, tensor, static_cast<RecordId>(tensor.same), id);
    TensorRecord record;
    record.id = entry;
    record.role = TensorRole::parameter;
    record.dtype = tensor.values.dtype;
    record.shape = tensor.values.shape;
    record.address = tensor.name;
    record.payload = {PayloadState::saved, std::to_string(entry), 0, tensor.values.byteCount(), true};
    if (Status status = builder.add(std::move(record)); !status)
        return status;
    return addName(builder, tensor, entry, id);
}

Status addSkipped(TraceBuilder &builder, const StateSkipped &skipped, RecordId id)
{
    ParamRecord param;
    param.id = id;
    param.address = skipped.name;
    Value shape = Value::list();
    for (const std::int64_t extent : skipped.shape)
        shape.append(extent);
    param.attributes =
        Value::object({{"type", skipped.type}, {"skip", skipped.reason}, {"shape", std::move(shape)}});
    return builder.add(std::move(param));
}

} // namespace

Result<std::shared_ptr<const Trace>> traceOfStateDict(StateDict state, const std::string &subject,
                                                      const JobContext &job)
{
    TraceBuilder builder;
    builder.info().subject = subject;
    builder.info().modelName = subject;
    builder.info().status = TraceStatus::finished;
    builder.info().attributes = Value::object({{"tensor_file", true}});
    builder.report() = state.report;
    // In the file's order: what was skipped stands between the tensors.
    RecordId id = 0;
    auto skipped = state.skipped.begin();
    for (std::size_t i = 0; i <= state.tensors.size(); ++i) {
        for (; skipped != state.skipped.end() && skipped->before <= i; ++skipped)
            if (Status status = addSkipped(builder, *skipped, id++); !status)
                return status;
        if (i < state.tensors.size())
            if (Status status = addTensor(builder, state.tensors[i], static_cast<RecordId>(i), id++); !status)
                return status;
    }
    return builder.finish(std::make_shared<StateDictStore>(std::move(state.tensors)), job);
}

Result<std::shared_ptr<const Trace>> openTraceOrTensors(const std::filesystem::path &path,
                                                        const JobContext &job)
{
    const Result<FileIdentity> identity = identifyFile(path);
    switch (identity ? identity->kind : FileKind::nativeTrace) {
    case FileKind::torchScript:
    case FileKind::torchSave:
    case FileKind::torchSaveLegacy:
    case FileKind::safetensors:
    case FileKind::safetensorsIndex:
    case FileKind::npy:
    case FileKind::npz: {
        Result<StateDict> state = readStateDict(path, job);
        if (!state)
            return state.error();
        return traceOfStateDict(std::move(*state), path.filename().string(), job);
    }
    default:
        return openTrace(path, job);
    }
}

} // namespace core
