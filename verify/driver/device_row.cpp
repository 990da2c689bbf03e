#include "verify/driver/device_row.h"

#include <driver_types.h>

#include <algorithm>
#include <array>

#include "model/machine/failure.h"
#include "model/machine/limits.h"

namespace bitwell::driver {
const DeviceRow& device_row(int sm) {
  if (const DeviceRow* const row = machine::find_product(sm); row != nullptr) return *row;
  std::string names;
  for (const DeviceRow& row : machine::kProducts)
    names += (names.empty() ? "sm_" : ", sm_") + std::to_string(row.sm);
  throw machine::InputError("there is no device of sm_" + std::to_string(sm) +
                            " to show a program; there are " + names);
}

const DeviceRow& device_for(int sm) {
  for (const DeviceRow& row : machine::kProducts)
    if (row.sm >= sm) return row;
  return device_row(sm);
}

const DeviceRow& device_row(std::string_view name) {
  if (name.starts_with("sm_")) name.remove_prefix(3);
  int sm = 0;
  for (const char c : name)
    if (c >= '0' && c <= '9' && sm < 1000) sm = 10 * sm + (c - '0');
  return device_row(sm);
}

std::array<uint8_t, 16> uuid(const DeviceRow& device) {
  std::array<uint8_t, 16> out{0xb1, 0x73, 0x5e, 0x11};
  out[14] = static_cast<uint8_t>(device.sm / 100);
  out[15] = static_cast<uint8_t>(device.sm / 10 % 10 << 4 | device.sm % 10);
  return out;
}

std::string uuid_text(const DeviceRow& device) {
  std::string out = "GPU-";
  const std::array<uint8_t, 16> bytes = uuid(device);
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    constexpr std::string_view digits = "0123456789abcdef";
    out += digits[bytes[i] >> 4];
    out += digits[bytes[i] & 15];
  }
  return out;
}

int attribute(const DeviceRow& device, int which) {
  const machine::Arch& arch = machine::arch(device.sm);
  const bool clusters = device.sm >= 90;
  switch (which) {
    case cudaDevAttrMaxThreadsPerBlock: return machine::kMaxThreads;
    case cudaDevAttrMaxBlockDimX: return machine::kMaxBlock[0];
    case cudaDevAttrMaxBlockDimY: return machine::kMaxBlock[1];
    case cudaDevAttrMaxBlockDimZ: return machine::kMaxBlock[2];
    case cudaDevAttrMaxGridDimX: return machine::kMaxGrid[0];
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ: return machine::kMaxGrid[1];
    case cudaDevAttrMaxSharedMemoryPerBlock: return 48 << 10;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return static_cast<int>(arch.shared);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return static_cast<int>(arch.sm_shared);
    case cudaDevAttrReservedSharedMemoryPerBlock: return 1024;
    case cudaDevAttrTotalConstantMemory: return 64 << 10;
    case cudaDevAttrWarpSize: return 32;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor: return 64 << 10;
    case cudaDevAttrMultiProcessorCount: return static_cast<int>(device.size.sms);
    case cudaDevAttrMaxThreadsPerMultiProcessor: return static_cast<int>(arch.sm_threads);
    case cudaDevAttrMaxBlocksPerMultiprocessor: return static_cast<int>(arch.sm_ctas);
    case cudaDevAttrComputeCapabilityMajor: return device.sm / 10;
    case cudaDevAttrComputeCapabilityMinor: return device.sm % 10;
    case cudaDevAttrClockRate: return 1000 * device.clock_mhz;
    case cudaDevAttrMemoryClockRate: return 1000 * device.memory_mhz;
    case cudaDevAttrGlobalMemoryBusWidth: return device.bus_bits;
    case cudaDevAttrL2CacheSize: return static_cast<int>(device.l2);
    case cudaDevAttrMaxPersistingL2CacheSize:
    case cudaDevAttrMaxAccessPolicyWindowSize: return 0;
    case cudaDevAttrMaxPitch: return 0x7fffffff;
    case cudaDevAttrTextureAlignment: return 512;
    case cudaDevAttrTexturePitchAlignment: return 32;
    case cudaDevAttrSurfaceAlignment: return 512;
    case cudaDevAttrClusterLaunch: return clusters ? 1 : 0;
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrGlobalL1CacheSupported:
    case cudaDevAttrLocalL1CacheSupported:
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrEccEnabled:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrMemSyncDomainCount: return 1;
    case cudaDevAttrAsyncEngineCount: return 3;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio: return device.sm >= 120 || device.sm % 10 != 0 ? 64 : 2;
    case cudaDevAttrKernelExecTimeout:
    case cudaDevAttrIntegrated:
    case cudaDevAttrComputeMode:
    case cudaDevAttrPciBusId:
    case cudaDevAttrPciDeviceId:
    case cudaDevAttrPciDomainId:
    case cudaDevAttrTccDriver:
    case cudaDevAttrIsMultiGpuBoard:
    case cudaDevAttrMultiGpuBoardGroupID:
    case cudaDevAttrHostNativeAtomicSupported:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrComputePreemptionSupported:
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
    case cudaDevAttrCanFlushRemoteWrites:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
    case cudaDevAttrDirectManagedMemAccessFromHost:
    case cudaDevAttrSparseCudaArraySupported:
    case cudaDevAttrHostRegisterReadOnlySupported:
    case cudaDevAttrTimelineSemaphoreInteropSupported:
    case cudaDevAttrGPUDirectRDMASupported:
    case cudaDevAttrGPUDirectRDMAFlushWritesOptions:
    case cudaDevAttrGPUDirectRDMAWritesOrdering:
    case cudaDevAttrMemoryPoolSupportedHandleTypes:
    case cudaDevAttrDeferredMappingCudaArraySupported:
    case cudaDevAttrIpcEventSupport:
    case cudaDevAttrNumaConfig:
    case cudaDevAttrMpsEnabled: return 0;
    case cudaDevAttrNumaId:
    case cudaDevAttrHostNumaId: return 0;
    default: return -1;
  }
}

int resident(const DeviceRow& device, int threads, uint64_t shared) {
  if (threads < 1 || threads > 1024) return 0;
  const machine::Arch& arch = machine::arch(device.sm);
  const uint64_t warps = (static_cast<uint64_t>(threads) + 31) / 32;
  const uint64_t reserved = arch.sm_shared - arch.shared;
  if (shared > arch.shared) return 0;
  return static_cast<int>(std::min<uint64_t>({arch.sm_ctas, arch.sm_threads / 32 / warps,
                                              arch.sm_shared / std::max<uint64_t>(shared + reserved, 1)}));
}

}  // namespace bitwell::driver
