// PyTorch's operators for CUDA tensors: each is replaced by one that calls the CPU's kernel on the same memory. Views
// and what allocates memory stay PyTorch's own, and with them its allocator, streams, events and autograd's threads.
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/library.h>

#include <set>

#include "cuda_only.h"

extern "C" {
bool stand_in_is_capturing(void* stream);
void stand_in_capture(void* stream, std::function<void()>* operation);
void stand_in_launched(void* stream, bool waits);
}

namespace stand_in {

using at::Tensor;
using Stack = torch::jit::Stack;

namespace {

// Views, what allocates memory or tells of a tensor, and copies, which are replaced by `copy`.
const std::set<std::string> kept{
    "_coalesced_",    "_dimI",          "_dimV",     "_indices",      "_local_scalar_dense",
    "_nnz",           "_pin_memory",    "_values",   "as_strided",    "_reshape_alias",
    "copy_",          "dense_dim",      "empty",     "empty_strided", "resize_as_sparse_",
    "indices",        "is_pinned",      "is_set_to", "is_coalesced",  "sparse_resize_and_clear_",
    "record_stream",  "resize_",        "set_",      "sparse_dim",    "_sparse_coo_tensor_with_dims",
    "sparse_resize_", "unfold",         "values",    "view",          "_sparse_coo_tensor_with_dims_and_tensors",
    "view_as_real",   "view_as_complex"};

// Composites that would choose cuDNN; the kernels that they are replaced by choose what the CPU has.
const std::set<std::string> also_replaced{"convolution", "convolution_backward"};

void* current_stream() {
  static c10::impl::VirtualGuardImpl device(c10::DeviceType::CUDA);
  return device.getStreamNativeHandle(device.getStream(c10::Device(c10::DeviceType::CUDA, 0)));
}

struct BelowAutograd {
  c10::impl::ExcludeDispatchKeyGuard autograd{c10::autograd_dispatch_keyset}, autocast{c10::autocast_dispatch_keyset};
};

Values compute(const c10::OperatorHandle& op, const Values& arguments) {
  BelowAutograd guard;
  if (auto* computation = cuda_only(op.schema().name())) return computation(arguments);
  Stack stack(arguments.begin(), arguments.end());
  op.callBoxed(stack);
  return Values(stack.begin(), stack.end());
}

std::vector<Tensor> tensors_of(const Values& values) {
  std::vector<Tensor> tensors;
  for (const auto& value : values) {
    if (value.isTensor()) tensors.push_back(value.toTensor());
    if (value.isTensorList())
      for (const Tensor& tensor : value.toTensorVector()) tensors.push_back(tensor);
  }
  return tensors;
}

// What a launch of the CUDA graph does: compute again on the same memory, and write the results where they were.
std::function<void()> operation(const c10::OperatorHandle& op, const Values& arguments, const Values& results) {
  std::vector<Tensor> places;
  for (const Tensor& tensor : tensors_of(results)) places.push_back(on_cpu(tensor));
  return [op, arguments, places] {
    auto made = tensors_of(compute(op, arguments));
    for (size_t i = 0; i < made.size(); ++i)
      if (made[i].defined() && !made[i].is_sparse() && made[i].data_ptr() != places[i].data_ptr())
        const_cast<Tensor&>(places[i]).copy_(made[i]);
  };
}

// The argument that is written to and returned as this result, or -1.
int argument_of(const c10::FunctionSchema& schema, const c10::Argument& result) {
  if (!result.alias_info() || !result.alias_info()->isWrite()) return -1;
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const auto* info = schema.arguments()[i].alias_info();
    if (info && *info == *result.alias_info()) return i;
  }
  return -1;
}

c10::IValue moved_to_device(const c10::IValue& value, bool contents) {
  if (value.isTensor()) return on_device(value.toTensor(), contents);
  if (!value.isTensorList()) return value;
  c10::List<Tensor> list;
  for (const Tensor& tensor : value.toTensorVector()) list.push_back(on_device(tensor, contents));
  return list;
}

void computed_by_the_cpu(const c10::OperatorHandle& op, c10::DispatchKeySet, Stack* stack) {
  const auto& schema = op.schema();
  size_t count = schema.arguments().size();
  Values given(stack->end() - count, stack->end());
  torch::jit::drop(*stack, count);
  Values arguments = given;
  move_to_cpu(arguments);
  void* stream = current_stream();
  bool captured = stand_in_is_capturing(stream);
  stand_in_launched(stream, false);

  Values used = arguments;
  if (captured) copy_tensors(used);
  Values made = compute(op, used);
  for (size_t i = 0; i < count && !captured; ++i)
    if (given[i].isTensor() && schema.arguments()[i].alias_info()) take_back(used[i].toTensor(), given[i].toTensor());
  Values results;
  for (size_t i = 0; i < made.size(); ++i) {
    int argument = argument_of(schema, schema.returns()[i]);
    results.push_back(argument < 0 ? moved_to_device(made[i], !captured) : given[argument]);
  }
  if (captured) {
    auto again = operation(op, arguments, results);
    stand_in_capture(stream, &again);
  }
  for (auto& result : results) stack->push_back(result);
}

Tensor& copy(Tensor& self, const Tensor& source, bool non_blocking) {
  Tensor to = on_cpu(self), from = on_cpu(source);
  void* stream = current_stream();
  stand_in_launched(stream, self.device().is_cpu() && !non_blocking);
  std::function<void()> copied = [to, from] {
    BelowAutograd guard;
    const_cast<Tensor&>(to).copy_(from);
  };
  if (stand_in_is_capturing(stream))
    stand_in_capture(stream, &copied);
  else
    copied();
  return self;
}

struct Silence : c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

struct Replacement {
  std::vector<c10::RegistrationHandleRAII> registered;

  Replacement() {
    Silence silence;
    c10::WarningUtils::WarningHandlerGuard guard(&silence);  // that kernels are replaced is meant
    auto& dispatcher = c10::Dispatcher::singleton();
    for (const auto& name : dispatcher.getAllOpNames()) {
      if (name.name.rfind("aten::", 0) != 0 || kept.count(name.name.substr(6))) continue;
      auto op = dispatcher.findOp(name);
      if (!op || !op->hasSchema()) continue;
      for (auto key : {c10::DispatchKey::CUDA, c10::DispatchKey::SparseCUDA})
        if (op->hasKernelForDispatchKey(key) || also_replaced.count(name.name.substr(6)))
          registered.push_back(
              dispatcher.registerImpl(name, key, c10::KernelFunction::makeFromBoxedFunction<&computed_by_the_cpu>(),
                                      std::nullopt, nullptr, "the stand-in for a GPU"));
    }
  }
};

auto* replacement = new Replacement;  // for as long as the process lives

}  // namespace

TORCH_LIBRARY(cuda_stand_in, library) { library.def("on_cpu(Tensor tensor) -> Tensor"); }
TORCH_LIBRARY_IMPL(cuda_stand_in, CUDA, library) { library.impl("on_cpu", TORCH_FN(on_cpu)); }
TORCH_LIBRARY_IMPL(cuda_stand_in, CPU, library) { library.impl("on_cpu", TORCH_FN(on_cpu)); }
TORCH_LIBRARY_IMPL(aten, CUDA, library) { library.impl("copy_", TORCH_FN(copy)); }

}  // namespace stand_in
