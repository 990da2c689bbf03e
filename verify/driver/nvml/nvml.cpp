// libnvidia-ml.so.1: what programs ask of it before they use a GPU. Its header is not in CUDA's toolkit of
// every system, so that its types stand here as far as they are used.
#include <cstdio>
#include <cstring>

#include "verify/driver/nvml/seen_device.h"

using namespace bitwell::driver;

namespace {

enum Result { success = 0, invalid_argument = 2, not_supported = 3, not_found = 6, insufficient_size = 7 };
struct Memory {
  unsigned long long total, free, used;
};
struct Memory2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct Utilization {
  unsigned gpu, memory;
};
struct Pci {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char bus_id[32];
};

const DeviceRow& device() {
  static const DeviceRow& row = [&]() -> const DeviceRow& {
    try {
      return seen_device();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "bitwell: %s\n", e.what());
      return device_row(90);
    }
  }();
  return row;
}

// The handle of the one device.
void* handle() {
  static int one;
  return &one;
}

int text(char* out, unsigned length, const std::string& value) {
  if (out == nullptr) return invalid_argument;
  if (value.size() >= length) return insufficient_size;
  std::memcpy(out, value.c_str(), value.size() + 1);
  return success;
}
template <class T>
int give(const void* of, T* out, T value) {
  if (of != handle() || out == nullptr) return invalid_argument;
  *out = value;
  return success;
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return success; }
int nvmlInit() { return success; }
int nvmlInitWithFlags(unsigned) { return success; }
int nvmlShutdown() { return success; }
const char* nvmlErrorString(int result) {
  switch (result) {
    case success: return "Success";
    case invalid_argument: return "Invalid Argument";
    case not_found: return "Not Found";
    case insufficient_size: return "Insufficient Size";
    default: return "Not Supported";
  }
}
int nvmlSystemGetDriverVersion(char* out, unsigned length) { return text(out, length, kDriverVersion); }
int nvmlSystemGetNVMLVersion(char* out, unsigned length) {
  return text(out, length, std::string("13.") + kDriverVersion);
}
int nvmlSystemGetCudaDriverVersion_v2(int* out) {
  if (out == nullptr) return invalid_argument;
  *out = 13000;
  return success;
}
int nvmlSystemGetCudaDriverVersion(int* out) { return nvmlSystemGetCudaDriverVersion_v2(out); }
int nvmlDeviceGetCount_v2(unsigned* out) {
  if (out == nullptr) return invalid_argument;
  *out = 1;
  return success;
}
int nvmlDeviceGetCount(unsigned* out) { return nvmlDeviceGetCount_v2(out); }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** out) {
  if (index != 0 || out == nullptr) return invalid_argument;
  *out = handle();
  return success;
}
int nvmlDeviceGetHandleByIndex(unsigned index, void** out) {
  return nvmlDeviceGetHandleByIndex_v2(index, out);
}
int nvmlDeviceGetHandleByUUID(const char* id, void** out) {
  if (id == nullptr || out == nullptr) return invalid_argument;
  if (uuid_text(device()) != id) return not_found;
  *out = handle();
  return success;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void** out) {
  return nvmlDeviceGetHandleByIndex_v2(0, out);
}
int nvmlDeviceGetIndex(void* of, unsigned* out) { return give(of, out, 0u); }
int nvmlDeviceGetMinorNumber(void* of, unsigned* out) { return give(of, out, 0u); }
int nvmlDeviceGetName(void* of, char* out, unsigned length) {
  return of != handle() ? invalid_argument : text(out, length, std::string(device().name) + " (bitwell)");
}
int nvmlDeviceGetUUID(void* of, char* out, unsigned length) {
  return of != handle() ? invalid_argument : text(out, length, uuid_text(device()));
}
int nvmlDeviceGetCudaComputeCapability(void* of, int* major, int* minor) {
  const int one = give(of, major, device().sm / 10), other = give(of, minor, device().sm % 10);
  return one != success ? one : other;
}
int nvmlDeviceGetMemoryInfo(void* of, Memory* out) {
  const unsigned long long all = device().size.memory;
  return give(of, out, Memory{all, all, 0});
}
int nvmlDeviceGetMemoryInfo_v2(void* of, Memory2* out) {
  if (of != handle() || out == nullptr) return invalid_argument;
  const unsigned long long all = device().size.memory;
  *out = {out->version, all, 0, all, 0};
  return success;
}
int nvmlDeviceGetUtilizationRates(void* of, Utilization* out) { return give(of, out, Utilization{0, 0}); }
int nvmlDeviceGetTemperature(void* of, int, unsigned* out) { return give(of, out, 30u); }
int nvmlDeviceGetPowerUsage(void* of, unsigned* out) { return give(of, out, 0u); }
int nvmlDeviceGetPciInfo_v3(void* of, Pci* out) {
  Pci pci{};
  std::snprintf(pci.bus_id, sizeof pci.bus_id, "00000000:00:00.0");
  std::snprintf(pci.legacy, sizeof pci.legacy, "0000:00:00.0");
  return give(of, out, pci);
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* of, unsigned* count, void*) { return give(of, count, 0u); }
int nvmlDeviceGetComputeRunningProcesses(void* of, unsigned* count, void* processes) {
  return nvmlDeviceGetComputeRunningProcesses_v3(of, count, processes);
}
int nvmlDeviceGetP2PStatus(void*, void*, int, int*) { return not_supported; }
int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, int*) { return not_supported; }
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void*, unsigned, Pci*) { return not_supported; }
int nvmlDeviceGetGpuFabricInfoV(void*, void*) { return not_supported; }
int nvmlDeviceGetMigMode(void*, unsigned*, unsigned*) { return not_supported; }

}  // extern "C"
