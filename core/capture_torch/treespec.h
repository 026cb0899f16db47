// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/value.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace core {

// A pytree specification of torch.export: how the flat list of a program's inputs or outputs is nested. Plain
// data, no LibTorch.
struct TreeSpec
{
    enum class Kind {
        leaf,
        list,
        tuple,
        dict,
        other
    }; // dict: has keys; other: a registered class without keys

    Kind kind = Kind::leaf;
    std::string type;              // "builtins.tuple", "transformers.modeling_outputs.BaseModelOutput"
    std::vector<std::string> keys; // of dict, of a dataclass or a named tuple; parallel to children
    std::vector<TreeSpec> children;

    // Is it (tuple of positional arguments, dict of keywords), as in_spec is since 2.2?
    bool isCall() const
    {
        return kind == Kind::tuple && children.size() == 2 && children[0].kind == Kind::tuple &&
               children[1].kind == Kind::dict;
    }
    std::size_t leafCount() const;
    // Paths of all leaves in order: "0", "batch.image", "1.0"; one empty path when the whole is a leaf.
    std::vector<std::string> leafPaths() const;
};

// The text in in_spec and out_spec: [1, {"type": .., "context": .., "children_spec": [..]}]. NAMEDTUPLES is
// the document's treespec_namedtuple_fields. corrupt when it is something else.
Result<TreeSpec> parseTreeSpec(std::string_view text, const Value &namedTuples);

} // namespace core
