// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/trace.h"

#include <memory>
#include <string_view>

namespace tests {

// A trace from a few lines of text, for tests of whatever reads traces. One statement a line, # starts a
// comment:
//
//   status finished                     (or stopped_at_nonfinite, cancelled, failed, crashed)
//   imported                            (a bundle: the frame reports name is the first one)
//   input x:f32[1,3]=1,nan,3            an input row; =VALUES saves them, else only the shape is known
//   param fc.weight:f32[2]=0,0          buffer NAME:... likewise
//   bufferrow n:f32[2]=1 of y           the row of a buffer; "of y": what the maker of y wrote into it
//   linear x fc.weight -> y:f32[1,2]=1,2 @model.py:14 in net.fc
//   topk y 2 dim=1 -> v:f32[1,1] i:i64[1,1]    several outputs
//   relu_ y -> z:f32[1,2] time=12       in place by the name; time in ns
//   output y
//   node n0 SumBackward0 next=n1 of y   autograd node, with the forward op that made y
//   node n1 AccumulateGrad leaf=fc.weight
//   backward loss=y roots=n0            starts a backward pass
//   fire n0 arriving=f32[1]=1 emitted=f32[2]=1,1
//   grad y:f32[1,2]=1,1                 gradient of a tensor in the pass; "grad y none": none arrived
//
// Arguments are names, numbers, words, name=value and [lists]. Sides of a fire: several by +; without = not
// recorded; "none": an undefined slot.
//
// VALUES are numbers, nan, inf, -inf, or N*VALUE; missing ones repeat the last. A stats= suffix on an output
// ("-> y:f32[2]=1,nan !stats") records the statistics of the values and drops the payload; so does "!" after
// a gradient of a fire. "in a.b" nests modules and continues their open call; "in a.b:2" is the second call.
// Aborts the test program on a mistake in the text.
std::shared_ptr<const core::Trace> traceFromText(std::string_view text);

// The first op whose label starts with PREFIX; no op when there is none.
core::OpId opNamed(const core::Trace &trace, std::string_view prefix);

} // namespace tests
