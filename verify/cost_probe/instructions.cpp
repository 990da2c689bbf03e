// Instructions that compute in registers, or among the lanes of a warp.
#include <fmt/format.h>

#include "verify/cost_probe/cost.h"

namespace bitwell::cost_probe {
namespace {

struct Instruction {
  const char* name;
  const char* text;  // $d: a register that it reads and writes; $e: another one of those
};
// Chains: 32-bit registers r, pairs of them d; constants f_a and f_b (floats), r_a and r_b (words), d_a.
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
};

std::string with(std::string text, int chain, int chains) {
  const auto put = [&](const std::string& from, const std::string& to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  };
  put("$d", fmt::format("r{}", chain));
  put("$D", fmt::format("d{}", chain));
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
  for (int i = 0; i < operations; ++i) p.body += with(text, i % chains, chains) + "\n  ";
  // Nobody knows that the sum of all is not this number.
  p.after =
      "mov.b32 r_x, 0; {.reg .b32 lo, hi; .reg .pred q;" +
      repeat(chains,
             "xor.b32 r_x, r_x, r#; mov.b64 {lo, hi}, d#; xor.b32 r_x, r_x, lo; xor.b32 r_x, r_x, hi;") +
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

}  // namespace

Rows instructions(const Cycles& cycles) {
  Rows out;
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
