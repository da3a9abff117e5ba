#include "cuda_only.h"

#include <map>

namespace stand_in {

using at::Tensor;
using Optional = std::optional<Tensor>;

namespace {

Optional optional(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined() ? Optional(value.toTensor()) : std::nullopt;
}

std::optional<double> number(const c10::IValue& value) {
  return value.isNone() ? std::nullopt : std::optional<double>(value.toDouble());
}

// (input, weight, bias?, running_mean?, running_var?, training, exponential_average_factor, epsilon)
Values batch_norm(const Values& a) {
  auto [output, mean, inverse] = at::native_batch_norm(a[0].toTensor(), a[1].toTensor(), optional(a[2]), optional(a[3]),
                                                       optional(a[4]), a[5].toBool(), a[6].toDouble(), a[7].toDouble());
  return {output, mean, inverse, at::empty({0}, output.options().dtype(at::kByte))};
}

// (input, grad_output, weight, running_mean?, running_var?, save_mean?, save_var?, epsilon, reserveSpace)
Values batch_norm_backward(const Values& a) {
  auto [input, weight, bias] =
      at::native_batch_norm_backward(a[1].toTensor(), a[0].toTensor(), optional(a[2]), optional(a[3]), optional(a[4]),
                                     optional(a[5]), optional(a[6]), true, a[7].toDouble(), {true, true, true});
  return {input, weight, bias};
}

// CUDA's kernels keep the heads of a row beside one another: (batch, row, head, channel).
Tensor by_rows(const Tensor& tensor) { return tensor.transpose(1, 2).contiguous().transpose(1, 2); }

// (query, key, value, attn_bias?, compute_log_sumexp, dropout_p, is_causal, *, scale?)
Values attention(const Values& a) {
  Tensor query = a[0].toTensor();
  auto [output, sums] = at::_scaled_dot_product_flash_attention_for_cpu(
      query, a[1].toTensor(), a[2].toTensor(), a[5].toDouble(), a[6].toBool(), optional(a[3]), number(a[7]));
  int64_t rows = query.size(2), kept = a[4].toBool() ? (rows + 31) / 32 * 32 : 0;  // CUDA's: multiples of 32
  Tensor logsumexp = at::zeros({query.size(0), query.size(1), kept}, sums.options());
  if (kept) logsumexp.narrow(2, 0, rows).copy_(sums);
  Tensor seed = at::zeros({}, query.options().dtype(at::kLong));
  return {by_rows(output), logsumexp, seed, seed.clone()};
}

// (grad_out, query, key, value, attn_bias, out, logsumexp, philox_seed, philox_offset, dropout_p, grad_input_mask,
//  is_causal, *, scale?)
Values attention_backward(const Values& a) {
  Tensor query = a[1].toTensor();
  auto [one, two, three] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
      a[0].toTensor(), query, a[2].toTensor(), a[3].toTensor(), a[5].toTensor(),
      a[6].toTensor().narrow(2, 0, query.size(2)), a[9].toDouble(), a[11].toBool(), optional(a[4]), number(a[12]));
  return {by_rows(one), by_rows(two), by_rows(three), Tensor()};
}

Values math_attention(const Values&) { return {int64_t(0)}; }  // at::SDPBackend::math

const std::map<std::string, Computation> computations{
    {"aten::cudnn_batch_norm", batch_norm},
    {"aten::cudnn_batch_norm_backward", batch_norm_backward},
    {"aten::_scaled_dot_product_efficient_attention", attention},
    {"aten::_scaled_dot_product_efficient_attention_backward", attention_backward},
    {"aten::_fused_sdp_choice", math_attention},
};

}  // namespace

Computation cuda_only(const std::string& name) {
  auto found = computations.find(name);
  return found == computations.end() ? nullptr : found->second;
}

}  // namespace stand_in
