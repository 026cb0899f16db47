// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/record_sink.h"

#include <utility>
#include <variant>
#include <vector>

namespace core {

// A record of any kind, for whoever keeps records before passing them on.
using AnyRecord = std::variant<FrameRecord, StackRecord, SourceRecord, ModuleRecord, ModuleCallRecord,
                               TensorRecord, CallRecord, ParamRecord, GradNodeRecord, GradFireRecord,
                               GradientRecord, BackwardRecord, DiagnosticRecord, NoteRecord>;

inline Status addTo(RecordSink &sink, AnyRecord record)
{
    return std::visit([&sink](auto &each) { return sink.add(std::move(each)); }, record);
}

// Keeps what it is given, in order.
class RecordList final : public RecordSink
{
public:
    Status add(FrameRecord record) override { return keep(std::move(record)); }
    Status add(StackRecord record) override { return keep(std::move(record)); }
    Status add(SourceRecord record) override { return keep(std::move(record)); }
    Status add(ModuleRecord record) override { return keep(std::move(record)); }
    Status add(ModuleCallRecord record) override { return keep(std::move(record)); }
    Status add(TensorRecord record) override { return keep(std::move(record)); }
    Status add(CallRecord record) override { return keep(std::move(record)); }
    Status add(ParamRecord record) override { return keep(std::move(record)); }
    Status add(GradNodeRecord record) override { return keep(std::move(record)); }
    Status add(GradFireRecord record) override { return keep(std::move(record)); }
    Status add(GradientRecord record) override { return keep(std::move(record)); }
    Status add(BackwardRecord record) override { return keep(std::move(record)); }
    Status add(DiagnosticRecord record) override { return keep(std::move(record)); }
    Status add(NoteRecord record) override { return keep(std::move(record)); }

    std::vector<AnyRecord> &records() { return m_records; }

private:
    template <class Record>
    Status keep(Record record)
    {
        m_records.emplace_back(std::move(record));
        return Status::ok();
    }

    std::vector<AnyRecord> m_records;
};

} // namespace core
