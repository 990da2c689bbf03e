// What a host program is told of its device: one row an architecture that there is a device of.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/machine/product.h"

namespace bitwell::driver {

using DeviceRow = machine::Product;

// The row for --arch ("sm_100a", "sm_100", "100a"). Throws InputError naming those that there are.
const DeviceRow& device_row(std::string_view name);
const DeviceRow& device_row(int sm);
// The first that runs PTX for that architecture.
const DeviceRow& device_for(int sm);

// What CUDA, NVML and nvidia-smi call it by, one device an architecture.
std::array<uint8_t, 16> uuid(const DeviceRow& device);
std::string uuid_text(const DeviceRow& device);  // "GPU-b1735e11-..."

// A cudaDeviceAttr's value; -1 where bitwell has none.
int attribute(const DeviceRow& device, int which);

// How many CTAs of this shape a multiprocessor holds; registers, which PTX does not tell, left out.
int resident(const DeviceRow& device, int threads, uint64_t shared);

}  // namespace bitwell::driver
