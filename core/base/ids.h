// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <compare> // last: moc 6.4 gives up on a file that starts with it

namespace core {

// A row number in one table of a Trace. Ids of different tables are different types and do not convert.
template <class Tag>
class Id
{
public:
    static constexpr std::uint32_t kNone = 0xffffffffU;

    constexpr Id() = default;
    constexpr explicit Id(std::size_t index) : m_value(static_cast<std::uint32_t>(index)) {}

    constexpr bool isValid() const { return m_value != kNone; }
    constexpr explicit operator bool() const { return isValid(); }
    constexpr std::uint32_t value() const { return m_value; }
    constexpr std::size_t index() const { return m_value; }

    constexpr auto operator<=>(const Id &) const = default;

private:
    std::uint32_t m_value = kNone;
};

using OpId = Id<struct OpTag>;         // a row: one output tensor of one call
using CallId = Id<struct CallTag>;     // one call as the user wrote it
using TensorId = Id<struct TensorTag>; // one version of one tensor
using StorageId = Id<struct StorageTag>;
using ModuleId = Id<struct ModuleTag>;
using ModuleCallId = Id<struct ModuleCallTag>;
using ParamId = Id<struct ParamTag>;   // a parameter or a buffer
using FrameId = Id<struct FrameTag>;   // one file, line, function
using StackId = Id<struct StackTag>;   // one call stack
using SourceId = Id<struct SourceTag>; // one source file
using StringId = Id<struct StringTag>;
using GradNodeId = Id<struct GradNodeTag>; // one autograd node
using GradFireId = Id<struct GradFireTag>; // one firing of it
using BackwardId = Id<struct BackwardTag>; // one backward pass

} // namespace core

template <class Tag>
struct std::hash<core::Id<Tag>>
{
    std::size_t operator()(core::Id<Tag> id) const noexcept { return std::hash<std::uint32_t>{}(id.value()); }
};
