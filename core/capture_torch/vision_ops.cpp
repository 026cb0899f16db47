// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/vision_ops.h"

#include "core/capture_torch/rotated_boxes.h"
#include "core/capture_torch/vision_pooling.h"

#include <ATen/ATen.h>
#include <ATen/core/stack.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/library.h>

#include <functional>
#include <tuple>

namespace core {
namespace {

using torch::autograd::variable_list;

// The backward of an op whose first input alone gets a gradient.
class FirstInputBackward final : public torch::autograd::Node
{
public:
    using Rule = std::function<at::Tensor(const at::Tensor &gradient)>;
    // Named as torchvision's Python package names them.
    FirstInputBackward(torch::autograd::edge_list edges, const std::string &op, Rule rule)
        : Node(std::move(edges)), m_name("GeneratedBackwardFor_torchvision_" + op + "_defaultBackward"),
          m_rule(std::move(rule))
    {
    }
    std::string name() const override { return m_name; }

private:
    variable_list apply(variable_list &&gradients) override
    {
        variable_list result(num_outputs());
        if (gradients[0].defined())
            result[0] = m_rule(gradients[0]);
        return result;
    }

    std::string m_name;
    Rule m_rule;
};

// float16 and bfloat16 are computed in float32, as torchvision does under autocast.
at::Tensor widened(const at::Tensor &tensor)
{
    const bool narrow = tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16;
    return narrow ? tensor.to(at::kFloat) : tensor;
}

at::Tensor nms(const at::Tensor &boxes, const at::Tensor &scores, double threshold)
{
    return keepBestBoxes(widened(boxes), scores, threshold);
}

at::Tensor boxIouRotated(const at::Tensor &first, const at::Tensor &second)
{
    return rotatedOverlap(widened(first), widened(second));
}

struct Pooled
{
    at::Tensor values;
    at::Tensor places; // argmax or channels; undefined: none
};

// Runs FORWARD on the bare tensors and hangs RULE under the result when IMAGE wants gradients.
template <typename Forward>
Pooled differentiable(const at::Tensor &image, const std::string &op, const Forward &forward,
                      const std::function<FirstInputBackward::Rule(const Pooled &)> &ruleOf)
{
    Pooled result;
    {
        const at::AutoDispatchBelowADInplaceOrView below;
        result = forward();
    }
    if (!at::GradMode::is_enabled() || !image.requires_grad())
        return result;
    const auto node = c10::make_intrusive<FirstInputBackward>(torch::autograd::collect_next_edges(image), op,
                                                              ruleOf(result));
    torch::autograd::set_history(result.values, node);
    return result;
}

Pooled pool(const at::Tensor &image, const at::Tensor &regions, const RegionPooling &pooling,
            const std::string &op)
{
    const auto forward = [&] {
        const at::Tensor wide = widened(image);
        return Pooled{poolRegions(wide, regions, pooling).to(image.scalar_type()),
                      pooling.byPosition() ? pooledChannels(wide, regions, pooling) : at::Tensor()};
    };
    const auto rule = [&](const Pooled &) -> FirstInputBackward::Rule {
        RegionPooling whole = pooling;
        whole.leftOut = 0;
        return [regions = regions.detach(), sizes = image.sizes().vec(), whole](const at::Tensor &gradient) {
            return poolRegionsBackward(widened(gradient), regions, sizes, whole).to(gradient.scalar_type());
        };
    };
    return differentiable(image, op, forward, rule);
}

// roi_align(input, rois, spatial_scale, pooled_height, pooled_width, sampling_ratio, aligned)
void roiAlign(const c10::OperatorHandle &, torch::jit::Stack *stack)
{
    constexpr std::size_t kArguments = 7;
    const auto in = torch::jit::last(*stack, kArguments);
    const RegionPooling how{RegionPooling::Kind::align,
                            in[2].toDouble(),
                            {in[3].toInt(), in[4].toInt()},
                            in[5].toInt(),
                            in[6].toBool(),
                            0};
    at::Tensor values = pool(in[0].toTensor(), in[1].toTensor(), how, "roi_align").values;
    torch::jit::drop(*stack, kArguments);
    torch::jit::push(*stack, std::move(values));
}

std::tuple<at::Tensor, at::Tensor> psRoiAlign(const at::Tensor &image, const at::Tensor &regions,
                                              double scale, std::int64_t height, std::int64_t width,
                                              std::int64_t sampling)
{
    Pooled pooled =
        pool(image, regions, {RegionPooling::Kind::positionAlign, scale, {height, width}, sampling, false, 0},
             "ps_roi_align");
    return {std::move(pooled.values), std::move(pooled.places)};
}

// torchvision leaves the last row and column of the image out of the means, but not of their gradients.
std::tuple<at::Tensor, at::Tensor> psRoiPool(const at::Tensor &image, const at::Tensor &regions, double scale,
                                             std::int64_t height, std::int64_t width)
{
    RegionPooling pooling{RegionPooling::Kind::positionAverage, scale, {height, width}, 0, false, 1};
    Pooled pooled = pool(image, regions, pooling, "ps_roi_pool");
    return {std::move(pooled.values), std::move(pooled.places)};
}

std::tuple<at::Tensor, at::Tensor> roiPool(const at::Tensor &image, const at::Tensor &regions, double scale,
                                           std::int64_t height, std::int64_t width)
{
    const RegionPooling pooling{RegionPooling::Kind::align, scale, {height, width}, 0, false, 0};
    const auto forward = [&] {
        auto [values, places] = poolRegionsMax(widened(image), regions, pooling);
        return Pooled{values.to(image.scalar_type()), places};
    };
    const auto rule = [&](const Pooled &pooled) -> FirstInputBackward::Rule {
        return [regions = regions.detach(), argmax = pooled.places,
                sizes = image.sizes().vec()](const at::Tensor &gradient) {
            return poolRegionsMaxBackward(widened(gradient), regions, argmax, sizes)
                .to(gradient.scalar_type());
        };
    };
    Pooled pooled = differentiable(image, "roi_pool", forward, rule);
    return {std::move(pooled.values), std::move(pooled.places)};
}

// Values of IMAGE [B, G, C, H, W] between its pixels at ROWS and COLUMNS [B, G, L]; zero outside. [B, G, C,
// L]
at::Tensor sampled(const at::Tensor &image, const at::Tensor &rows, const at::Tensor &columns)
{
    const std::int64_t height = image.size(3), width = image.size(4);
    const at::Tensor flat = image.flatten(3);
    const auto pixel = [](const at::Tensor &at, std::int64_t size) {
        return at.nan_to_num(0).clamp(0, size - 1).to(at::kLong);
    };
    const at::Tensor top = rows.detach().floor(), left = columns.detach().floor();
    const at::Tensor down = rows - top, across = columns - left;
    at::Tensor sum;
    for (const int y : {0, 1})
        for (const int x : {0, 1}) {
            const at::Tensor row = top + y, column = left + x;
            const at::Tensor inside = (row >= 0) & (row < height) & (column >= 0) & (column < width);
            const at::Tensor at = (pixel(row, height) * width + pixel(column, width)).unsqueeze(2);
            const at::Tensor weight = (y == 0 ? 1 - down : down) * (x == 0 ? 1 - across : across);
            // What lies outside counts as zero, whatever the pixel is that stands in for it.
            const at::Tensor value =
                at::where(inside.unsqueeze(2), flat.gather(3, at.expand({-1, -1, image.size(2), -1})), 0);
            const at::Tensor part = value * weight.unsqueeze(2);
            sum = sum.defined() ? sum + part : part;
        }
    const at::Tensor outside = (rows <= -1) | (rows >= height) | (columns <= -1) | (columns >= width);
    return at::where(outside.unsqueeze(2), 0, sum);
}

struct Stride2d
{
    std::array<std::int64_t, 2> stride, padding, dilation;
};

// Where output positions (last dimension) and kernel positions (the one before) fall along side SIDE (0:
// rows) without offsets.
at::Tensor gridOf(const at::Tensor &like, std::size_t side, const std::array<std::int64_t, 2> &kernel,
                  const std::array<std::int64_t, 2> &out, const Stride2d &how)
{
    const auto options = like.options();
    at::Tensor taps = at::arange(kernel[side], options) * how.dilation[side];
    at::Tensor steps = at::arange(out[side], options) * how.stride[side] - how.padding[side];
    taps = side == 0 ? taps.repeat_interleave(kernel[1]) : taps.repeat({kernel[0]});
    steps = side == 0 ? steps.repeat_interleave(out[1]) : steps.repeat({out[0]});
    return taps.unsqueeze(1) + steps.unsqueeze(0);
}

struct Deformed
{
    at::Tensor input, weight, offset, mask, bias;
    Stride2d how;
    std::int64_t groups;
    std::int64_t offsetGroups;
    bool useMask;
};

// Made of differentiable ops: its gradients follow from theirs.
at::Tensor deformConv2d(const Deformed &of)
{
    const auto &[input, weight, offset, mask, bias, how, groups, offsetGroups, useMask] = of;
    const std::int64_t batch = input.size(0), channels = input.size(1);
    const std::array<std::int64_t, 2> kernel = {weight.size(2), weight.size(3)};
    const std::array<std::int64_t, 2> out = {offset.size(2), offset.size(3)};
    const std::int64_t taps = kernel[0] * kernel[1], positions = out[0] * out[1];
    TORCH_CHECK(offset.size(1) == offsetGroups * 2 * taps, "the offset has ", offset.size(1),
                " channels where ", offsetGroups * 2 * taps, " are expected");
    for (const std::size_t side : {0, 1}) {
        const std::int64_t reach = how.dilation[side] * (kernel[side] - 1) + 1;
        const auto length = input.size(static_cast<std::int64_t>(side) + 2);
        TORCH_CHECK((length + 2 * how.padding[side] - reach) / how.stride[side] + 1 == out[side],
                    "the offset has the size ", offset.sizes(), ", which is not that of the result");
    }
    const at::Tensor moved = offset.reshape({batch, offsetGroups, taps, 2, positions});
    const auto at = [&](std::size_t side) {
        const at::Tensor base = gridOf(moved, side, kernel, out, how);
        return (moved.select(3, static_cast<std::int64_t>(side)) + base).flatten(2);
    };
    const at::Tensor image =
        input.contiguous().view({batch, offsetGroups, channels / offsetGroups, input.size(2), input.size(3)});
    at::Tensor columns = sampled(image, at(0), at(1));
    if (useMask)
        columns = columns * mask.reshape({batch, offsetGroups, 1, taps * positions});
    columns = columns.reshape({batch, groups, channels / groups * taps, positions});
    const at::Tensor kernels = weight.reshape({1, groups, weight.size(0) / groups, channels / groups * taps});
    return at::matmul(kernels, columns).reshape({batch, weight.size(0), out[0], out[1]}) +
           bias.view({1, -1, 1, 1});
}

// deform_conv2d(input, weight, offset, mask, bias, stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w,
// groups, offset_groups, use_mask)
void deformConv2dOp(const c10::OperatorHandle &, torch::jit::Stack *stack)
{
    constexpr std::size_t kArguments = 14;
    const auto in = torch::jit::last(*stack, kArguments);
    const auto pair = [&in](std::size_t at) {
        return std::array<std::int64_t, 2>{in[at].toInt(), in[at + 1].toInt()};
    };
    at::Tensor out = deformConv2d({in[0].toTensor(),
                                   in[1].toTensor(),
                                   in[2].toTensor(),
                                   in[3].toTensor(),
                                   in[4].toTensor(),
                                   {pair(5), pair(7), pair(9)},
                                   in[11].toInt(),
                                   in[12].toInt(),
                                   in[13].toBool()});
    torch::jit::drop(*stack, kArguments);
    torch::jit::push(*stack, std::move(out));
}

constexpr const char *kNamespace = "torchvision";

torch::Library declared()
{
    torch::Library library(torch::Library::FRAGMENT, kNamespace, std::nullopt, __FILE__, __LINE__);
    library.def("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor");
    library.def("roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
                "SymInt pooled_width, int sampling_ratio, bool aligned) -> Tensor");
    library.def("roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
                "SymInt pooled_width) -> (Tensor, Tensor)");
    library.def("ps_roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
                "SymInt pooled_width, int sampling_ratio) -> (Tensor, Tensor)");
    library.def("ps_roi_pool(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, "
                "SymInt pooled_width) -> (Tensor, Tensor)");
    library.def("deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, "
                "SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, "
                "SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) -> Tensor");
    library.def("box_iou_rotated(Tensor boxes1, Tensor boxes2) -> Tensor");
    return library;
}

torch::Library implemented(c10::DispatchKey key)
{
    torch::Library library(torch::Library::IMPL, kNamespace, key, __FILE__, __LINE__);
    if (key == c10::DispatchKey::CompositeImplicitAutograd) {
        library.impl("deform_conv2d", torch::CppFunction::makeFromBoxedFunction<&deformConv2dOp>());
        return library;
    }
    if (key == c10::DispatchKey::CPU) {
        library.impl("nms", nms);
        library.impl("box_iou_rotated", boxIouRotated);
    }
    library.impl("roi_align", torch::CppFunction::makeFromBoxedFunction<&roiAlign>());
    library.impl("roi_pool", roiPool);
    library.impl("ps_roi_align", psRoiAlign);
    library.impl("ps_roi_pool", psRoiPool);
    return library;
}

} // namespace

std::vector<torch::Library> registerVisionOps()
{
    std::vector<torch::Library> libraries;
    libraries.push_back(declared());
    for (const c10::DispatchKey key :
         {c10::DispatchKey::CPU, c10::DispatchKey::Autograd, c10::DispatchKey::CompositeImplicitAutograd})
        libraries.push_back(implemented(key));
    return libraries;
}

} // namespace core
