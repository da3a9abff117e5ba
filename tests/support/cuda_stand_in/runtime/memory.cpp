// Memory of the device, which is this machine's; and copies, which are done at once.
#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "stand_in.h"

namespace stand_in {

const std::size_t total_memory = 8ull << 30;
std::size_t used_memory = 0;

namespace {

std::map<const char*, std::size_t> device_memory, pinned_memory;  // sizes by address

std::size_t size_at(const std::map<const char*, std::size_t>& memory, const void* at, const void** base) {
  auto next = memory.upper_bound(static_cast<const char*>(at));
  if (next == memory.begin()) return 0;
  --next;
  if (static_cast<const char*>(at) >= next->first + next->second) return 0;
  if (base) *base = next->first;
  return next->second;
}

void copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  enqueue(of(stream), [=] { memmove(to, from, bytes); });
}

}  // namespace

void reserve(void* at, std::size_t size) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  device_memory[static_cast<char*>(at)] = size;
}

void unreserve(void* at) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  device_memory.erase(static_cast<char*>(at));
}

std::size_t allocation_at(const void* at, const void** base) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  return size_at(device_memory, at, base);
}

}  // namespace stand_in

using namespace stand_in;

extern "C" {

cudaError_t cudaMalloc(void** at, std::size_t bytes) {
  count("cudaMalloc");
  std::lock_guard<std::recursive_mutex> guard(lock);
  std::size_t size = bytes ? bytes : 1;
  if (used_memory + size > total_memory) return failed(cudaErrorMemoryAllocation);
  *at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (*at == MAP_FAILED) return failed(cudaErrorMemoryAllocation);
  reserve(*at, size);
  used_memory += size;
  return cudaSuccess;
}
cudaError_t cudaFree(void* at) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  const void* base = nullptr;
  std::size_t size = allocation_at(at, &base);
  if (!size || base != at) return cudaSuccess;
  munmap(at, size);
  unreserve(at);
  used_memory -= size;
  return cudaSuccess;
}
cudaError_t cudaMallocAsync(void** at, std::size_t bytes, cudaStream_t) { return cudaMalloc(at, bytes); }
cudaError_t cudaFreeAsync(void* at, cudaStream_t) { return cudaFree(at); }
cudaError_t cudaMemGetInfo(std::size_t* unused, std::size_t* total) {
  return *unused = total_memory - used_memory, *total = total_memory, cudaSuccess;
}

cudaError_t cudaHostAlloc(void** at, std::size_t bytes, unsigned) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  *at = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  pinned_memory[static_cast<char*>(*at)] = bytes;
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void** at, std::size_t bytes) { return cudaHostAlloc(at, bytes, 0); }
cudaError_t cudaFreeHost(void* at) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  pinned_memory.erase(static_cast<char*>(at));
  free(at);
  return cudaSuccess;
}
cudaError_t cudaHostRegister(void* at, std::size_t bytes, unsigned) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  return pinned_memory[static_cast<char*>(at)] = bytes, cudaSuccess;
}
cudaError_t cudaHostUnregister(void* at) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  return pinned_memory.erase(static_cast<char*>(at)), cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* at) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  memset(attributes, 0, sizeof *attributes);
  attributes->type = size_at(device_memory, at, nullptr)   ? cudaMemoryTypeDevice
                     : size_at(pinned_memory, at, nullptr) ? cudaMemoryTypeHost
                                                           : cudaMemoryTypeUnregistered;
  attributes->devicePointer = const_cast<void*>(at);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  count("cudaMemcpy");
  wait_for_all_streams();
  memmove(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  count("cudaMemcpyAsync");
  return copy(to, from, bytes, stream), cudaSuccess;
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes, cudaStream_t stream) {
  count("cudaMemcpyPeerAsync");
  return copy(to, from, bytes, stream), cudaSuccess;
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t rows, cudaMemcpyKind, cudaStream_t stream) {
  count("cudaMemcpy2DAsync");
  for (std::size_t row = 0; row < rows; ++row)
    copy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width, stream);
  return cudaSuccess;
}
cudaError_t cudaMemset(void* at, int value, std::size_t bytes) { return memset(at, value, bytes), cudaSuccess; }
cudaError_t cudaMemsetAsync(void* at, int value, std::size_t bytes, cudaStream_t stream) {
  enqueue(of(stream), [=] { memset(at, value, bytes); });
  return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int) {
  return *pool = reinterpret_cast<cudaMemPool_t>(1), cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void* value) {
  return *static_cast<unsigned long long*>(value) = 0, cudaSuccess;
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc*, std::size_t) { return cudaSuccess; }
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) { return cudaSuccess; }

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*) { return failed(cudaErrorNotSupported); }
cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned) { return failed(cudaErrorNotSupported); }
cudaError_t cudaIpcCloseMemHandle(void*) { return failed(cudaErrorNotSupported); }

}  // extern "C"
