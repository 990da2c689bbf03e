#include "experiments/gpu/peers.h"

#include <algorithm>
#include <string>

#include "verify/device/timing.h"

namespace bitwell::gpu {
namespace {

constexpr size_t kColdBytes = size_t{400} << 20;  // of inputs that take turns; the L2 has 60 MB

launch::Launch bandwidth(const std::string& kernels, const char* entry, int ctas) {
  launch::Launch out;
  out.ptx = kernels + "/peer/bandwidth.sm_90a.ptx";
  out.entry = entry;
  out.shape.block = {512, 1, 1};
  out.shape.grid = {static_cast<uint32_t>(ctas), 1, 1};
  return out;
}

}  // namespace

launch::Launch dequantise(const suite::Nvfp4Operand& o, const std::string& kernels) {
  if (o.k % 64 != 0)
    throw machine::InputError("the dequantiser takes k a multiple of 64; got k = " + std::to_string(o.k));
  launch::Launch out;
  out.ptx = kernels + "/peer/dequantise.sm_90a.ptx";
  out.entry = "dequantise";
  out.shape.block = {128, 1, 1};
  out.shape.grid = {static_cast<uint32_t>((o.k / 8 + 127) / 128),
                    static_cast<uint32_t>(32 * ((o.rows + 127) / 128)), static_cast<uint32_t>(o.l)};
  out.add_buffer({"codes", o.codes, true, true, false});
  out.add_buffer({"scales", o.scales, true, true, false});
  out.add_buffer({"out", std::vector<std::byte>(o.codes.size() * 4), false, false, true});
  out.add_scalar(o.rows);
  out.add_scalar(o.k);
  return out;
}

launch::Launch read_all(size_t bytes, const std::string& kernels, int ctas) {
  launch::Launch out = bandwidth(kernels, "read_all", ctas);
  out.add_buffer({"from", std::vector<std::byte>(bytes / 16 * 16), true, true, false});
  out.add_buffer({"sink", std::vector<std::byte>(4), false, false, true});
  out.add_scalar(static_cast<long long>(bytes / 16));
  return out;
}

launch::Launch copy_all(size_t bytes, const std::string& kernels, int ctas) {
  launch::Launch out = bandwidth(kernels, "copy_all", ctas);
  out.add_buffer({"from", std::vector<std::byte>(bytes / 16 * 16), false, true, false});
  out.add_buffer({"to", std::vector<std::byte>(bytes / 16 * 16), false, false, true});
  out.add_scalar(static_cast<long long>(bytes / 16));
  return out;
}

size_t Cold::sets(size_t input_bytes, size_t most) {
  return std::clamp<size_t>(kColdBytes / std::max<size_t>(1, input_bytes) + 2, 2, most);
}

Cold::Cold(device::Device& device, device::OnDeviceModules& modules, std::span<const launch::Launch> launches,
           const std::vector<suite::Chain::Link>& links, size_t sets)
    : device_(device) {
  const auto loaded = modules(launches);
  for (size_t i = 0; i < sets; ++i)
    sets_.push_back(std::make_unique<device::Resident>(device, launches, links, loaded));
}

double Cold::time(size_t replays, bool programmatic) const {
  return device::time_on(
             device_, [&](size_t i, void* stream) { (*this)[i].enqueue(stream, programmatic); },
             repetitions(), replays)
      .median;
}

}  // namespace bitwell::gpu
