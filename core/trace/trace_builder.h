// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/base/load_report.h"
#include "core/trace/record_sink.h"
#include "core/trace/trace.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace core {

// Turns records, in whatever order they come, into a Trace. finish() checks all references, derives what is
// not recorded (labels and passes of own captures, children, FLOPs, memory, user frames) and publishes. A
// reference to a record that never came (a file cut short) is dropped and noted in the load report under
// "dangling_reference". Used from one thread; after finish() the builder is empty.
class TraceBuilder final : public RecordSink
{
public:
    TraceBuilder();
    ~TraceBuilder() override;
    TraceBuilder(const TraceBuilder &) = delete;
    TraceBuilder &operator=(const TraceBuilder &) = delete;

    TraceInfo &info() { return m_tables.info; }
    LoadReport &report() { return m_report; }

    // corrupt when a record with that id and kind was added before or a size is beyond what a table can hold.
    Status add(FrameRecord record) override;
    Status add(StackRecord record) override;
    Status add(SourceRecord record) override;
    Status add(ModuleRecord record) override;
    Status add(ModuleCallRecord record) override;
    Status add(TensorRecord record) override;
    Status add(CallRecord record) override;
    Status add(ParamRecord record) override;
    Status add(GradNodeRecord record) override;
    Status add(GradFireRecord record) override;
    Status add(GradientRecord record) override;
    Status add(BackwardRecord record) override;
    Status add(DiagnosticRecord record) override;
    Status add(NoteRecord record) override;

    // Publishes. STORE delivers the payloads (emptyTensorStore() when there are none).
    Result<std::shared_ptr<const Trace>> finish(std::shared_ptr<const TensorStore> store,
                                                const JobContext &job);
    // As finish(), but gives the tables themselves (what the writer of an index needs); report() stays
    // readable.
    Result<TraceTables> finishTables(const JobContext &job);

private:
    // Record id -> row of one kind. Ids are mostly dense, so a vector is used while they are.
    class IdMap
    {
    public:
        bool insert(RecordId id, std::uint32_t row);
        std::uint32_t find(RecordId id) const; // 0xffffffff: not there

    private:
        std::vector<std::uint32_t> m_dense;
        std::unordered_map<RecordId, std::uint32_t> m_sparse;
    };
    struct PendingRow
    {
        ImportedRow row;
        std::uint32_t op;
    };

    StringId text(std::string_view value) { return m_tables.strings.intern(value); }
    StringId textOrNone(std::string_view value) { return value.empty() ? StringId() : text(value); }
    StringId json(const Value &value);
    template <class IdType>
    IdType resolve(const IdMap &map, std::uint32_t record, std::string_view what);
    template <class IdType>
    void resolveAll(std::vector<IdType> &pool, const IdMap &map, std::string_view what);
    Range addIds(std::vector<TensorId> &pool, const std::vector<RecordId> &ids);
    Range addStrings(const std::vector<std::string> &values);
    Status duplicate(std::string_view kind, RecordId id);
    void addRows(const CallRecord &record, CallId call);

    void resolveReferences();
    void resolveTensors();
    void resolveCalls();
    void resolveModules();
    void resolveBackward();
    void linkOps();
    void linkImported();
    void deriveUserFrames();
    void deriveModuleLabels();
    void fillChildren();
    void sortBackward();
    Status derive(const JobContext &job);

    TraceTables m_tables;
    LoadReport m_report;
    IdMap m_frames, m_stacks, m_modules, m_moduleCalls, m_tensors, m_calls, m_gradNodes, m_backwards,
        m_storages;
    std::uint32_t m_storageCount = 0;
    std::vector<std::vector<RecordId>> m_parents; // by call, tensor records
    std::vector<PendingRow> m_imported;
};

} // namespace core
