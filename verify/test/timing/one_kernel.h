// A kernel of a few lines that gets one buffer, zeros.
#pragma once
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/timing/change.h"
#include "model/timing/cost.h"
#include "model/timing/launches.h"
#include "verify/launch/start.h"

namespace bitwell::timing {

// `body` of a kernel of sm_90a: %a0 is where x is, %r0 the thread.
inline std::string kernel(const std::string& body) {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n"
         ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %a<4>;\n.reg .f32 %f<8>;\n"
         ".shared .align 1024 .b8 tile[8192];\n.shared .align 8 .b64 bar;\n"
         "ld.param.u64 %a0, [x];\nmov.u32 %r0, %tid.x;\n" +
         body + "ret;\n}\n";
}

inline launch::Launch launch_of(const std::string& text, uint32_t ctas, uint32_t threads,
                                size_t bytes = 1 << 20) {
  launch::Launch l;
  l.module = std::make_shared<const isa::Module>(text);
  l.entry = "k";
  l.shape.grid = {ctas, 1, 1};
  l.shape.block = {threads, 1, 1};
  l.add_buffer({"x", std::vector<std::byte>(bytes), true, false, true});
  return l;
}

// An H200 with other costs.
struct Other {
  std::vector<Cost> costs{h200().costs.begin(), h200().costs.end()};
  Device device = h200();
  explicit Other(std::initializer_list<std::pair<Key, double>> other) {
    for (const auto& [key, value] : other)
      for (Cost& c : costs)
        if (c.key == key) c.value = value;
    device.costs = costs;
  }
};

// An H200 whose DRAM takes as long for each load.
inline const Device& even_dram() {
  static const Other device{{Key::dram_refresh_every, 0}};
  return device.device;
}
inline std::shared_ptr<const Changed> even_dram_costs() {
  return std::make_shared<const Changed>(even_dram(), Part::launch, 1);  // as it is
}

inline void run_by(Launches& clocks, const launch::Launch& l) {
  run::Options options;
  options.checked = false;
  options.chooser = &clocks;
  launch::simulate(l, options, false, [](const auto&, const launch::Step*, const machine::Memory*) {});
}

}  // namespace bitwell::timing
