// Tensors of the device and of the CPU over the same memory.
#pragma once

#include <ATen/ATen.h>

#include <vector>

namespace stand_in {

using Values = std::vector<c10::IValue>;

// The same memory as a tensor of the CPU. It does not keep the memory: an operation of a CUDA graph may hold it.
at::Tensor on_cpu(const at::Tensor& tensor);
// A new tensor of the device like this one of the CPU, with its contents or without.
at::Tensor on_device(const at::Tensor& tensor, bool contents = true);
// Give a tensor of the device what became of `from`, its counterpart on the CPU, where that was resized.
void take_back(const at::Tensor& from, const at::Tensor& to);

// Devices, tensors and lists of them in the arguments of an operator: those of the CPU in their place.
void move_to_cpu(Values& values);
// Copies in place of tensors: with them an operator tells the shapes of its results, and changes nothing.
void copy_tensors(Values& values);

}  // namespace stand_in
