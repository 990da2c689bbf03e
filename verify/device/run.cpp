// Launches on the GPU, one or a list.
#include <thread>

#include "verify/device/impl.h"
#include "verify/device/resident.h"

namespace bitwell::device {
namespace {

// A stream that waits for no other, and none for it: launches overlap only in such.
class Stream {
 public:
  explicit Stream(const Device::Impl& d) : d_(d) {
    d.check(d.api.stream_create(&stream_, CU_STREAM_NON_BLOCKING), "creating a stream");
  }
  ~Stream() {
    if (!d_.hung) d_.api.stream_destroy(stream_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  CUstream handle() const { return stream_; }

 private:
  const Device::Impl& d_;
  CUstream stream_ = nullptr;
};

std::pair<CUdeviceptr, size_t> find(const Device::Impl& d, CUmodule module, const launch::Variable& v) {
  CUdeviceptr address = 0;
  size_t size = 0;
  d.check(d.api.get_global(&address, &size, module, v.name.c_str()), "finding variable '" + v.name + "'");
  return {address, size};
}

// A step's launch, with the buffers of the first in place of its own.
launch::Launch launch_of(const launch::Step& step, const launch::Launch& first) {
  launch::Launch out;
  out.ptx = step.ptx;
  out.module = step.module;
  out.entry = step.entry;
  out.shape = step.shape;
  out.arguments = step.arguments;
  for (const launch::Buffer& b : first.buffers)
    out.buffers.push_back({b.name, {}, true, false, false, b.size()});
  return out;
}

}  // namespace

void Device::run(Module& module, launch::Launch& launch, std::optional<std::chrono::milliseconds> limit) {
  run_steps(Resident(*this, {&launch, 1}, {}, {&module}), module, launch, {}, limit);
}

void Device::run_list(launch::Launch& launch, std::optional<std::chrono::milliseconds> limit) {
  std::vector<launch::Launch> launches{launch};
  std::vector<suite::Chain::Link> links;
  for (const launch::Step& s : launch.then) {
    if (s.copy || s.fill) continue;
    for (size_t b = 0; b < launch.buffers.size(); ++b) links.push_back({0, b, launches.size(), b});
    launches.push_back(launch_of(s, launch));
  }
  OnDeviceModules modules(*this);
  const std::vector<Module*> loaded = modules(launches);
  run_steps(Resident(*this, launches, links, loaded), *loaded.front(), launch, launch.then, limit);
}

void Device::run_steps(const Resident& resident, const Module& module, launch::Launch& launch,
                       const std::vector<launch::Step>& then,
                       std::optional<std::chrono::milliseconds> limit) const {
  const Impl& d = *impl_;
  for (const launch::Variable& v : launch.variables)
    if (v.before)
      d.check(d.api.to_device(find(d, module.handle(), v).first, v.before->data(), v.before->size()),
              "writing variable '" + v.name + "'");
  d.check(d.api.synchronize(), "copying to the device");  // the stream waits for none of it
  const Stream stream(d);
  size_t launched = 0;
  resident.enqueue_one(launched++, stream.handle(), false);
  for (const launch::Step& s : then) {
    if (s.copy)
      d.check(d.api.copy_async(resident.address(0, s.copy->to) + s.copy->to_offset,
                               resident.address(0, s.copy->from) + s.copy->from_offset, s.copy->bytes,
                               stream.handle()),
              "copying to '" + launch.buffers[s.copy->to].name + "'");
    else if (s.fill)
      d.check(d.api.fill_async(resident.address(0, s.fill->buffer) + s.fill->offset,
                               static_cast<unsigned char>(s.fill->value), s.fill->bytes, stream.handle()),
              "filling '" + launch.buffers[s.fill->buffer].name + "'");
    else
      resident.enqueue_one(launched++, stream.handle(), s.programmatic);
  }
  const std::string what = "'" + launch.entry + "'" + (then.empty() ? "" : " and what follows it");
  if (limit) wait(stream.handle(), *limit, what);
  d.check(d.api.synchronize(), "running " + what);
  for (launch::Variable& v : launch.variables) {
    if (!v.output) continue;
    const auto [address, size] = find(d, module.handle(), v);
    v.after.resize(size);
    d.check(d.api.to_host(v.after.data(), address, size), "reading variable '" + v.name + "'");
  }
  for (size_t i = 0; i < launch.buffers.size(); ++i)
    if (launch.buffers[i].output) launch.buffers[i].bytes = resident.read(0, i);
}

void Device::wait(void* stream, std::chrono::milliseconds limit, const std::string& what) const {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (impl_->api.stream_query(static_cast<CUstream>(stream)) == CUDA_ERROR_NOT_READY) {
    if (std::chrono::steady_clock::now() > end) {
      impl_->hung = true;
      throw machine::Fault(machine::Place{}, what + " still runs on " + name() + " after " +
                                                 std::to_string(limit.count()) +
                                                 " ms: it hangs, or needs longer");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace bitwell::device
