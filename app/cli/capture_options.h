// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/arguments.h"
#include "core/capture/capture_request.h"

#include <array>

namespace app {

// The options that say how a model is run; capture and run share them.
inline constexpr std::array<OptionSpec, 10> kRunOptions = {{
    {"input", "[NAME=]SPEC|FILE", "an input, in order or by name", 0, true},
    {"inputs", "TREE.json", "all inputs as a tree; its files are relative to it"},
    {"seed", "N", "seed the generators before the run"},
    {"train", "", "TorchScript: call the model in training mode"},
    {"no-grad", "", "run without building the autograd graph"},
    {"threads", "N", "threads of LibTorch (default 1)"},
    {"warmup", "N", "runs before the captured one, on a copy of all state"},
    {"repeat", "N", "plain runs that are only timed, each on a copy of all state"},
    {"time-limit", "SECONDS", "stop the run after that time"},
    {"memory-limit", "BYTES", "heap of the worker at most, with K, M or G"},
}};

// The request of a command line whose operand OPERAND is the model. invalidArgument names the option.
core::Result<core::CaptureRequest> runRequest(const Arguments &arguments, std::size_t operand);

// "sum", "mean", "output", each with ":PATH" of an output; "cross_entropy:FILE", "mse:FILE".
core::Result<core::BackwardRequest> parseBackward(std::string_view text);

} // namespace app
