// Products of matrices: a warp's, and a warpgroup's.
#include <fmt/format.h>

#include <utility>

#include "verify/cost_probe/cost.h"

namespace bitwell::cost_probe {
namespace {

std::string list(const std::string& prefix, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += (i == 0 ? "" : ", ") + prefix + std::to_string(i);
  return "{" + out + "}";
}

// So that no product is dropped: nobody knows that all of d0, d1, ... together are not this number.
std::string use(int words) {
  return "mov.b32 x, 0;" + repeat(words, "xor.b32 x, x, d#;") +
         "setp.eq.u32 q, x, 0x12345678; @q st.global.u32 [t_in], x;";
}

struct Wgmma {
  const char* name;   // "bf16"
  const char* types;  // of D, A and B
  int k;
  const char* tail;  // operands behind scale-d
  bool half;         // D in 16 bits
};
constexpr Wgmma kWgmma[] = {{"bf16", "f32.bf16.bf16", 16, ", 1, 1, 0, 0", false},
                            {"f16 into f16", "f16.f16.f16", 16, ", 1, 1, 0, 0", true},
                            {"tf32", "f32.tf32.tf32", 8, ", 1, 1", false},
                            {"e4m3", "f32.e4m3.e4m3", 32, ", 1, 1", false},
                            {"s8", "s32.s8.s8", 32, "", false}};

// Registers of a thread that D has.
int words_of(const Wgmma& w, int n) { return w.half ? n / 4 : n / 2; }

constexpr Wgmma kHalf{"f16", "f32.f16.f16", 16, ", 1, 1, 0, 0", false};

std::string product_of(const Wgmma& w, int n, bool registers) {
  std::string tail = w.tail;
  if (registers && tail.size() > 10) tail = ", 1, 1, 0";  // no transposition of A
  return fmt::format("wgmma.mma_async.sync.aligned.m64n{}k{}.{} {}, {}, right, one{};\n  ", n, w.k, w.types,
                     list("d", words_of(w, n)), registers ? "{a0, a1, a2, a3}" : "left", tail);
}

// All but the body.
Probe wgmma_probe(const Wgmma& w, int n, uint32_t warpgroups) {
  Probe p;
  p.warps = 4 * warpgroups;
  p.shared = 96 << 10;
  p.declare = fmt::format(".reg .b32 d<{}>, a<4>, x, y, r; .reg .b64 left, right; .reg .pred q, one;",
                          words_of(w, n));
  // 128-byte swizzle, 1024 bytes from one eight rows to the next; A's tile, then B's.
  p.before =
      "setp.eq.u32 one, 0, 0; shr.u32 x, t_sh, 4; and.b32 x, x, 0x3FFF; cvt.u64.u32 left, x;"
      "or.b64 left, left, 0x4000004000010000; add.u64 right, left, 512;" +
      repeat(words_of(w, n), "mov.b32 d#, 0;") + repeat(4, "mov.b32 a#, 0;") + "mov.b32 y, t_tid;";
  p.after = "wgmma.wait_group.sync.aligned 0;" + use(words_of(w, n)) +
            "setp.eq.u32 q, y, 0x12345678; @q st.global.u32 [t_in], y;";
  return p;
}

// `groups` of `each` products in a pass; behind each group `meanwhile` operations, each of which needs the
// one before, and a wait that leaves so many groups under way.
double wgmma(const Cycles& cycles, const Wgmma& w, int n, bool registers, int groups, int each, int leave,
             uint32_t warpgroups = 1, int meanwhile = 0) {
  Probe p = wgmma_probe(w, n, warpgroups);
  for (int g = 0; g < groups; ++g) {
    p.body += "wgmma.fence.sync.aligned;\n  ";
    for (int i = 0; i < each; ++i) p.body += product_of(w, n, registers);
    p.body += "wgmma.commit_group.sync.aligned;\n  " +
              repeat(meanwhile / 2, "add.u32 y, y, t_zero; xor.b32 y, y, t_tid;\n  ") +
              fmt::format("wgmma.wait_group.sync.aligned {};\n  ", leave);
  }
  return cycles(p, kPasses) / (groups * each);
}

// A loop of so many rounds of four operations, each of which needs the one before: ptxas moves nothing out of
// it.
std::string rounds_of(int rounds) {
  return "mov.u32 r, 0;\n  ROUND:\n  " + repeat(2, "add.u32 y, y, t_zero;\n  xor.b32 y, y, t_tid;\n  ") +
         fmt::format("add.u32 r, r, 1;\n  setp.lt.u32 q, r, {};\n  @q bra ROUND;\n  ", rounds);
}

// `each` products in a pass, a wait that leaves so many groups under way, and a loop behind it.
double wgmma_beside(const Cycles& cycles, int n, bool registers, int each, int leave, uint32_t warpgroups,
                    int rounds) {
  Probe p = wgmma_probe(kHalf, n, warpgroups);
  if (each > 0) p.body = "wgmma.fence.sync.aligned;\n  ";
  for (int i = 0; i < each; ++i) p.body += product_of(kHalf, n, registers);
  if (each > 0) p.body += "wgmma.commit_group.sync.aligned;\n  ";
  const std::string wait = fmt::format("wgmma.wait_group.sync.aligned {};\n  ", leave);
  if (each > 0 && leave > 0) p.body += wait;
  p.body += rounds_of(rounds);
  if (each > 0 && leave == 0) p.body += wait;
  return cycles(p, kPasses);
}

// How long a warpgroup takes for an operation, with several chains of it, while another one multiplies.
double beside_another(const Cycles& cycles, int n, bool registers, int each, const std::string& operation) {
  constexpr int kChains = 8, kMany = 256;
  Probe p = wgmma_probe(kHalf, n, 2);
  p.tells_another = true;
  p.declare += ".reg .b32 c<8>; .reg .b64 g_begin, g_now, g_all; .reg .pred multiplies;";
  p.before +=
      "mov.u64 g_all, 0; setp.lt.u32 multiplies, t_warp, 4;" + repeat(kChains, "add.u32 c#, t_tid, #;");
  p.body = "bar.sync 1;\n  @multiplies bra MULTIPLY;\n  mov.u64 g_begin, %clock64;\n  ";
  for (int i = 0; i < kMany; ++i) {
    std::string one = operation;
    for (size_t at; (at = one.find('#')) != std::string::npos;)
      one.replace(at, 1, std::to_string(i % kChains));
    p.body += one + "\n  ";
  }
  p.body +=
      "mov.u64 g_now, %clock64; sub.u64 g_now, g_now, g_begin; add.u64 g_all, g_all, g_now;\n  bra "
      "JOIN;\nMULTIPLY:\n"
      "  wgmma.fence.sync.aligned;\n  ";
  for (int i = 0; i < each; ++i) p.body += product_of(kHalf, n, registers);
  p.body += "wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 0;\nJOIN:\n";
  p.after += "add.u64 t_to, t_from, g_all; {.reg .pred q;" +
             repeat(kChains, "setp.eq.u32 q, c#, 0x12345678; @q st.global.u32 [t_in], c#;") + "}";
  return cycles(p, kPasses) / kMany;
}

struct Mma {
  const char* name;
  int d, a, b;  // registers
  // A's first register is one of the chain's results: ptxas makes several instructions of it, of which it
  // would take those before the loop that are the same each time.
  bool own = false;
};
constexpr Mma kMma[] = {{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 4, 2},
                        {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 2, 4, 2},
                        {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 4, 4, 2},
                        {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 4, 2, 1},
                        {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 4, 4, 2},
                        {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 4, 4, 2, true},
                        {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 4, 4, 2},
                        {"wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16", 4, 8, 8},
                        {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 8, 8, 8}};

double mma(const Cycles& cycles, const Mma& m, int chains, uint32_t warps) {
  constexpr int kEach = 32;
  Probe p;
  p.warps = warps;
  p.declare = fmt::format(".reg .b32 d<{}>, a<8>, b<8>, x; .reg .pred q;", m.d * chains);
  p.before = repeat(m.d * chains, "mov.b32 d#, 0;") + repeat(m.a, "ld.global.u32 a#, [t_in];") +
             repeat(m.b, "ld.global.u32 b#, [t_in];");
  for (int i = 0; i < kEach; ++i) {
    std::string d;
    for (int r = 0; r < m.d; ++r) d += fmt::format("{}d{}", r == 0 ? "" : ", ", i % chains * m.d + r);
    std::string a = list("a", m.a);
    if (m.own) a.replace(a.find("a0"), 2, fmt::format("d{}", i % chains * m.d));
    p.body += fmt::format("{} {{{}}}, {}, {}, {{{}}};\n  ", m.name, d, a, list("b", m.b), d);
  }
  p.after = use(m.d * chains);
  return cycles(p, kPasses) / kEach;
}

// A step of a GEMM, as kernels have it that multiply by mma.sync: so many warps, each of which loads the left
// and right operands of 4 x 8 products and multiplies them, twice; before it a barrier, or none.
double step(const Cycles& cycles, uint32_t warps, bool loads, bool multiplies, bool barrier) {
  constexpr int kSlices = 2, kOperands = 16, kResults = 64;  // registers, of a slice and of all
  Probe p;
  p.warps = warps;
  p.shared = 32 << 10;
  p.declare = ".reg .b32 d<64>, a<32>, b<32>, x, at; .reg .pred q;";
  p.before = "shl.b32 at, t_lane, 4; add.u32 at, at, t_sh;" + repeat(kResults, "mov.b32 d#, 0;") +
             repeat(kSlices * kOperands, "ld.global.u32 a#, [t_in]; ld.global.u32 b#, [t_in];");
  if (barrier) p.body = "bar.sync 0;\n  ";
  for (int slice = 0; slice < kSlices; ++slice) {
    const int first = kOperands * slice, at = 8192 * slice;
    for (int i = 0; loads && i < 4; ++i)
      p.body +=
          fmt::format("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{a{}, a{}, a{}, a{}}}, [at+{}];\n  ",
                      first + 4 * i, first + 4 * i + 1, first + 4 * i + 2, first + 4 * i + 3, at + 512 * i);
    for (int i = 0; loads && i < 8; ++i)
      p.body += fmt::format("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {{b{}, b{}}}, [at+{}];\n  ",
                            first + 2 * i, first + 2 * i + 1, at + 4096 + 256 * i);
    for (int i = 0; multiplies && i < 32; ++i) {
      const int d = 2 * i, a = first + i / 8 * 4, b = first + i % 8 * 2;
      p.body += fmt::format(
          "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {{d{0}, d{1}}}, {{a{2}, a{3}, a{4}, a{5}}}, "
          "{{b{6}, b{7}}}, {{d{0}, d{1}}};\n  ",
          d, d + 1, a, a + 1, a + 2, a + 3, b, b + 1);
    }
  }
  // Without products each load is kept by what comes of it.
  if (loads && !multiplies)
    p.body += repeat(kSlices * kOperands, "xor.b32 d#, d#, a#; xor.b32 d#, d#, b#;\n  ");
  p.after = use(kResults);
  return cycles(p, kPasses);
}

}  // namespace

Rows tensor(const Cycles& cycles) {
  Rows out;
  for (const uint32_t warps : {4U, 8U, 16U})
    for (const bool barrier : {false, true})
      for (const auto& [loads, multiplies] :
           {std::pair(true, false), std::pair(false, true), std::pair(true, true)})
        out.push_back({"a step of mma.sync",
                       fmt::format("{} warps,{}{}{}", warps, loads ? " 24 ldmatrix" : "",
                                   multiplies ? " 64 products" : "", barrier ? " behind a barrier" : ""),
                       step(cycles, warps, loads, multiplies, barrier), "cycles"});
  for (const Mma& m : kMma) {
    out.push_back({m.name, "latency", mma(cycles, m, 1, 1), "cycles"});
    out.push_back({m.name, "interval of one warp, 8 chains", mma(cycles, m, 8, 1), "cycles"});
    out.push_back(
        {m.name, "interval of a multiprocessor, 4 warps, 8 chains", mma(cycles, m, 8, 4) / 4, "cycles"});
    out.push_back(
        {m.name, "interval of a multiprocessor, 16 warps, 4 chains", mma(cycles, m, 4, 16) / 16, "cycles"});
  }
  for (const int n : {8, 16, 24, 32, 48, 64, 80, 96, 128, 160, 192, 224, 256})
    for (const bool registers : {false, true}) {
      const Wgmma& w = kWgmma[0];
      const std::string name = fmt::format("wgmma {} {}", w.name, registers ? "RS" : "SS");
      const std::string shape = fmt::format("m64n{}k{}", n, w.k);
      out.push_back({name, shape + ", 16 in a group", wgmma(cycles, w, n, registers, 1, 16, 0), "cycles"});
      out.push_back({name, shape + ", 64 in a group", wgmma(cycles, w, n, registers, 1, 64, 0), "cycles"});
      out.push_back(
          {name, shape + ", 1 in a group, wait for it", wgmma(cycles, w, n, registers, 16, 1, 0), "cycles"});
      out.push_back({name, shape + ", 1 in a group, 1 left under way",
                     wgmma(cycles, w, n, registers, 16, 1, 1), "cycles"});
      out.push_back({name, shape + ", 1 in a group, 3 left under way",
                     wgmma(cycles, w, n, registers, 16, 1, 3), "cycles"});
      out.push_back(
          {name, shape + ", 4 in a group, wait for it", wgmma(cycles, w, n, registers, 8, 4, 0), "cycles"});
      out.push_back({name, shape + ", 4 in a group, 1 group left under way",
                     wgmma(cycles, w, n, registers, 8, 4, 1), "cycles"});
      out.push_back({name, shape + ", 16 in a group, two warpgroups, of each",
                     wgmma(cycles, w, n, registers, 1, 16, 0, 2), "cycles"});
    }
  // How long a warp stands that issues four: what it does meanwhile begins so much later.
  for (const uint32_t warpgroups : {1U, 2U})
    for (const bool registers : {false, true})
      for (const int n : {128, 256})
        for (const int meanwhile : {0, 64, 128, 256})
          out.push_back({registers ? "wgmma f16 RS" : "wgmma f16 SS",
                         fmt::format("m64n{}k16, 4 in a group, {} dependent operations before the wait, {} "
                                     "warpgroups",
                                     n, meanwhile, warpgroups),
                         4 * wgmma(cycles, kHalf, n, registers, 1, 4, 0, warpgroups, meanwhile), "cycles"});
  // The same where ptxas moves nothing: how long it stands, and a loop beside products that are waited for
  // later.
  for (const uint32_t warpgroups : {1U, 2U}) {
    for (const int rounds : {16, 32, 64})
      out.push_back({"a loop of dependent operations",
                     fmt::format("{} rounds, {} warpgroups", rounds, warpgroups),
                     wgmma_beside(cycles, 64, false, 0, 0, warpgroups, rounds), "cycles"});
    for (const bool registers : {false, true}) {
      const std::string name = registers ? "wgmma f16 RS" : "wgmma f16 SS";
      for (const int n : {64, 128, 256}) {
        for (const int each : {1, 4, 8})
          out.push_back({name,
                         fmt::format("m64n{}k16, {} in a group, 64 rounds before the wait, {} warpgroups", n,
                                     each, warpgroups),
                         wgmma_beside(cycles, n, registers, each, 0, warpgroups, 64), "cycles"});
        for (const int rounds : {16, 32})
          out.push_back({name,
                         fmt::format("m64n{}k16, 4 in a group, 1 group left under way, then {} rounds, {} "
                                     "warpgroups",
                                     n, rounds, warpgroups),
                         wgmma_beside(cycles, n, registers, 4, 1, warpgroups, rounds), "cycles"});
      }
    }
  }
  constexpr std::pair<const char*, const char*> kBeside[] = {
      {"lop3.b32 of three registers", "lop3.b32 c#, c#, t_zero, t_tid, 0x96;"},
      {"add.u32 of two registers", "add.u32 c#, c#, t_tid;"},
      {"mad.lo.u32 of three registers", "mad.lo.u32 c#, c#, t_tid, t_zero;"},
      {"fma.rn.f32 of three registers", "fma.rn.f32 c#, c#, t_tid, t_zero;"},
      {"fma.rn.f16x2 of three registers", "fma.rn.f16x2 c#, c#, t_tid, t_zero;"},
      {"cvt.rn.f16x2.e4m3x2", "{.reg .b16 lo, hi; mov.b32 {lo, hi}, c#; cvt.rn.f16x2.e4m3x2 c#, lo;}"},
      {"ex2.approx.ftz.f32", "ex2.approx.ftz.f32 c#, c#;"}};
  for (const auto& [name, operation] : kBeside) {
    out.push_back({name, "beside a warpgroup without products",
                   beside_another(cycles, 64, false, 0, operation), "cycles"});
    for (const bool registers : {false, true})
      for (const int n : {64, 128, 256})
        out.push_back({name,
                       fmt::format("beside a warpgroup's products m64n{}k16 {}", n, registers ? "RS" : "SS"),
                       beside_another(cycles, n, registers, 32 * 64 / n, operation), "cycles"});
  }
  for (size_t i = 1; i < std::size(kWgmma); ++i)
    for (const int n : {16, 64, 128, 256})
      for (const bool registers : {false, true}) {
        const Wgmma& w = kWgmma[i];
        out.push_back({fmt::format("wgmma {} {}", w.name, registers ? "RS" : "SS"),
                       fmt::format("m64n{}k{}, 16 in a group", n, w.k),
                       wgmma(cycles, w, n, registers, 1, 16, 0), "cycles"});
        out.push_back({fmt::format("wgmma {} {}", w.name, registers ? "RS" : "SS"),
                       fmt::format("m64n{}k{}, 1 in a group, wait for it", n, w.k),
                       wgmma(cycles, w, n, registers, 16, 1, 0), "cycles"});
      }
  return out;
}

}  // namespace bitwell::cost_probe
