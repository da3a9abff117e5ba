// What the parts of the stand-in share. Its "device" is this machine's memory; what a stream is given is done at once,
// but time passes on it as torch.cuda._sleep says, so that events and waits behave as they do on a GPU.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace stand_in {

using Seconds = double;  // of the monotonic clock

struct Graph {
  std::vector<std::function<void()>> operations;
};

struct Stream {
  Seconds busy_until = 0;
  int priority = 0;
  std::shared_ptr<Graph> captures;  // set while a CUDA graph is captured on it
  unsigned long long capture_id = 0;
};

extern std::recursive_mutex lock;
extern const std::size_t total_memory;
extern std::size_t used_memory;
extern thread_local cudaError_t last_error;

Seconds now();
void sleep_until(Seconds end);
Stream* of(cudaStream_t stream);
void wait_for_all_streams();
cudaError_t failed(cudaError_t error);

// Do it now or, where the stream is captured, at each launch of the graph.
void enqueue(Stream* stream, std::function<void()> operation);

// A memory of the device that is only reserved: what is in it is mapped later.
void reserve(void* at, std::size_t size);
void unreserve(void* at);
// The size of the device's allocation that holds this address, or 0; `base` is set to where it begins.
std::size_t allocation_at(const void* at, const void** base);
int device_attribute(int which);

// Count the call of a function that waits for the device, copies, or gives it work.
void count(const char* function);

}  // namespace stand_in
