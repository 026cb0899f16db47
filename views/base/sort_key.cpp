// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/sort_key.h"

#include <cstdint>

namespace views {

namespace {

// Most significant byte first, so that bytes compare as the numbers do.
void appendNumber(std::string &key, std::uint64_t number)
{
    for (int shift = 56; shift >= 0; shift -= 8)
        key.push_back(static_cast<char>((number >> shift) & 0xff));
}

} // namespace

std::string shapeKey(const core::Trace &trace, core::TensorId tensor)
{
    if (!tensor.isValid() || !trace.tensor(tensor).shapeKnown)
        return "\xff";
    std::string key;
    // Dimensions are not negative, so the first byte of each stays below 0x80.
    for (const std::int64_t size : trace.shape(tensor))
        appendNumber(key, static_cast<std::uint64_t>(size));
    return key;
}

std::string lineKey(const core::Trace &trace, core::OpId op)
{
    const core::FrameId frame = op.isValid() ? trace.sourceFrame(trace.callOf(op).stack) : core::FrameId();
    if (!frame.isValid())
        return {};
    const std::string_view file = trace.string(trace.frame(frame).file);
    std::string key(file.substr(file.find_last_of("/\\") + 1));
    key.push_back('\0');
    key.append(file);
    key.push_back('\0');
    appendNumber(key, trace.frame(frame).line.oneBased());
    return key;
}

} // namespace views
