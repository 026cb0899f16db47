// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/value.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace core {

// What an integer argument means: enum codes of LibTorch are shown by their names.
enum class CodeKind : std::uint8_t { none, dtype, layout, memoryFormat };

// How large the first result can be, from how large the operands are: the larger of them, at most their sum,
// what an affine map by running statistics makes of it, or a weighted sum of so many elements.
enum class BoundRule : std::uint8_t { none, largest, sum, batchNorm, weightedSum };

struct ArgumentFacts
{
    std::string name;
    CodeKind code = CodeKind::none;
    bool written = false; // by the schema
    bool keywordOnly = false;
};

// What the recorder must know of an op, read once from its schema.
struct OpFacts
{
    std::string name; // "aten.add.Tensor"
    std::string func; // "add"
    std::vector<ArgumentFacts> arguments;
    std::size_t returns = 0;
    bool writes = false;            // some argument by the schema
    bool view = false;              // a result shares memory with an argument that is not written
    bool metadataOnly = false;      // in place, but no byte changes (t_, unsqueeze_, set_)
    bool uninitialised = false;     // its result is memory that nobody has written
    bool keepsBefore = false;       // in place and able to make bad values: operands are looked at before
    bool readsWhatItWrites = false; // in place, and the result depends on every byte that was there (add_)
    bool keepsFinite = false;  // finite inputs and small numbers never give NaN or Inf (relu, cat, index)
    bool readsIndices = false; // its whole numbers say where, they are not values
    bool writesPartly = false; // in place, and bytes may stay as they were (index_put_)
    bool mayDraw = true;       // random numbers
    BoundRule bound = BoundRule::none;
    // Running statistics that some kernels write without saying so in the schema: arguments written when the
    // boolean argument FLAG is true, or always.
    std::vector<std::size_t> hiddenWrites;
    std::optional<std::size_t> hiddenFlag;
};

OpFacts readOpFacts(const c10::OperatorHandle &op);

// A non-tensor argument or result as a value: numbers, texts, lists, dtype and layout names, null for None.
// What has no such form (generators, objects) becomes a text in angle brackets.
Value ivalueToValue(const c10::IValue &value, CodeKind code = CodeKind::none);

// TAKE(tensor) for each tensor in VALUE, also in lists, tuples and dicts, undefined ones too.
template <class Take>
void forEachTensor(const c10::IValue &value, Take &&take)
{
    if (value.isTensor())
        take(value.toTensor());
    else if (value.isList())
        for (const c10::IValue &item : value.toListRef())
            forEachTensor(item, take);
    else if (value.isTuple())
        for (const c10::IValue &item : value.toTupleRef().elements())
            forEachTensor(item, take);
    else if (value.isGenericDict())
        for (const auto &item : value.toGenericDict())
            forEachTensor(item.value(), take);
}

// "float32", "torch.strided" without "torch.", ...; what an enum code of an argument reads back to.
std::string codeName(CodeKind kind, std::int64_t code);

} // namespace core
