// What lanes read and write of global memory leaves a multiprocessor in sectors of 32 bytes, each of which an
// access asks for once: counted here by a set of them, whatever order the lanes stand in.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "model/timing/cost.h"
#include "model/timing/launches.h"
#include "one_kernel.h"
#include "verify/launch/launch.h"

namespace bitwell::timing {
namespace {

constexpr uint32_t kSectorBytes = 32, kLanesOfAWarp = 32;

using Offsets = std::array<uint32_t, kLanesOfAWarp>;

// Each lane's address is %a1: its word of a table in constant memory, behind %a0. Then `body`.
std::string at_offsets(const Offsets& offsets, const std::string& body) {
  std::string table = ".const .align 4 .b32 at[32] = {";
  for (size_t i = 0; i < offsets.size(); ++i) table += (i == 0 ? "" : ", ") + std::to_string(offsets[i]);
  std::string text = kernel(
      "mov.u32 %r2, at;\nmad.lo.u32 %r2, %r0, 4, %r2;\nld.const.u32 %r1, [%r2];\ncvt.u64.u32 %a1, %r1;\n"
      "add.u64 %a1, %a0, %a1;\nmov.b32 %r3, 0;\nmov.b32 %r4, 0;\nmov.b32 %r5, 0;\nmov.b32 %r6, 0;\n" +
      body);
  text.insert(text.find(".visible"), table + "};\n");
  return text;
}

std::set<uint32_t> sectors(const Offsets& offsets, uint32_t bytes, uint32_t lanes) {
  std::set<uint32_t> out;
  for (uint32_t lane = 0; lane < lanes; ++lane)
    for (uint32_t b = 0; b < bytes; ++b) out.insert((offsets[lane] + b) / kSectorBytes);
  return out;
}

TimedLaunch timed(const launch::Launch& l) {
  Launches clocks(h200(), 0, {});
  run::Options options;
  options.checked = false;
  options.chooser = &clocks;
  launch::simulate(l, options, false, [](const auto&, const launch::Step*, const machine::Memory*) {});
  return clocks.timed().at(0);
}

Asked asked(const std::string& text) {
  const Seen seen = timed(launch_of(text, 1, 32, 1 << 17)).seen;
  EXPECT_EQ(seen.asked.size(), 1U) << "the buffer alone";
  return seen.asked.empty() ? Asked{} : seen.asked.begin()->second;
}

struct Width {
  uint32_t bytes;
  const char *type, *values;
};
constexpr Width kWidths[] = {{1, "u8", "%r3"},
                             {2, "u16", "%r3"},
                             {4, "u32", "%r3"},
                             {8, "v2.u32", "{%r3, %r4}"},
                             {16, "v4.u32", "{%r3, %r4, %r5, %r6}"}};

// Orders of lanes that the model tells apart, and some of its own.
std::vector<Offsets> orders(uint32_t bytes) {
  std::vector<Offsets> out;
  const auto add = [&](const auto& of) {
    Offsets& o = out.emplace_back();
    for (uint32_t lane = 0; lane < kLanesOfAWarp; ++lane) o[lane] = of(lane) * bytes;
  };
  add([](uint32_t lane) { return lane; });
  add([](uint32_t lane) { return 31 - lane; });
  add([](uint32_t) { return 7U; });
  add([](uint32_t lane) { return lane ^ 5; });
  add([bytes](uint32_t lane) { return lane % 2 * (4096 / bytes) + lane / 2; });  // to and fro
  add([bytes](uint32_t lane) { return lane * (128 / bytes) + lane % 3; });
  add([bytes](uint32_t lane) { return (31 - lane) * (128 / bytes); });
  add([bytes](uint32_t lane) { return lane * (32 / bytes); });
  add([bytes](uint32_t lane) { return lane / 2 * (64 / bytes); });
  add([bytes](uint32_t lane) { return lane == 31 ? 0 : 1024 / bytes + lane; });
  std::mt19937 drawn(bytes);
  for (const uint32_t within : {64U, 1024U, 65536U})
    for (int k = 0; k < 4; ++k) {
      Offsets& o = out.emplace_back();
      for (uint32_t& at : o) at = drawn() % (within / bytes) * bytes;
    }
  return out;
}

// .cg goes by the first cache; .ca is kept in it: the second time asks for nothing.
TEST(Sectors, EachIsReadOnceByAnAccess) {
  for (const Width& w : kWidths)
    for (const Offsets& o : orders(w.bytes))
      for (const uint32_t lanes : {32U, 9U}) {
        const std::string load =
            std::string("@%p0 ld.global.CACHE.") + w.type + " " + w.values + ", [%a1];\n";
        const auto with = [&](const char* cache) {
          std::string text = "setp.lt.u32 %p0, %r0, " + std::to_string(lanes) + ";\n" + load + load + load;
          for (size_t at = 0; (at = text.find("CACHE")) != std::string::npos;) text.replace(at, 5, cache);
          return asked(at_offsets(o, text));
        };
        const double once = kSectorBytes * static_cast<double>(sectors(o, w.bytes, lanes).size());
        EXPECT_EQ(with("cg").read, 3 * once) << w.bytes << " bytes, lane 1 at " << o[1] << ", " << lanes;
        EXPECT_EQ(with("ca").read, once) << w.bytes << " bytes, lane 1 at " << o[1] << ", " << lanes;
      }
}

TEST(Sectors, EachIsWrittenOnceByAnAccess) {
  for (const Width& w : kWidths)
    for (const Offsets& o : orders(w.bytes)) {
      const Asked a =
          asked(at_offsets(o, std::string("st.global.") + w.type + " [%a1], " + w.values + ";\n"));
      EXPECT_EQ(a.written, kSectorBytes * static_cast<double>(sectors(o, w.bytes, 32).size()))
          << w.bytes << " bytes, lane 1 at " << o[1];
      EXPECT_EQ(a.read, 0);
    }
}

// What an access has brought into the first cache another one finds there, by other lanes too; what lies in
// other sectors of the same lines it asks for. Each warp goes on where it was, or elsewhere.
TEST(Sectors, OfWhatWasReadBeforeNothingIsAskedFor) {
  for (const Width& w : kWidths) {
    const std::vector<Offsets> all = orders(w.bytes);
    for (size_t k = 0; k < all.size(); ++k) {
      const Offsets &a = all[k], &b = all[(k + 5) % all.size()];
      std::set<uint32_t> both = sectors(a, w.bytes, 32);
      both.merge(sectors(b, w.bytes, 32));
      const std::string load = std::string("ld.global.") + w.type + " " + w.values + ", [%a1];\n";
      std::string other =
          "mov.u32 %r2, at2;\nmad.lo.u32 %r2, %r0, 4, %r2;\nld.const.u32 %r1, [%r2];\n"
          "cvt.u64.u32 %a1, %r1;\nadd.u64 %a1, %a0, %a1;\n";
      std::string text = at_offsets(a, load + load + other + load + load);
      std::string table = ".const .align 4 .b32 at2[32] = {";
      for (size_t i = 0; i < b.size(); ++i) table += (i == 0 ? "" : ", ") + std::to_string(b[i]);
      text.insert(text.find(".visible"), table + "};\n");
      EXPECT_EQ(asked(text).read, kSectorBytes * static_cast<double>(both.size()))
          << w.bytes << " bytes, " << k;
    }
  }
}

// Atomics and reductions are done in L2, each time.
TEST(Sectors, UpdatesAreAskedOfL2EachTime) {
  for (const Offsets& o : orders(4))
    for (const char* const update :
         {"red.global.add.u32 [%a1], %r0;\n", "atom.global.add.u32 %r3, [%a1], 1;\n",
          "atom.global.exch.b32 %r3, [%a1], %r0;\n"}) {
      const double once = kSectorBytes * static_cast<double>(sectors(o, 4, 32).size());
      EXPECT_EQ(asked(at_offsets(o, std::string(update) + update)).read, 2 * once) << update << o[1];
    }
}

}  // namespace
}  // namespace bitwell::timing
