// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

namespace core {

// FLOPs by PyTorch's own dispatch-level formulas (torch.utils.flop_counter), counted on the ops that run
// below autograd: what a composite op is made of counts, what happens inside a kernel does not. Independent
// of the rules in core/trace/op_flops.h. While it lives it listens on the thread that made it.
class FlopCounter
{
public:
    FlopCounter();
    ~FlopCounter();
    FlopCounter(const FlopCounter &) = delete;
    FlopCounter &operator=(const FlopCounter &) = delete;

    std::int64_t total() const;
    // "aten.addmm" -> FLOPs, all overloads together.
    const std::map<std::string, std::int64_t> &byOp() const { return m_byOp; }
    // Ops without a formula, which PyTorch's counter takes as nothing, and how often they ran.
    const std::map<std::string, std::int64_t> &uncounted() const { return m_uncounted; }

private:
    friend struct FlopCallbacks;
    struct Handle;

    std::map<std::string, std::int64_t> m_byOp;
    std::map<std::string, std::int64_t> m_uncounted;
    int m_inside = 0; // depth of calls below an op that is no composite one
    std::unique_ptr<Handle> m_handle;
};

} // namespace core
