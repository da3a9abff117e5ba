#include "tensors.h"

#include <functional>

namespace stand_in {

using at::Tensor;

namespace {

Tensor sparse(const Tensor& like, const Tensor& indices, const Tensor& values, c10::DeviceType device) {
  auto options = like.options().device(device).layout(at::kSparse);
  return at::_sparse_coo_tensor_unsafe(indices, values, like.sizes(), options)._coalesced_(like.is_coalesced());
}

Tensor copied(const Tensor& tensor) {
  if (!tensor.defined() || tensor.is_sparse()) return tensor;
  if (!tensor.is_non_overlapping_and_dense()) return tensor.clone();
  return at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options()).copy_(tensor);
}

void replace_tensors(Values& values, const std::function<Tensor(const Tensor&)>& replacement) {
  for (auto& value : values) {
    if (value.isTensor()) {
      value = replacement(value.toTensor());
    } else if (value.isTensorList()) {
      c10::List<Tensor> list;
      for (const Tensor& tensor : value.toTensorVector()) list.push_back(replacement(tensor));
      value = list;
    } else if (value.isOptionalTensorList()) {
      c10::List<std::optional<Tensor>> list;
      for (const auto& tensor : value.toOptionalTensorVector())
        list.push_back(tensor ? std::optional<Tensor>(replacement(*tensor)) : std::nullopt);
      value = list;
    }
  }
}

}  // namespace

Tensor on_cpu(const Tensor& tensor) {
  if (!tensor.defined() || !tensor.device().is_cuda()) return tensor;
  if (tensor.is_sparse()) return sparse(tensor, on_cpu(tensor._indices()), on_cpu(tensor._values()), at::kCPU);
  auto storage = tensor.storage();
  auto same = c10::Storage(c10::Storage::use_byte_size_t(), storage.nbytes(),
                           at::DataPtr(storage.mutable_data(), at::kCPU), c10::GetAllocator(at::kCPU), true);
  auto keys = at::DispatchKeySet(at::DispatchKey::CPU);
  auto made = at::detail::make_tensor<at::TensorImpl>(std::move(same), keys, tensor.dtype());
  made.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), tensor.strides(), tensor.storage_offset());
  made._set_conj(tensor.is_conj());
  made._set_neg(tensor.is_neg());
  return made;
}

Tensor on_device(const Tensor& tensor, bool contents) {
  if (!tensor.defined() || !tensor.device().is_cpu()) return tensor;
  if (tensor.is_sparse()) return sparse(tensor, on_device(tensor._indices()), on_device(tensor._values()), at::kCUDA);
  auto options = tensor.options().device(at::kCUDA).pinned_memory(false);
  auto made = at::empty_strided(tensor.sizes(), tensor.strides(), options);
  if (contents) on_cpu(made).copy_(tensor);
  return made;
}

void take_back(const Tensor& from, const Tensor& to) {
  if (!to.defined() || to.is_sparse() || !to.device().is_cuda()) return;
  if (from.sizes() == to.sizes() && from.data_ptr() == to.data_ptr()) return;
  const_cast<Tensor&>(to).resize_(from.sizes());
  on_cpu(to).copy_(from);
}

void move_to_cpu(Values& values) {
  replace_tensors(values, on_cpu);
  for (auto& value : values) {
    if (value.isDevice() && value.toDevice().is_cuda()) value = c10::Device(c10::DeviceType::CPU);
    if (value.isGenerator()) value = c10::IValue();  // the CPU's: torch.manual_seed seeds both
  }
}

void copy_tensors(Values& values) { replace_tensors(values, copied); }

}  // namespace stand_in
