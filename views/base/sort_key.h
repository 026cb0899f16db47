// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/trace.h"

#include <string>

// Texts whose byte order is the order of what a cell shows: what text columns of tables sort by.
namespace views {

// By the dimensions as numbers, a shorter shape before a longer one that starts with it; what has no known
// shape comes last.
std::string shapeKey(const core::Trace &trace, core::TensorId tensor);
// By the file's name, its path, then the line as a number; empty (first) without a line or for no op.
std::string lineKey(const core::Trace &trace, core::OpId op);

} // namespace views
