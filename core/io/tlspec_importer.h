// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/io/pickle.h"
#include "core/io/tlspec_manifest.h"
#include "core/io/tlspec_store.h"
#include "core/trace/trace_builder.h"

#include <array>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace core {

// Turns the metadata pickle of one TorchLens bundle into the records of a trace: labels, passes and edges are
// read as they stand, nothing is derived. Lives for one import on one thread; every function reads one part
// of the pickle. Payloads stay in the bundle and are named by the records.
class TlspecImporter
{
public:
    TlspecImporter(const PickleGraph &graph, std::shared_ptr<const TlspecManifest> manifest,
                   std::shared_ptr<TlspecStore> store);

    Result<std::shared_ptr<const Trace>> run(const JobContext &job);
    LoadReport &report() { return m_builder.report(); }

private:
    // Position of the fields of an op that are looked up often; older bundles spell some differently.
    enum OpField : std::size_t {
        fLabel,
        fLayerLabel,
        fRawLabel,
        fType,
        fTypeIndex,
        fStepIndex,
        fRawIndex,
        fPass,
        fPasses,
        fFunc,
        fCallId,
        fOut,
        fSaved,
        fShape,
        fDType,
        fDTypeRef,
        fDeviceRef,
        fMemory,
        fGradRecords,
        fContext,
        fDuration,
        fFlopsForward,
        fFlopsBackward,
        fAutocast,
        fArgNames,
        fPositions,
        fPosArgs,
        fKeywords,
        fArgCount,
        fInPlace,
        fGradClass,
        fGradId,
        fParents,
        fChildren,
        fIsInput,
        fIsOutput,
        fIsBuffer,
        fModules,
        fAtomicModule,
        fIsAtomic,
        fOutputOf,
        fAddress,
        fIoRole,
        fParams,
        fGrad,
        fHasGrad,
        fFieldCount
    };
    using Fields = std::array<PickleValue, fFieldCount>;
    struct Op
    {
        Fields fields;
        PickleValue state; // the dict with all fields
        std::string label;
        RecordId tensor = kNoRecord;
    };

    // tlspec_ops.cpp
    Fields readFields(PickleValue state);
    Status readOps(const JobContext &job);
    Status addOps(const JobContext &job);
    Status addCall(std::size_t first, std::size_t count);
    Status addOutputTensor(Op &op, RecordId call, std::uint32_t slot);
    ImportedRow importedRow(const Op &op) const;
    Value opAttributes(const Op &op) const;
    std::vector<ArgumentRecord> arguments(const Op &op) const;
    void placeParents(const Op &op, std::map<std::int64_t, ArgumentRecord> &placed,
                      std::vector<ArgumentRecord> &named) const;
    RecordId tensorOf(const std::string &label) const;

    // tlspec_modules.cpp
    Status addModules();
    Status addModuleCalls();
    Status addParams();
    Status addBuffers();
    RecordId moduleId(const std::string &address) const;

    // tlspec_backward.cpp
    void indexGradNodes();
    Status addGradNodes();
    Status addBackwards();
    Status addFires(PickleValue pass, RecordId backward);
    Status addGradients();
    Status addGradient(RecordId forward, RecordId backward, TensorRecord tensor);
    Result<std::vector<RecordId>> gradientTensors(PickleValue list);

    // tlspec_info.cpp
    void readInfo();
    void readCaptureStatus();
    void noteForeignGlobals();
    Status addSources();
    RecordId stack(PickleValue context);
    FrameOrigin frameOrigin(const std::string &file, const std::string &function) const;
    void collectLibraryFiles();

    PickleValue top(std::string_view name) const { return m_root.find(name); }
    // What the manifest says about the blob that REFERENCE (a BlobRef) names; nullptr for None or an unknown
    // id.
    const TlspecBlob *blob(PickleValue reference) const;
    PayloadRecord payload(const TlspecBlob *blob, PayloadState otherwise) const;
    static DType dtype(PickleValue plain, PickleValue reference);
    static std::vector<std::int64_t> shape(PickleValue value, bool &known);
    RecordId newTensor() { return m_nextTensor++; }

    PickleValue m_root;
    const PickleGraph &m_graph;
    std::shared_ptr<const TlspecManifest> m_manifest;
    std::shared_ptr<TlspecStore> m_store;
    TraceBuilder m_builder;

    std::unordered_map<std::uint32_t, std::size_t> m_fieldOfKey; // key value -> OpField, or fFieldCount
    std::vector<Op> m_ops;
    std::unordered_map<std::string, std::size_t> m_byLabel;  // both label forms
    std::unordered_map<std::string, RecordId> m_modules;     // by address, aliases too
    std::unordered_map<std::string, RecordId> m_moduleCalls; // by call label
    std::unordered_map<std::string, RecordId> m_paramTensors;
    std::unordered_map<std::int64_t, RecordId> m_gradNodes; // by object id
    std::unordered_map<std::string, RecordId> m_gradNodeByLabel;
    std::unordered_map<std::int64_t, RecordId> m_gradCalls; // object id -> forward call
    std::map<std::int64_t, RecordId> m_backwards;           // by pass index
    std::map<std::tuple<std::string, std::int64_t, std::string>, RecordId> m_frames;
    std::map<std::vector<RecordId>, RecordId> m_stacks;
    std::unordered_set<std::string> m_torchFiles;
    std::unordered_set<std::string> m_packageFiles;
    std::unordered_set<std::string> m_unsupported; // labels of payloads the writer could not store
    RecordId m_nextTensor = 0;
};

} // namespace core
