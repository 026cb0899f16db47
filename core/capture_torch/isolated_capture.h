// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/input_tree_clone.h"
#include "core/capture_torch/model_capture.h"

#include <ATen/core/Generator.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

// The isolated rerun harness of the page: everything that runs a model more than once goes through it.
namespace core {

// preserved_rng_state: remembers the states of LibTorch's default generators (of the CPU, and of the CUDA
// devices that are in use) and puts them back at the end of the scope.
class PreservedRngState
{
public:
    PreservedRngState();
    ~PreservedRngState();
    PreservedRngState(const PreservedRngState &) = delete;
    PreservedRngState &operator=(const PreservedRngState &) = delete;

private:
    std::vector<std::pair<at::Generator, at::Tensor>> m_states;
};

struct IsolatedRun
{
    std::uint64_t seed = 0;
    std::string outputPath;
    RunVariant variant;
    std::function<Status(RunnableModel &)> prepare; // changes the copy before it runs; may be empty
};

// isolated_capture: one seeded, captured run of a copy of MODEL with cloned inputs. MODEL, its inputs and the
// generators are afterwards as they were, whatever happened. An error of copying or preparing is an outcome
// without a trace.
CaptureOutcome isolatedCapture(const RunnableModel &model, const CaptureRequest &request,
                               const TaskContext &context, const IsolatedRun &run);

} // namespace core
