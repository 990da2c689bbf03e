#include "verify/device/resident.h"

#include <algorithm>

#include "verify/device/impl.h"

namespace bitwell::device {

// A function and its parameters as the driver wants them.
struct Resident::Prepared {
  CUfunction function = nullptr;
  std::vector<CUdeviceptr> pointers;
  std::deque<CUtensorMap> maps;
  std::vector<void*> parameters;
};

// The bytes of a pointer, or of a map as the driver encodes it.
static std::vector<std::byte> bytes_of(const Device::Impl& d, const launch::Pointer& p, uint64_t address) {
  const auto copy = [](const auto& value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    return std::vector<std::byte>(bytes, bytes + sizeof value);
  };
  if (p.texture) throw machine::Unsupported("textures and surfaces on a GPU");
  return p.tensor_map ? copy(d.encode(*p.tensor_map, address)) : copy(address + p.offset);
}

Resident::Resident(const Device& device, std::span<const launch::Launch> launches,
                   const std::vector<suite::Chain::Link>& links, const std::vector<Device::Module*>& modules)
    : device_(device) {
  const Device::Impl& d = device.impl();
  for (size_t i = 0; i < launches.size(); ++i) {
    const launch::Launch& launch = launches[i];
    std::vector<uint64_t>& addresses = addresses_.emplace_back();
    std::vector<size_t>& sizes = sizes_.emplace_back();
    for (size_t b = 0; b < launch.buffers.size(); ++b) {
      const launch::Buffer& buffer = launch.buffers[b];
      sizes.push_back(buffer.size());
      if (buffer.address)
        throw machine::InputError("buffer '" + buffer.name +
                                  "' has an address of its own, which a GPU gives no buffer");
      const auto link = std::find_if(links.begin(), links.end(), [&](const suite::Chain::Link& l) {
        return l.to == i && l.to_buffer == b;
      });
      if (link != links.end()) {
        addresses.push_back(addresses_[link->from][link->from_buffer]);
        continue;
      }
      addresses.push_back(memory_.emplace_back(device, buffer.size(), buffer.name).address());
      if (buffer.size() == 0) continue;
      if (!buffer.defined || buffer.blank != 0)
        d.check(d.api.memset(addresses.back(), buffer.defined ? 0 : 0xFF, buffer.size()),
                "filling '" + buffer.name + "'");
      if (buffer.defined && !buffer.bytes.empty())
        d.check(d.api.to_device(addresses.back(), buffer.bytes.data(), buffer.bytes.size()),
                "copying '" + buffer.name + "'");
    }
    for (size_t b = 0; b < launch.buffers.size(); ++b)
      for (const launch::Pointer& p : launch.buffers[b].pointers) {
        const std::vector<std::byte> value = bytes_of(d, p, addresses[p.buffer]);
        d.check(d.api.to_device(addresses[b] + p.at, value.data(), value.size()),
                "copying a pointer into '" + launch.buffers[b].name + "'");
      }
    launches_.push_back({launch.ptx, launch.entry, launch.shape, {}, launch.arguments});
    for (launch::Argument& a : launches_.back().arguments)
      for (const launch::Pointer& p : a.pointers) {
        const std::vector<std::byte> value = bytes_of(d, p, addresses[p.buffer]);
        std::copy(value.begin(), value.end(), a.scalar.begin() + static_cast<std::ptrdiff_t>(p.at));
      }
  }
  const bool much_shared = std::any_of(launches_.begin(), launches_.end(), [](const launch::Launch& l) {
    return l.shape.dynamic_shared > 48 << 10;
  });
  for (size_t i = 0; i < launches_.size(); ++i) {
    launch::Launch& launch = launches_[i];
    auto& p = *prepared_.emplace_back(std::make_shared<Prepared>());
    d.check(d.api.get_function(&p.function, modules[i]->handle(), launch.entry.c_str()),
            "finding entry '" + launch.entry + "'");
    if (launch.shape.dynamic_shared > 48 << 10)
      d.check(d.api.set_attribute(p.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                  static_cast<int>(launch.shape.dynamic_shared)),
              "shared memory");
    if (launch.shape.non_portable_cluster)
      d.check(d.api.set_attribute(p.function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
              "clusters of a size that is not portable");
    // One division of L1 and shared memory for the whole chain: an SM that changes it must first run empty.
    if (much_shared)
      d.check(d.api.set_attribute(p.function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 100),
              "shared memory");
    p.pointers.assign(addresses_[i].begin(), addresses_[i].end());
    for (launch::Argument& a : launch.arguments) {
      if (a.tensor_map)
        p.parameters.push_back(&p.maps.emplace_back(d.encode(*a.tensor_map, p.pointers[a.buffer])));
      else
        p.parameters.push_back(a.scalar.empty() ? static_cast<void*>(&p.pointers[a.buffer])
                                                : static_cast<void*>(a.scalar.data()));
    }
  }
}

namespace {

// A launch's shape for the driver; `attributes` must outlive it.
CUlaunchConfig config_of(const run::Shape& s, std::array<CUlaunchAttribute, 3>& attributes,
                         bool programmatic) {
  CUlaunchConfig config{};
  if (s.explicit_cluster || s.cluster != std::array<uint32_t, 3>{1, 1, 1}) {
    CUlaunchAttribute& a = attributes[config.numAttrs++];
    a.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    a.value.clusterDim = {s.cluster[0], s.cluster[1], s.cluster[2]};
  }
  if (programmatic) {
    CUlaunchAttribute& a = attributes[config.numAttrs++];
    a.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    a.value.programmaticStreamSerializationAllowed = 1;
  }
  if (s.cooperative) {
    CUlaunchAttribute& a = attributes[config.numAttrs++];
    a.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    a.value.cooperative = 1;
  }
  config.gridDimX = s.grid[0];
  config.gridDimY = s.grid[1];
  config.gridDimZ = s.grid[2];
  config.blockDimX = s.block[0];
  config.blockDimY = s.block[1];
  config.blockDimZ = s.block[2];
  config.sharedMemBytes = s.dynamic_shared;
  config.attrs = attributes.data();
  return config;
}

}  // namespace

void Resident::enqueue(void* stream, bool programmatic) const {
  for (size_t i = 0; i < launches_.size(); ++i)
    enqueue_one(i, stream, programmatic && (i == 0 || i + 1 == launches_.size()));
}

void Resident::enqueue_one(size_t launch, void* stream, bool programmatic) const {
  const Device::Impl& d = device_.impl();
  std::array<CUlaunchAttribute, 3> attributes{};
  CUlaunchConfig config = config_of(launches_[launch].shape, attributes, programmatic);
  config.hStream = static_cast<CUstream>(stream);
  Prepared& p = *prepared_[launch];
  d.check(d.api.launch(&config, p.function, p.parameters.data(), nullptr),
          "launching '" + launches_[launch].entry + "'");
}

std::vector<std::byte> Resident::read(size_t launch, size_t buffer) const {
  const Device::Impl& d = device_.impl();
  std::vector<std::byte> out(sizes_[launch][buffer]);
  if (!out.empty())
    d.check(d.api.to_host(out.data(), addresses_[launch][buffer], out.size()), "reading a buffer");
  return out;
}

Device::Module* OnDeviceModules::operator()(const std::shared_ptr<const isa::Module>& module) {
  std::shared_ptr<Device::Module>& out = modules_[module];
  if (out == nullptr) out = isa::naming(module->path(), [&] { return device_.load(module->text()); });
  return out.get();
}

std::vector<Device::Module*> OnDeviceModules::operator()(std::span<const launch::Launch> launches) {
  std::vector<Device::Module*> out;
  for (const launch::Launch& l : launches) out.push_back((*this)(files_(l)));
  return out;
}

int clusters_at_once(const Device& device, const Device::Module& module, const launch::Launch& launch) {
  const Device::Impl& d = device.impl();
  CUfunction f = nullptr;
  d.check(d.api.get_function(&f, module.handle(), launch.entry.c_str()),
          "finding entry '" + launch.entry + "'");
  d.check(d.api.set_attribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                              static_cast<int>(launch.shape.dynamic_shared)),
          "shared memory");
  if (launch.shape.non_portable_cluster)
    d.check(d.api.set_attribute(f, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
            "clusters of a size that is not portable");
  std::array<CUlaunchAttribute, 3> attributes{};
  const CUlaunchConfig config = config_of(launch.shape, attributes, false);
  int count = 0;
  d.check(d.api.clusters_at_once(&count, f, &config), "asking how many clusters run at once");
  return count;
}

Resources resources(const Device& device, const Device::Module& module, const launch::Launch& launch) {
  const Device::Impl& d = device.impl();
  CUfunction f = nullptr;
  d.check(d.api.get_function(&f, module.handle(), launch.entry.c_str()),
          "finding entry '" + launch.entry + "'");
  Resources out{};
  d.check(d.api.function_attribute(&out.registers, CU_FUNC_ATTRIBUTE_NUM_REGS, f), "registers");
  d.check(d.api.function_attribute(&out.static_shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f),
          "shared memory");
  const run::Shape& s = launch.shape;
  const auto threads = static_cast<int>(s.block[0] * s.block[1] * s.block[2]);
  d.check(d.api.occupancy(&out.ctas, f, threads, s.dynamic_shared), "occupancy");
  int most = 0;
  d.api.device_get_attribute(&most, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, d.device);
  out.occupancy = static_cast<double>(out.ctas * threads) / most;
  return out;
}

}  // namespace bitwell::device
