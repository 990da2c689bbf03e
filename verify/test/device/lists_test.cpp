// Launches that follow one another on one stream, some of which may overlap: what they leave, simulator
// against GPU.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "../kernel.h"
#include "gpu.h"
#include "verify/suite/same.h"

namespace bitwell::device {
namespace {

constexpr size_t kBuffers = 4, kWords = 512, kBytes = 4 * kWords;

// Each thread has a word of each buffer. `delay` turns of a loop let what could come too early do so.
constexpr const char* kModule = R"(.version 8.7
.target sm_90
.address_size 64
.visible .entry change(.param .u64 from, .param .u64 to, .param .u32 delay)
{
.reg .b64 %a, %b, %t; .reg .b32 %r<8>; .reg .pred %p;
ld.param.u64 %a, [from]; ld.param.u64 %b, [to]; ld.param.u32 %r4, [delay];
mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r0, %r1, %r2, %r0;
mul.wide.u32 %t, %r0, 4; add.u64 %a, %a, %t; add.u64 %b, %b, %t;
griddepcontrol.launch_dependents;
griddepcontrol.wait;
ld.global.u32 %r3, [%a]; mov.u32 %r5, 0;
L: setp.ge.u32 %p, %r5, %r4; @%p bra M; add.u32 %r5, %r5, 1; mad.lo.u32 %r3, %r3, 1664525, 1013904223; bra L;
M: add.u32 %r3, %r3, %r0; st.global.u32 [%b], %r3;
ret;
}
.visible .entry lets()
{
griddepcontrol.launch_dependents;
ret;
}
.visible .entry waits_then_lets()
{
griddepcontrol.wait;
griddepcontrol.launch_dependents;
ret;
}
.visible .entry hasty(.param .u64 from, .param .u64 to)
{
.reg .b64 %a, %b, %t; .reg .b32 %r<4>;
ld.param.u64 %a, [from]; ld.param.u64 %b, [to];
mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r0, %r1, %r2, %r0;
mul.wide.u32 %t, %r0, 4; add.u64 %a, %a, %t; add.u64 %b, %b, %t;
ld.global.u32 %r3, [%a]; st.global.u32 [%b], %r3;
ret;
}
.visible .entry meet(.param .u64 from, .param .u64 to, .param .u64 arrived)
{
.reg .b64 %a, %b, %c, %t; .reg .b32 %r<8>; .reg .pred %p, %q;
ld.param.u64 %a, [from]; ld.param.u64 %b, [to]; ld.param.u64 %c, [arrived];
mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r3, %r1, %r2, %r0;
mul.wide.u32 %t, %r3, 4; add.u64 %t, %a, %t;
griddepcontrol.wait;
ld.global.u32 %r4, [%t]; add.u32 %r4, %r4, 5; st.global.u32 [%t], %r4;
bar.sync 0; setp.eq.u32 %p, %r0, 0; mov.u32 %r5, %nctaid.x;
@!%p bra M;
fence.acq_rel.gpu; atom.relaxed.gpu.global.add.u32 %r6, [%c], 1; rem.u32 %r4, %r6, %r5; sub.u32 %r6, %r6, %r4; add.u32 %r5, %r6, %r5;
S: ld.acquire.gpu.global.u32 %r6, [%c]; setp.lt.u32 %q, %r6, %r5; @%q bra S;
M: bar.sync 0;
add.u32 %r7, %r1, 1; mov.u32 %r5, %nctaid.x; rem.u32 %r7, %r7, %r5; mad.lo.u32 %r7, %r7, %r2, %r0;
mul.wide.u32 %t, %r7, 4; add.u64 %t, %a, %t; ld.global.u32 %r4, [%t];
mul.wide.u32 %t, %r3, 4; add.u64 %t, %b, %t; st.global.u32 [%t], %r4;
ret;
}
)";

std::vector<std::byte> word(uint32_t value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  return {bytes, bytes + sizeof value};
}

// A list drawn from `seed`: each launch waits before its first access, so that it has one outcome.
launch::Launch drawn(uint64_t seed, const std::string& ptx) {
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t n) { return random() % n; };
  launch::Launch out;
  out.ptx = ptx;
  for (size_t i = 0; i < kBuffers; ++i) {
    launch::Buffer b;
    b.name = "b" + std::to_string(i);
    for (size_t at = 0; at < kBytes; ++at) b.bytes.push_back(static_cast<std::byte>(random()));
    b.output = true;
    out.buffers.push_back(b);
  }
  out.buffers.push_back({"arrived", std::vector<std::byte>(4), true, false, true});
  const size_t steps = 2 + below(7);
  bool may_overlap = false;  // nothing is before the first; a copy or fill is no launch
  for (size_t i = 0; i < steps; ++i) {
    launch::Step s;
    const uint64_t kind = i == 0 ? 0 : below(8);
    const size_t from = below(kBuffers), to = (from + 1 + below(kBuffers - 1)) % kBuffers;
    if (kind == 6) {
      const uint64_t bytes = 1 + below(kBytes);
      s.copy = launch::Step::Copy{from, to, below(kBytes - bytes + 1), below(kBytes - bytes + 1), bytes};
    } else if (kind == 7) {
      const uint64_t bytes = 1 + below(kBytes);
      s.fill = launch::Step::Fill{to, below(kBytes - bytes + 1), bytes, static_cast<std::byte>(random())};
    } else {
      s.ptx = ptx;
      s.entry = kind <= 3 ? "change" : kind == 4 ? "lets" : "meet";
      s.shape.block = {64, 1, 1};
      s.shape.grid = {kWords / 64, 1, 1};
      s.shape.cooperative = kind == 5;
      s.programmatic = may_overlap && below(4) != 0;
      if (kind != 4) s.arguments = {{{}, from}, {{}, to}};
      if (kind <= 3)
        s.arguments.push_back({word(static_cast<uint32_t>(below(3) == 0 ? 20000 : below(50))), 0});
      if (kind == 5) s.arguments.push_back({{}, kBuffers});
    }
    may_overlap = !s.copy && !s.fill;
    if (i != 0) {
      out.then.push_back(s);
      continue;
    }
    out.entry = s.entry;
    out.shape = s.shape;
    out.arguments = s.arguments;
  }
  return out;
}

std::string module_file() {
  const std::string path = std::filesystem::path(testing::TempDir()) / "lists.ptx";
  std::ofstream(path) << kModule;
  return path;
}

// A slow launch that changes the first buffer into the second, one of `between` where it is named, and `last`
// from the second to the third.
launch::Launch slow_and(const std::string& between, const std::string& last, bool programmatic) {
  constexpr uint32_t kSlow = 200000;  // turns: some milliseconds
  launch::Launch out;
  out.ptx = module_file();
  for (size_t i = 0; i < 3; ++i)
    out.buffers.push_back({"b" + std::to_string(i), std::vector<std::byte>(kBytes, static_cast<std::byte>(i)),
                           true, false, true});
  out.entry = "change";
  out.shape.block = {64, 1, 1};
  out.shape.grid = {kWords / 64, 1, 1};
  out.arguments = {{{}, 0}, {{}, 1}, {word(kSlow), 0}};
  for (const std::string& entry : {between, last}) {
    if (entry.empty()) continue;
    launch::Step s;
    s.ptx = out.ptx;
    s.entry = entry;
    s.shape = out.shape;
    s.programmatic = programmatic;
    if (entry == last) s.arguments = {{{}, 1}, {{}, 2}};
    if (entry == "change") s.arguments.push_back({word(0), 0});
    out.then.push_back(s);
  }
  return out;
}

// What `bitwell run --races` calls an error shows on the GPU, what it calls a note does not.
TEST(ListsOnGpu, WhatTheManualDoesNotSayIsAsTheNotesHaveIt) {
  BITWELL_NEEDS_GPU(device);
  struct Row {
    const char *between, *last;
    bool in_order;
  };
  for (const Row& row : {Row{"", "change", true}, Row{"", "hasty", false}, Row{"lets", "change", true},
                         Row{"lets", "hasty", false}, Row{"waits_then_lets", "hasty", true}}) {
    launch::Launch in_order = slow_and(row.between, row.last, false);
    test::run_file(in_order);
    for (int i = 0; i < 20; ++i) {
      launch::Launch on_gpu = slow_and(row.between, row.last, true);
      device->run_list(on_gpu, std::chrono::seconds(10));
      ASSERT_EQ(suite::same_bits(on_gpu.buffers[2].bytes, in_order.buffers[2].bytes), row.in_order)
          << row.between << ", " << row.last << ", launch " << i;
    }
  }
}

// BITWELL_LISTS of them.
TEST(ListsOnGpu, MemoryIsTheSame) {
  BITWELL_NEEDS_GPU(device);
  const char* number = std::getenv("BITWELL_LISTS");
  const std::string ptx = module_file();
  for (uint64_t seed = 0; seed < (number == nullptr ? 40 : std::strtoull(number, nullptr, 10)); ++seed) {
    launch::Launch on_gpu = drawn(seed, ptx);
    launch::Launch simulated = on_gpu;
    device->run_list(on_gpu, std::chrono::seconds(10));
    test::run_file(simulated);
    for (size_t b = 0; b < on_gpu.buffers.size(); ++b)
      ASSERT_TRUE(suite::same_bits(on_gpu.buffers[b].bytes, simulated.buffers[b].bytes))
          << "list " << seed << ", " << on_gpu.buffers[b].name;
  }
}

}  // namespace
}  // namespace bitwell::device
