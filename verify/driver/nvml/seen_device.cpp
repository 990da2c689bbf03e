#include "verify/driver/nvml/seen_device.h"

#include <dlfcn.h>

#include "verify/driver/core/asked.h"

namespace bitwell::driver {

const DeviceRow& seen_device() {
  // Of a program that has CUDA loaded: what that shows.
  if (void* const cuda = dlsym(RTLD_DEFAULT, "cu_bitwell_device"); cuda != nullptr)
    if (const int sm = reinterpret_cast<int (*)()>(cuda)(); sm != 0) return device_row(sm);
  const std::string arch = asked_of_environment().arch;
  return arch.empty() ? device_row(90) : device_row(arch);
}

}  // namespace bitwell::driver
