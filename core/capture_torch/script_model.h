// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/capture_torch/run_observer.h"
#include "core/capture_torch/script_argument.h"
#include "core/capture_torch/script_markers.h"

#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/api/module.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace core {

// A TorchScript model made ready to be run and watched. Its graphs are marked when it is loaded, so all runs
// are of the same graphs. Used from one thread.
class ScriptModel
{
public:
    // Runs the restricted unpickler and the TorchScript compiler, nothing of the model. unsupported with
    // detail missing_op when the file names an op that is not there; corrupt otherwise.
    static Result<std::unique_ptr<ScriptModel>> load(const std::filesystem::path &file);

    // The same for runs as LibTorch would do them: the executor's mode is left as it is and nothing is
    // marked, so that run() takes no observer.
    static Result<std::unique_ptr<ScriptModel>> loadPlain(const std::filesystem::path &file);

    std::vector<ScriptArgument> arguments() const;
    // VALUE as forward's argument INDEX (0 is the first after self) takes it: lists, dicts and tuples of its
    // element types, numbers as the kind it wants, enumerators and devices by name. invalidArgument with
    // detail wrong_type names the argument, the type and what came.
    Result<c10::IValue> argumentValue(std::size_t index, const c10::IValue &value) const;
    // The texts under which the code looks into the dict that is forward's argument NAME.
    std::vector<std::string> dictKeys(const std::string &name) const;
    std::string className() const;
    bool isTraced() const { return m_traced; }
    // Frozen by torch.jit.freeze: parameters became constants, names are lost.
    bool isFrozen() const;
    bool isTraining() const { return m_module.is_training(); }

    // Switches modules between training and evaluation. Which parameters require gradients is the file's.
    void prepare(bool training);
    // Parameters, buffers and tensor attributes that are floating become TYPE; integers stay.
    void convertFloating(c10::ScalarType type);
    // A copy with its own parameters and buffers, for runs that must not change these.
    std::unique_ptr<ScriptModel> copy() const;

    // Tells modules, parameters, buffers, attributes and the sources that the file holds.
    void tellState(RunObserver &observer) const;
    const std::vector<SourcePiece> &sources() const { return m_program->sources; }

    // One call of forward with POSITIONAL and NAMED arguments. With an observer it is told modules, nodes and
    // regions (not inputs and outputs). cancelled with detail "stopped" after StopRun; modelFailed with the
    // model's message.
    Result<c10::IValue> run(std::vector<c10::IValue> positional,
                            std::unordered_map<std::string, c10::IValue> named, RunObserver *observer);

    // One call of forward of FILE loaded anew: its own graphs, the executor's settings of Python, which last
    // until USE, which gets the model and what it returned, has ended. modelFailed with what was thrown.
    static Status runPlain(const std::filesystem::path &file,
                           std::unordered_map<std::string, c10::IValue> named, bool training,
                           const std::function<void(const ScriptModel &, const c10::IValue &)> &use);

    // Call stack of the node that the last watched run reached; empty when it was not watched.
    const std::vector<RunFrame> &lastFrames() const { return m_lastFrames; }

    torch::jit::Module &module() { return m_module; }
    const ScriptProgram &program() const { return *m_program; }
    const torch::jit::Module &module() const { return m_module; }

private:
    explicit ScriptModel(torch::jit::Module module) : m_module(std::move(module)) {}
    void shareTiedTensors();

    torch::jit::Module m_module;
    std::shared_ptr<const ScriptProgram> m_program;
    bool m_traced = false;
    std::vector<RunFrame> m_lastFrames;
};

// Leaves of what a model returned with their places in it ("0", "logits", "1.2", "" when it is one leaf
// alone).
std::vector<std::pair<std::string, c10::IValue>> outputLeaves(const c10::IValue &value);

// The words of a failure, without LibTorch's own stack.
std::string failureText(const std::exception &error);

} // namespace core
