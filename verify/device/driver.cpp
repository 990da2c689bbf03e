#include "verify/device/driver.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <utility>
#include <vector>

#include "verify/device/impl.h"

namespace bitwell::device {
namespace {

// "580.159.04 (CUDA 13.0)": the kernel module's version where /proc tells it, and the CUDA version that the
// driver speaks.
std::string driver_version(const DriverApi& api) {
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
  if (impl_ != nullptr && !impl_->hung) impl_->api.release(impl_->device);
}

const std::string& Device::name() const { return impl_->name; }
const std::string& Device::driver() const { return impl_->driver; }
int Device::multiprocessors() const {
  int n = 0;
  impl_->api.device_get_attribute(&n, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, impl_->device);
  return n;
}
bool Device::hung() const { return impl_->hung; }
bool Device::usable() const {
  return !impl_->hung && impl_->api.set_current(impl_->context) == CUDA_SUCCESS &&
         impl_->api.synchronize() == CUDA_SUCCESS;
}
int Device::compute_capability() const { return impl_->capability; }

std::shared_ptr<Device::Module> Device::load(const std::string& ptx, unsigned optimisation) {
  std::vector<char> log(16384);
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_OPTIMIZATION_LEVEL};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size()),
                    reinterpret_cast<void*>(uintptr_t{optimisation})};
  // Its own level is not named: PTX made for debugging is refused with one.
  const auto count = static_cast<unsigned>(std::size(options)) - (optimisation == kDriversOwn ? 1 : 0);
  CUmodule module = nullptr;
  impl_->check(impl_->api.set_current(impl_->context), "cuCtxSetCurrent");  // contexts belong to threads
  if (impl_->api.load(&module, ptx.c_str(), count, options, values) != CUDA_SUCCESS)
    throw machine::InputError("the driver refuses the PTX: " + std::string(log.data()));
  return std::make_shared<Module>(*impl_, module);
}

bool runs_target(int compute_capability, std::string_view target) {
  const int made_for = std::atoi(std::string(target.substr(3)).c_str());
  if (target.ends_with('a')) return compute_capability == made_for;
  if (target.ends_with('f'))
    return compute_capability >= made_for && compute_capability / 10 == made_for / 10;
  return compute_capability >= made_for;
}

DeviceMemory::DeviceMemory(const Device& device, size_t bytes, const std::string& name)
    : device_(&device), bytes_(bytes) {
  const Device::Impl& d = device.impl();
  d.check(d.api.set_current(d.context), "cuCtxSetCurrent");  // contexts belong to threads
  CUdeviceptr p = 0;
  d.check(d.api.alloc(&p, std::max<size_t>(bytes, 1)), "allocating '" + name + "'");
  address_ = p;
}
DeviceMemory::~DeviceMemory() {
  if (address_ != 0 && !device_->impl().hung) device_->impl().api.free(address_);
}
std::vector<std::byte> DeviceMemory::read() const {
  const Device::Impl& d = device_->impl();
  std::vector<std::byte> out(bytes_);
  if (!out.empty()) d.check(d.api.to_host(out.data(), address_, bytes_), "reading device memory");
  return out;
}
DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : device_(other.device_), bytes_(other.bytes_), address_(std::exchange(other.address_, 0)) {}

}  // namespace bitwell::device
