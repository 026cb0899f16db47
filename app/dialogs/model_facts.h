// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/value.h"
#include "core/capture/capture_request.h"

#include <QString>
#include <QStringList>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace app {

// One input that a model takes, as its file says.
struct InputFacts
{
    QString name;          // as it is given: "x", "batch.image"
    QString expected;      // "float32[1,3,224,224]", "Dict[str, Tensor]"
    QString specification; // a text that would do, empty when none is known
    bool isFixed = false;  // frozen at export: cannot be given
    bool isRequired = true;
};

// What a model file says about itself without being run; made from the answer of the task "describe".
struct ModelFacts
{
    QString summary; // "torch.export of PyTorch 2.15.0 · 11,689,512 parameters"
    QString refusal; // why it cannot run here, empty when it can
    QString mode;    // "train" or "eval", empty when the file does not say
    bool isModeFixed = false;
    bool hasSampleInputs = false;
    bool canGuess = false; // given no input at all, a run guesses them
    std::vector<InputFacts> inputs;
    QStringList outputs; // paths; empty when the file does not say
    // Of the tensors that its ops make: bytes and how many. Empty when only a run tells.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> valueSizes;
    std::uint64_t valuesOfUnknownSize = 0;
    std::uint64_t ops = 0;
    std::uint64_t stateBytes = 0; // parameters, buffers, constants
    std::uint64_t parameterBytes = 0;
};

// About how large the trace of REQUEST becomes; none when only a run tells.
std::optional<std::uint64_t> expectedTraceBytes(const ModelFacts &facts, const core::CaptureRequest &request);

ModelFacts modelFactsFrom(const core::Value &description);

// The inputs that guess_input_shape found, as a run takes them; empty when it found none.
std::vector<core::InputText> foundInputs(const core::Value &result);

} // namespace app
