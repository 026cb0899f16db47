// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/load_service.h"

#include "core/io/file_kind.h"
#include "core/io/tensor_file_trace.h"
#include "core/io/trace_registry.h"

#include <QFile>

#include <algorithm>
#include <iterator>

namespace app {

namespace {

// Files of named tensors: a document of parameters and nothing else.
bool isCheckpoint(core::FileKind kind)
{
    constexpr core::FileKind kKinds[] = {core::FileKind::torchSave, core::FileKind::torchSaveLegacy,
                                         core::FileKind::safetensors, core::FileKind::safetensorsIndex,
                                         core::FileKind::npz};
    return std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds);
}

} // namespace

core::Result<LoadedFile> loadFile(const QString &path, core::JobContext &job)
{
    const std::filesystem::path file(QFile::encodeName(path).toStdString());
    LoadedFile loaded;
    const core::Result<core::FileIdentity> identity = core::identifyFile(file);
    if (identity &&
        (identity->kind == core::FileKind::pt2 || identity->kind == core::FileKind::torchScript)) {
        loaded.isModel = true;
        return loaded;
    }
    core::Result<std::shared_ptr<const core::Trace>> trace = identity && isCheckpoint(identity->kind)
                                                                 ? core::openTraceOrTensors(file, job)
                                                                 : core::openTrace(file, job);
    if (!trace)
        return trace.error();
    loaded.trace = std::move(trace).value();
    return loaded;
}

} // namespace app
