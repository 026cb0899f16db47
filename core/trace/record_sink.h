// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/trace/records.h"

namespace core {

// Whoever takes records: TraceBuilder makes a Trace of them, the native writer puts them into a file.
class RecordSink
{
public:
    virtual ~RecordSink() = default;

    virtual Status add(FrameRecord record) = 0;
    virtual Status add(StackRecord record) = 0;
    virtual Status add(SourceRecord record) = 0;
    virtual Status add(ModuleRecord record) = 0;
    virtual Status add(ModuleCallRecord record) = 0;
    virtual Status add(TensorRecord record) = 0;
    virtual Status add(CallRecord record) = 0;
    virtual Status add(ParamRecord record) = 0;
    virtual Status add(GradNodeRecord record) = 0;
    virtual Status add(GradFireRecord record) = 0;
    virtual Status add(GradientRecord record) = 0;
    virtual Status add(BackwardRecord record) = 0;
    virtual Status add(DiagnosticRecord record) = 0;
    virtual Status add(NoteRecord record) = 0;
};

} // namespace core
