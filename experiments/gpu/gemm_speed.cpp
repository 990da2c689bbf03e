// Times kernels/gemm beside dequantise-then-cuBLAS on the GPU, output verified first; prints a Markdown
// table.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>

#include "experiments/gpu/cublas.h"
#include "experiments/gpu/peers.h"
#include "verify/capture/captures.h"
#include "verify/device/resident.h"
#include "verify/device/timing.h"
#include "verify/launch/file/dimensions.h"
#include "verify/suite/kernels/gemm.h"

namespace bitwell::gpu {
namespace {

using launch::Launch;
using suite::Chain;

size_t u(int v) { return static_cast<size_t>(v); }

// Elements of D, drawn at random, whose bits are not the oracle's.
size_t wrong_elements(const suite::GemmProblem& p, const suite::GemmVariant& v,
                      const std::vector<std::byte>& d, size_t count) {
  std::atomic<size_t> wrong = 0;
  const auto work = [&](uint64_t seed) {
    std::mt19937_64 random(seed);
    for (size_t i = 0; i < count / 16; ++i) {
      const auto batch = static_cast<int>(random() % u(p.spec.l));
      const auto m = static_cast<int>(random() % u(p.spec.m));
      const auto n = static_cast<int>(random() % u(p.spec.n));
      const uint32_t want = suite::gemm_element(v, suite::gemm_operand(p.a.row(batch, m)),
                                                suite::gemm_operand(p.b.row(batch, n)));
      const size_t element = v.output == oracle::Output::f32 ? 4 : 2;
      uint32_t got = 0;
      std::memcpy(&got, &d[((u(batch) * u(p.spec.m) + u(m)) * u(p.spec.n) + u(n)) * element], element);
      wrong += got != want ? 1 : 0;
    }
  };
  std::vector<std::jthread> pool;
  for (uint64_t t = 0; t < 16; ++t) pool.emplace_back(work, t + 1);
  pool.clear();
  return wrong;
}

struct Row {
  std::string shape, kernel;
  double us, decode_us, tflops;
  double peer_us, dequantise_us, cublas_us;
  double dequantise_share;  // of copy bandwidth
};

struct Bench {
  device::Device& device;
  Cublas* cublas;
  device::OnDeviceModules modules;
  std::string kernels;
  size_t replays;

  // Clusters of gemm, by their CTAs, that run at once.
  std::function<int(int)> at_once() {
    return [this](int size) {
      const suite::GemmProblem one({1, 1, 32, 1, suite::OperandData::zeros, 1, 0, 1});
      std::vector<Launch> launches =
          one.chain(suite::gemm_variant("gemm_m128_split1_f16"), {kernels, "sm_90a"}).launches;
      Launch& launch = launches.back();
      launch.shape.cluster = {static_cast<uint32_t>(size), 1, 1};
      launch.shape.grid = launch.shape.cluster;
      return device::clusters_at_once(device, *modules(launches).back(), launch);
    };
  }

  Cold copies(std::span<const Launch> launches, const std::vector<Chain::Link>& links, size_t count) {
    return {device, modules, launches, links, count};
  }

  Row measure(int m, int n, int k, int l, const std::string& only) {
    suite::GemmChoice choice = suite::choose_gemm(m, n, k, l, oracle::Output::f16, at_once());
    if (!only.empty()) {
      // NAME[:PEERS[:CLUSTERS]]
      const size_t first = only.find(':');
      choice.variant = suite::gemm_variant(only.substr(0, first));
      if (first != std::string::npos) {
        choice.peers = std::stoi(only.substr(first + 1));
        const size_t second = only.find(':', first + 1);
        choice.clusters = second == std::string::npos ? 0 : std::stoi(only.substr(second + 1));
      }
    }
    const suite::GemmProblem problem(
        {m, n, k, l, suite::OperandData::moderate, choice.peers, choice.clusters, 7});
    const Chain chain = problem.chain(choice.variant, {kernels, "sm_90a"});
    const size_t inputs =
        problem.a.codes.size() + problem.b.codes.size() + problem.a.scales.size() + problem.b.scales.size();
    const size_t sets = Cold::sets(inputs, 16);
    Row row{};
    row.shape = fmt::format("{}x{}x{}{}", m, n, k, l == 1 ? "" : fmt::format("x{}", l));
    row.kernel = fmt::format("{} in {} clusters of {}x{}", choice.variant.name(), choice.clusters,
                             choice.peers, choice.variant.split);
    {
      const Cold ours = copies(chain.launches, chain.links, sets);
      row.us = ours.time(replays, true);
      row.decode_us = copies(std::span(chain.launches).first(1), {}, sets).time(replays);
      size_t d = 0;
      while (chain.launches.back().buffers[d].name != "d") ++d;
      const auto bytes = ours[0].read(chain.launches.size() - 1, d);
      const size_t wrong = wrong_elements(problem, choice.variant, bytes, 4096);
      if (wrong != 0)
        throw machine::Fault(machine::Place{}, fmt::format("{} {}: {} of 4096 elements are not the oracle's",
                                                           row.shape, row.kernel, wrong));
    }
    row.tflops = 2.0 * m * n * k * l / row.us * 1e-6;
    if (cublas == nullptr) return row;
    const std::array<Launch, 2> both{gpu::dequantise(problem.a, kernels),
                                     gpu::dequantise(problem.b, kernels)};
    const Cold peers = copies(both, {}, sets);
    const device::DeviceMemory d(device, u(m) * u(n) * u(l) * 2, "cuBLAS result");
    row.dequantise_us = peers.time(replays);  // before cuBLAS chooses, so that it chooses on the operands
    const auto plan = cublas->plan({m, n, k, l}, peers[0].address(0, 2), peers[0].address(1, 2), d.address());
    row.cublas_us = device::time_on(
                        device,
                        [&](size_t i, void* stream) {
                          const auto& p = peers[i];
                          cublas->enqueue(*plan, p.address(0, 2), p.address(1, 2), d.address(), stream);
                        },
                        peers.repetitions(), replays)
                        .median;
    row.peer_us = device::time_on(
                      device,
                      [&](size_t i, void* stream) {
                        const auto& p = peers[i];
                        p.enqueue(stream);
                        cublas->enqueue(*plan, p.address(0, 2), p.address(1, 2), d.address(), stream);
                      },
                      peers.repetitions(), replays)
                      .median;
    const size_t moved = inputs + 4 * (problem.a.codes.size() + problem.b.codes.size());
    const std::array<Launch, 1> plain{gpu::copy_all(moved / 2, kernels, 4 * device.multiprocessors())};
    row.dequantise_share = copies(plain, {}, sets).time(replays) / row.dequantise_us;
    return row;
  }
};

int run(int argc, char** argv) {
  CLI::App app{
      "Times kernels/gemm on the GPU beside dequantise-then-cuBLAS, after checking its bits. "
      "Prints CSV (experiments/results/gemm_speed.csv)"};
  std::string kernels = capture::share_folder("kernels");
  std::vector<std::string> shapes{"128x7168x16384", "128x4096x7168", "128x7168x2048", "4096x4096x4096"};
  std::vector<std::string> only;
  size_t replays = 30;
  app.add_option("--shape", shapes, "MxNxK[xL], several")->capture_default_str();
  app.add_option("--kernel", only, "Kernel to take instead of the best: NAME[:PEERS[:CLUSTERS]], several");
  app.add_option("--kernels", kernels, "Folder of gemm/ and peer/: time your own build of them")
      ->check(CLI::ExistingDirectory);
  app.add_option("--replays", replays, "Graph replays, of which the median counts")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  std::vector<std::vector<int>> sizes;
  for (const std::string& shape : shapes) sizes.push_back(launch::parse_dimensions(shape, "MxNxK[xL]"));
  std::string why;
  const auto device = device::Device::open(why);
  if (device == nullptr) {
    fmt::print(stderr, "gemm_speed: {}\n", why);
    return 3;
  }
  const auto cublas = Cublas::open(*device, why);
  if (cublas == nullptr) fmt::print(stderr, "gemm_speed: without cuBLAS: {}\n", why);
  fmt::print("# gemm_speed: {}, driver {}, cuBLASLt {}\n", device->name(), device->driver(),
             cublas == nullptr ? "none" : cublas->version());
  fmt::print(
      "m x n x k,kernel,us,A decoded us,TFLOP/s,dequantise and cuBLAS us,dequantise us,cuBLAS us,"
      "dequantiser / copy,ratio\n");
  Bench bench{*device, cublas.get(), device::OnDeviceModules(*device), kernels, replays};
  if (only.empty()) only.emplace_back("");
  for (const std::vector<int>& size : sizes)
    for (const std::string& kernel : only) {
      const Row r = bench.measure(size[0], size[1], size[2], size[3], kernel);
      fmt::print("{},{},{:.1f},{:.1f},{:.0f},{:.1f},{:.1f},{:.1f},{:.2f},{:.2f}\n", r.shape, r.kernel, r.us,
                 r.decode_us, r.tflops, r.peer_us, r.dequantise_us, r.cublas_us, r.dequantise_share,
                 r.peer_us / r.us);
      std::fflush(stdout);
    }
  return 0;
}

}  // namespace
}  // namespace bitwell::gpu

int main(int argc, char** argv) {
  try {
    return bitwell::gpu::run(argc, argv);
  } catch (const bitwell::machine::InputError& e) {
    fmt::print(stderr, "gemm_speed: {}\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "gemm_speed: {}\n", e.what());
    return 1;
  }
}
