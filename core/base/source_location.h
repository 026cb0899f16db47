// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace core {

// A line of a file, 1-based as people count; 0 is "not known".
class LineNumber
{
public:
    constexpr LineNumber() = default;
    static constexpr LineNumber fromOneBased(std::uint32_t line) { return LineNumber(line); }
    static constexpr LineNumber fromZeroBased(std::uint32_t line) { return LineNumber(line + 1); }

    constexpr bool isKnown() const { return m_oneBased != 0; }
    constexpr std::uint32_t oneBased() const { return m_oneBased; }
    constexpr std::uint32_t zeroBased() const { return m_oneBased == 0 ? 0 : m_oneBased - 1; }

    constexpr bool operator==(const LineNumber &) const = default;

private:
    constexpr explicit LineNumber(std::uint32_t oneBased) : m_oneBased(oneBased) {}

    std::uint32_t m_oneBased = 0;
};

} // namespace core
