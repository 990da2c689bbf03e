// Loads, stores, atomics and fences: how long one takes, and how many a multiprocessor does.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "verify/cost_probe/cost.h"

namespace bitwell::cost_probe {
namespace {

constexpr const char* kWords = ".reg .b32 r<8>, v<4>, s_at, s_x; .reg .b64 g<8>, g_at, g_x;";

double one(const Cycles& cycles, uint32_t warps, int operations, const std::string& before,
           const std::string& operation, uint64_t buffer = 4096, uint32_t passes = 64, uint32_t ctas = 1) {
  Probe p;
  p.warps = warps;
  p.ctas = ctas;
  p.shared = 72 << 10;
  p.buffer = buffer;
  p.declare = kWords;
  p.before = "mov.u32 s_x, 0;" + before;
  // A value that is added up, and comes to nothing, keeps each load and makes the next pass wait for it.
  p.body = repeat(operations, operation + "\n  ") + "and.b32 s_x, s_x, t_zero; add.u32 s_at, s_at, s_x;";
  p.after =
      "{.reg .pred q; setp.eq.u64 q, g_at, 1; @q st.global.u64 [t_in], g_at; setp.eq.u32 q, s_at, 1;"
      "@q st.global.u32 [t_in], s_at;}";
  return cycles(p, passes) / operations;
}

// How long a warp is busy with so many stores, each lane's to a line of its own, and what stands behind them.
double stores(const Cycles& cycles, int n, const std::string& behind) {
  Probe p;
  p.shared = 72 << 10;
  p.buffer = 1 << 20;
  p.declare = std::string(kWords) + " .reg .b64 g_begin, g_now, g_all;";
  p.before = "mov.u64 g_all, 0; mov.u32 s_x, 0; mad.wide.u32 g_at, t_lane, 128, t_in; mov.u32 s_at, t_sh;";
  p.body = "mov.u64 g_begin, %clock64;\n" + repeat(n, "st.volatile.global.u32 [g_at+#*4096], s_x;\n") +
           behind +
           "mov.u64 g_now, %clock64; sub.u64 g_now, g_now, g_begin; add.u64 g_all, g_all, g_now; membar.gl;";
  p.after =
      "add.u64 t_to, t_from, g_all; {.reg .pred q; setp.eq.u32 q, s_x, 1; @q st.global.u32 [t_in], s_x;}";
  p.tells_another = true;
  return cycles(p, kPasses);
}

// A load whose value is the next address.
const std::string kGlobalSelf =
    "add.u64 g_at, t_in, 1024; st.global.u64 [g_at], g_at; mov.u32 s_at, 0; membar.gl;";
const std::string kSharedSelf =
    "mov.u64 g_at, 0; shl.b32 s_at, t_tid, 4; add.u32 s_at, s_at, t_sh; st.shared.u32 [s_at], s_at;";

void shared(const Cycles& cycles, Rows& out) {
  out.push_back(
      {"ld.shared.u32", "latency", one(cycles, 1, 32, kSharedSelf, "ld.shared.u32 s_at, [s_at];"), "cycles"});
  struct Width {
    const char* name;
    const char* load;
    const char* store;
    int bytes;
  };
  constexpr Width kWidths[] = {
      {"u32", "ld.shared.u32 v0, [s_at+#*128]; xor.b32 s_x, s_x, v0;", "st.volatile.shared.u32 [s_at], r0;",
       4},
      {"v2.u32", "ld.shared.v2.u32 {v0, v1}, [s_at+#*128]; xor.b32 s_x, s_x, v0;",
       "st.volatile.shared.v2.u32 [s_at], {r0, r1};", 8},
      {"v4.u32", "ld.shared.v4.u32 {v0, v1, v2, v3}, [s_at+#*128]; xor.b32 s_x, s_x, v0;",
       "st.volatile.shared.v4.u32 [s_at], {r0, r1, r2, r3};", 16}};
  for (const Width& w : kWidths)
    for (const int stride : {1, 2, 4, 8, 16, 32}) {
      // Of a warp, 32 accesses side by side in a KiB: stride in units of the access.
      const std::string before =
          fmt::format("mov.u64 g_at, 0; {} mul.lo.u32 s_at, t_lane, {}; add.u32 s_at, s_at, t_sh;",
                      repeat(4, "mov.u32 r#, 0;"), w.bytes * stride);
      if (w.bytes * stride * 32 > 64 << 10) continue;
      out.push_back({fmt::format("ld.shared.{}", w.name),
                     fmt::format("interval, 8 warps, stride {} accesses", stride),
                     one(cycles, 8, 32, before, w.load) / 8, "cycles"});
      out.push_back({fmt::format("st.shared.{}", w.name),
                     fmt::format("interval, 8 warps, stride {} accesses", stride),
                     one(cycles, 8, 32, before, w.store) / 8, "cycles"});
    }
  for (const int n : {1, 2, 4}) {
    const std::string to = n == 1 ? "{v0}" : n == 2 ? "{v0, v1}" : "{v0, v1, v2, v3}";
    const std::string before = "mov.u64 g_at, 0; shl.b32 s_at, t_lane, 4; add.u32 s_at, s_at, t_sh;";
    out.push_back(
        {fmt::format("ldmatrix.x{}", n), "interval, 8 warps",
         one(cycles, 8, 32, before,
             fmt::format("ldmatrix.sync.aligned.m8n8.x{}.shared.b16 {}, [s_at+#*128]; xor.b32 s_x, s_x, v0;",
                         n, to)) /
             8,
         "cycles"});
  }
  out.push_back({"ldmatrix.x1", "latency",
                 one(cycles, 1, 32, kSharedSelf + "st.shared.v4.u32 [s_at], {s_at, s_at, s_at, s_at};",
                     "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {s_x}, [s_at]; and.b32 s_x, s_x, t_zero; "
                     "add.u32 s_at, s_at, s_x;"),
                 "cycles"});
  for (const uint32_t warps : {1U, 8U}) {
    out.push_back(
        {"atom.shared.add.u32", fmt::format("latency, each lane its word, {} warps", warps),
         one(cycles, warps, 32, kSharedSelf + "st.shared.u32 [s_at], 0;",
             "atom.shared.add.u32 s_x, [s_at], 1; and.b32 s_x, s_x, t_zero; add.u32 s_at, s_at, s_x;"),
         "cycles"});
    out.push_back(
        {"atom.shared.add.u32", fmt::format("latency, all lanes one word, {} warps", warps),
         one(cycles, warps, 32, "mov.u64 g_at, 0; mov.u32 s_at, t_sh; st.shared.u32 [s_at], 0;",
             "atom.shared.add.u32 s_x, [s_at], 1; and.b32 s_x, s_x, t_zero; add.u32 s_at, s_at, s_x;"),
         "cycles"});
  }
}

// Copies of so many bytes a lane, the lanes of a row side by side, rows 4096 bytes apart: until all that one
// or several warps have under way are there.
void lane_copies(const Cycles& cycles, Rows& out) {
  struct Copy {
    int bytes, lanes;  // of a row
  };
  for (const Copy c :
       {Copy{4, 32}, Copy{8, 32}, Copy{16, 32}, Copy{16, 8}, Copy{16, 4}, Copy{16, 2}, Copy{4, 1}})
    for (const uint32_t warps : {1U, 8U}) {
      const std::string before = fmt::format(
          "and.b32 v0, t_lane, {}; shr.u32 v1, t_lane, {}; mul.lo.u32 v0, v0, {}; mad.lo.u32 v0, v1, 4096, "
          "v0;"
          "mul.lo.u32 v1, t_warp, 1024; add.u32 v0, v0, v1; cvt.u64.u32 g_at, v0; add.u64 g_at, g_at, t_in;"
          "mul.lo.u32 s_at, t_tid, {}; add.u32 s_at, s_at, t_sh;",
          c.lanes - 1, std::countr_zero(static_cast<uint32_t>(c.lanes)), c.bytes, c.bytes);
      const std::string copy = fmt::format("cp.async.{}.shared.global [s_at+#*4096], [g_at+#*512], {};",
                                           c.bytes == 16 ? "cg" : "ca", c.bytes);
      constexpr int kEach = 16;
      Probe p;
      p.warps = warps;
      p.shared = 72 << 10;
      p.buffer = 1 << 18;
      p.declare = kWords;
      p.before = before;
      p.body = repeat(kEach, copy + "\n  ") + "cp.async.wait_all;";
      out.push_back({fmt::format("cp.async of {} bytes", c.bytes),
                     fmt::format("{} lanes a row, {} of each of {} warps at once", c.lanes, kEach, warps),
                     cycles(p, kPasses), "cycles"});
    }
}

// Some warps load a word of each of n bursts of 64 bytes, which are all of a CTA's, and meet at a barrier
// that takes part of what they loaded: the last burst is waited for.
void bursts(const Cycles& cycles, Rows& out) {
  struct Bursts {
    uint32_t n, warps, apart;
  };
  constexpr uint32_t kTurns = 128;
  for (const Bursts b : {Bursts{1, 1, 64}, Bursts{8, 8, 64}, Bursts{32, 8, 64}, Bursts{128, 8, 64},
                         Bursts{512, 8, 64}, Bursts{32, 1, 64}, Bursts{32, 1, 1024}, Bursts{32, 1, 4096}})
    for (const bool dram : {false, true}) {
      const uint32_t lanes = std::min(b.n / b.warps, 32U), each = b.n / b.warps / lanes;
      Probe p;
      p.warps = b.warps;
      p.buffer = dram ? uint64_t{1} << 30 : 1 << 18;
      p.settles = dram ? kTurns : 0;
      p.declare = std::string(kWords) + " .reg .pred on, hit;";
      // All pages are known before.
      p.before = repeat(dram ? 64 : 0, "ld.volatile.global.u32 v0, [t_in+#*2097152];\n  ") +
                 fmt::format(
                     "setp.lt.u32 on, t_lane, {}; mad.lo.u32 r0, t_warp, {}, t_lane; mad.wide.u32 g_at, "
                     "r0, {}, t_in; mov.u32 s_x, 0; mov.u32 v0, 0;",
                     lanes, lanes, b.apart);
      for (uint32_t k = 0; k < each; ++k)
        p.body += fmt::format("@on ld.volatile.global.u32 v0, [g_at+{}]; xor.b32 s_x, s_x, v0;\n  ",
                              k * b.warps * lanes * b.apart);
      p.body += fmt::format(
          "setp.eq.u32 hit, s_x, 1; bar.red.popc.u32 r1, 0, hit; mad.wide.u32 g_at, r1, 8, g_at; "
          "add.u64 g_at, g_at, {};",
          dram ? b.n * b.apart : 0);
      p.after = "{.reg .pred q; setp.eq.u32 q, s_x, 1; @q st.global.u32 [t_in], s_x;}";
      out.push_back({"ld.volatile.global",
                     fmt::format("{} bursts of {}, {} bytes apart, {} warps, and a barrier", b.n,
                                 dram ? "DRAM" : "L2", b.apart, b.warps),
                     cycles(p, kTurns), "cycles"});
    }
}

void global(const Cycles& cycles, Rows& out) {
  out.push_back({"ld.global.ca", "latency, L1 hit",
                 one(cycles, 1, 32, kGlobalSelf, "ld.global.ca.u64 g_at, [g_at];"), "cycles"});
  out.push_back({"ld.global.cg", "latency, L2 hit",
                 one(cycles, 1, 32, kGlobalSelf, "ld.global.cg.u64 g_at, [g_at];"), "cycles"});
  // All bytes are 0; what was set first has left the L2 when all of it is set. A new line and page each time.
  const std::string walk =
      "ld.global.cg.u64 g_x, [g_at]; add.u64 g_at, g_at, g_x; add.u64 g_at, g_at, 135168;";
  out.push_back({"ld.global.cg", "latency, DRAM, 132 KiB apart",
                 one(cycles, 1, 8, "mov.u32 s_at, 0; mov.u64 g_at, t_in;", walk, uint64_t{1} << 30, 128),
                 "cycles"});
  // What DRAM gives at once is more than a load of one lane asks for.
  const std::string near = "ld.global.cg.u64 g_x, [g_at]; add.u64 g_at, g_at, g_x; add.u64 g_at, g_at, 32;";
  out.push_back({"ld.global.cg", "latency, DRAM and L2 in turn, 32 bytes apart",
                 one(cycles, 1, 8, "mov.u32 s_at, 0; mov.u64 g_at, t_in;", near, uint64_t{1} << 30, 128),
                 "cycles"});
  // Lanes so far apart reach as many lines: in one bank of L1, in four, in 16, and in all of them, of which
  // every fourth line, and each.
  for (const int apart : {128, 32, 136, 516, 132})
    for (const uint32_t warps : {1U, 8U})
      out.push_back(
          {"ld.global.ca", fmt::format("latency, L1 hits, lanes {} bytes apart, {} warps", apart, warps),
           one(cycles, warps, 32,
               fmt::format("mov.u32 s_at, 0; mad.wide.u32 g_at, t_lane, {}, t_in; add.u64 g_at, g_at, 64;",
                           apart),
               apart % 8 == 0 ? "ld.global.ca.u64 g_x, [g_at]; add.u64 g_at, g_at, g_x;"
                              : "ld.global.ca.u32 s_x, [g_at]; mad.wide.u32 g_at, s_x, 8, g_at;",
               32768),
           "cycles"});
  // What a multiprocessor has of L2 by such loads, alone and beside others.
  for (const int apart : {4, 32, 128, 516})
    for (const uint32_t ctas : {1U, 16U})
      out.push_back(
          {"ld.volatile.global",
           fmt::format("interval of a warp, L2 hits, lanes {} bytes apart, {} CTAs of 16 warps", apart, ctas),
           one(cycles, 16, 16,
               fmt::format("mov.u32 s_at, 0; mad.wide.u32 g_at, t_lane, {}, t_in; mad.wide.u32 g_at, t_warp, "
                           "640, g_at;",
                           apart),
               "ld.volatile.global.u32 r1, [g_at+#*20480]; xor.b32 s_x, s_x, r1;", 1 << 20, 64, ctas) /
               16,
           "cycles"});
  // What it can store there.
  struct Stored {
    const char *type, *value;
    uint32_t bytes;
  };
  for (const Stored& s : {Stored{"u32", "s_at", 4}, Stored{"v2.u32", "{s_at, s_at}", 8},
                          Stored{"v4.u32", "{s_at, s_at, s_at, s_at}", 16}})
    for (const uint32_t apart : {s.bytes, 32U, 64U, 128U, 528U})
      for (const uint32_t ctas : {1U, 16U})
        out.push_back(
            {fmt::format("st.volatile.global.{}", s.type),
             fmt::format("interval of a warp, lanes {} bytes apart, {} CTAs of 16 warps", apart, ctas),
             one(cycles, 16, 16,
                 fmt::format("mov.u32 s_at, 0; mad.wide.u32 g_at, t_lane, {}, t_in; mad.wide.u32 g_at, "
                             "t_warp, 640, g_at; mad.wide.u32 g_at, t_cta, 327680, g_at;",
                             apart),
                 fmt::format("st.volatile.global.{} [g_at+#*20480], {};", s.type, s.value), 1 << 23, 64,
                 ctas) /
                 16,
             "cycles"});
  for (const int n : {1, 2, 4, 8, 16, 32, 64})
    for (const bool load : {false, true})
      out.push_back(
          {"st.volatile.global.u32",
           fmt::format("until a warp has issued {}{}, lanes 128 bytes apart", n,
                       load ? " and a load from L2 behind them is there" : ""),
           stores(cycles, n,
                  load ? "ld.volatile.global.u32 r1, [t_in+524288]; xor.b32 s_x, s_x, r1; mad.wide.u32 g_at, "
                         "s_x, 4, g_at;\n"
                       : ""),
           "cycles"});
  for (const char* const name :
       {"atom.global.add.u32 s_x", "atom.global.relaxed.cta.add.u32 s_x",
        "atom.acq_rel.gpu.global.add.u32 s_x", "atom.acq_rel.sys.global.add.u32 s_x"})
    out.push_back({std::string(name).substr(0, std::string(name).find(' ')), "latency, one lane",
                   one(cycles, 1, 8, "mov.u32 s_at, 0; add.u64 g_at, t_in, 1024;",
                       fmt::format("@t_lead {}, [g_at], 1; @t_lead and.b32 s_x, s_x, t_zero; @t_lead "
                                   "cvt.u64.u32 g_x, s_x; @t_lead add.u64 g_at, g_at, g_x;",
                                   name)),
                   "cycles"});
  out.push_back({"red.global.add.u32", "interval, one lane",
                 one(cycles, 1, 32, "mov.u32 s_at, 0; add.u64 g_at, t_in, 1024;",
                     "@t_lead red.global.add.u32 [g_at], 1;"),
                 "cycles"});
  // Who reaches one word, and who words of their own.
  struct Where {
    const char* name;
    const char* address;
  };
  constexpr Where kWheres[] = {{"all lanes one word", "add.u64 g_at, t_in, 1024;"},
                               {"each lane its word", "mad.wide.u32 g_at, t_lane, 4, t_in;"},
                               {"each lane its sector", "mad.wide.u32 g_at, t_lane, 32, t_in;"},
                               {"each lane of each CTA its word",
                                "mad.lo.u32 r0, t_cta, 1024, t_tid; mad.wide.u32 g_at, r0, 4, t_in;"}};
  struct Update {
    const char* name;
    const char* text;
  };
  constexpr Update kUpdates[] = {
      {"red.global.add.u32", "red.global.add.u32 [g_at], 1;"},
      {"red.global.add.f32", "red.global.add.f32 [g_at], 0f3F800000;"},
      {"red.global.add.f64", "red.global.add.f64 [g_at], 0d3FF0000000000000;"},
      {"red.global.max.s32", "red.global.max.s32 [g_at], t_lane;"},
      {"atom.global.add.u32", "atom.global.add.u32 r1, [g_at], t_lane; xor.b32 s_x, s_x, r1;"},
      {"atom.global.cas.b32", "atom.global.cas.b32 r1, [g_at], 7, 5; xor.b32 s_x, s_x, r1;"},
      {"red.global.inc.u32", "red.global.inc.u32 [g_at], 7;"},
      {"atom.global.exch.b32", "atom.global.exch.b32 r1, [g_at], t_lane; xor.b32 s_x, s_x, r1;"}};
  for (const Update& u : kUpdates)
    for (const Where& w : kWheres)
      for (const uint32_t ctas : {1U, 4U, 16U})
        if (const bool of_64 = std::string(u.name).ends_with("64"); !of_64 || w.name[0] == 'a')
          out.push_back(
              {u.name, fmt::format("interval of a warp, {}, {} CTAs of 8 warps", w.name, ctas),
               one(cycles, 8, 16, std::string("mov.u32 s_at, 0; ") + w.address, u.text, 1 << 17, 64, ctas) /
                   8,
               "cycles"});
  out.push_back({"st.global.u32", "interval of a warp, coalesced, 8 warps",
                 one(cycles, 8, 32, "mov.u32 s_at, 0; mad.wide.u32 g_at, t_tid, 4, t_in;",
                     "st.volatile.global.u32 [g_at], s_at;") /
                     8,
                 "cycles"});
  out.push_back(
      {"ld.global.ca.v4", "interval of a warp, coalesced, L1 hits, 8 warps",
       one(cycles, 8, 32, "mov.u32 s_at, 0; mad.wide.u32 g_at, t_lane, 16, t_in;",
           "{.reg .b32 a, b, c, d; ld.global.ca.v4.u32 {a, b, c, d}, [g_at]; xor.b32 a, a, b; xor.b32 c, c, "
           "d; xor.b32 a, a, c; add.u32 s_at, s_at, a; cvt.u64.u32 g_x, a; add.u64 g_at, g_at, g_x;}") /
           8,
       "cycles"});
}

void fences(const Cycles& cycles, Rows& out) {
  for (const char* const fence : {"fence.acq_rel.cta;", "fence.acq_rel.cluster;", "fence.acq_rel.gpu;",
                                  "fence.acq_rel.sys;", "fence.sc.cta;", "fence.sc.gpu;", "fence.sc.sys;",
                                  "fence.proxy.async;", "fence.proxy.async.shared::cta;",
                                  "fence.proxy.async.global;", "fence.mbarrier_init.release.cluster;"}) {
    out.push_back({fence, "interval of a warp, nothing to order",
                   one(cycles, 1, 16, "mov.u32 s_at, 0; mov.u64 g_at, 0;", fence), "cycles"});
    out.push_back({fence, "interval of a warp, with a store to global memory before each",
                   one(cycles, 1, 16, "mov.u32 s_at, 0; mad.wide.u32 g_at, t_tid, 4, t_in;",
                       std::string("st.volatile.global.u32 [g_at], s_at; ") + fence),
                   "cycles"});
    out.push_back({fence, "interval of a warp, with a store to shared memory before each",
                   one(cycles, 1, 16, "mov.u64 g_at, 0; mad.lo.u32 s_at, t_tid, 4, t_sh;",
                       std::string("st.volatile.shared.u32 [s_at], s_at; ") + fence),
                   "cycles"});
  }
}

}  // namespace

Rows memory(const Cycles& cycles) {
  Rows out;
  shared(cycles, out);
  lane_copies(cycles, out);
  global(cycles, out);
  bursts(cycles, out);
  fences(cycles, out);
  return out;
}

}  // namespace bitwell::cost_probe
