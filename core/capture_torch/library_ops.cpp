// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/library_ops.h"

#include "core/capture_torch/vision_ops.h"

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <utility>
#include <vector>

namespace core {
namespace {

// The rows of INPUT [S, in] go group by group, each up to its END, through its own WEIGHT [groups, in, out];
// rows behind the last group give zeros.
at::Tensor groupedProduct(const at::Tensor &input, const at::Tensor &weight, const at::Tensor &ends)
{
    const at::Tensor bounds = ends.to(at::kLong).contiguous();
    std::vector<at::Tensor> parts;
    std::int64_t start = 0;
    for (std::int64_t group = 0; group < bounds.numel(); ++group) {
        const std::int64_t end = bounds.const_data_ptr<std::int64_t>()[group];
        TORCH_CHECK(start <= end && end <= input.size(0), "group ", group, " ends at row ", end, " of ",
                    input.size(0), ", where rows ", start, " and on are left");
        if (end == start)
            continue;
        parts.push_back(at::mm(input.slice(0, start, end), weight.select(0, group)));
        start = end;
    }
    if (start < input.size(0))
        parts.push_back(at::zeros({input.size(0) - start, weight.size(2)}, input.options()));
    return parts.empty() ? at::zeros({0, weight.size(2)}, input.options()) : at::cat(parts);
}

std::vector<torch::Library> registerExpertOps()
{
    std::vector<torch::Library> libraries;
    libraries.emplace_back(torch::Library::FRAGMENT, "transformers", std::nullopt, __FILE__, __LINE__);
    libraries.back().def("grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor",
                         torch::dispatch(c10::DispatchKey::CompositeImplicitAutograd, groupedProduct));
    return libraries;
}

bool isThere(const char *op)
{
    return c10::Dispatcher::singleton().findSchema({op, ""}).has_value();
}

std::vector<torch::Library> registerMissing()
{
    std::vector<torch::Library> libraries;
    const auto keep = [&libraries](std::vector<torch::Library> more) {
        for (torch::Library &library : more)
            libraries.push_back(std::move(library));
    };
    if (!isThere("torchvision::nms"))
        keep(registerVisionOps());
    if (!isThere("transformers::grouped_mm_fallback"))
        keep(registerExpertOps());
    return libraries;
}

} // namespace

void provideLibraryOps()
{
    // Never freed: models may outlive every other object at the end of the program.
    [[maybe_unused]] static const auto *const kRegistered =
        new std::vector<torch::Library>(registerMissing());
}

} // namespace core
