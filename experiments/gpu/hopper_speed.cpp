// Times the grouped, dual and SVDQuant kernels for Hopper beside dequantise-then-cuBLAS on the GPU, output
// verified first; prints CSV.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstring>
#include <thread>

#include "experiments/gpu/hopper_cases.h"
#include "experiments/gpu/peers.h"
#include "verify/capture/captures.h"
#include "verify/device/timing.h"

namespace bitwell::gpu {
namespace {

constexpr size_t kChecked = 4096;  // elements of a result

// Of `kChecked` elements drawn at random, those whose bits are not the oracle's.
size_t wrong_elements(const SpeedCase& c, const std::vector<std::byte>& result) {
  constexpr size_t kThreads = 16;
  std::atomic<size_t> wrong = 0;
  std::vector<std::jthread> pool;
  for (size_t t = 0; t < kThreads; ++t)
    pool.emplace_back([&, t] {
      std::mt19937_64 random(t + 1);
      for (size_t i = 0; i < kChecked / kThreads; ++i) {
        const auto [at, want] = c.element(random);
        uint16_t got = 0;
        std::memcpy(&got, &result[2 * at], 2);
        wrong += got != want ? 1 : 0;
      }
    });
  pool.clear();
  return wrong;
}

struct Bench {
  device::Device& device;
  Cublas* cublas;
  device::OnDeviceModules modules;
  std::string kernels;
  size_t replays;

  // Microseconds of the peer: dequantisers and products, and each of them alone.
  struct Peer {
    double all = 0, dequantise = 0, multiply = 0;
  };
  Peer peer(const SpeedCase& c, const Cold& ours, size_t sets) {
    std::vector<launch::Launch> launches;
    for (const suite::Nvfp4Operand& o : c.operands) launches.push_back(gpu::dequantise(o, kernels));
    const Cold peers(device, modules, launches, {}, sets);
    Peer out;
    out.dequantise = peers.time(replays);  // before cuBLAS chooses, so that it chooses on the operands
    size_t most = 0;
    for (const Product& p : c.products)
      most = std::max(most, static_cast<size_t>(p.shape.m) * static_cast<size_t>(p.shape.n) * 2);
    const device::DeviceMemory d(device, most, "cuBLAS result");
    const auto address = [&](const Half& h, size_t i) {
      return (h.ours ? ours : peers)[i].address(h.launch, h.buffer);
    };
    std::vector<std::shared_ptr<Cublas::Plan>> plans;
    for (const gpu::Product& p : c.products)
      plans.push_back(cublas->plan(p.shape, address(p.a, 0), address(p.b, 0), d.address()));
    const auto multiply = [&](size_t i, void* stream) {
      for (size_t q = 0; q < plans.size(); ++q)
        cublas->enqueue(*plans[q], address(c.products[q].a, i), address(c.products[q].b, i), d.address(),
                        stream);
    };
    out.multiply = device::time_on(device, multiply, peers.repetitions(), replays).median;
    const auto both = [&](size_t i, void* stream) {
      peers[i].enqueue(stream);
      multiply(i, stream);
    };
    out.all = device::time_on(device, both, peers.repetitions(), replays).median;
    return out;
  }

  // A line of the table.
  void measure(const SpeedCase& c) {
    size_t inputs = 0;
    for (const suite::Nvfp4Operand& o : c.operands) inputs += o.codes.size() + o.scales.size();
    const size_t sets = Cold::sets(inputs, 16);
    const Cold ours(device, modules, c.chain.launches, c.chain.links, sets);
    const double us = ours.time(replays, true);
    const double decode = Cold(device, modules, std::span(c.chain.launches).first(1), {}, sets).time(replays);
    if (const size_t wrong = wrong_elements(c, ours[0].read(1, c.result)); wrong != 0)
      throw machine::Fault(machine::Place{}, fmt::format("{} {}: {} of {} elements are not the oracle's",
                                                         c.shape, c.kernel, wrong, kChecked));
    const Peer p = cublas == nullptr ? Peer{} : peer(c, ours, sets);
    fmt::print("{},{},{:.1f},{:.1f},{:.0f},{:.1f},{:.1f},{:.1f},{:.2f}\n", c.shape, c.kernel, us, decode,
               c.flops / us * 1e-6, p.all, p.dequantise, p.multiply, p.all / us);
    std::fflush(stdout);
  }
};

int run(int argc, char** argv) {
  CLI::App app{
      "Times kernels/grouped, kernels/dual and kernels/svdquant for Hopper on the GPU beside "
      "dequantise-then-cuBLAS, after "
      "checking their bits. The peer only multiplies: it leaves out silu, scale and bias. Prints CSV "
      "(experiments/results/hopper_speed.csv)"};
  std::string kernels = capture::share_folder("kernels");
  std::vector<std::string> families(gpu::kHopperFamilies.begin(), gpu::kHopperFamilies.end());
  size_t replays = 30;
  app.add_option("--family", families, "Families, several")
      ->capture_default_str()
      ->check(CLI::IsMember(families));
  app.add_option("--kernels", kernels,
                 "Folder of grouped/, dual/, svdquant/, gemm/ and peer/: time your own build of them")
      ->check(CLI::ExistingDirectory);
  app.add_option("--replays", replays, "Graph replays, of which the median counts")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  std::string why;
  const auto device = device::Device::open(why);
  if (device == nullptr) {
    fmt::print(stderr, "hopper_speed: {}\n", why);
    return 3;
  }
  const auto cublas = Cublas::open(*device, why);
  if (cublas == nullptr) fmt::print(stderr, "hopper_speed: without cuBLAS: {}\n", why);
  fmt::print("# hopper_speed: {}, driver {}, cuBLASLt {}\n", device->name(), device->driver(),
             cublas == nullptr ? "none" : cublas->version());
  fmt::print(
      "m x n x k,kernel,us,A decoded us,TFLOP/s,dequantise and cuBLAS us,dequantise us,cuBLAS us,ratio\n");
  Bench bench{*device, cublas.get(), device::OnDeviceModules(*device), kernels, replays};
  for (const std::string& family : families)
    for (const auto& make : gpu::hopper_cases(family, kernels, device->multiprocessors()))
      bench.measure(make());
  return 0;
}

}  // namespace
}  // namespace bitwell::gpu

int main(int argc, char** argv) {
  try {
    return bitwell::gpu::run(argc, argv);
  } catch (const bitwell::machine::InputError& e) {
    fmt::print(stderr, "hopper_speed: {}\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "hopper_speed: {}\n", e.what());
    return 1;
  }
}
