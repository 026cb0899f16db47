// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/value.h"

#include <QString>
#include <QStringList>

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
};

ModelFacts modelFactsFrom(const core::Value &description);

} // namespace app
