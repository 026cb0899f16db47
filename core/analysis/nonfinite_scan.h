// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/trace_statistics.h"

#include <optional>
#include <string>
#include <vector>

namespace core {

// One call that made, carried or swallowed NaN or Inf. For a sink KIND is what came in and there is no first
// index.
struct NonFiniteEntry
{
    CallId call;
    OpId op;
    TensorId tensor; // what holds the values: of OP, or of the state that the call wrote besides its results
    std::uint32_t slot = 0;
    NonFiniteKind kind = NonFiniteKind::none;
    TensorStats counts;
    std::int64_t firstIndex = -1; // flat
    bool byDesign = false;
};

// An input, parameter, buffer or constant that was bad before the first op.
struct NonFiniteSource
{
    TensorId tensor;
    TensorRole role = TensorRole::input;
    std::string name;
    NonFiniteKind kind = NonFiniteKind::none;
    TensorStats counts;
    bool byDesign = false;
};

// The life of NaN and Inf in one forward pass (own-traces.md section 3): births, what swallowed them, what
// came in bad, and which -Inf are there by design. Entries are in execution order.
struct NonFiniteScan
{
    std::vector<NonFiniteSource> sources;
    std::vector<NonFiniteEntry> births;
    std::vector<NonFiniteEntry> sinks;
    std::vector<NonFiniteEntry> reached; // output rows that by-design values (or what they became) arrived at
    std::optional<NonFiniteEntry> firstInf;
    std::optional<NonFiniteEntry> firstNan;
    std::optional<NonFiniteEntry> nanBirth;
    std::vector<bool> byDesign; // by tensor: all its bad values are there by design
    std::size_t badOutputs = 0; // rows of calls with NaN or Inf

    // What a person should look at first: nanBirth, else the first birth that is not by design, else the
    // first value that reached an output, else a bad source, else nothing.
    const NonFiniteEntry *headline() const;
    // Anything that is not by design.
    bool hasFinding() const;
    std::string verdict() const; // origin, propagated_from_source, source_healed, clean
    std::size_t byDesignBirths() const;
};

// Measures what is needed and walks all calls. cancelled when the job was.
Result<NonFiniteScan> scanNonFinite(TraceStatistics &statistics, const JobContext &job);

// Whether CALL, the row of a buffer in a trace of our own, shows a version that an op of the run wrote.
bool isWrittenBuffer(const Trace &trace, CallId call);
// The first row of the call that wrote what BUFFER, a row, shows, where that call says nothing of it in its
// schema and shows it in no row of its own: the running statistics of a batch_norm in training. Invalid
// otherwise.
OpId hiddenWriter(const Trace &trace, OpId buffer);

// The multi-dimensional index of flat element FLAT; empty for a scalar.
std::vector<std::int64_t> unravelled(std::int64_t flat, std::span<const std::int64_t> shape);

} // namespace core
