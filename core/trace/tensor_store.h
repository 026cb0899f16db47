// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace core {

class JobContext;

// The values of a trace's tensors and the texts of its sources, read by range on demand. Thread safe.
class TensorStore
{
public:
    virtual ~TensorStore() = default;

    // Fills OUT with the data bytes of archive entry ENTRY from OFFSET (after a .npy header; from the data
    // section of a safetensors blob). unreadable or corrupt with the entry's name when the range is not
    // there.
    virtual Status read(std::string_view entry, std::uint64_t offset, std::span<std::byte> out) const = 0;
    // The same range without a copy where the file is mapped, else an empty span.
    virtual std::span<const std::byte> view(std::string_view entry, std::uint64_t offset,
                                            std::uint64_t length) const = 0;
    // The text of a source entry, at most LIMIT bytes.
    virtual Result<std::string> text(std::string_view entry, std::uint64_t limit) const = 0;
    // Checks all of ENTRY against its checksum, for what makes a copy of it with a checksum of its own: ok
    // where read() or opening has checked it, or there is none.
    virtual Status verify(std::string_view, const JobContext &) const { return Status::ok(); }
};

// A store that holds nothing: notFound for everything.
std::shared_ptr<const TensorStore> emptyTensorStore();

} // namespace core
