// The driver's entry points and a device's state; private to this folder.
#pragma once
#include <cuda.h>
#include <dlfcn.h>

#include <array>
#include <string>
#include <type_traits>

#include "model/machine/failure.h"
#include "verify/device/driver.h"

namespace bitwell::device {

// The entry points used, found by name.
struct DriverApi {
  decltype(&cuInit) init;
  decltype(&cuDeviceGet) device_get;
  decltype(&cuDeviceGetName) device_get_name;
  decltype(&cuDeviceGetAttribute) device_get_attribute;
  decltype(&cuDriverGetVersion) driver_get_version;
  decltype(&cuDevicePrimaryCtxRetain) retain;
  decltype(&cuDevicePrimaryCtxRelease) release;
  decltype(&cuCtxSetCurrent) set_current;
  decltype(&cuModuleLoadDataEx) load;
  decltype(&cuModuleUnload) unload;
  decltype(&cuModuleGetFunction) get_function;
  decltype(&cuFuncSetAttribute) set_attribute;
  decltype(&cuMemAlloc) alloc;
  decltype(&cuMemFree) free;
  decltype(&cuMemsetD8) memset;
  decltype(&cuMemcpyHtoD) to_device;
  decltype(&cuMemcpyDtoH) to_host;
  decltype(&cuMemcpyDtoDAsync) copy_async;
  decltype(&cuMemsetD8Async) fill_async;
  decltype(&cuLaunchKernelEx) launch;
  decltype(&cuTensorMapEncodeTiled) encode_tensor_map;
  decltype(&cuTensorMapEncodeIm2col) encode_im2col;
  decltype(&cuCtxSynchronize) synchronize;
  decltype(&cuGetErrorName) error_name;
  decltype(&cuStreamCreate) stream_create;
  decltype(&cuStreamDestroy) stream_destroy;
  decltype(&cuStreamSynchronize) stream_synchronize;
  decltype(&cuStreamQuery) stream_query;
  decltype(&cuStreamWaitEvent) stream_wait;
  decltype(&cuModuleGetGlobal) get_global;
  decltype(&cuStreamBeginCapture) begin_capture;
  decltype(&cuStreamEndCapture) end_capture;
  decltype(&cuGraphInstantiateWithFlags) graph_instantiate;
  decltype(&cuGraphLaunch) graph_launch;
  decltype(&cuGraphDestroy) graph_destroy;
  decltype(&cuGraphExecDestroy) graph_exec_destroy;
  decltype(&cuEventCreate) event_create;
  decltype(&cuEventDestroy) event_destroy;
  decltype(&cuEventRecord) event_record;
  decltype(&cuEventElapsedTime) event_elapsed;
  decltype(&cuFuncGetAttribute) function_attribute;
  decltype(&cuOccupancyMaxActiveBlocksPerMultiprocessor) occupancy;
  decltype(&cuOccupancyMaxActiveClusters) clusters_at_once;

  // Returns the symbol that is missing, or nullptr.
  const char* fill(void* library) {
    const auto find = [&](auto& f, const char* name) {
      f = reinterpret_cast<std::decay_t<decltype(f)>>(dlsym(library, name));
      return f != nullptr;
    };
#define BITWELL_FIND(member, name) \
  if (!find(member, name)) return name;
    BITWELL_FIND(init, "cuInit")
    BITWELL_FIND(device_get, "cuDeviceGet")
    BITWELL_FIND(device_get_name, "cuDeviceGetName")
    BITWELL_FIND(device_get_attribute, "cuDeviceGetAttribute")
    BITWELL_FIND(driver_get_version, "cuDriverGetVersion")
    BITWELL_FIND(retain, "cuDevicePrimaryCtxRetain")
    BITWELL_FIND(release, "cuDevicePrimaryCtxRelease_v2")
    BITWELL_FIND(set_current, "cuCtxSetCurrent")
    BITWELL_FIND(load, "cuModuleLoadDataEx")
    BITWELL_FIND(unload, "cuModuleUnload")
    BITWELL_FIND(get_function, "cuModuleGetFunction")
    BITWELL_FIND(set_attribute, "cuFuncSetAttribute")
    BITWELL_FIND(alloc, "cuMemAlloc_v2")
    BITWELL_FIND(free, "cuMemFree_v2")
    BITWELL_FIND(memset, "cuMemsetD8_v2")
    BITWELL_FIND(to_device, "cuMemcpyHtoD_v2")
    BITWELL_FIND(to_host, "cuMemcpyDtoH_v2")
    BITWELL_FIND(copy_async, "cuMemcpyDtoDAsync_v2")
    BITWELL_FIND(fill_async, "cuMemsetD8Async")
    BITWELL_FIND(launch, "cuLaunchKernelEx")
    BITWELL_FIND(encode_tensor_map, "cuTensorMapEncodeTiled")
    BITWELL_FIND(encode_im2col, "cuTensorMapEncodeIm2col")
    BITWELL_FIND(synchronize, "cuCtxSynchronize")
    BITWELL_FIND(error_name, "cuGetErrorName")
    BITWELL_FIND(stream_create, "cuStreamCreate")
    BITWELL_FIND(stream_destroy, "cuStreamDestroy_v2")
    BITWELL_FIND(stream_synchronize, "cuStreamSynchronize")
    BITWELL_FIND(stream_query, "cuStreamQuery")
    BITWELL_FIND(stream_wait, "cuStreamWaitEvent")
    BITWELL_FIND(get_global, "cuModuleGetGlobal_v2")
    BITWELL_FIND(begin_capture, "cuStreamBeginCapture_v2")
    BITWELL_FIND(end_capture, "cuStreamEndCapture")
    BITWELL_FIND(graph_instantiate, "cuGraphInstantiateWithFlags")
    BITWELL_FIND(graph_launch, "cuGraphLaunch")
    BITWELL_FIND(graph_destroy, "cuGraphDestroy")
    BITWELL_FIND(graph_exec_destroy, "cuGraphExecDestroy")
    BITWELL_FIND(event_create, "cuEventCreate")
    BITWELL_FIND(event_destroy, "cuEventDestroy_v2")
    BITWELL_FIND(event_record, "cuEventRecord")
    BITWELL_FIND(event_elapsed, "cuEventElapsedTime_v2")
    BITWELL_FIND(function_attribute, "cuFuncGetAttribute")
    BITWELL_FIND(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor")
    BITWELL_FIND(clusters_at_once, "cuOccupancyMaxActiveClusters")
#undef BITWELL_FIND
    return nullptr;
  }
};

struct Device::Impl {
  DriverApi api{};
  CUdevice device = 0;
  CUcontext context = nullptr;
  std::string name, driver;
  int capability = 0;
  bool hung = false;  // a kernel still runs: to give anything back would wait for it

  void check(CUresult r, const std::string& what) const {
    if (r == CUDA_SUCCESS) return;
    const char* text = nullptr;
    api.error_name(r, &text);
    throw machine::Fault(machine::Place{},
                         what + " on " + name + ": " + (text != nullptr ? text : "unknown error"));
  }

  CUtensorMap encode(const machine::TensorMap& m, CUdeviceptr buffer) const {
    CUtensorMap out{};
    std::array<cuuint64_t, 5> dims{};
    std::array<cuuint64_t, 5> strides{};
    std::array<cuuint32_t, 5> box{};
    std::array<cuuint32_t, 5> steps{};
    for (size_t i = 0; i < 5; ++i) {
      dims[i] = m.dims[i];
      if (i > 0) strides[i - 1] = m.strides[i];
      box[i] = m.box[i];
      steps[i] = m.element_strides[i];
    }
    const auto type = static_cast<CUtensorMapDataType>(m.type);
    auto* const address = reinterpret_cast<void*>(buffer + m.address);
    const auto swizzle = static_cast<CUtensorMapSwizzle>(m.swizzle);
    const auto fill =
        m.fill_nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    const auto interleave = static_cast<CUtensorMapInterleave>(m.interleave);
    const auto promotion = static_cast<CUtensorMapL2promotion>(m.promotion);
    if (m.im2col.channels != 0)
      check(api.encode_im2col(&out, type, m.rank, address, dims.data(), strides.data(), m.im2col.lower.data(),
                              m.im2col.upper.data(), m.im2col.channels, m.im2col.pixels, steps.data(),
                              interleave, swizzle, promotion, fill),
            "encoding an im2col tensor map");
    else
      check(api.encode_tensor_map(&out, type, m.rank, address, dims.data(), strides.data(), box.data(),
                                  steps.data(), interleave, swizzle, promotion, fill),
            "encoding a tensor map");
    return out;
  }
};

class Device::Module {
 public:
  Module(const Impl& impl, CUmodule module) : impl_(impl), module_(module) {}
  ~Module() {
    if (!impl_.hung) impl_.api.unload(module_);
  }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  CUmodule handle() const { return module_; }

 private:
  const Impl& impl_;
  CUmodule module_;
};

}  // namespace bitwell::device
