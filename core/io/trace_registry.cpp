// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/trace_registry.h"
#include "core/io/native_reader.h"

#include "core/io/file_kind.h"
#include "core/io/tlspec_reader.h"

#include <fmt/format.h>

namespace core {
namespace {

using Opened = Result<std::shared_ptr<const Trace>>;

Opened openTlspecFolder(const std::filesystem::path &path, const JobContext &job)
{
    auto files = openTlspecDirectory(path);
    return files ? readTlspec(std::move(*files), LoadReport(), job) : Opened(files.status());
}

Opened openZippedTlspec(const std::filesystem::path &path, const JobContext &job)
{
    auto source = openFile(path);
    if (!source)
        return source.status();
    LoadReport report;
    auto files = openTlspecZip(std::move(*source), report);
    return files ? readTlspec(std::move(*files), std::move(report), job) : Opened(files.status());
}

// The readers. A new format adds its kind to file_kind.h and a line here.
struct Reader
{
    FileKind kind;
    Opened (*open)(const std::filesystem::path &, const JobContext &);
};
constexpr Reader kReaders[] = {
    {FileKind::nativeTrace, openNative},
    {FileKind::tlspecDirectory, openTlspecFolder},
    {FileKind::tlspecZip, openZippedTlspec},
};

// What to do with files that are ours but hold no run.
std::string_view remedyFor(FileKind kind)
{
    switch (kind) {
    case FileKind::pt2:
    case FileKind::torchScript:
        return "open it as a model and run it to get a trace";
    case FileKind::torchSave:
    case FileKind::torchSaveLegacy:
    case FileKind::safetensors:
    case FileKind::safetensorsIndex:
    case FileKind::npz:
        return "a checkpoint has no ops: look at its values with the reports param_health and compare_params";
    case FileKind::npy:
        return "give it as an input when a model is run";
    default:
        return {};
    }
}

} // namespace

Result<std::shared_ptr<const Trace>> openTrace(const std::filesystem::path &path, const JobContext &job)
{
    auto identity = identifyFile(path);
    if (!identity)
        return identity.status();
    for (const Reader &reader : kReaders)
        if (reader.kind == identity->kind && !identity->isGzip)
            return reader.open(path, job);
    if (identity->remedy.empty())
        identity->remedy = remedyFor(identity->kind);
    return notOneOfOurs(path.filename().string(), *identity, "a trace");
}

} // namespace core
