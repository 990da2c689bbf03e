// Instructions that compute in registers, or among the lanes of a warp.
#include <fmt/format.h>

#include "verify/cost_probe/cost.h"

namespace bitwell::cost_probe {
namespace {

struct Instruction {
  const char* name;
  // $d: a register that it reads and writes, $D: a pair; $e: another one of the first; $f, $F: the same with
  // a number from 1 on that is no special one.
  const char* text;
};
// Chains: 32-bit registers r, pairs of them d, floats f and g; constants f_a and f_b (floats), r_a and r_b
// (words), d_a: all 0, and f_c, g_c, r_c, d_c: not.
constexpr Instruction kInstructions[] = {
    {"fma.rn.f32", "fma.rn.f32 $d, $d, f_a, f_b;"},
    {"add.f32", "add.rn.f32 $d, $d, f_a;"},
    {"fma.rn.f16x2", "fma.rn.f16x2 $d, $d, r_a, r_b;"},
    {"fma.rn.bf16x2", "fma.rn.bf16x2 $d, $d, r_a, r_b;"},
    {"add.f16x2", "add.rn.f16x2 $d, $d, r_a;"},
    {"fma.rn.f64", "fma.rn.f64 $D, $D, d_a, d_a;"},
    {"add.s32, xor.b32", "add.s32 $d, $d, r_a; xor.b32 $d, $d, r_b;"},
    {"mad.lo.s32", "mad.lo.s32 $d, $d, r_a, r_b;"},
    {"mul.hi.u32", "mul.hi.u32 $d, $d, r_a;"},
    {"lop3.b32", "lop3.b32 $d, $d, r_a, r_b, 0x6A;"},
    {"shf.l.wrap.b32", "shf.l.wrap.b32 $d, $d, r_a, r_b;"},
    {"prmt.b32", "prmt.b32 $d, $d, r_a, r_b;"},
    {"min.s32, xor.b32", "min.s32 $d, $d, r_a; xor.b32 $d, $d, r_b;"},
    {"setp.lt.s32, selp.b32", "{.reg .pred q; setp.lt.s32 q, $d, r_a; selp.b32 $d, r_b, $e, q;}"},
    {"popc.b32", "popc.b32 $d, $d;"},
    {"brev.b32", "brev.b32 $d, $d;"},
    {"clz.b32", "clz.b32 $d, $d;"},
    {"ex2.approx.ftz.f32", "ex2.approx.ftz.f32 $d, $d;"},
    {"lg2.approx.ftz.f32", "lg2.approx.ftz.f32 $d, $d;"},
    {"rcp.approx.ftz.f32, xor.b32", "rcp.approx.ftz.f32 $d, $d; xor.b32 $d, $d, r_b;"},
    {"rsqrt.approx.ftz.f32", "rsqrt.approx.ftz.f32 $d, $d;"},
    {"sin.approx.ftz.f32", "sin.approx.ftz.f32 $d, $d;"},
    {"tanh.approx.f32", "tanh.approx.f32 $d, $d;"},
    {"ex2.approx.f16x2", "ex2.approx.f16x2 $d, $d;"},
    {"cvt.rn.f16x2.f32", "cvt.rn.f16x2.f32 $d, $d, $d;"},
    {"cvt.rn.bf16x2.f32", "cvt.rn.bf16x2.f32 $d, $d, $d;"},
    {"cvt.f32.f16", "{.reg .b16 lo, hi; mov.b32 {lo, hi}, $d; cvt.f32.f16 $d, lo;}"},
    {"cvt.rn.f16x2.e4m3x2", "{.reg .b16 lo, hi; mov.b32 {lo, hi}, $d; cvt.rn.f16x2.e4m3x2 $d, lo;}"},
    {"cvt.rn.satfinite.e4m3x2.f16x2",
     "{.reg .b16 lo; cvt.rn.satfinite.e4m3x2.f16x2 lo, $d; cvt.u32.u16 $d, lo;}"},
    {"cvt.rn.satfinite.e4m3x2.f32",
     "{.reg .b16 lo; cvt.rn.satfinite.e4m3x2.f32 lo, $d, $d; cvt.u32.u16 $d, lo;}"},
    {"cvt.rn.f32.s32", "cvt.rn.f32.s32 $d, $d;"},
    {"cvt.rni.s32.f32", "cvt.rni.s32.f32 $d, $d;"},
    {"cvt.rn.f32.f64", "{.reg .f32 x; cvt.rn.f32.f64 x, $D; cvt.f64.f32 $D, x;}"},
    {"cvt.s8.s32", "cvt.sat.s8.s32 $d, $d;"},
    {"shfl.sync.bfly.b32", "shfl.sync.bfly.b32 $d, $d, 1, 31, -1;"},
    {"shfl.sync.idx.b32", "shfl.sync.idx.b32 $d, $d, $d, 31, -1;"},
    {"vote.sync.ballot.b32", "{.reg .pred q; setp.ne.u32 q, $d, r_a; vote.sync.ballot.b32 $d, q, -1;}"},
    {"redux.sync.add.s32", "redux.sync.add.s32 $d, $d, -1;"},
    {"redux.sync.min.s32", "redux.sync.min.s32 $d, $d, -1;"},
    {"match.any.sync.b32", "match.any.sync.b32 $d, $d, -1;"},
    {"dp4a.s32.s32", "dp4a.s32.s32 $d, $d, r_a, r_b;"},
    {"bar.warp.sync", "bar.warp.sync -1;"},
    {"mul.f32, add.f32", "mul.rn.f32 $f, $f, f_c; add.rn.f32 $f, $f, f_c;"},
    {"max.f32, add.f32", "max.f32 $f, $f, f_c; add.rn.f32 $f, $f, f_b;"},
    {"setp.lt.f32, selp.f32", "{.reg .pred q; setp.lt.f32 q, $f, f_c; selp.f32 $f, f_a, $f, q;}"},
    {"div.rn.f32", "div.rn.f32 $f, f_c, $f;"},
    {"div.full.f32", "div.full.f32 $f, f_c, $f;"},
    {"div.approx.f32", "div.approx.f32 $f, f_c, $f;"},
    {"rcp.rn.f32", "rcp.rn.f32 $f, $f;"},
    {"rcp.approx.f32", "rcp.approx.f32 $f, $f;"},
    {"sqrt.rn.f32", "sqrt.rn.f32 $f, $f;"},
    {"sqrt.approx.f32", "sqrt.approx.f32 $f, $f;"},
    {"rsqrt.approx.f32", "rsqrt.approx.f32 $f, $f;"},
    {"ex2.approx.f32, min.f32", "ex2.approx.f32 $f, $f; min.f32 $f, $f, f_c;"},
    {"lg2.approx.f32, max.f32", "lg2.approx.f32 $f, $f; max.f32 $f, $f, f_c;"},
    {"sin.approx.f32", "sin.approx.f32 $f, $f;"},
    {"cos.approx.f32", "cos.approx.f32 $f, $f;"},
    {"add.f64", "add.rn.f64 $F, $F, g_c;"},
    {"mul.f64", "mul.rn.f64 $F, $F, g_c;"},
    {"setp.lt.f64, selp.f64", "{.reg .pred q; setp.lt.f64 q, $F, g_c; selp.f64 $F, d_a, $F, q;}"},
    {"div.rn.f64", "div.rn.f64 $F, g_c, $F;"},
    {"rcp.rn.f64", "rcp.rn.f64 $F, $F;"},
    {"sqrt.rn.f64", "sqrt.rn.f64 $F, $F;"},
    {"div.s32", "div.s32 $d, r_c, $d;"},
    {"div.u32", "div.u32 $d, r_c, $d;"},
    {"rem.s32, add.s32", "rem.s32 $d, r_c, $d; add.s32 $d, $d, r_c;"},
    {"rem.u32, add.u32", "rem.u32 $d, r_c, $d; add.u32 $d, $d, r_c;"},
    {"div.s64", "div.s64 $D, d_c, $D;"},
    {"div.u64", "div.u64 $D, d_c, $D;"},
    {"mul.lo.s32", "mul.lo.s32 $d, $d, r_c;"},
    {"mul.lo.s64", "mul.lo.s64 $D, $D, d_c;"},
    {"mul.hi.u64", "mul.hi.u64 $D, $D, d_c;"},
    {"mul.wide.u32", "{.reg .b32 lo, hi; mov.b64 {lo, hi}, $D; mul.wide.u32 $D, lo, r_c;}"},
    {"mad.wide.u32", "{.reg .b32 lo, hi; mov.b64 {lo, hi}, $D; mad.wide.u32 $D, hi, r_c, $D;}"},
    {"add.s64", "add.s64 $D, $D, d_c;"},
    {"xor.b64, add.s64", "xor.b64 $D, $D, d_c; add.s64 $D, $D, d_c;"},
    {"shl.b32", "shl.b32 $d, $d, r_a;"},
    {"shr.u32", "shr.u32 $d, $d, r_a;"},
    {"shr.s32, add.s32", "shr.s32 $d, $d, 3; add.s32 $d, $d, r_c;"},
    {"shl.b64", "shl.b64 $D, $D, r_a;"},
    {"shr.u64", "shr.u64 $D, $D, r_a;"},
    {"shl.b64, add.s64", "shl.b64 $D, $D, 3; add.s64 $D, $D, d_c;"},
    {"setp.lt.s64, selp.b64", "{.reg .pred q; setp.lt.s64 q, $D, d_c; selp.b64 $D, d_a, $D, q;}"},
    {"min.s64", "min.s64 $D, $D, d_c;"},
    {"bfe.u32, add.s32", "bfe.u32 $d, $d, 3, 17; add.s32 $d, $d, r_c;"},
    {"bfi.b32", "bfi.b32 $d, $d, r_c, 3, 17;"},
    {"abs.s32, add.s32", "abs.s32 $d, $d; add.s32 $d, $d, r_c;"},
    {"cvt.rn.f64.s32, cvt.rzi.s32.f64", "{.reg .f64 x; cvt.rn.f64.s32 x, $d; cvt.rzi.s32.f64 $d, x;}"},
    {"cvt.rn.f64.s64, cvt.rzi.s64.f64", "{.reg .f64 x; cvt.rn.f64.s64 x, $D; cvt.rzi.s64.f64 $D, x;}"},
    {"cvt.rn.f32.s64, cvt.rzi.s64.f32", "{.reg .f32 x; cvt.rn.f32.s64 x, $D; cvt.rzi.s64.f32 $D, x;}"},
    {"cvt.f64.f32, cvt.rn.f32.f64", "{.reg .f64 x; cvt.f64.f32 x, $f; cvt.rn.f32.f64 $f, x;}"},
    {"cvt.rzi.s32.f32", "cvt.rzi.s32.f32 $d, $d;"},
    {"cvt.rzi.u32.f32", "cvt.rzi.u32.f32 $d, $d;"},
    {"cvt.rni.f32.f32, add.f32", "cvt.rni.f32.f32 $f, $f; add.rn.f32 $f, $f, f_c;"},
    {"cvt.rmi.f32.f32, add.f32", "cvt.rmi.f32.f32 $f, $f; add.rn.f32 $f, $f, f_c;"},
    {"cvt.rni.f64.f64, add.f64", "cvt.rni.f64.f64 $F, $F; add.rn.f64 $F, $F, g_c;"},
    {"cvt.sat.f32.f32, mul.f32", "cvt.sat.f32.f32 $f, $f; mul.rn.f32 $f, $f, f_c;"},
    {"cvt.rn.f32.u8, cvt.rzi.u32.f32",
     "{.reg .b16 b; .reg .f32 x; cvt.u8.u32 b, $d; cvt.rn.f32.u8 x, b; cvt.rzi.u32.f32 $d, x;}"},
    {"cvt.rn.f32.s16, cvt.rzi.s32.f32",
     "{.reg .b16 b; .reg .f32 x; cvt.u16.u32 b, $d; cvt.rn.f32.s16 x, b; cvt.rzi.s32.f32 $d, x;}"},
    {"cvt.s32.s8, add.s32", "{.reg .b16 b; cvt.u16.u32 b, $d; cvt.s32.s8 $d, b; add.s32 $d, $d, r_c;}"},
    {"copysign.f32, add.f32", "copysign.f32 $f, f_b, $f; add.rn.f32 $f, $f, f_c;"},
    {"popc.b64", "{.reg .b32 n; popc.b64 n, $D; cvt.u64.u32 $D, n;}"},
};

std::string with(std::string text, int chain, int chains) {
  const auto put = [&](const std::string& from, const std::string& to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  };
  put("$d", fmt::format("r{}", chain));
  put("$D", fmt::format("d{}", chain));
  put("$f", fmt::format("f{}", chain));
  put("$F", fmt::format("g{}", chain));
  put("$e", chains == 1 ? "r_a" : fmt::format("r{}", (chain + 1) % chains));
  return text;
}

// `operations` of it in a pass, in so many chains, by so many warps.
double time(const Cycles& cycles, const char* text, int operations, int chains, uint32_t warps) {
  Probe p;
  p.warps = warps;
  p.declare =
      fmt::format(".reg .b32 r<{0}>, r_a, r_b, r_x; .reg .f32 f_a, f_b; .reg .b64 d<{0}>, d_a;", chains);
  p.before =
      "ld.global.v2.u32 {r_a, r_b}, [t_in]; add.u32 r_a, r_a, t_tid; add.u32 r_b, r_b, t_lane;"
      "ld.global.v2.f32 {f_a, f_b}, [t_in+8]; ld.global.u64 d_a, [t_in+16];" +
      repeat(chains,
             "ld.global.u32 r#, [t_in+32]; add.u32 r#, r#, #; add.u32 r#, r#, t_tid; ld.global.u64 d#, "
             "[t_in+40];");
  const std::string all = text;
  const bool numbers = all.find("$f") != all.npos || all.find("$F") != all.npos;
  if (numbers || all.find("_c") != all.npos) {
    p.declare +=
        fmt::format(".reg .f32 f<{0}>, f_c; .reg .f64 g<{0}>, g_c; .reg .b32 r_c; .reg .b64 d_c;", chains);
    p.before +=
        "add.u32 r_c, r_a, 0x12345; mad.wide.u32 d_c, r_c, 0x54321, 7; cvt.rn.f32.u32 f_c, r_c; "
        "cvt.rn.f64.u32 g_c, r_c; mul.f32 f_c, f_c, 0f36000000; mul.f64 g_c, g_c, 0d3EC0000000000000;" +
        repeat(
            chains,
            "add.u32 r#, r#, 1; add.u64 d#, d#, 0x700000001; cvt.rn.f32.u32 f#, r#; cvt.rn.f64.u32 g#, r#;");
  }
  for (int i = 0; i < operations; ++i) p.body += with(text, i % chains, chains) + "\n  ";
  // Nobody knows that the sum of all is not this number.
  p.after =
      "mov.b32 r_x, 0; {.reg .b32 lo, hi; .reg .pred q;" +
      repeat(chains,
             "xor.b32 r_x, r_x, r#; mov.b64 {lo, hi}, d#; xor.b32 r_x, r_x, lo; xor.b32 r_x, r_x, hi;") +
      (numbers ? repeat(chains,
                        "mov.b32 lo, f#; xor.b32 r_x, r_x, lo; mov.b64 {lo, hi}, g#; xor.b32 r_x, r_x, lo; "
                        "xor.b32 r_x, r_x, hi;")
               : "") +
      "setp.eq.u32 q, r_x, 0x12345678; @q st.global.u32 [t_in+64], r_x;}";
  return cycles(p, kPasses) / operations;
}

// An addition, a comparison of its sum, and a branch by that, which is taken or not; it leads past stores.
double branch(const Cycles& cycles, bool taken) {
  constexpr int kEach = 64;
  Probe p;
  p.declare = ".reg .b32 x; .reg .pred q;";
  p.before = "mov.u32 x, t_tid;";
  const std::string stores = repeat(8, "st.global.u32 [t_in+#00], x;");
  for (int i = 0; i < kEach; ++i)
    p.body += fmt::format("add.u32 x, x, t_zero; setp.{}.u32 q, x, {}; @q bra {};{}\n", taken ? "ne" : "eq",
                          1000 + i, taken ? fmt::format("L{}", i) : "OUT",
                          taken ? fmt::format("{} L{}:", stores, i) : "");
  p.after = "setp.ne.u32 q, x, 77; @q bra SKIP; OUT: st.global.u32 [t_in], x; SKIP:";
  return cycles(p, kPasses) / kEach;
}

// A branch over ten sums, which some lanes take, and within those another.
double apart(const Cycles& cycles, const char* some, const char* others, uint32_t warps) {
  constexpr int kEach = 32;
  Probe p;
  p.warps = warps;
  p.declare = ".reg .b32 x, y; .reg .f32 f<4>; .reg .pred q, r;";
  p.before =
      "mov.u32 x, t_zero; cvt.rn.f32.u32 f0, t_tid; add.f32 f1, f0, 0f3F000000; add.f32 f2, f0, 0f3F100000;"
      "add.f32 f3, f0, 0f3F200000;";
  const auto sums = [](int n) {
    std::string out;
    for (int i = 0; i < n; ++i) out += fmt::format("fma.rn.f32 f{0}, f{0}, f{0}, f{0};\n  ", i % 4);
    return out;
  };
  for (int i = 0; i < kEach; ++i)
    p.body +=
        fmt::format("add.u32 x, x, t_zero;\n  add.u32 y, x, t_lane;\n  {}\n  @q bra L{};\n  {}{}{}L{}:\n  ",
                    some, i, others != nullptr ? sums(4) : "",
                    others != nullptr ? fmt::format("{}\n  @r bra L{};\n  ", others, i) : "", sums(10), i);
  p.after =
      "add.f32 f0, f0, f1; add.f32 f2, f2, f3; add.f32 f0, f0, f2; setp.eq.f32 q, f0, 0f3DCCCCCD;"
      "@q st.global.u32 [t_in], x;";
  return cycles(p, kPasses) / kEach;
}

// Arithmetic in no order: which instruction, and of which registers, is drawn.
double in_no_order(const Cycles& cycles, uint32_t warps) {
  constexpr int kEach = 512;
  constexpr uint32_t kRegisters = 12;
  Probe p;
  p.warps = warps;
  p.declare = fmt::format(".reg .b32 r<{}>, x;", kRegisters);
  p.before = repeat(kRegisters, "add.u32 r#, t_tid, #;");
  uint32_t state = 1;
  const auto drawn = [&](uint32_t below) {
    state = state * 1664525 + 1013904223;
    return (state >> 16) % below;
  };
  for (int i = 0; i < kEach; ++i) {
    constexpr const char* kKinds[] = {"lop3.b32 r{}, r{}, r{}, 0x1234567, 0x96;",
                                      "mad.lo.s32 r{}, r{}, 0x76543, r{};",
                                      "shf.l.wrap.b32 r{}, r{}, r{}, 7;"};
    constexpr uint32_t kOf[] = {0, 0, 0, 1, 1, 2};
    const uint32_t kind = kOf[drawn(6)], to = drawn(kRegisters), a = drawn(kRegisters), b = drawn(kRegisters);
    p.body += fmt::format(fmt::runtime(kKinds[kind]), to, a, b) + "\n  ";
  }
  p.after = "mov.u32 x, 0;" + repeat(kRegisters, "xor.b32 x, x, r#;") +
            "{.reg .pred q; setp.eq.u32 q, x, 0x12345678; @q st.global.u32 [t_in], x;}";
  return cycles(p, kPasses) / kEach / (warps < 4 ? 1 : warps / 4.0);
}

}  // namespace

Rows instructions(const Cycles& cycles) {
  Rows out;
  struct Ways {
    const char* name;
    const char* some;
    const char* others;
  };
  constexpr Ways kWays[] = {{"none takes", "setp.gt.u32 q, y, 31;", nullptr},
                            {"all take", "setp.lt.u32 q, y, 32;", nullptr},
                            {"half of the lanes take", "setp.lt.u32 q, y, 16;", nullptr},
                            {"half of the lanes take, and half of the others later", "setp.lt.u32 q, y, 16;",
                             "setp.lt.u32 r, y, 24;"}};
  for (const Ways& w : kWays)
    for (const uint32_t warps : {1U, 32U})
      out.push_back({"add.u32, add.u32, setp.u32, bra over 10 fma.f32",
                     fmt::format("which {}, {} warps a quarter", w.name, std::max(warps / 4, 1U)),
                     apart(cycles, w.some, w.others, warps) / std::max(warps / 4, 1U), "cycles"});
  for (const uint32_t warps : {4U, 8U, 12U, 16U, 24U, 32U})
    out.push_back({"lop3.b32, mad.lo.s32, shf.b32 in no order",
                   fmt::format("of a quarter, {} warps a quarter", warps / 4), in_no_order(cycles, warps),
                   "cycles"});
  for (const bool taken : {false, true})
    out.push_back({"add.u32, setp.u32, bra", taken ? "of one warp, taken" : "of one warp, not taken",
                   branch(cycles, taken), "cycles"});
  for (const Instruction& i : kInstructions) {
    out.push_back({i.name, "latency: each needs the one before", time(cycles, i.text, 64, 1, 1), "cycles"});
    out.push_back({i.name, "interval of one warp, 8 chains", time(cycles, i.text, 64, 8, 1), "cycles"});
    out.push_back({i.name, "interval of a multiprocessor, 16 warps, 8 chains",
                   time(cycles, i.text, 64, 8, 16) / 16, "cycles"});
  }
  return out;
}

}  // namespace bitwell::cost_probe
