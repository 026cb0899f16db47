// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/io/json_text.h"
#include "core/trace/record_sink.h"

#include <functional>

namespace core {

// One record as one JSON line with its line end, as core/trace/FORMAT.md describes it: members with their
// default value are left out.
void printRecord(JsonText &out, const FrameRecord &record);
void printRecord(JsonText &out, const StackRecord &record);
void printRecord(JsonText &out, const SourceRecord &record);
void printRecord(JsonText &out, const ModuleRecord &record);
void printRecord(JsonText &out, const ModuleCallRecord &record);
void printRecord(JsonText &out, const TensorRecord &record);
void printRecord(JsonText &out, const CallRecord &record);
void printRecord(JsonText &out, const ParamRecord &record);
void printRecord(JsonText &out, const GradNodeRecord &record);
void printRecord(JsonText &out, const GradFireRecord &record);
void printRecord(JsonText &out, const GradientRecord &record);
void printRecord(JsonText &out, const BackwardRecord &record);
void printRecord(JsonText &out, const DiagnosticRecord &record);
void printRecord(JsonText &out, const NoteRecord &record);

// Words of the file for enumerations; the parser takes the same.
std::string_view frameOriginWord(FrameOrigin origin);
std::string_view tensorRoleWord(TensorRole role);
std::string_view callKindWord(CallKind kind);

} // namespace core
