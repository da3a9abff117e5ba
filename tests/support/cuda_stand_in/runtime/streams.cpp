// Streams and events: what is given to a stream is done at once, but it is busy for as long as a kernel of it sleeps.
#include <algorithm>

#include "stand_in.h"

namespace stand_in {

namespace {

struct Event {
  Seconds at = 0;  // when what was given to the stream before it is done
  bool recorded = false;
};

Event* of(cudaEvent_t event) { return reinterpret_cast<Event*>(event); }

Stream default_stream;
std::vector<Stream*>& streams() {
  static auto* all = new std::vector<Stream*>{&default_stream};
  return *all;
}

}  // namespace

Stream* of(cudaStream_t stream) {
  bool is_default = stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
  return is_default ? &default_stream : reinterpret_cast<Stream*>(stream);
}

void enqueue(Stream* stream, std::function<void()> operation) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  if (stream->captures)
    stream->captures->operations.push_back(std::move(operation));
  else
    operation();
}

void wait_for_all_streams() {
  Seconds end = 0;
  {
    std::lock_guard<std::recursive_mutex> guard(lock);
    for (Stream* stream : streams()) end = std::max(end, stream->busy_until);
  }
  sleep_until(end);
}

}  // namespace stand_in

using namespace stand_in;

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int priority) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  auto* made = new Stream;
  made->priority = priority;
  streams().push_back(made);
  *stream = reinterpret_cast<cudaStream_t>(made);
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  return cudaStreamCreateWithPriority(stream, 0, 0);
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }  // PyTorch keeps its streams for ever
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return *priority = of(stream)->priority, cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  count("cudaStreamSynchronize");
  if (of(stream)->captures) return failed(cudaErrorStreamCaptureUnsupported);
  sleep_until(of(stream)->busy_until);
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return now() < of(stream)->busy_until ? cudaErrorNotReady : cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  of(stream)->busy_until = std::max(of(stream)->busy_until, of(event)->at);
  return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void* data) { return function(data), cudaSuccess; }
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data, unsigned) {
  return callback(stream, cudaSuccess, data), cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  return *event = reinterpret_cast<cudaEvent_t>(new Event), cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventDestroy(cudaEvent_t event) { return delete of(event), cudaSuccess; }
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  of(event)->at = std::max(now(), of(stream)->busy_until);
  of(event)->recorded = true;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, 0);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  count("cudaEventQuery");
  return now() < of(event)->at ? cudaErrorNotReady : cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  count("cudaEventSynchronize");
  return sleep_until(of(event)->at), cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (!of(start)->recorded || !of(end)->recorded) return failed(cudaErrorInvalidResourceHandle);
  if (now() < of(end)->at) return failed(cudaErrorNotReady);
  *milliseconds = (of(end)->at - of(start)->at) * 1e3;
  return cudaSuccess;
}
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) { return failed(cudaErrorNotSupported); }
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) { return failed(cudaErrorNotSupported); }

}  // extern "C"
