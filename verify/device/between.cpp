#include "verify/device/between.h"

namespace bitwell::device {

std::string between_launches() {
  return R"(.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 noise[];
.visible .entry between(.param .u64 places, .param .u64 before, .param .u64 compared, .param .u64 ends,
                        .param .u64 wrong, .param .u64 example, .param .u32 words, .param .u32 ends_count,
                        .param .u32 launches, .param .u32 shared)
{
.reg .b32 %words, %count, %launches, %shared, %thread, %threads, %launch, %end, %word, %left, %legal, %bits, %difference, %at, %draw, %n<3>;
.reg .b64 %places, %before, %compared, %ends, %wrong, %example, %from, %place, %offset;
.reg .pred %p, %q;
ld.param.u64 %places, [places];
ld.param.u64 %before, [before];
ld.param.u64 %compared, [compared];
ld.param.u64 %ends, [ends];
ld.param.u64 %wrong, [wrong];
ld.param.u64 %example, [example];
ld.param.u32 %words, [words];
ld.param.u32 %count, [ends_count];
ld.param.u32 %launches, [launches];
ld.param.u32 %shared, [shared];
mov.u32 %thread, %tid.x;
mov.u32 %threads, %ntid.x;
mov.u32 %launch, %ctaid.x;
setp.ge.u32 %p, %launch, %launches;
@%p bra fill;
mul.lo.u32 %at, %launch, %words;
mul.wide.u32 %offset, %at, 8;
add.u64 %places, %places, %offset;
mul.wide.u32 %offset, %at, 4;
add.u64 %example, %example, %offset;
mul.wide.u32 %offset, %launch, 4;
add.u64 %wrong, %wrong, %offset;
mov.u32 %end, 0;
next_end:
setp.ge.u32 %p, %end, %count;
@%p bra none;
mov.u32 %difference, 0;
mov.u32 %word, %thread;
compare:
setp.ge.u32 %p, %word, %words;
@%p bra compared_all;
mul.wide.u32 %offset, %word, 8;
add.u64 %from, %places, %offset;
ld.global.u64 %place, [%from];
ld.global.u32 %left, [%place];
mul.wide.u32 %offset, %word, 4;
add.u64 %from, %ends, %offset;
ld.global.u32 %legal, [%from];
add.u64 %from, %compared, %offset;
ld.global.u32 %bits, [%from];
xor.b32 %left, %left, %legal;
and.b32 %left, %left, %bits;
or.b32 %difference, %difference, %left;
add.u32 %word, %word, %threads;
bra compare;
compared_all:
setp.ne.u32 %p, %difference, 0;
barrier.cta.red.or.pred %q, 0, %p;
@!%q bra restore;
mul.wide.u32 %offset, %words, 4;
add.u64 %ends, %ends, %offset;
add.u32 %end, %end, 1;
bra next_end;
none:
setp.eq.u32 %p, %thread, 0;
@%p ld.global.u32 %left, [%wrong];
@%p add.u32 %left, %left, 1;
@%p st.global.u32 [%wrong], %left;
mov.u32 %word, %thread;
keep:
setp.ge.u32 %p, %word, %words;
@%p bra restore;
mul.wide.u32 %offset, %word, 8;
add.u64 %from, %places, %offset;
ld.global.u64 %place, [%from];
ld.global.u32 %left, [%place];
mul.wide.u32 %offset, %word, 4;
add.u64 %from, %example, %offset;
st.global.u32 [%from], %left;
add.u32 %word, %word, %threads;
bra keep;
restore:
mov.u32 %word, %thread;
put_back:
setp.ge.u32 %p, %word, %words;
@%p bra fill;
mul.wide.u32 %offset, %word, 4;
add.u64 %from, %before, %offset;
ld.global.u32 %left, [%from];
mul.wide.u32 %offset, %word, 8;
add.u64 %from, %places, %offset;
ld.global.u64 %place, [%from];
st.global.u32 [%place], %left;
add.u32 %word, %word, %threads;
bra put_back;
fill:
mov.u32 %draw, %clock;
mad.lo.u32 %draw, %launch, 0x9E3779B1, %draw;
shl.b32 %at, %thread, 4;
mov.u32 %n0, noise;
shl.b32 %n1, %threads, 4;
draw:
setp.ge.u32 %p, %at, %shared;
@%p bra filled;
add.u32 %n2, %at, %draw;
mad.lo.u32 %left, %n2, 0x2C1B3C6D, 0x3C6EF35F;
shr.u32 %n2, %left, 15;
xor.b32 %left, %left, %n2;
mad.lo.u32 %legal, %left, 0x297A2D39, 1;
mad.lo.u32 %bits, %legal, 0x85EBCA6B, 1;
mad.lo.u32 %difference, %bits, 0xC2B2AE35, 1;
add.u32 %n2, %n0, %at;
st.shared.v4.u32 [%n2], {%left, %legal, %bits, %difference};
add.u32 %at, %at, %n1;
bra draw;
filled:
ret;
}
)";
}

}  // namespace bitwell::device
