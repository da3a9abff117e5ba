// The part of NVML that PyTorch asks before it makes segments that grow: one device, which shares no memory.
namespace {

const int success = 0, not_supported = 3;

}  // namespace

extern "C" {

int nvmlInit() { return success; }
int nvmlInit_v2() { return success; }
int nvmlDeviceGetCount_v2(unsigned* count) { return *count = 1, success; }
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void** device) {
  return *device = reinterpret_cast<void*>(1), success;
}
int nvmlDeviceGetComputeRunningProcesses(void*, unsigned* count, void*) { return *count = 0, success; }
int nvmlSystemGetCudaDriverVersion_v2(int* version) { return *version = 13000, success; }
int nvmlDeviceGetGpuFabricInfoV(void*, void*) { return not_supported; }
int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, int*) { return not_supported; }
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, void*) { return not_supported; }

}  // extern "C"
