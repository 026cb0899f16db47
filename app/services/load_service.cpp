// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/services/load_service.h"

namespace app {

core::Result<LoadedFile> loadFile(const QString &path, core::JobContext &)
{
    return core::Status(core::ErrorCode::unknownFormat, path.toStdString() + " is of no format this build reads");
}

} // namespace app
