// CUDA graphs: while a stream is captured, what it is given is kept, not done; a launch does it.
#include "stand_in.h"

using namespace stand_in;

namespace {

using Handle = std::shared_ptr<Graph>;

template <typename Opaque>
Handle& graph_of(Opaque handle) {
  return *reinterpret_cast<Handle*>(handle);
}

}  // namespace

extern "C" {

// For operators and Triton's kernels, which are not calls of the runtime: `operation` is done at each launch.
bool stand_in_is_capturing(void* stream) { return of(static_cast<cudaStream_t>(stream))->captures != nullptr; }
void stand_in_capture(void* stream, std::function<void()>* operation) {
  enqueue(of(static_cast<cudaStream_t>(stream)), *operation);
}
void stand_in_capture_callback(void* stream, void (*operation)()) {
  enqueue(of(static_cast<cudaStream_t>(stream)), operation);
}
void stand_in_launched(void* stream, bool waits) {
  count("cudaLaunchKernel");
  if (!waits) return;
  count("cudaStreamSynchronize");
  sleep_until(of(static_cast<cudaStream_t>(stream))->busy_until);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  static unsigned long long captures = 0;
  std::lock_guard<std::recursive_mutex> guard(lock);
  if (of(stream) == of(cudaStream_t(nullptr))) return failed(cudaErrorStreamCaptureUnsupported);
  of(stream)->captures = std::make_shared<Graph>();
  of(stream)->capture_id = ++captures;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  std::lock_guard<std::recursive_mutex> guard(lock);
  *graph = reinterpret_cast<cudaGraph_t>(new Handle(of(stream)->captures));
  of(stream)->captures = nullptr;
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  *status = of(stream)->captures ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, const cudaGraphNode_t** nodes, const cudaGraphEdgeData** edges,
                                     std::size_t* count) {
  cudaStreamIsCapturing(stream, status);
  if (id) *id = of(stream)->capture_id;
  if (graph) *graph = nullptr;
  if (nodes) *nodes = nullptr;
  if (edges) *edges = nullptr;
  if (count) *count = 0;
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }
cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  return *executable = reinterpret_cast<cudaGraphExec_t>(new Handle(graph_of(graph))), cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(executable, graph, flags);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t) {
  count("cudaGraphLaunch");
  Handle graph = graph_of(executable);
  for (auto& operation : graph->operations) operation();
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return delete &graph_of(graph), cudaSuccess; }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) { return delete &graph_of(executable), cudaSuccess; }
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t, const char*, unsigned) { return cudaSuccess; }
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t*, std::size_t* nodes) {
  return *nodes = graph_of(graph)->operations.size(), cudaSuccess;
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t, cudaGraphNode_t*, cudaGraphEdgeData*, std::size_t* count) {
  return *count = 0, cudaSuccess;
}
cudaError_t cudaGraphRetainUserObject(cudaGraph_t, cudaUserObject_t, unsigned, unsigned) { return cudaSuccess; }
cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void*, cudaHostFn_t, unsigned, unsigned) {
  return *object = reinterpret_cast<cudaUserObject_t>(1), cudaSuccess;
}
cudaError_t cudaUserObjectRelease(cudaUserObject_t, unsigned) { return cudaSuccess; }

}  // extern "C"
