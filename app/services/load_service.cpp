// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/load_service.h"

#include "core/io/file_kind.h"
#include "core/io/trace_registry.h"

#include <QFile>

namespace app {

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
    core::Result<std::shared_ptr<const core::Trace>> trace = core::openTrace(file, job);
    if (!trace)
        return trace.error();
    loaded.trace = std::move(trace).value();
    return loaded;
}

} // namespace app
