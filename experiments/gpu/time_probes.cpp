// What the parts of a multiprocessor cost on the GPU at hand, as CSV: what a model of time is made of.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <functional>
#include <map>

#include "experiments/gpu/probe/probe.h"
#include "model/machine/failure.h"

namespace {

using namespace bitwell;

// What a pass of a probe costs, by group.
const std::map<std::string, cost_probe::Rows (*)(const cost_probe::Cycles&)> kCosts{
    {"instructions", cost_probe::instructions},
    {"memory", cost_probe::memory},
    {"barriers", cost_probe::barriers},
    {"tensor", cost_probe::tensor},
    {"copies", cost_probe::copies}};
const std::map<std::string, cost_probe::Rows (*)(device::Device&)> kOthers{
    {"grids", gpu::probe_grids},   {"clocks", gpu::probe_clocks},
    {"beside", gpu::probe_beside}, {"latencies", gpu::probe_latencies},
    {"turns", gpu::probe_turns},   {"neighbours", gpu::probe_neighbours}};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "Times single instructions, copies, barriers and launches on a GPU of compute capability 9.0 and "
      "prints a CSV: what, with what, value, unit.\nA time in cycles is of the multiprocessor's clock: what "
      "twice as many passes "
      "through a loop cost more.");
  std::vector<std::string> wanted;
  app.add_option("GROUP", wanted,
                 "Which of them: instructions, memory, barriers, tensor, copies, grids, clocks, beside, "
                 "latencies, turns, neighbours "
                 "(default: all)")
      ->check([](const std::string& name) {
        return kCosts.contains(name) || kOthers.contains(name) ? std::string()
                                                               : "there is no group '" + name + "'";
      });
  CLI11_PARSE(app, argc, argv);
  std::string why;
  const auto device = device::Device::open(why);
  if (device == nullptr || device->compute_capability() != 90) {
    fmt::print(stderr, "time_probes: skipped: {}\n",
               device == nullptr ? why : device->name() + " is not of compute capability 9.0");
    return 3;
  }
  fmt::print("# time_probes: {}, driver {}\nwhat,with,value,unit\n", device->name(), device->driver());
  int failed = 0;
  const auto group = [&](const std::string& name, const std::function<cost_probe::Rows()>& probe) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) return;
    const auto start = std::chrono::steady_clock::now();
    try {
      for (const cost_probe::Row& r : probe())
        fmt::print("\"{}\",\"{}\",{:.2f},{}\n", r.what, r.with, r.value, r.unit);
    } catch (const std::exception& e) {
      ++failed;
      fmt::print(stderr, "time_probes: {}: {}\n", name, e.what());
      if (!device->usable()) std::_Exit(1);
    }
    fmt::print(stderr, "time_probes: {} took {:.0f} s\n", name,
               std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    std::fflush(stdout);
  };
  for (const auto& [name, probe] : kCosts)
    group(name, [&device, probe = probe] {
      return probe(
          [&](const cost_probe::Probe& p, uint32_t passes) { return gpu::cycles(*device, p, passes); });
    });
  for (const auto& [name, probe] : kOthers) group(name, [&device, probe = probe] { return probe(*device); });
  return failed == 0 ? 0 : 1;
}
