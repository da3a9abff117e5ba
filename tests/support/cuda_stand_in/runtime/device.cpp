// The one device, its properties and its errors; and the operators of PyTorch, loaded when a program first asks for it.
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "stand_in.h"

namespace stand_in {

std::recursive_mutex lock;
thread_local cudaError_t last_error = cudaSuccess;

Seconds now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + time.tv_nsec * 1e-9;
}

void sleep_until(Seconds end) {
  for (Seconds left; (left = end - now()) > 0;) usleep(left < 0.01 ? left * 1e6 + 1 : 10000);
}

cudaError_t failed(cudaError_t error) { return last_error = error; }

std::map<std::string, long>& counted() {
  static auto* calls = new std::map<std::string, long>;
  return *calls;
}

void count(const char* function) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  ++counted()[function];
}

int device_attribute(int which) {
  switch (which) {  // of an H100
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY: return 1024;
    case cudaDevAttrMaxBlockDimZ: return 64;
    case cudaDevAttrMaxGridDimX: return 2147483647;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ: return 65535;
    case cudaDevAttrMaxSharedMemoryPerBlock: return 49152;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return 232448;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return 233472;
    case cudaDevAttrWarpSize: return 32;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor: return 65536;
    case cudaDevAttrClockRate: return 1980000;
    case cudaDevAttrMemoryClockRate: return 2619000;
    case cudaDevAttrGlobalMemoryBusWidth: return 5120;
    case cudaDevAttrL2CacheSize: return 52428800;
    case cudaDevAttrMultiProcessorCount: return 132;
    case cudaDevAttrMaxThreadsPerMultiProcessor: return 2048;
    case cudaDevAttrUnifiedAddressing: return 1;
    case cudaDevAttrComputeCapabilityMajor: return 9;
    case 102: return 1;  // CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED: segments that grow
    default: return 0;
  }
}

}  // namespace stand_in

using namespace stand_in;

extern "C" {

// "cudaMemcpyAsync 3\n…": the calls so far, of functions that wait for the device, copy, or give it work.
const char* stand_in_calls() {
  static std::string text;
  std::lock_guard<std::recursive_mutex> guard(lock);
  text.clear();
  for (auto& [function, calls] : counted()) text += function + " " + std::to_string(calls) + "\n";
  return text.c_str();
}

cudaError_t cudaGetDeviceCount(int* devices) {
  static bool loaded = [] {
    const char* operators = getenv("CUDA_STAND_IN_OPERATORS");
    if (operators && !dlopen(operators, RTLD_NOW | RTLD_GLOBAL)) fprintf(stderr, "%s\n", dlerror());
    return true;
  }();
  *devices = loaded;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : failed(cudaErrorInvalidDevice); }
cudaError_t cudaDriverGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
  return *value = device_attribute(which), cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  memset(properties, 0, sizeof *properties);
  strcpy(properties->name, "a stand-in for a GPU, on the CPU");
  properties->major = 9;
  properties->totalGlobalMem = total_memory;
  properties->multiProcessorCount = device_attribute(cudaDevAttrMultiProcessorCount);
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = 1024;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->maxBlocksPerMultiProcessor = 32;
  properties->regsPerBlock = properties->regsPerMultiprocessor = 65536;
  properties->sharedMemPerBlock = 49152;
  properties->sharedMemPerBlockOptin = 232448;
  properties->sharedMemPerMultiprocessor = 233472;
  properties->l2CacheSize = 52428800;
  properties->memoryBusWidth = 5120;
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = 1024;
  properties->maxThreadsDim[2] = 64;
  properties->maxGridSize[0] = 2147483647;
  properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
  properties->unifiedAddressing = properties->concurrentKernels = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceCanAccessPeer(int* can, int, int) { return *can = 0, cudaSuccess; }
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned) { return cudaSuccess; }
cudaError_t cudaDeviceGetPCIBusId(char* id, int size, int) { return snprintf(id, size, "0000:00:00.0"), cudaSuccess; }
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return *least = 0, *greatest = -5, cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  count("cudaDeviceSynchronize");
  return wait_for_all_streams(), cudaSuccess;
}
cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }

const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "cudaErrorMemoryAllocation" : error ? "cudaError" : "cudaSuccess";
}
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaErrorMemoryAllocation ? "out of memory" : error ? "an error of the stand-in" : "no error";
}
cudaError_t cudaGetLastError() {
  cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}
cudaError_t cudaPeekAtLastError() { return last_error; }

}  // extern "C"
