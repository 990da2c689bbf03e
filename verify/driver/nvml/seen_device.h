// The device that a program sees, for those who ask about it without CUDA.
#pragma once
#include "verify/driver/device_row.h"

namespace bitwell::driver {

// What CUDA shows in this process, or what the environment asks for; an H200 where it asks for none. Throws
// InputError for one that there is none of.
const DeviceRow& seen_device();

inline constexpr const char* kDriverVersion = "580.00";  // of those that come with CUDA 13.0

}  // namespace bitwell::driver
