// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/records.h"
#include "core/trace/trace_sink.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace core {

// The bytes of a storage that a tensor can touch, first to one past the last: for a strided view more than it
// does touch, never less.
struct ByteRange
{
    std::int64_t begin = 0;
    std::int64_t end = 0;

    bool overlaps(ByteRange other) const { return begin < other.end && other.begin < end; }
    bool covers(ByteRange other) const { return begin <= other.begin && other.end <= end; }
    bool operator==(const ByteRange &) const = default;
};
ByteRange byteRange(const at::Tensor &tensor);

// Defined, on the CPU, strided, with memory behind it.
inline bool hasBytes(const at::Tensor &tensor)
{
    return tensor.defined() && !tensor.is_nested() && tensor.layout() == c10::kStrided &&
           tensor.device().is_cpu() && tensor.has_storage();
}

// One storage of the run. The weak pin keeps the address from being given to another storage.
struct StorageState
{
    explicit StorageState(const at::Tensor &tensor) : pin(tensor.storage().getWeakStorageImpl()) {}

    struct Write
    {
        std::uint64_t time;
        ByteRange range;
        RecordId tensor; // the version that the write made
    };

    c10::weak_intrusive_ptr<c10::StorageImpl> pin;
    RecordId id = kNoRecord;
    RecordId creator = kNoRecord; // the version that first showed this storage
    std::uint32_t version = 0;    // counts writes
    bool uninitialised = false; // of its bytes only those in `initialised` were written or read as they were
    std::vector<ByteRange> initialised;
    std::vector<Write> writes; // oldest first

    // What is known of the bytes, good for one version.
    std::optional<PayloadRecord> payload; // of the whole storage
    std::uint32_t payloadVersion = 0;
    PayloadDone pending; // the sink still reads the bytes
    std::optional<TensorStats> stats;
    std::uint32_t statsVersion = 0;
    ByteRange statsRange;
    c10::ScalarType statsType = c10::ScalarType::Undefined;
};

// What a tensor object is known as.
struct KnownTensor
{
    explicit KnownTensor(const at::Tensor &tensor) : pin(tensor.getIntrusivePtr()) {}

    c10::weak_intrusive_ptr<c10::TensorImpl> pin;
    RecordId record = kNoRecord; // made by a row, or of a parameter, buffer, constant or input
    std::uint64_t time = 0;      // when
    RecordId shown = kNoRecord;  // the version to name in arguments
    std::uint64_t shownTime = 0;
    bool hasRow = false;             // RECORD is the output of a call
    std::vector<RecordId> ancestors; // of a tensor that the driver itself made: in place of RECORD
    std::int32_t named = -1;         // index of its name, for parameters, buffers, constants and inputs
};

// Which tensor objects and storages of the running model are which recorded tensors, and who wrote them. Time
// is a counter of calls. Owned by the recorder; one thread.
class TensorTracker
{
public:
    std::uint64_t now() const { return m_time; }
    void advance() { ++m_time; }

    KnownTensor *find(const at::Tensor &tensor);
    // The entry of the tensor object, made when there is none.
    KnownTensor &known(const at::Tensor &tensor);
    // Null for a tensor without bytes, or one whose storage was not seen before.
    StorageState *findStorage(const at::Tensor &tensor);
    // The entry of its storage, made when there is none (hasBytes(TENSOR) must hold). Ids are dense.
    StorageState &storage(const at::Tensor &tensor);

    // Whether TENSOR shows memory that nobody has written since it was made.
    bool isUninitialised(const at::Tensor &tensor);
    // Nobody has written the memory of TENSOR yet.
    void madeUninitialised(const at::Tensor &tensor);
    // The bytes of TENSOR are what counts, whoever put them there.
    void initialised(const at::Tensor &tensor);

    // TENSOR is from now on the version RECORD.
    KnownTensor &made(const at::Tensor &tensor, RecordId record, bool hasRow);
    // The bytes of TENSOR were written just now; not WHOLLY: some of them may be as they were.
    void written(const at::Tensor &tensor, bool wholly);
    // RECORD is the version that the write made, once it has a record.
    void nameWrite(const at::Tensor &tensor, RecordId record);

    // The versions TENSOR depends on: writes newer than the one that made it, newest first, ending at one
    // that covers it, else with what made it. Appended to OUT, each once. LATEST is the newest of those
    // writes' time, 0 when there is none.
    void parents(const at::Tensor &tensor, std::vector<RecordId> &out, std::uint64_t &latest);

private:
    std::uint64_t m_time = 1;
    std::unordered_map<c10::TensorImpl *, KnownTensor> m_known;
    std::unordered_map<c10::StorageImpl *, StorageState> m_storages;
};

} // namespace core
