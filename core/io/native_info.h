// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/trace/trace_info.h"

#include <string_view>

namespace core {

inline constexpr std::string_view kNativeMimeType = "application/vnd.opscope.trace";
inline constexpr std::string_view kNativeFormat = "opscope-trace";
inline constexpr std::int64_t kNativeVersion = 1;
inline constexpr std::string_view kManifestEntry = "manifest.json";
inline constexpr std::string_view kFinalEntry = "final.json";

// manifest.json: what is known when a trace begins.
Value manifestValue(const TraceInfo &info);
// final.json: how it ended, and those members of the manifest that turned out otherwise than in STARTED.
// COUNTS is what the writer counted.
Value finalValue(const TraceInfo &info, const Value &started, Value counts);

// ENDED becomes that of a trace of which not all could be written, for REASON. What went wrong before stays
// said.
void noteNotWritten(TraceInfo &ended, const Status &reason);

// Take what the two entries say into INFO. unknownFormat and unsupportedVersion by format name and version.
Status readManifest(const Value &manifest, TraceInfo &info);
void readFinal(const Value &final, TraceInfo &info);

} // namespace core
