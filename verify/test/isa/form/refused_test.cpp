// What is refused, and in which words (near_misses_test.cpp has what lies around every form).
#include <gtest/gtest.h>

#include <string>

#include "model/isa/compile/compile.h"
#include "model/ptx/parse.h"

namespace bitwell::isa {
namespace {

std::string module_of(const std::string& target, const std::string& body,
                      const std::string& version = "9.0") {
  return ".version " + version + "\n.target " + target +
         "\n.address_size 64\n"
         ".extern .func nobody();\n.func callee() { ret; }\n"
         ".func (.param .b32 result) two(.param .b32 first, .param .b64 second) { ret; }\n"
         ".visible .entry other() { ret; }\n.global .align 16 .b8 gv[64];\n"
         ".visible .entry e(.param .b64 par) {\n.reg .pred %p<9>; .reg .b8 %c<9>; .reg .b16 %h<9>; .reg .b32 "
         "%r<40>;\n"
         ".reg .f32 %f<40>; .reg .b64 %d<9>; .reg .f64 %g<9>; .reg .b128 %q<9>;\n"
         ".shared .align 128 .b8 sv[1024]; .local .align 16 .b8 lv[64];\n"
         ".param .b32 p32; .param .b64 p64; .param .align 8 .b8 p4[4];\n"
         "targets: .branchtargets label;\nnothing: .callprototype _ ();\nlabel:\n" +
         body + "\nret;\n}\n";
}

// "unsupported: ..." or "invalid: ..." of the one finding; "" if there is none.
std::string said(const std::string& text) {
  std::string out;
  for (const Finding& f : isa::check(ptx::parse(text))) {
    if (f.kind == Finding::Kind::invalid) out += "invalid: " + f.what;
    if (f.kind == Finding::Kind::unsupported) out += "unsupported: " + f.what;
  }
  return out;
}

struct Refused {
  const char* target;
  const char* line;
  const char* says;  // how the finding begins, or what is in it behind "unsupported: ..." or "invalid: ..."
};
constexpr const char* kHopper = "sm_90a";
constexpr const char* kBlackwell = "sm_100a";
// clang-format off
constexpr Refused kUnsupported[] = {
    {kHopper, "call other;", "a call of entry 'other'"},
    {kHopper, "call nobody;", "a call of 'nobody', which has no body"},
    {kHopper, "call (p32), two, (p32, gv);", "call argument 'gv' that is not a .param variable"},
    {kHopper, "call (p32), two, (p32, nowhere);", "call argument 'nowhere' that is not a .param variable"},
    {kHopper, "call %d1, (), nowhere;", "an indirect call without a .callprototype"},
    {kHopper, "mov.b128 %q1, 3;", "'mov.b128' of a constant"},
    {kHopper, "mov.u32 %r1, gv;", "a 32-bit address of .global variable 'gv'"},
    {kHopper, "mov.u32 %r1, callee;", "a 32-bit address of function 'callee'"},
    {kHopper, "mov.u64 %d1, nobody;", "the address of 'nobody', which has no body"},
    {kHopper, "cvta.local.u64 %d1, lv;", "'cvta' of a local variable by name"},
    {kHopper, "cvt.u32.u32 %r1, %q1;", "cvt of a register of 128 bits"},
    {kHopper, "cvt.u32.u32 %q1, %r1;", "cvt of a register of 128 bits"},
    {kHopper, "ld.global.v2.b8 {%h1, %r1}, [%d1];", "registers of different sizes"},
    {kHopper, "st.global.v2.b8 [%d1], {%h1, %r1};", "registers of different sizes"},
    {kHopper, "atom.global.exch.b128 %q1, [%d1], %q2;", "128-bit atomics"},
    {kHopper, "mapa.u32 %r1, %r2, %r3;", "a 32-bit generic address"},
    {kHopper, "getctarank.u32 %r1, %r2;", "a 32-bit generic address"},
    {kHopper, "cp.async.ca.shared.global [%r1], [%d1], 4, !%p1;", "with a negated predicate"},
    {kHopper, "tex.2d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%d1, %d2, {%f1, %f2}];", "a texture and a sampler"},
    {kHopper, "tex.2d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%d1, %f1];", "one coordinate for an array of more"},
    {kHopper, "tex.1d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%d1, {0f00000000}];", "a floating-point constant as a whole coordinate"},
    {kHopper, "tex.1d.v4.u32.f32 {%r1, %r2, %r3, %r4}|%p1, [%d1, {%f1}];", "says whether the texels are resident"},
    {kHopper, "tex.2d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%d1, {%f1, %f2}], {%r5, %r6};", "with an offset or a value to compare with"},
    {kHopper, "tex.1d.v4.u32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1}];", "of whole numbers into registers of .f32"},
    {kHopper, "sust.b.1d.b32.trap [%d1, {%r1}], {0f3F800000};", "of a floating-point constant"},
    {kHopper, "suld.b.1d.b32.trap {%r1, %r2}, [%d1, {%r3}];", "of one element with a vector of more"},
    {kHopper, "suld.b.1d.b32.trap {%r1, %r2, %r3, %r4}, [%d1, {%r3}];", "of one element with a vector of more"},
    {kHopper, "suld.b.1d.v2.b8.trap {%h1, %r1}, [%d1, {%r3}];", "registers of different sizes"},
    {kHopper, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f1, %f2, %f3}, %d1, %d2, 1, 1, 1, 0, 0;", "with a register twice in D"},
    {kHopper, "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r1, %r1, %r2, %r3}, %d1, %d2, 1;", "with a register twice in D"},
    {kHopper, "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16 {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, {%r1,%r2,%r3,%r4};", "C and D of different types"},
    {kHopper, "wmma.mma.sync.aligned.row.col.m8n8k4.rz.f64.f64.f64.f64 {%g1, %g2}, {%g3}, {%g4}, {%g5, %g6};", "a rounding other than to nearest"},
    {kHopper, "wmma.mma.sync.aligned.row.col.m8n8k4.rm.f64.f64.f64.f64 {%g1, %g2}, {%g3}, {%g4}, {%g5, %g6};", "a rounding other than to nearest"},
    {kHopper, "wmma.mma.sync.aligned.row.col.m8n8k4.rp.f64.f64.f64.f64 {%g1, %g2}, {%g3}, {%g4}, {%g5, %g6};", "a rounding other than to nearest"},
    {kHopper, "mma.sync.aligned.m8n8k4.row.col.rz.f64.f64.f64.f64 {%g1, %g2}, {%g3}, {%g4}, {%g5, %g6};", "a rounding other than to nearest"},
    {kHopper, "mma.sync.aligned.m8n8k4.row.col.rm.f64.f64.f64.f64 {%g1, %g2}, {%g3}, {%g4}, {%g5, %g6};", "a rounding other than to nearest"},
    {kHopper, "mma.sync.aligned.m8n8k4.row.col.rp.f64.f64.f64.f64 {%g1, %g2}, {%g3}, {%g4}, {%g5, %g6};", "a rounding other than to nearest"},
    {kHopper, "wmma.store.d.sync.aligned.col.m16n16k16.global.f16 [%d1], {%r1, %r2, %r3, %r4};", "fp16 accumulators in columns"},
    {kHopper, "wmma.load.c.sync.aligned.col.m16n16k16.global.f16 {%r1, %r2, %r3, %r4}, [%d1];", "fp16 accumulators in columns"},
    {kHopper, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4};", "with e4m3 and e5m2 inputs"},
    {kBlackwell, "tcgen05.mma.cta_group::1.kind::i8 [%r1], %d1, %d2, %r2, %p1, 3;", "with scale-input-d"},
};
constexpr Refused kWrong[] = {
    {kHopper, "bra label, label;", "'bra' takes a label"},
    {kHopper, "bra %d1;", "label"},
    {kHopper, "brx.idx %r1, targets, targets;", "'brx.idx' takes 2 operands"},
    {kHopper, "brx.idx %r1, label;", "unknown branch targets 'label'"},
    {kHopper, "call 3;", "'call' needs a function"},
    {kHopper, "call (p32), two, (p32);", "the call passes 1 parameters where 2 are declared"},
    {kHopper, "call two, (p32, p64);", "the call passes 0 parameters where 1 are declared"},
    {kHopper, "call callee, (p32);", "the call passes 1 parameters where 0 are declared"},
    {kHopper, "call (p32), two, (p64, p64);", "call argument 'p64' has another size than declared"},
    {kHopper, "call (p32), two, (p4, p64);", "call argument 'p4' has another alignment than declared"},
    {kHopper, "call %d1;", "an indirect call needs a prototype"},
    {kHopper, "call callee, (), nothing;", "too many operands of 'call'"},
    {kHopper, "mov.u32 %r1, %r2, %r3;", "'mov' takes 2 operands"},
    {kHopper, "mov.f32 %f1, sv;", "an address does not fit .f32"},
    {kHopper, "mov.f64 %g1, sv;", "an address does not fit .f64"},
    {kHopper, "mov.b64 {%r1, %r2}, {%r3, %r4};", "vectors on both sides of 'mov'"},
    {kHopper, "mov.b64 %d1, {%h1, %h2, %h3};", "a vector of 3 does not make up .b64"},
    {kHopper, "mov.b16 %h1, {%c1, %c2, %c3, %c4};", "a vector of 4 does not make up .b16"},
    {kHopper, "mov.u64 %d1, {%r1, %r2};", "'mov.u64' of a vector needs an untyped size"},
    {kHopper, "mov.f64 %g1, {%r1, %r2};", "a vector of 2 does not make up .f64"},
    {kHopper, "cvta.global.u64 %d1, sv;", "variable 'sv' is not in .global"},
    {kHopper, "cvta.local.u64 %d1, gv;", "variable 'gv' is not in .local"},
    {kHopper, "cvta.global.u64 %d1, %d2, %d3;", "'cvta' takes 2 operands"},
    {kHopper, "mapa.shared::cluster.u32 %r1, gv, %r3;", "variable 'gv' is not in that state space"},
    {kHopper, "mapa.u64 %d1, %d2;", "takes 3 operands"},
    {kHopper, "getctarank.u64 %r1, %d2, %r3;", "takes 2 operands"},
    {kHopper, "setmaxnreg.inc.sync.aligned.u32 24, 24;", "'setmaxnreg' takes 1 operand"},
    {kHopper, "setp.eq.u32 %p1, %r2, %r3, %r4;", "'setp' takes 3 operands"},
    {kHopper, "setp.eq.and.u32 %p1, %r2, %r3;", "'setp' takes 4 operands"},
    {kHopper, "set.eq.u32.u32 %r1, %r2, %r3, %p1;", "'set' takes 3 operands"},
    {kHopper, "set.eq.or.u32.u32 %r1, %r2, %r3;", "'set' takes 4 operands"},
    {kHopper, "setp.eq.f16 %p1|%p2, %h1, %h2;", "'setp.f16' has one destination"},
    {kHopper, "setp.eq.bf16 %p1|%p2, %h1, %h2;", "'setp.bf16' has one destination"},
    {kHopper, "barrier.sync 0, 32, 32;", "takes 1 or 2 operands"},
    {kHopper, "barrier.arrive 0;", "takes 2 operands"},
    {kHopper, "bar.red.popc.u32 %r1, 0;", "takes 3 or 4 operands"},
    {kHopper, "match.any.sync.b32 %r1|%p1, %r2, -1;", "'match.any' has one destination"},
    {kHopper, "elect.sync %r1, -1;", "a destination of the form d|p is needed"},
    {kHopper, "shfl.sync.idx.b32 %r1, %r2, 0, 31;", "takes 5 operands"},
    {kHopper, "mbarrier.arrive.shared::cluster.b64 %d1, [%r1];", "cannot be had: the destination is '_'"},
    {kHopper, "mbarrier.arrive.shared.b64 [%r1];", "needs a destination for the state"},
    {kHopper, "mbarrier.test_wait.shared.b64 _, [%r1], %d1;", "'_' where the result cannot be discarded"},
    {kHopper, "mbarrier.init.shared.b64 [%r1];", "takes 2 operands"},
    {kHopper, "mbarrier.arrive.shared.b64 %d1, [%r1], %r2, %r3;", "takes 2 to 3 operands"},
    {kHopper, "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1, %r2, %r3}, [%r4];", "needs a vector of 2 registers"},
    {kHopper, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r1, [%r4];", "needs a vector of 1 registers"},
    {kHopper, "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r4], {%r1, %r2};", "needs a vector of 4 registers"},
    {kHopper, "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r4], %r5;", "takes 2 operands"},
    {kBlackwell, "ldmatrix.sync.aligned.m8n16.x2.shared.b8x16.b6x16_p32 {%r1}, [%r4];", "needs a vector of 2 registers"},
    {kHopper, "cp.async.cg.shared.global [%r1], [%d1], 8;", "cp.async of 8 bytes, it must be 16"},
    {kHopper, "cp.async.ca.shared.global [%r1], [%d1], 12;", "cp.async of 12 bytes, it must be 4, 8 or 16"},
    {kHopper, "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%r1], {%r2}, [%r3];", "needs a source of 2 registers"},
    {kHopper, "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1], [%r2];", "a tensor map and its coordinates"},
    {kHopper, "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1, {%r2}], [%r2];", "1 coordinates for a tensor of 2 dimensions"},
    {kHopper, "cp.async.bulk.tensor.4d.im2col.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1, {%r2, %r2, %r2, %r2}], [%r2], {%h1};", "as many as the tensor has dimensions but two"},
    {kBlackwell, "cp.async.bulk.tensor.2d.tile::gather4.shared::cta.global.mbarrier::complete_tx::bytes [%r1], [%d1, {%r2, %r2, %r2, %r2}], [%r2];", "4 coordinates for a column and 4 rows"},
    {kHopper, "wgmma.wait_group.sync.aligned 0, 0;", "'wgmma.wait_group' takes 1 operand"},
    {kHopper, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d1, %d2, 2, 1, 1, 0, 0;", "scale-d is 2, it must be 0 or 1"},
    {kHopper, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d1, %d2, 1, 0, 1, 0, 0;", "imm-scale-a is 0, it must be 1 or -1"},
    {kHopper, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d1, %d2, 1, 1, 2, 0, 0;", "imm-scale-b is 2, it must be 1 or -1"},
    {kHopper, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d1, %d2, 1, 1, 1, 2, 0;", "imm-trans-a is 2, it must be 0 or 1"},
    {kHopper, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d1, %d2, 1, 1, 1, 0, 2;", "imm-trans-b is 2, it must be 0 or 1"},
    {kHopper, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d1, %d2, 1, 1, 1;", "takes 8 operands here"},
    {kHopper, "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4};", "too few operands"},
    {kHopper, "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r1, %r2, %r3}, %d1, %d2, 1;", "D must be a vector of 4 registers"},
    {kHopper, "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1, %r2, %r3}, [%d1];", "needs a vector of 8 registers"},
    {kHopper, "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%d1], 16, 16;", "takes 2 or 3 operands"},
    {kHopper, "wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%f1, %f2}, [%d1];", "register '%f1' is .f32 where .b32 is needed"},
    {kHopper, "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, {%f1, %f2}, {%r1, %r2}, {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8};", "register '%f1' is .f32 where .b32 is needed"},
    {kHopper, "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, {%r1, %r2}, {%r1}, {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8};", "operand 2 of"},
    {kHopper, "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%g1, %g2}, {%g3}, {%g4}, {%g5};", "operand 3 of"},
    {kHopper, "fence.proxy.tensormap::generic.acquire.gpu [%d1], 64;", "takes a size of 128, nothing else"},
    {kHopper, "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], [%r1], 64;", "copies 128 bytes, nothing else"},
    {kHopper, "suld.b.1d.v4.b64.trap {%d1, %d2, %d3, %d4}, [%d5, {%r1}];", "a vector of more than 128 bits"},
    {kHopper, "suld.b.1d.v2.b32.trap {_, _}, [%d5, {%r1}];", "'_' in all places"},
    {kHopper, "suld.b.1d.v2.b32.trap {%r1}, [%d5, {%r1}];", "needs 2 registers"},
    {kHopper, "tex.1d.v4.u32.f32 {_, _, _, _}, [%d1, {%f1}];", "'_' in all places"},
    {kHopper, "tex.1d.v4.u32.f32 {%r1, %r2, %r3}, [%d1, {%f1}];", "needs a vector of 4 registers"},
    {kHopper, "tex.1d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%d1];", "an object and coordinates"},
    {kHopper, "tex.1d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [%d1, 3];", "a constant where coordinates are needed"},
    {kHopper, "tex.1d.v4.u32.f32 {%r1, %r2, %r3, %r4}, [3, {%f1}];", "the object is a register with its handle"},
    {kHopper, "tex.2d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%d1, {%f1, %f2}];", "as a whole coordinate"},
    {kHopper, "tex.3d.v4.u32.s32 {%r1, %r2, %r3, %r4}, [%d1, {%r1, %r2}];", "2 coordinates where 4 are needed"},
    {kBlackwell, "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 48;", "of 48 columns, it must be a power of two from 32 to 512"},
    {kBlackwell, "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 16;", "of 16 columns, it must be a power of two from 32 to 512"},
    {kBlackwell, "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 1024;", "of 1024 columns, it must be a power of two from 32 to 512"},
    {kBlackwell, "tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, %d2, %r2, %p1, 16;", "scale-input-d is 16, it must be 0 to 15"},
    {kBlackwell, "tcgen05.mma.cta_group::1.kind::f8f6f4 [%r1], %d1, %d2, %r2, %p1, 3;", "scale-input-d with kind::f8f6f4"},
    {kBlackwell, "tcgen05.mma.cta_group::1.kind::f16 [%r1], %d1, %d2, %r2, {%r1, %r2, %r3}, %p1;", "the lanes to leave are a vector of 4 registers"},
    {kBlackwell, "tcgen05.mma.cta_group::2.kind::f16 [%r1], %d1, %d2, %r2, {%r1, %r2, %r3, %r4}, %p1;", "the lanes to leave are a vector of 8 registers"},
    {kBlackwell, "tcgen05.mma.cta_group::1.kind::f16 [%d1], %d1, %d2, %r2, %p1;", "a tensor memory address has 32 bits"},
    {kBlackwell, "tcgen05.cp.cta_group::1.128x256b [%d1], %d1;", "a tensor memory address has 32 bits"},
    {kBlackwell, "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::2X [%r1], %d1, %d2, %r2, [%r3], [%r4], %p1;", "kind::mxf8f6f4 needs .scale_vec::1X, .block32 or neither"},
    {kBlackwell, "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block16 [%r1], %d1, %d2, %r2, [%r3], [%r4], %p1;", "kind::mxf8f6f4 needs .scale_vec::1X, .block32 or neither"},
    {kBlackwell, "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::1X [%r1], %d1, %d2, %r2, [%r3], [%r4], %p1;", "kind::mxf4 needs .scale_vec::2X, .block32 or neither"},
    {kBlackwell, "tcgen05.mma.cta_group::1.kind::mxf4.block_scale.scale_vec::4X [%r1], %d1, %d2, %r2, [%r3], [%r4], %p1;", "kind::mxf4 needs .scale_vec::2X, .block32 or neither"},
    {kBlackwell, "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::1X [%r1], %d1, %d2, %r2, [%r3], [%r4], %p1;", "kind::mxf4nvf4 needs .scale_vec::2X, .scale_vec::4X, .block16 or .block32"},
    {kBlackwell, "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale [%r1], %d1, %d2, %r2, [%r3], [%r4], %p1;", "kind::mxf4nvf4 needs .scale_vec::2X, .scale_vec::4X, .block16 or .block32"},
    {"sm_103a", "tcgen05.mma.cta_group::1.kind::i8 [%r1], %d1, %d2, %r2, %p1;", "not available on sm_103a"},
    {kBlackwell, "cvt.rs.bf16x2.f32 %r1, %f1, %f2, %f3;", "a register that is .f32 where untyped bits are needed"},
    {kBlackwell, "cvt.rs.satfinite.e4m3x4.f32 %r1, {%f1, %f2, %f3}, %r2;", "needs a vector of 4 registers"},
    {kBlackwell, "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r1, %r2, %r3}, %q1;", "needs a vector of 4 registers"},
    {kBlackwell, "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {_, _, _, _}, %q1;", "'_' in all places"},
    {kBlackwell, "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 _, %q1;", "'_' where the result cannot be discarded"},
    {"sm_120a", "mma.sync.aligned.kind::mxf4.block_scale.scale_vec::2X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4}, %r7, {0}, %r8, {0,0};", "byte-id and thread-id must be a vector of 2"},
    {"sm_120a", "mma.sync.aligned.kind::mxf4.block_scale.scale_vec::2X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4}, %r7, {0f00000000,0}, %r8, {0,0};", "a floating-point constant where .u16 is needed"},
    // Against the manual, but ptxas 13.0 takes them:
    {kHopper, "mov.u16 %h1, sv;", "an address does not fit .u16"},
    {kHopper, "mov.u16 %h1, callee;", "a function's address does not fit .u16"},
    {kHopper, "mov.f32 %f1, callee;", "a function's address does not fit .f32"},
    {kHopper, "mov.f64 %g1, callee;", "a function's address does not fit .f64"},
    {kHopper, "mov.pred %p1, !%p2;", "'!' before an operand of 'mov'"},
    {kHopper, "mapa.u64 %d1, sv, %r3;", "variable 'sv' is not in that state space"},
    {kHopper, "lop3.b32 %r1, %r2, %r3, %r4, 256;", "lop3's table must be 0 to 255"},
    {kHopper, "selp.b32 %r1, %r2, %r3, !%p1;", "'!' before the predicate of 'selp'"},
};
// clang-format on

TEST(Refused, WhatIsPtxIsUnsupportedByName) {
  for (const Refused& row : kUnsupported) {
    const std::string what = said(module_of(row.target, row.line));
    EXPECT_TRUE(what.starts_with("unsupported: ") && what.find(row.says) != std::string::npos)
        << row.line << "\nis not '" << row.says << "' but: " << what;
  }
}

TEST(Refused, WhatIsNoPtxIsWrongByName) {
  for (const Refused& row : kWrong) {
    const std::string what = said(module_of(row.target, row.line));
    EXPECT_TRUE(what.starts_with("invalid: ") && what.find(row.says) != std::string::npos)
        << row.line << "\nis not '" << row.says << "' but: " << what;
  }
}

// It has no type of a register's.
TEST(Refused, ASpecialRegisterAsTheChanceToRoundBy) {
  EXPECT_EQ(said(module_of(kBlackwell, "cvt.rs.bf16x2.f32 %r1, %f1, %f2, %laneid;")),
            "invalid: a special register where a register of the kernel's own is needed");
}

}  // namespace
}  // namespace bitwell::isa
