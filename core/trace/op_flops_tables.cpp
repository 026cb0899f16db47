// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/trace/op_flops_tables.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace core::flop_tables {
namespace {

// Names are separated by blanks; (_) after a name adds its in-place variant.
struct Group
{
    Formula formula;
    std::int64_t perElement;
    std::string_view names;
};

constexpr Group kGroups[] = {
    {Formula::zero, 0,
     "view view_as reshape reshape_as flatten unflatten ravel contiguous narrow narrow_copy t(_) "
     "transpose(_) permute "
     "adjoint swapaxes(_) swapdims(_) moveaxis movedim squeeze(_) unsqueeze(_) expand expand_as expand_copy "
     "cat concat "
     "concatenate stack hstack vstack dstack row_stack column_stack block_diag chunk split split_with_sizes "
     "tensor_split hsplit vsplit dsplit unbind clone detach(_) detach_copy copy_ __getitem__ __setitem__ "
     "index_select "
     "gather masked_select take take_along_dim select scatter(_) index_put(_) index_copy(_) index_fill(_) "
     "as_strided(_) as_strided_copy as_strided_scatter as_subclass repeat repeat_interleave tile roll rot90 "
     "flip fliplr "
     "flipud diagonal diagonal_copy diagonal_scatter diag diag_embed diagflat tril(_) triu(_) select_scatter "
     "slice_scatter unfold fold pixel_shuffle pixel_unshuffle channel_shuffle native_channel_shuffle "
     "meshgrid "
     "cartesian_prod combinations broadcast_to broadcast_tensors align_tensors align_as align_to atleast_1d "
     "atleast_2d "
     "atleast_3d rename(_) refine_names has_names T mT H"},
    {Formula::zero, 0,
     "to cpu cuda float double half bfloat16 int long short byte char bool type type_as cfloat cdouble chalf "
     "size dim "
     "numel nelement ndimension element_size is_contiguous is_complex is_floating_point is_signed pin_memory "
     "share_memory_ record_stream storage storage_offset data_ptr untyped_storage storage_type set_ fill_ "
     "fill_diagonal_ zero_ requires_grad_ retain_grad item tolist numpy"},
    {Formula::zero, 0,
     "view_as_real view_as_complex view_as_real_copy view_as_complex_copy real imag resolve_conj resolve_neg "
     "conj "
     "conj_physical(_) to_sparse to_dense to_mkldnn coalesce sparse_mask is_coalesced sparse_dim dense_dim "
     "indices "
     "values crow_indices col_indices row_indices ccol_indices"},
    {Formula::zero, 0,
     "tensor as_tensor scalar_tensor arange zeros ones empty full eye zeros_like ones_like empty_like "
     "full_like "
     "new_zeros new_ones new_empty new_full empty_strided"},
    {Formula::perElement, 1,
     "add(_) sub(_) subtract(_) rsub mul(_) multiply(_) div(_) divide(_) true_divide(_) floor_divide(_) "
     "remainder(_) "
     "fmod(_) neg(_) negative(_) pos positive abs(_) absolute(_) sign(_) sgn(_) signbit ceil(_) floor(_) "
     "round(_) "
     "trunc(_) frac(_) fix(_) reciprocal(_) square(_) clamp(_) clamp_min(_) clamp_max(_) clip(_) "
     "nan_to_num(_) "
     "__add__ __iadd__ __radd__ __sub__ __isub__ __rsub__ __mul__ __imul__ __rmul__ __truediv__ __itruediv__ "
     "__rtruediv__ __div__ __rdiv__ __idiv__ __floordiv__ __ifloordiv__ __rfloordiv__ __mod__ __imod__ "
     "__rmod__ __neg__ "
     "__pos__ __abs__"},
    {Formula::perElement, 1,
     "eq(_) ne(_) gt(_) lt(_) ge(_) le(_) greater(_) greater_equal(_) less(_) less_equal(_) equal "
     "not_equal(_) isclose "
     "allclose maximum minimum fmax fmin where masked_fill(_) masked_scatter(_) logical_and(_) logical_or(_) "
     "logical_not(_) logical_xor(_) bitwise_and(_) bitwise_or(_) bitwise_not(_) bitwise_xor(_) "
     "bitwise_left_shift(_) "
     "bitwise_right_shift(_) __and__ __iand__ __rand__ __or__ __ior__ __ror__ __xor__ __ixor__ __rxor__ "
     "__invert__ "
     "__lshift__ __ilshift__ __rlshift__ __rshift__ __irshift__ __rrshift__ __eq__ __ne__ __gt__ __lt__ "
     "__ge__ __le__ "
     "isnan isinf isfinite isneginf isposinf isreal"},
    {Formula::perElement, 1,
     "relu(_) relu6 threshold(_) hardtanh(_) leaky_relu(_) rrelu(_) prelu heaviside(_) deg2rad(_) rad2deg(_) "
     "scatter_add(_) scatter_reduce(_) index_add(_) index_reduce(_)"},
    {Formula::perElement, 2,
     "pow(_) float_power(_) __pow__ __ipow__ __rpow__ sqrt(_) rsqrt(_) copysign(_) nextafter(_) softshrink "
     "hardshrink"},
    {Formula::perElement, 3, "addcdiv(_) addcmul(_) lerp(_) hypot(_) hardsigmoid softsign"},
    {Formula::perElement, 4, "sigmoid(_) hardswish expit"},
    {Formula::perElement, 5, "silu logsigmoid"},
    {Formula::perElement, 6, "tanh(_)"},
    {Formula::perElement, 7, "tanhshrink"},
    {Formula::perElement, 8,
     "exp(_) exp2(_) expm1(_) log(_) log2(_) log10(_) log1p(_) sin(_) cos(_) tan(_) asin(_) acos(_) atan(_) "
     "arcsin(_) "
     "arccos(_) arctan(_) atan2(_) arctan2(_) sinh(_) cosh(_) asinh(_) acosh(_) atanh(_) arcsinh(_) "
     "arccosh(_) "
     "arctanh(_) erf(_) erfc(_) erfinv(_) i0(_) i0e i1 i1e mish"},
    {Formula::perElement, 9, "celu(_) elu(_) softplus"},
    {Formula::perElement, 10, "selu(_) xlogy(_) xlog1py sinc(_)"},
    {Formula::perElement, 12, "lgamma(_) digamma(_) polygamma(_) mvlgamma(_) logit(_)"},
    {Formula::perElement, 14, "gelu"},
    {Formula::matmul, 0, "mm matmul bmm multi_dot chain_matmul __matmul__ __rmatmul__ __imatmul__"},
    {Formula::addmm, 0, "addmm(_) addbmm(_) baddbmm(_)"},
    {Formula::linear, 0, "linear"},
    {Formula::convolution, 0, "conv1d conv2d conv3d convolution _convolution _convolution_mode"},
    {Formula::transposedConvolution, 0, "conv_transpose1d conv_transpose2d conv_transpose3d"},
    {Formula::norm, 0,
     "batch_norm native_batch_norm layer_norm native_layer_norm rms_norm group_norm native_group_norm "
     "instance_norm"},
    {Formula::reduction, 0,
     "sum mean nanmean nansum prod max min amax amin aminmax argmax argmin any all count_nonzero logsumexp "
     "logcumsumexp "
     "nll_loss hinge_embedding_loss margin_ranking_loss cosine_embedding_loss triplet_margin_loss "
     "triplet_margin_with_distance_loss multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss "
     "soft_margin_loss gaussian_nll_loss poisson_nll_loss kl_div ctc_loss"},
    {Formula::variance, 0, "var std var_mean std_mean"},
    {Formula::distance, 0,
     "norm frobenius_norm nuclear_norm vector_norm matrix_norm cosine_similarity pairwise_distance pdist "
     "cdist"},
    {Formula::softmax, 0, "softmax _softmax softmin gumbel_softmax"},
    {Formula::logSoftmax, 0, "log_softmax _log_softmax"},
    {Formula::pooling, 0,
     "max_pool1d max_pool2d max_pool3d max_pool1d_with_indices max_pool2d_with_indices "
     "max_pool3d_with_indices "
     "avg_pool1d avg_pool2d avg_pool3d lp_pool1d lp_pool2d lp_pool3d fractional_max_pool2d "
     "fractional_max_pool3d "
     "fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices max_unpool1d max_unpool2d "
     "max_unpool3d"},
    {Formula::adaptivePooling, 0,
     "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d "
     "adaptive_max_pool3d adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices "
     "adaptive_max_pool3d_with_indices"},
    {Formula::lookup, 0, "embedding embedding_bag one_hot"},
    {Formula::dropout, 0,
     "dropout(_) dropout1d dropout2d dropout3d alpha_dropout(_) feature_dropout(_) feature_alpha_dropout(_) "
     "native_dropout"},
    {Formula::interpolation, 0,
     "interpolate grid_sample grid_sampler grid_sampler_2d grid_sampler_3d affine_grid "
     "affine_grid_generator"},
    {Formula::sorting, 0, "sort argsort msort topk kthvalue median nanmedian mode searchsorted"},
    {Formula::cumulative, 0, "cumsum(_) cumprod(_) cummax cummin cumulative_trapezoid"},
    {Formula::crossEntropy, 0, "cross_entropy"},
    {Formula::elementLoss, 0, "mse_loss l1_loss smooth_l1_loss huber_loss"},
    {Formula::binaryEntropy, 0, "binary_cross_entropy binary_cross_entropy_with_logits"},
    {Formula::einsum, 0, "einsum"},
    {Formula::attention, 0, "scaled_dot_product_attention"},
    {Formula::innerOpsCounted, 0, "multi_head_attention_forward"},
};

struct Multiplier
{
    double factor;
    std::string_view names;
};

constexpr Multiplier kMultipliers[] = {
    {2.0, "conv1d conv2d conv3d convolution _convolution _convolution_mode conv_transpose1d conv_transpose2d "
          "conv_transpose3d linear mm matmul bmm multi_dot chain_matmul __matmul__ __rmatmul__ __imatmul__ "
          "addmm(_) "
          "addbmm(_) baddbmm(_) einsum softmax _softmax log_softmax _log_softmax"},
    {2.5, "batch_norm native_batch_norm layer_norm native_layer_norm rms_norm group_norm native_group_norm "
          "instance_norm scaled_dot_product_attention multi_head_attention_forward"},
    {1.5, "sigmoid(_) tanh(_) gelu silu mish elu(_) celu(_) selu(_) softplus logsigmoid prod"},
};

// Calls ADD(name) for each name of a list; the in-place variants are kept as their own strings by the
// caller's map.
template <class Add>
void forEachName(std::string_view names, Add add)
{
    while (!names.empty()) {
        std::string_view name = names.substr(0, names.find(' '));
        names.remove_prefix(std::min(names.size(), name.size() + 1));
        if (name.ends_with("(_)")) {
            name.remove_suffix(3);
            add(std::string(name) + "_");
        }
        add(std::string(name));
    }
}

const std::unordered_map<std::string, Rule> &rules()
{
    static const std::unordered_map<std::string, Rule> kRules = [] {
        std::unordered_map<std::string, Rule> map;
        for (const Group &group : kGroups)
            forEachName(group.names, [&](const std::string &name) {
                map.emplace(name, Rule{group.formula, group.perElement});
            });
        return map;
    }();
    return kRules;
}

const std::unordered_map<std::string, double> &multipliers()
{
    static const std::unordered_map<std::string, double> kFactors = [] {
        std::unordered_map<std::string, double> map;
        for (const Multiplier &entry : kMultipliers)
            forEachName(entry.names, [&](const std::string &name) { map.emplace(name, entry.factor); });
        return map;
    }();
    return kFactors;
}

} // namespace

Rule ruleOf(std::string_view func)
{
    const auto found = rules().find(std::string(func));
    return found == rules().end() ? Rule{} : found->second;
}

double backwardMultiplier(std::string_view func)
{
    const auto found = multipliers().find(std::string(func));
    return found == multipliers().end() ? 1.0 : found->second;
}

} // namespace core::flop_tables
