// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/script_argument.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace core {

class ScriptModel;

// What kinds of module say about an input.
enum class LayerKind {
    other,
    embedding,
    recurrent,
    cell,
    conv,
    transposedConv,
    transformer,
    groupNorm,
    norm, // over channels, or over the last dimensions
    linear,
    bilinear
};

// A module as far as it matters for the shape of an input.
struct LayerFact
{
    LayerKind kind = LayerKind::other;
    std::string path;
    std::string type;            // "Conv2d"
    std::int64_t features = 0;   // in_features, input_size, embed_dim, num_channels, in_channels
    std::int64_t vocabulary = 0; // rows of an embedding; the second size of a bilinear layer
    std::int64_t outputs = 0;    // out_channels
    std::int64_t hidden = 0;     // hidden_size
    std::int64_t states = 1;     // layers times directions
    std::vector<std::int64_t> kernel;
    std::vector<std::int64_t> normalized; // last dimensions that a layer norm asks for
    std::int64_t spatial = 0;             // spatial dimensions that a batch or instance norm asks for
    std::int64_t stride = 1;
    bool batchFirst = true;
    at::ScalarType dtype = at::kFloat;
};

struct ShapeFacts
{
    std::vector<ScriptArgument> arguments;          // of forward
    std::map<std::string, std::size_t> listLengths; // of its lists, where the code says
    std::vector<LayerFact> layers;                  // modules in definition order
    std::vector<std::pair<std::string, at::Tensor>> parameters;
    std::vector<std::pair<std::string, at::Tensor>> tables; // parameters and buffers
    bool hasAdaptivePool = false;
    bool takesSpectrum = false; // of a sound that it is given
    bool isLazy = false;        // parameters without a shape
    at::ScalarType floating = at::kFloat;
    std::uint64_t stateBytes = 0;
};

// Reads the modules and, for what only the calls say (groups, strides, batch_first), their graphs.
ShapeFacts shapeFactsOf(const ScriptModel &model);

// The first layer of KIND, with a kernel of RANK dimensions where that is given; null when there is none.
const LayerFact *firstLayer(const ShapeFacts &facts, LayerKind kind, std::optional<std::size_t> rank = {});

// Sequence limit of a positional table; none without such a table.
std::optional<std::int64_t> positionLimit(const ShapeFacts &facts);
// Side of the square image whose patches (one each STRIDE) fill a positional table of vectors of WIDTH
// numbers; none without such a table.
std::optional<std::int64_t> positionSide(const ShapeFacts &facts, std::int64_t stride, std::int64_t width);

} // namespace core
