// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/base/result.h"
#include "core/capture_torch/pt2_graph.h"
#include "core/capture_torch/pt2_module_calls.h"
#include "core/capture_torch/pt2_state.h"

#include <optional>
#include <string>
#include <vector>

namespace core::pt2 {

struct RunOptions
{
    bool gradients = true;            // grad mode at the start; regions of the program may change it
    bool autocast = true;             // false: autocast regions run without casting (reruns in float64)
    bool skipMetadataAsserts = false; // leaves out aten._assert_tensor_metadata, which checks dtypes
};

TensorRole roleOf(const ProgramInput &input);

// The node a run stopped at because it failed.
struct RunFailure
{
    const NodeInfo *node = nullptr; // null: before the first node or after the last
    std::string message;            // the op's own words
};

// Runs a program op by op through LibTorch's dispatcher, on the calling thread. State is changed as the
// program changes it (running statistics, caches): use fresh state for a second run. Not thread safe; owns
// nothing of the program or the state.
class Executor
{
public:
    // OBSERVER may be null: a plain run.
    Executor(const Program &program, State &state, RunObserver *observer);

    // INPUTS: one value for each user input in order of Program::inputs (Kind::user and Kind::fixed). Gives
    // the flat user outputs. Errors: unsupported with all names before anything runs, invalidArgument for a
    // wrong number of inputs, cancelled (detail "stopped" when the observer threw StopRun), modelFailed with
    // the node, its op and its source line; failure() then tells them apart.
    Result<std::vector<c10::IValue>> run(const std::vector<c10::IValue> &inputs, const RunOptions &options,
                                         const JobContext &context);

    const std::optional<RunFailure> &failure() const { return m_failure; }

private:
    using Values = std::vector<c10::IValue>;

    Status checkInputs(const Values &inputs) const;
    void declareToObserver(const Values &inputs);
    Values graphInputs(const Values &inputs) const;
    Result<Values> runChecked(const Values &inputs);
    Values takeOutputs(Values outputs, const Values &inputs);
    void writeBack(const ProgramOutput &output, const c10::IValue &value, const Values &inputs);
    Status failed(std::string message);

    Values runGraph(const Graph &graph, Values inputs);
    void runNode(const Node &node, Values &slots, Values &stack);
    void runDispatched(const Node &node, Values &slots, Values &stack);
    void runNumber(const Node &node, Values &slots);
    void runHigherOrder(const Node &node, Values &slots);
    void storeFlat(const Node &node, const Values &results, Values &slots) const;

    // Higher-order ops; each gives the flat results.
    Values differentiated(const Node &node, Values results, const Values &slots, std::string_view kind) const;
    Values runCond(const Node &node, const Values &slots);
    Values runWhileLoop(const Node &node, const Values &slots);
    Values runScan(const Node &node, const Values &slots);
    Values runMap(const Node &node, const Values &slots);
    Values runAutocast(const Node &node, const Values &slots);
    // One subgraph as one region. A turn of a loop has its own module calls.
    Values runRegion(const Node &node, std::size_t subgraph, Values inputs,
                     std::optional<std::uint32_t> turn);
    Values slices(const Node &node, const Values &stacked, std::int64_t index);
    at::Tensor stacked(const Node &node, const std::vector<at::Tensor> &parts);

    const Program &m_program;
    State &m_state;
    RunObserver *m_observer;
    std::optional<ModuleCallTracker> m_moduleCalls;
    RunOptions m_options;
    const JobContext *m_context = nullptr;
    const Node *m_current = nullptr; // the innermost node being executed
    std::optional<RunFailure> m_failure;
};

} // namespace core::pt2
