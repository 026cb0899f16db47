// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/base/load_report.h"
#include "core/base/result.h"
#include "core/capture/capture_request.h"
#include "core/capture_torch/run_observer.h"

#include <ATen/core/ivalue.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace core {

class ScriptModel;

// The origin of an input that nobody gave starts with this; what follows is its specification.
inline constexpr std::string_view kGuessedOrigin = "guessed: ";

// An input of a run and where it came from ("f32[2,3]=randn", "x.npy", "sample_inputs", "guessed: f32[1,8]").
struct ModelInput
{
    std::string name;
    c10::IValue value;
    std::string origin;
};

// The leaves of what a model returned, with their places in it.
using ModelOutputs = std::vector<std::pair<std::string, c10::IValue>>;

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

// The tensors in INPUTS by name, those in lists, tuples and dicts by the way there: "batch.image",
// "states.0".
NamedTensors inputTensors(const std::vector<ModelInput> &inputs);

// A run that nobody watched, with state and inputs of its own.
struct PlainRun
{
    ModelOutputs outputs;
    std::vector<ModelInput> inputs;
    NamedTensors parameters; // as RunnableModel::parameters() names them
};

// Where a run failed.
struct ModelFailure
{
    std::vector<RunFrame> frames; // outermost first; empty: not known
    std::string message;          // the op's own words
};

// A model file that can be run: .pt2 or TorchScript behind one face. Not thread safe.
class RunnableModel
{
public:
    virtual ~RunnableModel() = default;

    // By the file's content. Reads what the model is made of and runs nothing. unsupported with all names
    // when it needs something that is not here.
    static Result<std::unique_ptr<RunnableModel>> open(const CaptureRequest &request, LoadReport &report);

    virtual std::string kind() const = 0; // "pt2", "torchscript"
    virtual std::string className() const = 0;
    virtual Value facts() const = 0; // what else the file says: versions, traced, frozen, mapped devices

    // Inputs from the request, else from the file. invalidArgument names the input.
    virtual Status buildInputs(const CaptureRequest &request) = 0;
    virtual const std::vector<ModelInput> &inputs() const = 0;
    // The same model with state and inputs of its own. unsupported with detail not_copyable when it holds
    // something that cannot be copied.
    virtual Result<std::unique_ptr<RunnableModel>> copy() const = 0;

    // Turns parameters, buffers, constants and inputs that are floating into TYPE (complex ones into its
    // complex type), for a run in that precision; such runs do not cast inside autocast regions either.
    virtual Status convertFloating(c10::ScalarType type) = 0;

    // One run. OBSERVER (may be null) hears all of it: modules, state, inputs, nodes, outputs. Errors:
    // cancelled (detail "stopped" after StopRun), modelFailed.
    virtual Result<ModelOutputs> run(const CaptureRequest &request, RunObserver *observer,
                                     const JobContext &context) = 0;
    // One run as Python would do it, on state and inputs of its own: nobody listens, and the graphs are those
    // of the file. USE gets what it gave while the executor still has Python's settings. For comparison with
    // a watched run. Errors: modelFailed (also for what USE throws), and those of reading the file.
    virtual Status runPlain(const CaptureRequest &request,
                            const std::function<void(PlainRun)> &use) const = 0;
    virtual std::optional<ModelFailure> failure() const = 0;
    // Tells parameters, buffers and constants by name, without a run.
    virtual void declareState(RunObserver &observer) const = 0;
    // Tensors that the run uses, by name: parameters and buffers, tied ones once.
    virtual NamedTensors parameters() const = 0;
    // The TorchScript model behind it; nullptr for other kinds.
    virtual const ScriptModel *script() const { return nullptr; }
};

// The two kinds; open() chooses.
Result<std::unique_ptr<RunnableModel>> openScriptModel(const CaptureRequest &request);
Result<std::unique_ptr<RunnableModel>> openPt2Model(const CaptureRequest &request, LoadReport &report);

// The arguments of REQUEST as given by --input and --inputs. invalidArgument names the part.
Result<struct InputArguments> requestedInputs(const CaptureRequest &request);

} // namespace core
