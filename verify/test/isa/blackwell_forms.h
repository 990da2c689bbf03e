// Instructions that came with Blackwell, and the targets for which ptxas 13.0 takes them (PTX 9.0).
#pragma once

namespace bitwell::verify {

// Which of kBlackwellTargets, a letter each: '9' sm_90a, '0' sm_100, 'a' sm_100a, 'f' sm_100f, '3' sm_103a,
// '2' sm_120a.
inline constexpr const char* kBlackwellTargets[] = {"sm_90a",  "sm_100",  "sm_100a",
                                                    "sm_100f", "sm_103a", "sm_120a"};
inline constexpr const char* kTargetLetters = "90af32";

struct BlackwellForm {
  const char* instruction;  // of the registers that blackwell_forms_test.cpp declares
  const char* targets;
};

inline constexpr const char* kEvery = "90af32";
inline constexpr const char* kFrom100 = "0af32";  // sm_100 and later
inline constexpr const char* kSpecific = "af32";  // with a suffix
inline constexpr const char* kFamily10 = "af3";   // the same, not sm_120
inline constexpr const char* kOnlyA = "a3";       // with the suffix a, not sm_120
inline constexpr const char* kNowhere = "";

#define REQUEST "clusterlaunchcontrol.try_cancel"
#define BYTES ".mbarrier::complete_tx::bytes"
#define TENSOR "cp.async.bulk.tensor.2d"
#define QUERY "clusterlaunchcontrol.query_cancel"
inline constexpr BlackwellForm kBlackwellForms[] = {
    {REQUEST ".async.shared::cta" BYTES ".b128 [%r1], [%r2];", kFrom100},
    {REQUEST ".async.shared::cta" BYTES ".b128 [%d1], [%d2];", kFrom100},
    {REQUEST ".async" BYTES ".b128 [%d1], [%d2];", kFrom100},
    {REQUEST ".async" BYTES ".shared::cta.b128 [%r1], [%r2];", kFrom100},
    {REQUEST ".async.b128" BYTES ".shared::cta [%r1], [%r2];", kFrom100},
    {REQUEST ".async.shared::cta" BYTES ".b128 [sm], [sm+16];", kFrom100},
    {REQUEST ".async.shared::cta" BYTES ".multicast::cluster::all.b128 [%r1], [%r2];", kSpecific},
    {REQUEST ".async.b128.multicast::cluster::all.shared::cta" BYTES " [%r1], [%r2];", kSpecific},
    {REQUEST ".async" BYTES ".multicast::cluster::all.b128 [%d1], [%d2];", kSpecific},
    {REQUEST ".shared::cta.async" BYTES ".b128 [%r1], [%r2];", kNowhere},
    {REQUEST ".async.shared::cluster" BYTES ".b128 [%r1], [%r2];", kNowhere},
    {REQUEST ".async.shared" BYTES ".b128 [%r1], [%r2];", kNowhere},
    {REQUEST ".async.shared::cta.b128 [%r1], [%r2];", kNowhere},
    {REQUEST ".async.shared::cta" BYTES ".b128 [%r1];", kNowhere},
    {REQUEST ".async.shared::cta" BYTES " [%r1], [%r2];", kNowhere},
    {QUERY ".is_canceled.pred.b128 %p1, %q1;", kFrom100},
    {QUERY ".pred.b128.is_canceled %p1, %q1;", kFrom100},
    {QUERY ".b128.is_canceled.pred %p1, %q1;", kNowhere},
    {QUERY ".is_canceled.pred.b128 _, %q1;", kNowhere},
    {QUERY ".is_canceled.pred.b128 %p1|%p2, %q1;", kNowhere},
    {QUERY ".is_canceled.pred.b128 %p1, %d1;", kNowhere},
    {QUERY ".get_first_ctaid.v4.b32.b128 {%r1, %r2, %r3, %r4}, %q1;", kFrom100},
    {QUERY ".get_first_ctaid.v4.b32.b128 {%r1, _, %r3, _}, %q1;", kFrom100},
    {QUERY ".get_first_ctaid.v4.b32.b128 {%f1, %f2, %f3, %f4}, %q1;", kFrom100},
    {QUERY ".b32.b128.v4.get_first_ctaid {%r1, %r2, %r3, %r4}, %q1;", kFrom100},
    {QUERY ".get_first_ctaid.v4.b128.b32 {%r1, %r2, %r3, %r4}, %q1;", kNowhere},
    {QUERY ".get_first_ctaid.v4.b32.b128 {%r1, %r2, %r3}, %q1;", kNowhere},
    {QUERY ".get_first_ctaid.v4.b32.b128 {_, _, _, _}, %q1;", kNowhere},
    {QUERY ".get_first_ctaid.b32.b128 %r1, %q1;", kNowhere},
    {QUERY ".get_first_ctaid::x.b32.b128 %r1, %q1;", kFrom100},
    {QUERY ".get_first_ctaid::y.b32.b128 %r1, %q1;", kFrom100},
    {QUERY ".get_first_ctaid::z.b32.b128 %f1, %q1;", kFrom100},
    {QUERY ".get_first_ctaid::z.b32.b128 _, %q1;", kNowhere},
    {QUERY ".get_first_ctaid::x.b32.b128 %d1, %q1;", kNowhere},
    {"mov.b128 %q1, %q2;", kEvery},
    {"mov.b128 %q1, {%d1, %d2};", kEvery},
    {"mov.b128 {%r1, %r2, %r3, %r4}, %q1;", kEvery},
    {"ld.shared.b128 %q1, [%r1];", kEvery},
    {"ld.b128 %q1, [%d1];", kEvery},
    {"ld.global.b64 %q1, [%d1];", kEvery},
    {"ld.global.v2.b64 {%q1, %q2}, [%d1];", kEvery},
    {"ld.volatile.shared.b128 %q1, [%r1];", kEvery},
    {"ld.acquire.gpu.global.b128 %q1, [%d1];", kEvery},
    {"ld.global.nc.b128 %q1, [%d1];", kEvery},
    {"ld.local.b128 %q1, [%r1];", kEvery},
    {"ld.global.v2.b128 {%q1, %q2}, [%d1];", kNowhere},
    {"ld.global.b128 %d1, [%d1];", kNowhere},
    {"st.shared.b128 [%r1], %q1;", kEvery},
    {"st.global.b128 [%d1], %q1;", kEvery},
    {"st.global.b32 [%d1], %q1;", kEvery},
    {"selp.b128 %q1, %q2, %q3, %p1;", kNowhere},
    {"add.f32x2 %d1, %d2, %d3;", kFrom100},
    {"add.rn.f32x2 %d1, %d2, %d3;", kFrom100},
    {"add.ftz.rz.f32x2 %d1, %d2, %d3;", kFrom100},
    {"add.rm.ftz.f32x2 %d1, %d2, %d3;", kFrom100},
    {"add.f32x2.rp %d1, %d2, %d3;", kFrom100},
    {"add.rn.sat.f32x2 %d1, %d2, %d3;", kNowhere},
    {"sub.rz.f32x2 %d1, %d2, %d3;", kFrom100},
    {"mul.rp.ftz.f32x2 %d1, %d2, %d3;", kFrom100},
    {"fma.rn.f32x2 %d1, %d2, %d3, %d4;", kFrom100},
    {"fma.rz.ftz.f32x2 %d1, %d2, %d3, %d4;", kFrom100},
    {"fma.f32x2 %d1, %d2, %d3, %d4;", kNowhere},
    {"mad.rn.f32x2 %d1, %d2, %d3, %d4;", kNowhere},
    {"add.rn.f32x2 %d1, %d2, 0;", kNowhere},
    {"add.rn.f32x2 %d1, %d2, 0f3F800000;", kNowhere},
    {"add.rn.f32x2 %g1, %d2, %d3;", kNowhere},
    {"add.rn.f32x2 %d1, %g2, %d3;", kNowhere},
    {"add.rn.f32x2 %d1, %d2, %f1;", kNowhere},
    {"min.f32x2 %d1, %d2, %d3;", kNowhere},
    {"max.f32 %f1, %f2, %f3, %f4;", kFrom100},
    {"min.NaN.f32 %f1, %f2, %f3, 0f3F800000;", kFrom100},
    {"max.ftz.NaN.abs.f32 %f1, %f2, %f3, %f4;", kFrom100},
    {"max.abs.NaN.f32.ftz %f1, %f2, %f3, %f4;", kFrom100},
    {"max.NaN.ftz.f32 %f1, %f2, %f3;", kEvery},
    {"max.abs.f32 %f1, %f2, %f3;", kNowhere},
    {"max.xorsign.abs.f32 %f1, %f2, %f3;", kEvery},
    {"max.xorsign.abs.f32 %f1, %f2, %f3, %f4;", kNowhere},
    {"max.f32 %f1, %f2, %f3, %f4, %f5;", kNowhere},
    {"max.s32 %r1, %r2, %r3, %r4;", kNowhere},
    {"redux.sync.min.f32 %f1, %f2, %r1;", kFamily10},
    {"redux.sync.max.abs.NaN.f32 %f1, %f2, %r1;", kFamily10},
    {"redux.abs.max.f32.sync.NaN %f1, %f2, %r1;", kFamily10},
    {"redux.sync.max.f32 %r3, %r2, -1;", kFamily10},
    {"redux.sync.add.f32 %f1, %f2, %r1;", kNowhere},
    {"redux.sync.min.ftz.f32 %f1, %f2, %r1;", kNowhere},
    {"redux.sync.max.f32 %f1, 5, %r1;", kNowhere},
    {"redux.sync.max.abs.u32 %r3, %r2, %r1;", kNowhere},
    {"st.bulk.shared::cta [%r1], %d1, 0;", kFrom100},
    {"st.bulk.weak.shared::cta [%r1+8], 64, 0;", kFrom100},
    {"st.bulk.shared::cta.weak [%d1], %d1, 0;", kFrom100},
    {"st.bulk [%d1], %d2, 0;", kFrom100},
    {"st.bulk.shared::cta [%r1], 0, 0;", kFrom100},
    {"st.bulk.shared::cta [%r1], 16777216, 0;", kFrom100},
    {"st.bulk.shared::cta [%r1], 16777224, 0;", kNowhere},
    {"st.bulk.shared::cta [%r1], 60, 0;", kNowhere},
    {"st.bulk.shared::cta [%r1], -8, 0;", kNowhere},
    {"st.bulk.shared::cta [%r1], %r2, 0;", kNowhere},
    {"st.bulk.shared::cta [%r1], %d1, 1;", kNowhere},
    {"st.bulk.shared::cta [%r1], %d1, %r1;", kNowhere},
    {"st.bulk.shared::cluster [%r1], %d1, 0;", kNowhere},
    {"st.bulk.shared [%r1], %d1, 0;", kNowhere},
    {"st.weak.bulk.shared::cta [%r1], %d1, 0;", kNowhere},
    {TENSOR ".shared::cta.global.tile::gather4" BYTES " [%r1], [%d1, {%r2, %r3, %r4, %r5, %r6}], [%r7];",
     kFrom100},
    {TENSOR ".shared::cluster.global.tile::gather4" BYTES " [%r1], [%d1, {%r2, %r3, %r4, %r5, %r6}], [%r7];",
     kFamily10},
    {TENSOR ".shared::cluster.global.tile::gather4" BYTES
            ".multicast::cluster [%r1], [%d1, {%r2, %r3, %r4, %r5, %r6}], [%r7], %h1;",
     kFamily10},
    {TENSOR ".shared::cluster.global.tile::gather4" BYTES
            ".L2::cache_hint [%r1], [%d1, {%r2, %r3, %r4, %r5, %r6}], [%r7], %d2;",
     kFamily10},
    {TENSOR ".shared::cluster.global.tile::gather4" BYTES " [%r1], [%d1, {%r2, %r3, %r4, %r5}], [%r7];",
     kNowhere},
    {TENSOR ".shared::cluster.global.tile::gather4" BYTES " [%r1], [%d1, {%r2, %r3}], [%r7];", kNowhere},
    {"cp.async.bulk.tensor.3d.shared::cluster.global.tile::gather4" BYTES
     " [%r1], [%d1, {%r2, %r3, %r4, %r5, %r6}], [%r7];",
     kNowhere},
    {TENSOR ".global.shared::cta.tile::scatter4.bulk_group [%d1, {%r2, %r3, %r4, %r5, %r6}], [%r1];",
     kFamily10},
    {TENSOR ".global.shared::cta.tile::gather4.bulk_group [%d1, {%r2, %r3, %r4, %r5, %r6}], [%r1];",
     kNowhere},
    {TENSOR ".global.shared::cta.tile::scatter4.bulk_group [%d1, {%r2, %r3}], [%r1];", kNowhere},
    {"cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [%d1, {%r2, %r3, %r4, %r5, %r6}];", kFamily10},
};
#undef TENSOR
#undef REQUEST
#undef BYTES
#undef QUERY

}  // namespace bitwell::verify
