// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace core {

// Models name ops that LibTorch does not hold because the Python packages they come from bring them along
// (torchvision's detection models, the experts of transformers). Those that are plain arithmetic are provided
// here under the same names. To be called before a model is loaded, from any thread: the first call registers
// them for as long as the program runs, except where somebody else has done so.
void provideLibraryOps();

} // namespace core
