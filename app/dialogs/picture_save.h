// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "views/canvas/picture_export.h"

#include <QString>

class QWidget;

namespace app {

class Session;

// Asks where PICTURE goes and writes it in a job: SVG, PNG or Graphviz text by the suffix, in the light
// colours. PARENT is what the dialog belongs to; one without a picture is not asked.
void askPictureFile(QWidget &parent, Session &session, views::PictureExport picture);
// The file appears whole or not at all. Runs on any thread.
core::Status writePictureFile(const views::PictureExport &picture, const QString &path,
                              core::JobContext &job);

} // namespace app
