// mma.sync of fp8, fp6 and fp4, with scales and without, and of the vectors of registers that any mma.sync
// takes: the targets for which ptxas 13.0 takes each (PTX 9.0).
#pragma once
#include "../form/blackwell_forms.h"

namespace bitwell::isa {

inline constexpr const char* kRtx = "2";  // sm_120a

#define MMA "mma.sync.aligned."
#define K16 MMA "m16n8k16.row.col"
#define K32 MMA "m16n8k32.row.col"
#define K64 MMA "m16n8k64.row.col"
#define A "{%r0,%r1,%r2,%r3}"
#define B "{%r4,%r5}"
#define D "{%f0,%f1,%f2,%f3}"
#define HALVES "{%r8,%r9}"
#define SCALES ",%r6,{%h0,%h1},%r7,{%h2,%h3};"
#define PLAIN " " D "," A "," B "," D ";"
#define NVFP4 K64 ".kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 "
#define MXFP4 K64 ".kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 "
#define MXFP8 K32 ".kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0 "
#define DABC D "," A "," B "," D
inline constexpr BlackwellForm kMmaForms[] = {
    // fp8, fp6 and fp4, which need a kind. (ptxas takes m16n8k16 of fp8 for all targets: how those before
    // sm_120
    // but sm_89 compute it is not known.)
    {K32 ".f32.e4m3.e4m3.f32" PLAIN, kEvery},
    {K32 ".f16.e4m3.e5m2.f16 " HALVES "," A "," B "," HALVES ";", kEvery},
    {K32 ".f16.e4m3.e5m2.f32 " HALVES "," A "," B "," D ";", kNowhere},
    {K32 ".f32.e2m3.e2m3.f32" PLAIN, kNowhere},
    {K32 ".f32.e4m3.e2m1.f32" PLAIN, kNowhere},
    {K32 ".kind::f8f6f4.f32.e5m2.e5m2.f32" PLAIN, kSpecific},
    {K32 ".kind::f8f6f4.f32.e2m3.e2m1.f32" PLAIN, kRtx},
    {K32 ".kind::f8f6f4.f16.e3m2.e4m3.f16 " HALVES "," A "," B "," HALVES ";", kRtx},
    {K32 ".kind::f8f6f4.f16.e3m2.e4m3.f32 " HALVES "," A "," B "," D ";", kNowhere},
    {MMA "kind::f8f6f4.m16n8k32.row.col.f32.e5m2.e3m2.f32" PLAIN, kRtx},
    {K16 ".kind::f8f6f4.f32.e2m1.e2m1.f32 " D ",{%r0,%r1},{%r4}," D ";", kNowhere},
    {K16 ".kind::f8f6f4.f32.e3m2.e4m3.f32 " D ",{%r0,%r1},{%r4}," D ";", kNowhere},
    // Which scales a kind has.
    {NVFP4 DABC SCALES, kRtx},
    {K64 ".kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 " DABC SCALES, kRtx},
    {K64 ".kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue4m3 " DABC SCALES, kNowhere},
    {K64 ".kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0 " DABC SCALES, kNowhere},
    {K64 ".kind::mxf4nvf4.block_scale.f32.e2m1.e2m1.f32.ue4m3 " DABC SCALES, kNowhere},
    {K64 ".kind::mxf4nvf4.block_scale.scale_vec::1X.f32.e2m1.e2m1.f32.ue8m0 " DABC SCALES, kNowhere},
    {K64 ".kind::mxf4nvf4.block_scale.block16.f32.e2m1.e2m1.f32.ue4m3 " DABC SCALES, kNowhere},
    {MXFP4 DABC SCALES, kRtx},
    {K64 ".kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 " DABC SCALES, kRtx},
    {K64 ".kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue4m3 " DABC SCALES, kNowhere},
    {K64 ".kind::mxf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0 " DABC SCALES, kNowhere},
    {K64 ".kind::mxf4.block_scale.f32.e2m1.e2m1.f32 " DABC SCALES, kNowhere},
    {K64 ".kind::mxf4.block_scale.f32.e2m1.e2m3.f32.ue8m0 " DABC SCALES, kNowhere},
    {K64 ".kind::mxf4.f32.e2m1.e2m1.f32" PLAIN, kNowhere},
    {K32 ".kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 " DABC SCALES, kNowhere},
    {MXFP8 DABC SCALES, kRtx},
    {K32 ".kind::mxf8f6f4.block_scale.f32.e2m1.e3m2.f32.ue8m0 " DABC SCALES, kRtx},
    {K32 ".kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue4m3 " DABC SCALES, kNowhere},
    {K32 ".kind::mxf8f6f4.block_scale.scale_vec::2X.f32.e4m3.e4m3.f32.ue8m0 " DABC SCALES, kNowhere},
    {K64 ".kind::mxf8f6f4.block_scale.f32.e2m1.e2m1.f32.ue8m0 " DABC SCALES, kNowhere},
    {K32 ".kind::mxf8f6f4.block_scale.f16.e4m3.e4m3.f16.ue8m0 " HALVES "," A "," B "," HALVES SCALES,
     kNowhere},
    // Modifiers in another order, those that say what an operand is in theirs.
    {"mma.block_scale.scale_vec::4X.row.aligned.f32.m16n8k64.e2m1.e2m1.col.f32.kind::mxf4nvf4.ue4m3."
     "sync " DABC SCALES,
     kRtx},
    {K64 ".kind::mxf4nvf4.block_scale.scale_vec::4X.ue4m3.f32.e2m1.e2m1.f32 " DABC SCALES, kNowhere},
    // Selectors: constants within bounds, or any register of 16 bits for integers.
    {NVFP4 DABC ",%r6,{0,1},%r7,{0,3};", kRtx},
    {NVFP4 DABC ",%r6,{0,2},%r7,{0,3};", kNowhere},
    {NVFP4 DABC ",%r6,{0,1},%r7,{0,4};", kNowhere},
    {NVFP4 DABC ",%r6,{1,0},%r7,{0,0};", kNowhere},
    {NVFP4 DABC ",%r6,{0,0},%r7,{2,0};", kNowhere},
    {MXFP4 DABC ",%r6,{2,1},%r7,{2,3};", kRtx},
    {MXFP4 DABC ",%r6,{1,0},%r7,{0,0};", kNowhere},
    {MXFP4 DABC ",%r6,{0,0},%r7,{3,0};", kNowhere},
    {MXFP4 DABC ",%r6,{4,0},%r7,{0,0};", kNowhere},
    {MXFP8 DABC ",%r6,{3,1},%r7,{1,3};", kRtx},
    {MXFP8 DABC ",%r6,{4,1},%r7,{1,3};", kNowhere},
    {MXFP8 DABC ",%r6,{3,1},%r7,{-1,3};", kNowhere},
    {MXFP8 DABC ",%r6,{3,1},%r7,{65536,3};", kNowhere},
    {MXFP8 DABC ",%r6,{%h0,1},%r7,{1,%h1};", kRtx},
    {MXFP8 DABC ",%r6,{%r0,%r1},%r7,{0,0};", kNowhere},
    {MXFP8 DABC ",%r6,{%c0,%c1},%r7,{0,0};", kNowhere},
    {MXFP8 DABC ",%r6,{1.0,0},%r7,{0,0};", kNowhere},
    {MXFP8 DABC ",%r6,{_,0},%r7,{0,0};", kNowhere},
    {MXFP8 DABC ",%r6,{0},%r7,{0,0};", kNowhere},
    {MXFP8 DABC ",%r6,%h0,%r7,{0,0};", kNowhere},
    // Words of scales.
    {MXFP8 DABC ",%f6,{0,0},{%r7},{0,0};", kRtx},
    {MXFP8 DABC ",5,{0,0},%r7,{0,0};", kNowhere},
    {MXFP8 DABC ",%d0,{0,0},%r7,{0,0};", kNowhere},
    {MXFP8 DABC ",%h0,{0,0},%r7,{0,0};", kNowhere},
    {MXFP8 DABC ",%r6,%r7;", kNowhere},
    {MXFP8 DABC ",%r6,{0,0};", kNowhere},
    {MXFP8 DABC ";", kNowhere},
    // Vectors: a register without a type makes them untyped, two types do not meet.
    {MXFP8 D ",{%f4,%f5,%f6,%f7}," B "," D SCALES, kNowhere},
    {MXFP8 D ",{%f4,%f5,%f6,%r3}," B "," D SCALES, kRtx},
    {MXFP8 "{%r0,%f5,%f6,_}," A "," B ",{%f0,%r1,0f00000000,%f2}" SCALES, kRtx},
    {MXFP8 D "," A ",{5,%r5}," D SCALES, kRtx},
    {MXFP8 D "," A ",{5,6}," D SCALES, kNowhere},
    {MXFP8 D "," A "," B ",{0,0,0,0}" SCALES, kNowhere},
    {MXFP8 D "," A "," B ",{0f00000000,0f00000000,0f00000000,0f00000000}" SCALES, kRtx},
    {K32 ".kind::f8f6f4.f32.e3m2.e2m1.f32 " D ",{%f4,%f5,%f6,%f7}," B "," D ";", kRtx},
    {K32 ".f32.e4m3.e5m2.f32 " D ",{1,2,3,4}," B "," D ";", kNowhere},
    {K16 ".f32.bf16.bf16.f32 " D ",{%f4,%f5,%f6,%f7}," B "," D ";", kNowhere},
    {K16 ".f32.bf16.bf16.f32 " D ",{%f4,%r5,%f6,%f7}," B "," D ";", kEvery},
    {K16 ".f16.f16.f16.f16 {_,%r9},{%f4,%r5,%f6,%f7}," B "," HALVES ";", kEvery},
    {K16 ".f16.f16.f16.f16 " HALVES ",{%f4,%f5,%f6,%f7}," B "," HALVES ";", kNowhere},
    {K16 ".f16.f16.f16.f16 " HALVES "," A "," B ",{%f4,%f5};", kNowhere},
};
#undef DABC
#undef MXFP8
#undef MXFP4
#undef NVFP4
#undef PLAIN
#undef SCALES
#undef HALVES
#undef D
#undef B
#undef A
#undef K64
#undef K32
#undef K16
#undef MMA

}  // namespace bitwell::isa
