// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/value.h"

#include <filesystem>
#include <string>
#include <vector>

namespace tests {

// "grad_health(bwd=2, grad_scales={1: 2.0})" -> helper and options; positional arguments are in order.
struct GoldenCall
{
    std::string helper;
    std::vector<core::Value> positional;
    core::Value options;
};
GoldenCall parseGoldenCall(const std::string &text);

// The folders in DIRECTORY (the goldens) and in its neighbour "DIRECTORY_more" (further scenarios of the same
// form, made with TorchLens 2.36.1) that hold one of FILES, by name. The environment's OPSCOPE_GOLDENS names
// another directory instead, so that new scenarios need no build.
std::vector<std::filesystem::path> goldenFolders(const std::string &directory,
                                                 const std::vector<std::string> &files);

// The JSON of a file, aborts when it is none.
core::Value readJson(const std::filesystem::path &path);

// Where EXPECTED and ACTUAL differ, "" when they do not: objects by the members of EXPECTED that are not in
// IGNORED, numbers within 1e-6 relative, NaN and infinities equal to their spelling.
std::string difference(const core::Value &expected, const core::Value &actual,
                       const std::vector<std::string> &ignored, const std::string &path = "");

} // namespace tests
