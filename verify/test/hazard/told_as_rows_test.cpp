// Rows of lanes that a run tells the race check of without an event: whoever else watches is told of each,
// and what stands there already is told with them.
#include <gtest/gtest.h>

#include <algorithm>

#include "../kernel.h"
#include "apart.h"

namespace bitwell::hazard::told_as_rows {
namespace {

constexpr uint64_t kRows = 5, kCtas = 3;

// Each CTA, a warp, stores so many rows of the same words, a value that all have in common or its own.
launch::Launch launch_of(bool own_value) {
  launch::Launch out;
  out.module = test::module_of(
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 words)\n{\n"
      ".reg .b32 %r<4>;\n.reg .b64 %a<3>;\n.reg .pred %p;\nld.param.u64 %a0, [words];\n"
      "mov.u32 %r0, %tid.x;\nmul.wide.u32 %a1, %r0, 4;\nadd.u64 %a0, %a0, %a1;\nmov.u32 %r1, " +
      std::string(own_value ? "%ctaid.x" : "7") +
      ";\nmov.u32 %r2, 0;\nnext: st.global.u32 [%a0], %r1;\nadd.u64 %a0, %a0, 128;\nadd.u32 %r2, %r2, 1;\n"
      "setp.lt.u32 %p, %r2, " +
      std::to_string(kRows) + ";\n@%p bra next;\nret;\n}\n");
  out.ptx = "k.ptx";
  out.entry = "k";
  out.shape.grid = {kCtas, 1, 1};
  out.shape.block = {32, 1, 1};
  out.add_buffer({"words", std::vector<std::byte>(128 * kRows), true, false, true});
  return out;
}

struct Told {
  std::vector<std::string> found;  // "race 96 times"
  uint64_t stores = 0;             // that others were told of
};

// `others`: how many there are who watch beside the race check; `first`: in front of it.
Told told(bool own_value, int others, bool first, bool pieces) {
  launch::Launch launch = launch_of(own_value);
  const findings::SharedProgram program = launch.module->program(launch.entry);
  findings::Watch watch;
  Told out;
  machine::Observer counts;
  counts.tell = [&](const machine::Event& event) {
    const auto* const a = std::get_if<machine::Access>(&event.what);
    if (a == nullptr || a->kind != machine::AccessKind::write || !machine::is_global(a->addresses[0])) return;
    ++out.stores;
    EXPECT_EQ(a->lanes, ~0u);
    for (uint32_t i = 1; i < machine::kLanes; ++i) EXPECT_EQ(a->addresses[i], a->addresses[0] + 4 * i);
  };
  counts.accesses = true;
  counts.steps = false;
  counts.pieces = pieces;
  run::Options options;
  options.threads = 1;
  options.observers.push_back(watch.observer({}, true));
  for (int i = 0; i < others; ++i)
    options.observers.insert(first ? options.observers.begin() : options.observers.end(), counts);
  watch.begin(*program, launch.shape);
  launch::simulate(launch, options, false);
  for (const findings::Found& f : watch.findings())
    out.found.push_back(std::string(row_of(f.finding.kind).name) + " " + std::to_string(f.finding.count) +
                        " times");
  return out;
}

TEST(ToldAsRows, WhoeverElseWatchesIsToldOfEach) {
  for (const bool own_value : {false, true})
    for (const int others : {0, 1, 2})
      for (const bool first : {false, true})
        for (const bool pieces : {false, true}) {
          const Told all = told(own_value, others, first, pieces);
          EXPECT_EQ(all.stores, static_cast<uint64_t>(others) * kCtas * kRows) << first << pieces;
          // Each CTA's row but the first one's comes to what the one before it left, unordered.
          const std::string times = " " + std::to_string(32 * kRows * (kCtas - 1)) + " times";
          const std::vector<std::string> want{(own_value ? "race" : "equal-stores") + times};
          EXPECT_EQ(all.found, want) << others << first << pieces;
        }
}

}  // namespace
}  // namespace bitwell::hazard::told_as_rows
