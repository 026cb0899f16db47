// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace core {

// Random access to the bytes of one file or buffer. Thread safe: readAt may be called from several threads.
class ByteSource
{
public:
    virtual ~ByteSource() = default;

    virtual std::uint64_t size() const = 0;
    // Fills all of OUT from OFFSET. unreadable when the range is not inside the source or the device does not
    // deliver.
    virtual Status readAt(std::uint64_t offset, std::span<std::byte> out) const = 0;
    // The range without a copy when the source is memory (or mapped), else an empty span. Valid as long as
    // the source.
    virtual std::span<const std::byte> view(std::uint64_t offset, std::uint64_t length) const = 0;
    // What to call it in messages: a file name.
    virtual const std::string &name() const = 0;
};

// A file opened read only, read with pread: a file cut short under us gives unreadable, never a signal.
Result<std::shared_ptr<const ByteSource>> openFile(const std::filesystem::path &path);
std::shared_ptr<const ByteSource> memorySource(std::string name, std::vector<std::byte> bytes);
// LENGTH bytes of PARENT from OFFSET as a source of its own; the range must be inside.
std::shared_ptr<const ByteSource> sliceSource(std::shared_ptr<const ByteSource> parent, std::uint64_t offset,
                                              std::uint64_t length, std::string name);

// All bytes of the range; limitExceeded above MAXIMUM bytes.
Result<std::vector<std::byte>> readRange(const ByteSource &source, std::uint64_t offset, std::uint64_t length,
                                         std::uint64_t maximum);

} // namespace core
