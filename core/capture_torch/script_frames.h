// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/run_observer.h"

#include <string>
#include <vector>

namespace torch::jit {
struct Block;
struct Node;
struct SourceRange;
} // namespace torch::jit

namespace core {

// What a TorchScript file recorded about the place of one node.
struct ScriptPlace
{
    // One frame for scripted code (none without a file name); the whole Python stack for traced code,
    // outermost first.
    std::vector<RunFrame> frames;
    bool traced = false;
};

// The range of the source that a range of a file's own code was made from; RANGE itself when nothing was
// recorded.
torch::jit::SourceRange originalRange(const torch::jit::SourceRange &range);

// The place of a node of a function called FUNCTION.
ScriptPlace scriptPlace(const torch::jit::SourceRange &range, const std::string &function);

// The place of NODE, which stands in a function called FUNCTION. Some operators (1 / x, 1 - x, x // 2.0) are
// compiled from small functions of LibTorch's own, whose nodes have no place in the user's file: theirs is
// the place of the statement they stand in, as far as its constants, the op that takes their result or the
// name it is given to tell which one that is. Throws c10::Error.
ScriptPlace placeOf(torch::jit::Node *node, const std::string &function);

// Does any node of BLOCK, or the node it belongs to, stand in a file? If not, placeOf() finds no more than
// scriptPlace().
bool hasPlaces(const torch::jit::Block &block);

// The frames of the op that the TorchScript interpreter of this thread is running, outermost first, from its
// own call stack: what the places of nodes must add up to.
std::vector<RunFrame> interpreterFrames();

// A piece of a source file that the range's text is: the function it stands in.
struct SourcePiece
{
    std::string file;
    std::uint32_t firstLine = 0;
    std::string text;
};
// Nothing for traced code and for places without a file.
std::optional<SourcePiece> sourcePiece(const torch::jit::SourceRange &range);
// The same for ranges of the same text; null without one.
const void *sourceIdentity(const torch::jit::SourceRange &range);

} // namespace core
