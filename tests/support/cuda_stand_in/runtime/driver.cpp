// The part of the driver that PyTorch and Triton ask for: the device, and memory of PyTorch's segments that grow.
#include <cuda.h>
#include <dlfcn.h>
#include <sys/mman.h>

#include "stand_in.h"

using namespace stand_in;

namespace {

const CUcontext context = reinterpret_cast<CUcontext>(1);

CUresult give(CUcontext* out) { return *out = context, CUDA_SUCCESS; }

void* map(void* at, std::size_t size, int more) {
  return mmap(at, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | more, -1, 0);
}

CUresult not_supported(...) { return CUDA_ERROR_NOT_SUPPORTED; }

// The newest of these functions that has the name, or one that fails: PyTorch looks up more than it calls.
void* entry_point(const char* name) {
  static void* here = [] {
    Dl_info info;
    dladdr(reinterpret_cast<void*>(&entry_point), &info);
    return dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }();
  void* function = dlsym(here, name);
  if (!function) function = dlsym(here, (std::string(name) + "_v2").c_str());
  return function ? function : reinterpret_cast<void*>(&not_supported);
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
CUresult cuDriverGetVersion(int* version) { return *version = CUDA_VERSION, CUDA_SUCCESS; }
CUresult cuDeviceGetCount(int* count) { return *count = 1, CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice* device, int) { return *device = 0, CUDA_SUCCESS; }
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice) {
  return *value = device_attribute(which), CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice) { return give(out); }
CUresult cuDevicePrimaryCtxGetState(CUdevice, unsigned* flags, int* active) {
  return *flags = 0, *active = 1, CUDA_SUCCESS;
}
CUresult cuCtxGetCurrent(CUcontext* out) { return give(out); }
CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxPushCurrent_v2(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxPopCurrent_v2(CUcontext* out) { return give(out); }
CUresult cuCtxGetDevice(CUdevice* device) { return *device = 0, CUDA_SUCCESS; }
CUresult cuCtxSetLimit(CUlimit, std::size_t) { return CUDA_SUCCESS; }
CUresult cuCtxGetLimit(std::size_t* value, CUlimit) { return *value = 1 << 20, CUDA_SUCCESS; }
CUresult cuGetErrorString(CUresult, const char** text) { return *text = "an error of the stand-in", CUDA_SUCCESS; }
CUresult cuGetErrorName(CUresult, const char** text) { return *text = "CUDA_ERROR", CUDA_SUCCESS; }

// Triton compiles for the device and loads what it has compiled; what it launches does nothing. With its interpreter
// (processes/) it is not compiled, and done.
CUresult cuModuleLoad(CUmodule* module, const char*) { return *module = reinterpret_cast<CUmodule>(1), CUDA_SUCCESS; }
CUresult cuModuleLoadData(CUmodule* module, const void*) {
  return *module = reinterpret_cast<CUmodule>(1), CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }
CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char*) {
  return *function = reinterpret_cast<CUfunction>(1), CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute, CUfunction) { return *value = 0, CUDA_SUCCESS; }
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) { return CUDA_SUCCESS; }
CUresult cuFuncSetCacheConfig(CUfunction, CUfunc_cache) { return CUDA_SUCCESS; }
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                        void**, void**) {
  return CUDA_SUCCESS;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig*, CUfunction, void**, void**) { return CUDA_SUCCESS; }

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  bool captured = of(reinterpret_cast<cudaStream_t>(stream))->captures != nullptr;
  return *status = captured ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE, CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void* value, CUpointer_attribute which, CUdeviceptr at) {
  const void* base = nullptr;
  std::size_t size = allocation_at(reinterpret_cast<void*>(at), &base);
  switch (which) {
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return *static_cast<CUdeviceptr*>(value) = at, CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: *static_cast<const void**>(value) = base; break;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: *static_cast<std::size_t*>(value) = size; break;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE: *static_cast<CUmemorytype*>(value) = CU_MEMORYTYPE_DEVICE; break;
    default: *static_cast<unsigned long long*>(value) = 0;
  }
  return size ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAddressReserve(CUdeviceptr* at, std::size_t size, std::size_t, CUdeviceptr, unsigned long long) {
  void* reserved = map(nullptr, size, 0);
  if (reserved == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
  reserve(reserved, size);
  *at = reinterpret_cast<CUdeviceptr>(reserved);
  return CUDA_SUCCESS;
}
CUresult cuMemAddressFree(CUdeviceptr at, std::size_t size) {
  unreserve(reinterpret_cast<void*>(at));
  return munmap(reinterpret_cast<void*>(at), size), CUDA_SUCCESS;
}
CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t size, const CUmemAllocationProp*,
                     unsigned long long) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  if (used_memory + size > total_memory) return CUDA_ERROR_OUT_OF_MEMORY;
  used_memory += size;
  return *handle = size, CUDA_SUCCESS;
}
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  return used_memory -= handle, CUDA_SUCCESS;
}
CUresult cuMemMap(CUdeviceptr, std::size_t, std::size_t, CUmemGenericAllocationHandle, unsigned long long) {
  return CUDA_SUCCESS;
}
CUresult cuMemUnmap(CUdeviceptr at, std::size_t size) {
  return map(reinterpret_cast<void*>(at), size, MAP_FIXED), CUDA_SUCCESS;
}
CUresult cuMemSetAccess(CUdeviceptr at, std::size_t size, const CUmemAccessDesc*, std::size_t) {
  return mprotect(reinterpret_cast<void*>(at), size, PROT_READ | PROT_WRITE), CUDA_SUCCESS;
}
CUresult cuMemGetAllocationGranularity(std::size_t* bytes, const CUmemAllocationProp*,
                                       CUmemAllocationGranularity_flags) {
  return *bytes = 2 << 20, CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned, unsigned long long,
                                             cudaDriverEntryPointQueryResult* result) {
  *function = entry_point(name);
  if (result) *result = cudaDriverEntryPointSuccess;
  return cudaSuccess;
}
CUresult cuGetProcAddress_v2(const char* name, void** function, int, cuuint64_t,
                             CUdriverProcAddressQueryResult* result) {
  *function = entry_point(name);
  if (result) *result = CU_GET_PROC_ADDRESS_SUCCESS;
  return CUDA_SUCCESS;
}

}  // extern "C"
