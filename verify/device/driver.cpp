#include "verify/device/driver.h"

#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <deque>
#include <fstream>
#include <vector>

#include "model/machine/failure.h"

namespace bitwell::verify {
namespace {

// The entry points used, found by name.
struct Api {
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
  decltype(&cuLaunchKernelEx) launch;
  decltype(&cuTensorMapEncodeTiled) encode_tensor_map;
  decltype(&cuCtxSynchronize) synchronize;
  decltype(&cuGetErrorName) error_name;

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
    BITWELL_FIND(launch, "cuLaunchKernelEx")
    BITWELL_FIND(encode_tensor_map, "cuTensorMapEncodeTiled")
    BITWELL_FIND(synchronize, "cuCtxSynchronize")
    BITWELL_FIND(error_name, "cuGetErrorName")
#undef BITWELL_FIND
    return nullptr;
  }
};

// "580.159.04 (CUDA 13.0)": the kernel module's version where /proc tells it, and the CUDA version that the
// driver speaks.
std::string driver_version(const Api& api) {
  int cuda = 0;
  api.driver_get_version(&cuda);
  const std::string spoken = "CUDA " + std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10);
  std::ifstream proc("/proc/driver/nvidia/version");
  for (std::string word; proc >> word;)
    if (std::count(word.begin(), word.end(), '.') == 2 &&
        word.find_first_not_of("0123456789.") == std::string::npos)
      return word + " (" + spoken + ")";
  return spoken;
}

}  // namespace

struct Device::Impl {
  Api api{};
  CUdevice device = 0;
  CUcontext context = nullptr;
  std::string name, driver;
  int capability = 0;

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
    check(api.encode_tensor_map(&out, static_cast<CUtensorMapDataType>(m.type), m.rank,
                                reinterpret_cast<void*>(buffer + m.address), dims.data(), strides.data(),
                                box.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
                                static_cast<CUtensorMapSwizzle>(m.swizzle), CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                m.fill_nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
                                           : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
          "encoding a tensor map");
    return out;
  }
};

class Device::Module {
 public:
  Module(const Impl& impl, CUmodule module) : impl_(impl), module_(module) {}
  ~Module() { impl_.api.unload(module_); }
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  CUmodule handle() const { return module_; }

 private:
  const Impl& impl_;
  CUmodule module_;
};

std::unique_ptr<Device> Device::open(std::string& why) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) {
    why = "no NVIDIA driver on this machine (libcuda.so.1)";
    return nullptr;
  }
  auto impl = std::make_unique<Impl>();
  if (const char* missing = impl->api.fill(library); missing != nullptr) {
    why = std::string("the NVIDIA driver has no ") + missing;
    return nullptr;
  }
  if (impl->api.init(0) != CUDA_SUCCESS || impl->api.device_get(&impl->device, 0) != CUDA_SUCCESS ||
      impl->api.retain(&impl->context, impl->device) != CUDA_SUCCESS ||
      impl->api.set_current(impl->context) != CUDA_SUCCESS) {
    why = "no usable NVIDIA GPU on this machine";
    return nullptr;
  }
  char name[256] = {};
  impl->api.device_get_name(name, sizeof name, impl->device);
  impl->name = name;
  impl->driver = driver_version(impl->api);
  int major = 0;
  int minor = 0;
  impl->api.device_get_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, impl->device);
  impl->api.device_get_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, impl->device);
  impl->capability = 10 * major + minor;
  return std::unique_ptr<Device>(new Device(std::move(impl)));
}

Device::Device(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Device::~Device() {
  if (impl_ != nullptr) impl_->api.release(impl_->device);
}

const std::string& Device::name() const { return impl_->name; }
const std::string& Device::driver() const { return impl_->driver; }
int Device::compute_capability() const { return impl_->capability; }

std::shared_ptr<Device::Module> Device::load(const std::string& ptx) {
  std::vector<char> log(16384);
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  CUmodule module = nullptr;
  impl_->check(impl_->api.set_current(impl_->context), "cuCtxSetCurrent");  // contexts belong to threads
  if (impl_->api.load(&module, ptx.c_str(), 2, options, values) != CUDA_SUCCESS)
    throw machine::InputError("the driver refuses the PTX: " + std::string(log.data()));
  return std::make_shared<Module>(*impl_, module);
}

void Device::run(Module& module, Launch& launch) {
  const Impl& d = *impl_;
  d.check(d.api.set_current(d.context), "cuCtxSetCurrent");
  CUfunction function = nullptr;
  d.check(d.api.get_function(&function, module.handle(), launch.entry.c_str()),
          "finding entry '" + launch.entry + "'");
  std::vector<CUdeviceptr> pointers;
  const auto release = [&] {
    for (const CUdeviceptr p : pointers) d.api.free(p);
  };
  try {
    for (const Buffer& b : launch.buffers) {
      CUdeviceptr p = 0;
      d.check(d.api.alloc(&p, std::max<size_t>(b.bytes.size(), 1)), "allocating '" + b.name + "'");
      pointers.push_back(p);
      if (b.bytes.empty()) continue;
      if (b.defined)
        d.check(d.api.to_device(p, b.bytes.data(), b.bytes.size()), "copying '" + b.name + "'");
      else
        d.check(d.api.memset(p, 0xFF, b.bytes.size()), "filling '" + b.name + "'");
    }
    std::vector<void*> parameters;
    std::deque<CUtensorMap> maps;
    for (Argument& a : launch.arguments) {
      if (a.tensor_map)
        parameters.push_back(&maps.emplace_back(d.encode(*a.tensor_map, pointers[a.buffer])));
      else
        parameters.push_back(a.scalar.empty() ? static_cast<void*>(&pointers[a.buffer])
                                              : static_cast<void*>(a.scalar.data()));
    }
    const isa::Shape& s = launch.shape;
    if (s.dynamic_shared > 48 << 10)
      d.check(d.api.set_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                  static_cast<int>(s.dynamic_shared)),
              "shared memory");
    CUlaunchAttribute cluster{};
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim = {s.cluster[0], s.cluster[1], s.cluster[2]};
    CUlaunchConfig config{};
    config.gridDimX = s.grid[0];
    config.gridDimY = s.grid[1];
    config.gridDimZ = s.grid[2];
    config.blockDimX = s.block[0];
    config.blockDimY = s.block[1];
    config.blockDimZ = s.block[2];
    config.sharedMemBytes = s.dynamic_shared;
    config.attrs = &cluster;
    config.numAttrs = s.cluster == std::array<uint32_t, 3>{1, 1, 1} ? 0 : 1;
    d.check(d.api.launch(&config, function, parameters.data(), nullptr), "launching '" + launch.entry + "'");
    d.check(d.api.synchronize(), "running '" + launch.entry + "'");
    for (size_t i = 0; i < launch.buffers.size(); ++i) {
      Buffer& b = launch.buffers[i];
      if (b.output && !b.bytes.empty())
        d.check(d.api.to_host(b.bytes.data(), pointers[i], b.bytes.size()), "reading '" + b.name + "'");
    }
  } catch (...) {
    release();
    throw;
  }
  release();
}

}  // namespace bitwell::verify
