// Times the GEMV ladder on the GPU beside reading alone and cuBLAS, output verified first; prints a Markdown
// table.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>

#include "experiments/gpu/cublas.h"
#include "experiments/gpu/peers.h"
#include "model/number/half.h"
#include "verify/capture/captures.h"
#include "verify/device/timing.h"
#include "verify/launch/file/dimensions.h"
#include "verify/suite/kernels/gemv.h"

namespace bitwell::gpu {
namespace {

using launch::Launch;
using suite::GemvProblem;
using suite::GemvRung;

constexpr size_t kMostSets = 256;
constexpr size_t kChecked = 4096;  // elements of c, drawn at random

size_t u(int v) { return static_cast<size_t>(v); }

// Elements of c, as fp16 codes, at places drawn at random: what each should be by the rung's order.
class Expected {
 public:
  explicit Expected(const GemvProblem& p) : problem_(p) {
    std::mt19937_64 random(1);
    for (size_t i = 0; i < kChecked; ++i)
      places_.emplace_back(static_cast<int>(random() % u(p.spec.l)),
                           static_cast<int>(random() % u(p.spec.m)));
  }
  // Throws machine::Fault unless `holds(got, expected)` at every place.
  template <class Holds>
  void check(const number::Accumulation& order, const std::vector<std::byte>& c, const std::string& what,
             Holds holds) const {
    std::atomic<size_t> wrong = 0;
    std::atomic<size_t> next = 0;
    std::vector<std::jthread> pool;
    for (unsigned t = 0; t < std::thread::hardware_concurrency(); ++t)
      pool.emplace_back([&] {
        for (size_t i = next++; i < places_.size(); i = next++) {
          const auto [batch, row] = places_[i];
          const GemvProblem::Row data = problem_.row(batch, row);
          uint16_t got = 0;
          std::memcpy(&got, &c[2 * (u(batch) * u(problem_.spec.m) + u(row))], 2);
          wrong += holds(got, number::evaluate(order, data.operands())) ? 0 : 1;
        }
      });
    pool.clear();
    if (wrong != 0)
      throw machine::Fault(machine::Place{}, fmt::format("{}, {}: {} of {} elements are wrong", what,
                                                         problem_.spec.describe(), wrong.load(), kChecked));
  }

 private:
  const GemvProblem& problem_;
  std::vector<std::pair<int, int>> places_;
};

struct Options {
  std::string kernels = capture::share_folder("kernels");
  std::vector<std::string> shapes{"7168x16384x1", "4096x7168x8", "7168x2048x4"};
  std::vector<std::string> rungs;
  bool sweep = false;
  size_t replays = 30;
};

class Bench {
 public:
  Bench(device::Device& device, Cublas* cublas, const Options& options)
      : device_(device), cublas_(cublas), modules_(device), options_(options) {}

  void measure(int m, int k, int l, const std::vector<std::string>& rungs) {
    const GemvProblem p({m, k, l, suite::OperandData::moderate, suite::ScaleLayout::blocked, 7});
    const Expected expected(p);
    const size_t inputs = p.a.codes.size() + p.a.scales.size();
    const size_t sets = Cold::sets(inputs, kMostSets);
    shape_ = fmt::format("{}x{}x{}", m, k, l);
    bytes_ = static_cast<double>(inputs + p.b.codes.size() + u(l) * u(k) / 16 + 2 * u(m) * u(l));
    time_peers(p, expected, sets);
    time_read(inputs, sets);
    row("read A and its scales", read_us_, static_cast<double>(inputs), "", "");
    if (cublas_ != nullptr) {
      row("cuBLAS on fp16", cublas_us_, 2.0 * m * k * l, "", "");
      row("dequantise then cuBLAS", peer_us_, bytes_ + 8.0 * m * k * l / 2, "", "");
    }
    for (const std::string& name : rungs) time_rung(p, expected, suite::gemv_rung(name), sets);
  }

 private:
  void time_rung(const GemvProblem& p, const Expected& expected, const GemvRung& rung, size_t sets) {
    const std::array<Launch, 1> launch{
        p.launch(rung, options_.kernels + "/gemv/" + std::string(rung.name) + ".sm_90a.ptx")};
    const Cold cold(device_, modules_, launch, {}, sets);
    const device::Resources r = device::resources(device_, *modules_(launch)[0], launch[0]);
    const double us = cold.time(options_.replays);
    expected.check(rung.order, cold[0].read(0, 4), std::string(rung.name),
                   [](uint16_t got, uint16_t want) { return got == want; });
    row(std::string(rung.name), us, bytes_, std::to_string(r.registers), fmt::format("{:.2f}", r.occupancy));
  }

  // The most that memory gives: the best of a few grids.
  void time_read(size_t bytes, size_t sets) {
    read_us_ = 0;
    for (const int ctas : {1, 2, 4}) {
      const std::array<Launch, 1> launch{
          gpu::read_all(bytes, options_.kernels, ctas * device_.multiprocessors())};
      const double us = Cold(device_, modules_, launch, {}, sets).time(options_.replays);
      if (read_us_ == 0 || us < read_us_) read_us_ = us;
    }
  }

  void time_peers(const GemvProblem& p, const Expected& expected, size_t sets) {
    if (cublas_ == nullptr) return;
    const auto& s = p.spec;
    // The dequantiser knows k a multiple of 64 and blocked scales; b is a matrix of one row.
    const std::array<Launch, 2> both{gpu::dequantise(p.a, options_.kernels),
                                     gpu::dequantise(p.b, options_.kernels)};
    const Cold peers(device_, modules_, both, {}, std::min<size_t>(sets, 32));
    const device::DeviceMemory c(device_, 2 * u(s.m) * u(s.l), "cuBLAS result");
    peers.time(1);  // before cuBLAS chooses, so that it chooses on the operands
    const auto plan =
        cublas_->plan({1, s.m, s.k, s.l}, peers[0].address(1, 2), peers[0].address(0, 2), c.address());
    const auto multiply = [&](size_t i, void* stream) {
      cublas_->enqueue(*plan, peers[i].address(1, 2), peers[i].address(0, 2), c.address(), stream);
    };
    const auto whole = [&](size_t i, void* stream) {
      peers[i].enqueue(stream);
      multiply(i, stream);
    };
    peer_us_ = device::time_on(device_, whole, peers.repetitions(), options_.replays).median;
    cublas_us_ = device::time_on(device_, multiply, peers.repetitions(), options_.replays).median;
    expected.check(suite::gemv_rung("streamed").order, c.read(), "cuBLAS", [](uint16_t got, uint16_t want) {
      const double a = number::half_to_float(got);
      const double b = number::half_to_float(want);
      return std::abs(a - b) <= 0.25 + 0.01 * std::abs(b);
    });
  }

  void row(const std::string& kernel, double us, double bytes, const std::string& registers,
           const std::string& occupancy) const {
    const auto ratio = [&](double peer) {
      return cublas_ == nullptr ? std::string() : fmt::format("{:.2f}", peer / us);
    };
    fmt::print("{},{},{:.1f},{:.1f},{:.2f},{:.2f},{},{},{},{}\n", shape_, kernel, us, bytes * 1e-6,
               bytes / us * 1e-6, read_us_ / us, ratio(cublas_us_), ratio(peer_us_), registers, occupancy);
    std::fflush(stdout);
  }

  device::Device& device_;
  Cublas* cublas_;
  device::OnDeviceModules modules_;
  const Options& options_;
  std::string shape_;
  double bytes_ = 0;
  double read_us_ = 0, cublas_us_ = 0, peer_us_ = 0;
};

std::array<int, 3> parse(const std::string& shape) {
  const std::vector<int> size = launch::parse_dimensions(shape, "MxKxL");
  if (size[1] % 128 != 0) throw machine::InputError("k is a multiple of 128; got '" + shape + "'");
  return {size[0], size[1], size[2]};
}

int run(int argc, char** argv) {
  CLI::App app{
      "Times the GEMV kernels on the GPU, after checking their bits, beside reading A and its scales alone, "
      "cuBLAS\n"
      "on fp16 weights, and dequantising to fp16 before cuBLAS. Times are medians of graph replays, with "
      "inputs\n"
      "that take turns so that the L2 is cold. Prints CSV (experiments/results/gemv_speed.csv)."};
  Options o;
  app.add_option("--shape", o.shapes, "MxKxL, several")->capture_default_str();
  app.add_option("--kernel,--rung", o.rungs, "Only these kernels (default: all)");
  app.add_flag("--sweep", o.sweep, "After the shapes, the kernel streamed over a sweep of m, k and l");
  app.add_option("--kernels", o.kernels, "Folder of gemv/ and peer/: time your own build of them")
      ->check(CLI::ExistingDirectory);
  app.add_option("--replays", o.replays, "Graph replays, of which the median counts")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (o.rungs.empty())
    for (const GemvRung& r : suite::gemv_rungs()) o.rungs.emplace_back(r.name);
  std::vector<std::array<int, 3>> shapes;
  for (const std::string& shape : o.shapes) shapes.push_back(parse(shape));
  for (const std::string& name : o.rungs) suite::gemv_rung(name);  // refuses what there is not
  std::string why;
  const auto device = device::Device::open(why);
  if (device == nullptr) {
    fmt::print(stderr, "gemv_speed: {}\n", why);
    return 3;
  }
  const auto cublas = Cublas::open(*device, why);
  if (cublas == nullptr) fmt::print(stderr, "gemv_speed: without cuBLAS: {}\n", why);
  fmt::print("# gemv_speed: {}, driver {}, cuBLASLt {}\n", device->name(), device->driver(),
             cublas == nullptr ? "none" : cublas->version());
  fmt::print(
      "m x k x l,kernel,us,MB moved,TB/s,share of reading,cuBLAS / this,dequantise and cuBLAS / this,"
      "registers,occupancy\n");
  Bench bench(*device, cublas.get(), o);
  for (const auto& [m, k, l] : shapes) bench.measure(m, k, l, o.rungs);
  if (o.sweep)
    for (const auto& [m, k, l] : {std::array{128, 16384, 1},
                                  {512, 16384, 1},
                                  {1024, 4096, 1},
                                  {4096, 4096, 1},
                                  {4096, 14336, 1},
                                  {14336, 4096, 1},
                                  {16384, 16384, 1},
                                  {7168, 2048, 1},
                                  {4096, 7168, 1},
                                  {1024, 1024, 16},
                                  {7168, 256, 8}})
      bench.measure(m, k, l, {"streamed"});
  return 0;
}

}  // namespace
}  // namespace bitwell::gpu

int main(int argc, char** argv) {
  try {
    return bitwell::gpu::run(argc, argv);
  } catch (const bitwell::machine::InputError& e) {
    fmt::print(stderr, "gemv_speed: {}\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "gemv_speed: {}\n", e.what());
    return 1;
  }
}
