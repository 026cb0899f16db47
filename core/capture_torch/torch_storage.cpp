// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/torch_storage.h"

#include "core/capture_torch/torch_dtype.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include <algorithm>

namespace core {

namespace {

std::vector<std::int64_t> rowMajorStrides(const std::vector<std::int64_t> &sizes)
{
    std::vector<std::int64_t> strides(sizes.size(), 1);
    for (std::size_t i = sizes.size(); i-- > 1;)
        strides[i - 1] = strides[i] * std::max<std::int64_t>(sizes[i], 1);
    return strides;
}

// Elements of storage that a view needs; -1 when it is beyond any storage.
std::int64_t neededElements(const StorageView &view, const std::vector<std::int64_t> &strides)
{
    constexpr std::int64_t kMost = std::int64_t(1) << 48;
    __extension__ using Wide = __int128;
    Wide last = view.offset;
    for (std::size_t i = 0; i < view.sizes.size(); ++i) {
        if (view.sizes[i] == 0)
            return 0;
        if (view.sizes[i] < 0 || strides[i] < 0)
            return -1;
        last += Wide(view.sizes[i] - 1) * strides[i];
        if (last > kMost)
            return -1;
    }
    return view.offset < 0 ? -1 : static_cast<std::int64_t>(last) + 1;
}

} // namespace

Result<at::Tensor> viewStorage(const c10::Storage &storage, const StorageView &view, const std::string &name)
{
    const auto type = toScalarType(view.dtype);
    if (!type)
        return Status(ErrorCode::unsupported, "tensor " + name + ": unknown dtype")
            .withDetail("unknown_dtype");
    const auto strides =
        view.strides.size() == view.sizes.size() ? view.strides : rowMajorStrides(view.sizes);
    const std::int64_t needed = neededElements(view, strides);
    const auto have = static_cast<std::int64_t>(storage.nbytes() / itemSize(view.dtype));
    if (needed < 0 || needed > have)
        return Status(ErrorCode::corrupt,
                      "tensor " + name + ": its shape needs " +
                          (needed < 0 ? std::string("more than 2^48") : std::to_string(needed)) +
                          " elements, the record has " + std::to_string(have))
            .withDetail("storage_too_small");
    try {
        at::NoGradGuard guard;
        return at::empty({0}, at::TensorOptions(*type)).set_(storage, view.offset, view.sizes, strides);
    } catch (const c10::Error &error) {
        return Status(ErrorCode::corrupt, "tensor " + name + ": " + error.what_without_backtrace())
            .withDetail("storage_too_small");
    }
}

Result<c10::Storage> readStorage(const ByteSource &source, const std::string &name)
{
    try {
        const auto size = static_cast<std::size_t>(source.size());
        c10::Allocator *allocator = c10::GetCPUAllocator();
        c10::DataPtr data = allocator->allocate(size);
        auto *bytes = static_cast<std::byte *>(data.get());
        if (Status status = source.readAt(0, {bytes, size}); !status)
            return status.prefixed(name);
        return c10::Storage(c10::Storage::use_byte_size_t(), size, std::move(data), allocator, false);
    } catch (const c10::Error &error) {
        return Status(ErrorCode::limitExceeded,
                      name + ": " + std::to_string(source.size()) +
                          " bytes do not fit into memory: " + error.what_without_backtrace());
    }
}

} // namespace core
