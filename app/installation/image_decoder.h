// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture/image_spec.h"

namespace app {

// Decodes the pictures among a model's inputs before a worker starts; from any thread.
core::ImageDecoder imageDecoder();

} // namespace app
