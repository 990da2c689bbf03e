#include "verify/device/repeat.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <deque>
#include <optional>

#include "verify/device/between.h"
#include "verify/device/impl.h"
#include "verify/device/resident.h"

namespace bitwell::device {
namespace {

constexpr size_t kRounds = 8;          // of a graph: what stands side by side, then the kernel between
constexpr size_t kGraphsAtOnce = 32;   // between two looks at the clock
constexpr size_t kGuard = 256;         // bytes behind a buffer
constexpr std::byte kGuardByte{0xA5};  // that they hold
constexpr uint32_t kThreads = 1024;    // of a CTA of the kernel between
constexpr uint32_t kShared = 227 << 10;
constexpr std::chrono::milliseconds kFirst{1000}, kLater{10000};  // then the first graph hangs, or later ones

// Bytes of buffers, one behind the other, each with its guard, to whole words.
std::vector<std::byte> image_of(const std::vector<std::vector<std::byte>>& buffers, std::byte guard) {
  std::vector<std::byte> out;
  for (const auto& bytes : buffers) {
    out.insert(out.end(), bytes.begin(), bytes.end());
    out.resize((out.size() + kGuard + 3) & ~size_t{3}, guard);
  }
  return out;
}

std::vector<std::vector<std::byte>> bytes_of(const launch::Launch& launch) {
  std::vector<std::vector<std::byte>> out;
  for (const launch::Buffer& b : launch.buffers) out.push_back(b.bytes);
  return out;
}

launch::Launch guarded(launch::Launch launch) {
  for (launch::Buffer& b : launch.buffers) b.bytes = image_of({b.bytes}, kGuardByte);
  return launch;
}

// Launches side by side, the kernel between, and the graph of both.
class Crowd {
 public:
  Crowd(Device& device, Device::Module& between, const std::string& ptx, const launch::Launch& launch,
        const Legal& legal)
      : device_(device),
        d_(device.impl()),
        launch_(launch),
        legal_(legal),
        module_(device.load(ptx)),
        between_module_(between) {
    prefer_shared();
    const launch::Launch one = guarded(launch);
    for (size_t i = 0; i < kSideBySide; ++i)
      side_by_side_.emplace_back(device, std::span(&one, 1), std::vector<suite::Chain::Link>{},
                                 std::vector<Device::Module*>{module_.get()});
    const std::vector<std::byte> before = image_of(bytes_of(launch), kGuardByte);
    words_ = before.size() / 4;
    prepare(before, one);
  }
  ~Crowd() {
    if (exec_ != nullptr && !device_.hung()) d_.api.graph_exec_destroy(exec_);
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  // The graph `graphs` times; how many launches that is.
  uint64_t run(size_t graphs, std::chrono::milliseconds limit) {
    for (size_t i = 0; i < graphs; ++i) d_.check(d_.api.graph_launch(exec_, nullptr), "launching a graph");
    device_.wait(nullptr, limit, "'" + launch_.entry + "'");
    d_.check(d_.api.synchronize(), "running '" + launch_.entry + "'");
    return graphs * kRounds * kSideBySide;
  }

  // Of all launches since the beginning.
  void tell(Repeated& out) const {
    const std::vector<std::byte> counts = wrong_->read();
    out.wrong = 0;
    for (size_t i = 0; i < kSideBySide; ++i) {
      uint32_t n = 0;
      std::memcpy(&n, &counts[4 * i], 4);
      if (n != 0 && out.example.empty()) out.example = difference(i);
      out.wrong += n;
    }
  }

 private:
  // One division of L1 and shared memory for this kernel and the one between: another would drop what that
  // one wrote.
  void prefer_shared() const {
    CUfunction f = nullptr;
    d_.check(d_.api.get_function(&f, module_->handle(), launch_.entry.c_str()),
             "finding entry '" + launch_.entry + "'");
    d_.check(d_.api.set_attribute(f, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 100),
             "shared memory");
  }

  const DeviceMemory& upload(const void* data, size_t bytes, const char* name) {
    const DeviceMemory& m = memory_.emplace_back(device_, bytes, name);
    d_.check(d_.api.to_device(m.address(), data, bytes), std::string("copying ") + name);
    return m;
  }

  // The tables of the kernel between, its first run, and the graph.
  void prepare(const std::vector<std::byte>& before, const launch::Launch& one) {
    std::vector<uint64_t> places;
    for (const Resident& r : side_by_side_)
      for (size_t b = 0; b < one.buffers.size(); ++b)
        for (size_t at = 0; at < one.buffers[b].size(); at += 4) places.push_back(r.address(0, b) + at);
    std::vector<std::byte> ends;
    for (const auto& end : legal_.ends) {
      const std::vector<std::byte> image = image_of(end, kGuardByte);
      ends.insert(ends.end(), image.begin(), image.end());
    }
    const std::vector<std::byte> compared = image_of(legal_.compared, std::byte{0xFF});
    launch::Launch between;
    between.entry = kBetween;
    between.shape.grid[0] = std::max<uint32_t>(static_cast<uint32_t>(device_.multiprocessors()), kSideBySide);
    between.shape.block[0] = kThreads;
    between.shape.dynamic_shared = kShared;
    between.add_scalar(upload(places.data(), 8 * places.size(), "the words' places").address());
    between.add_scalar(upload(before.data(), before.size(), "the words before").address());
    between.add_scalar(upload(compared.data(), compared.size(), "the bits that count").address());
    between.add_scalar(upload(ends.data(), ends.size(), "the legal ends").address());
    wrong_ = &memory_.emplace_back(device_, 4 * kSideBySide, "the counts");
    between.add_scalar(wrong_->address());
    example_ = &memory_.emplace_back(device_, kSideBySide * before.size(), "the examples");
    between.add_scalar(example_->address());
    for (const size_t n : {words_, legal_.ends.size(), kSideBySide, size_t{kShared}})
      between.add_scalar(static_cast<uint32_t>(n));
    between_.emplace(device_, std::span(&between, 1), std::vector<suite::Chain::Link>{},
                     std::vector<Device::Module*>{&between_module_});
    between_->enqueue(nullptr);
    d_.check(d_.api.synchronize(), "filling shared memory");
    d_.check(d_.api.memset(wrong_->address(), 0, wrong_->bytes()), "clearing the counts");
    capture();
  }

  void capture() {
    std::vector<CUstream> streams(1 + kSideBySide);
    std::vector<CUevent> events(1 + kSideBySide);
    for (CUstream& s : streams)
      d_.check(d_.api.stream_create(&s, CU_STREAM_NON_BLOCKING), "creating a stream");
    for (CUevent& e : events) d_.check(d_.api.event_create(&e, CU_EVENT_DISABLE_TIMING), "creating an event");
    d_.check(d_.api.begin_capture(streams[0], CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "capturing a graph");
    for (size_t round = 0; round < kRounds; ++round) {
      d_.check(d_.api.event_record(events[0], streams[0]), "recording an event");
      for (size_t i = 0; i < kSideBySide; ++i) {
        d_.check(d_.api.stream_wait(streams[1 + i], events[0], 0), "waiting for an event");
        side_by_side_[i].enqueue(streams[1 + i]);
        d_.check(d_.api.event_record(events[1 + i], streams[1 + i]), "recording an event");
        d_.check(d_.api.stream_wait(streams[0], events[1 + i], 0), "waiting for an event");
      }
      between_->enqueue(streams[0]);
    }
    CUgraph graph = nullptr;
    d_.check(d_.api.end_capture(streams[0], &graph), "capturing a graph");
    const CUresult made = d_.api.graph_instantiate(&exec_, graph, 0);
    d_.api.graph_destroy(graph);
    for (CUevent e : events) d_.api.event_destroy(e);
    for (CUstream s : streams) d_.api.stream_destroy(s);
    d_.check(made, "instantiating a graph");
  }

  // Where the example of a launch first differs from the first end.
  std::string difference(size_t i) const {
    const std::vector<std::byte> all = example_->read();
    size_t at = i * words_ * 4;
    for (size_t b = 0; b < launch_.buffers.size(); ++b) {
      const std::vector<std::byte> end = image_of({legal_.ends[0][b]}, kGuardByte);
      const std::vector<std::byte> bits = image_of({legal_.compared[b]}, std::byte{0xFF});
      for (size_t byte = 0; byte < end.size(); ++byte, ++at)
        if (((all[at] ^ end[byte]) & bits[byte]) != std::byte{0})
          return fmt::format("byte {} of '{}' is 0x{:02x}, not 0x{:02x}", byte, launch_.buffers[b].name,
                             static_cast<unsigned>(all[at]), static_cast<unsigned>(end[byte]));
    }
    return "another legal end than the first, in part";
  }

  Device& device_;
  const Device::Impl& d_;
  const launch::Launch& launch_;
  const Legal& legal_;
  const std::shared_ptr<Device::Module> module_;
  Device::Module& between_module_;
  std::deque<Resident> side_by_side_;
  std::optional<Resident> between_;
  std::deque<DeviceMemory> memory_;
  const DeviceMemory* wrong_ = nullptr;
  const DeviceMemory* example_ = nullptr;
  size_t words_ = 0;
  CUgraphExec exec_ = nullptr;
};

}  // namespace

Repeater::Repeater(Device& device) : device_(device), between_(device.load(between_launches())) {}

Repeated Repeater::run(const std::string& ptx, const launch::Launch& launch, const Legal& legal,
                       uint64_t launches) {
  Repeated out;
  try {
    Crowd crowd(device_, *between_, ptx, launch, legal);
    out.launches = crowd.run(1, kFirst);
    crowd.tell(out);
    while (out.launches < launches) {
      constexpr uint64_t kOfGraph = kRounds * kSideBySide;
      const uint64_t graphs = (launches - out.launches + kOfGraph - 1) / kOfGraph;
      out.launches += crowd.run(std::min<uint64_t>(graphs, kGraphsAtOnce), kLater);
      crowd.tell(out);
    }
  } catch (const machine::Fault& fault) {
    out.hangs = device_.hung();
    out.fault = fault.what();
  }
  return out;
}

}  // namespace bitwell::device
