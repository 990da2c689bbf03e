#include "verify/driver/nvml/seen_device.h"

#include "verify/driver/core/asked.h"

namespace bitwell::driver {

const DeviceRow& seen_device() {
  const std::string arch = asked_of_environment().arch;
  return arch.empty() ? device_row(90) : device_row(arch);
}

}  // namespace bitwell::driver
