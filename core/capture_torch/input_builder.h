// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/capture/input_spec.h"
#include "core/capture_torch/pt2_program.h"

#include <ATen/core/Generator.h>
#include <ATen/core/ivalue.h>

#include <optional>
#include <string>
#include <vector>

namespace core {

// Makes the values of inputs. The random ones come from a generator of its own, so that the model's random
// numbers do not depend on how the inputs were made. One builder a run.
class InputBuilder
{
public:
    explicit InputBuilder(std::uint64_t seed);

    // A tensor, a Python scalar, None, or a Tuple, List or Dict of such (lists and dicts of one type are
    // typed, as TorchScript wants them). Errors name WHERE.
    Result<c10::IValue> build(const InputNode &node, const std::string &where);

private:
    Result<c10::IValue> buildContainer(const InputNode &node, const std::string &where);
    at::Tensor fill(const TensorSpec &spec);

    at::Generator m_generator;
};

namespace pt2 {

// One flat input of a program, ready to run, and where it came from ("f32[2,3]=randn", "x.npy",
// "sample_inputs", "fixed at export").
struct RunInput
{
    std::string name; // of inputNames()
    c10::IValue value;
    std::string origin;
};

// Brings ARGUMENTS (positional, by name of an argument, or by name or path of a leaf) into the program's
// order by its in_spec. What is not given comes from SAMPLES, the inputs the model was exported with. Checks
// shapes, dtypes, fixed values and symbolic sizes. invalidArgument names the input, what is expected and what
// came.
Result<std::vector<RunInput>> buildInputs(const Program &program, const InputArguments &arguments,
                                          const std::optional<c10::IValue> &samples, InputBuilder &builder);

// What the user inputs of PROGRAM are called, in their order: by the argument, inside a container by the way
// there ("batch.image", "states.0").
std::vector<std::string> inputNames(const Program &program);

} // namespace pt2
} // namespace core
