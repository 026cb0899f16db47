// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/vision_ops.h"

#include "core/capture_torch/rotated_boxes.h"
#include "core/capture_torch/vision_deform.h"
#include "core/capture_torch/vision_pooling.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/stack.h>
#include <torch/csrc/autograd/functions/utils.h>
#include <torch/csrc/autograd/saved_variable.h>
#include <torch/library.h>

#include <functional>
#include <memory>
#include <tuple>
#include <vector>

namespace core {
namespace {

using torch::autograd::variable_list;

// The backward of an op of torchvision: RULE gives the gradients of its differentiable inputs.
class VisionBackward final : public torch::autograd::Node
{
public:
    using Rule = std::function<variable_list(const at::Tensor &gradient)>;
    // Named as torchvision's Python package names them.
    VisionBackward(torch::autograd::edge_list edges, const std::string &op, Rule rule)
        : Node(std::move(edges)), m_name("GeneratedBackwardFor_torchvision_" + op + "_defaultBackward"),
          m_rule(std::move(rule))
    {
    }
    std::string name() const override { return m_name; }

private:
    variable_list apply(variable_list &&gradients) override
    {
        return gradients[0].defined() ? m_rule(gradients[0]) : variable_list(num_outputs());
    }

    std::string m_name;
    Rule m_rule;
};

// bfloat16, which torchvision refuses on the CPU, is computed in float32, as it does under autocast; float16
// only where it does so, too.
enum class Half { stays, widens };
at::Tensor widened(const at::Tensor &tensor, Half half = Half::widens)
{
    const bool narrow =
        tensor.scalar_type() == at::kBFloat16 || (tensor.scalar_type() == at::kHalf && half == Half::widens);
    return narrow ? tensor.to(at::kFloat) : tensor;
}

at::Tensor nms(const at::Tensor &boxes, const at::Tensor &scores, double threshold)
{
    return keepBestBoxes(widened(boxes), scores, threshold);
}

std::vector<RotatedBox> boxesOf(const at::Tensor &rows)
{
    TORCH_CHECK(rows.dim() == 2 && rows.size(1) == 5, "boxes should have the shape [N, 5], got ",
                rows.sizes());
    TORCH_CHECK(rows.is_floating_point(), "boxes should be floating point, got ", rows.scalar_type());
    const at::Tensor wide = rows.to(at::kDouble).contiguous();
    std::vector<RotatedBox> boxes;
    const double *const five = wide.const_data_ptr<double>();
    for (std::int64_t i = 0; i < 5 * rows.size(0); i += 5)
        boxes.push_back({five[i], five[i + 1], five[i + 2], five[i + 3], five[i + 4]});
    return boxes;
}

at::Tensor boxIouRotated(const at::Tensor &first, const at::Tensor &second)
{
    const std::vector<RotatedBox> left = boxesOf(first), right = boxesOf(second);
    at::Tensor result = at::empty({first.size(0), second.size(0)}, first.options().dtype(at::kFloat));
    float *out = result.mutable_data_ptr<float>();
    for (const RotatedBox &one : left)
        for (const RotatedBox &other : right)
            *out++ = static_cast<float>(rotatedOverlap(one, other));
    return result;
}

// TENSORS as autograd keeps them for the backward pass, which fails where one was written afterwards.
std::function<variable_list()> kept(const variable_list &tensors)
{
    using torch::autograd::SavedVariable;
    auto saved = std::make_shared<std::vector<SavedVariable>>();
    for (const at::Tensor &tensor : tensors)
        saved->emplace_back(tensor, /*is_output=*/false);
    return [saved = std::move(saved)] {
        variable_list unpacked;
        for (const SavedVariable &variable : *saved)
            unpacked.push_back(variable.unpack());
        return unpacked;
    };
}

struct Pooled
{
    at::Tensor values;
    at::Tensor places; // argmax or channels; undefined: none
};

// Runs FORWARD on the bare tensors and hangs RULE under the result when one of INPUTS wants gradients.
template <typename Forward>
Pooled differentiable(const variable_list &inputs, const std::string &op, const Forward &forward,
                      const std::function<VisionBackward::Rule(const Pooled &)> &ruleOf)
{
    Pooled result;
    {
        const at::AutoDispatchBelowADInplaceOrView below;
        result = forward();
    }
    if (!torch::autograd::compute_requires_grad(at::TensorList(inputs)))
        return result;
    const auto node = c10::make_intrusive<VisionBackward>(
        torch::autograd::collect_next_edges(at::TensorList(inputs)), op, ruleOf(result));
    torch::autograd::set_history(result.values, node);
    return result;
}

Half halfOf(RegionPooling::Kind kind)
{
    if (kind == RegionPooling::Kind::align)
        return at::autocast::is_autocast_enabled(at::kCPU) ? Half::widens : Half::stays;
    return kind == RegionPooling::Kind::positionAlign ? Half::stays : Half::widens;
}

Pooled pool(const at::Tensor &image, const at::Tensor &regions, const RegionPooling &pooling,
            const std::string &op)
{
    const Half half = halfOf(pooling.kind);
    const auto forward = [&] {
        const at::Tensor wide = widened(image, half);
        return Pooled{poolRegions(wide, regions, pooling).to(image.scalar_type()),
                      pooling.byPosition() ? pooledChannels(wide, regions, pooling) : at::Tensor()};
    };
    const auto rule = [&](const Pooled &pooled) -> VisionBackward::Rule {
        RegionPooling whole = pooling;
        whole.leftOut = 0;
        return [original = kept({regions.detach(), pooled.places}), sizes = image.sizes().vec(), whole,
                half](const at::Tensor &gradient) -> variable_list {
            return {poolRegionsBackward(widened(gradient, half), original()[0], sizes, whole)
                        .to(gradient.scalar_type())};
        };
    };
    return differentiable({image}, op, forward, rule);
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
    const auto rule = [&](const Pooled &pooled) -> VisionBackward::Rule {
        return [original = kept({regions.detach(), pooled.places}),
                sizes = image.sizes().vec()](const at::Tensor &gradient) -> variable_list {
            const variable_list saved = original();
            return {poolRegionsMaxBackward(widened(gradient), saved[0], saved[1], sizes)
                        .to(gradient.scalar_type())};
        };
    };
    Pooled pooled = differentiable({image}, "roi_pool", forward, rule);
    return {std::move(pooled.values), std::move(pooled.places)};
}

// The tensors of a convolution as autograd keeps them for the backward pass.
std::function<DeformedConvolution()> saved(const DeformedConvolution &of)
{
    auto original = kept({of.input, of.weight, of.offset, of.mask, of.bias});
    DeformedConvolution numbers = of;
    for (at::Tensor *tensor :
         {&numbers.input, &numbers.weight, &numbers.offset, &numbers.mask, &numbers.bias})
        tensor->reset();
    return [original = std::move(original), numbers] {
        DeformedConvolution whole = numbers;
        const variable_list tensors = original();
        std::size_t i = 0;
        for (at::Tensor *tensor : {&whole.input, &whole.weight, &whole.offset, &whole.mask, &whole.bias})
            *tensor = tensors[i++];
        return whole;
    };
}

at::Tensor deformConv2d(const DeformedConvolution &of)
{
    const auto rule = [&of](const Pooled &) -> VisionBackward::Rule {
        return [original = saved(of)](const at::Tensor &gradient) -> variable_list {
            const auto gradients = deformedConvolutionGradients(original(), gradient);
            return {gradients.begin(), gradients.end()};
        };
    };
    return differentiable(
               {of.input, of.weight, of.offset, of.mask, of.bias}, "deform_conv2d",
               [&of] {
                   return Pooled{deformedConvolution(of), {}};
               },
               rule)
        .values;
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
    at::Tensor out = deformConv2d({in[0].toTensor(), in[1].toTensor(), in[2].toTensor(), in[3].toTensor(),
                                   in[4].toTensor(), pair(5), pair(7), pair(9), in[11].toInt(),
                                   in[12].toInt(), in[13].toBool()});
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
    if (key == c10::DispatchKey::CPU) {
        library.impl("nms", nms);
        library.impl("box_iou_rotated", boxIouRotated);
    }
    library.impl("roi_align", torch::CppFunction::makeFromBoxedFunction<&roiAlign>());
    library.impl("roi_pool", roiPool);
    library.impl("ps_roi_align", psRoiAlign);
    library.impl("ps_roi_pool", psRoiPool);
    library.impl("deform_conv2d", torch::CppFunction::makeFromBoxedFunction<&deformConv2dOp>());
    return library;
}

} // namespace

std::vector<torch::Library> registerVisionOps()
{
    std::vector<torch::Library> libraries;
    libraries.push_back(declared());
    for (const c10::DispatchKey key : {c10::DispatchKey::CPU, c10::DispatchKey::Autograd})
        libraries.push_back(implemented(key));
    return libraries;
}

} // namespace core
