#include "verify/test/driver/conformance/conformance.h"

namespace conformance {

const char* const kModule = R"(
.version 7.0
.target sm_80
.address_size 64
.global .align 4 .u32 counter = 5;
.const .align 4 .b8 table[16];
.visible .entry scale(.param .u64 x, .param .u64 y, .param .u32 n) {
  .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<5>;
  ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y]; ld.param.u32 %r0, [n];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  setp.ge.u32 %p, %r1, %r0;
  @%p ret;
  cvta.to.global.u64 %d0, %d0; cvta.to.global.u64 %d1, %d1;
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d0, %d0, %d2; add.u64 %d1, %d1, %d2;
  ld.global.u32 %r4, [%d0];
  shl.b32 %r4, %r4, 1;
  st.global.u32 [%d1], %r4;
  ret;
}
.visible .entry count() {
  .reg .b32 %r<2>;
  atom.global.add.u32 %r0, [counter], 1;
  ret;
}
.visible .entry first_of_table(.param .u64 y) {
  .reg .b32 %r; .reg .b64 %d;
  ld.param.u64 %d, [y]; cvta.to.global.u64 %d, %d;
  ld.const.u32 %r, [table]; st.global.u32 [%d], %r;
  ret;
}
.visible .entry structure(.param .align 8 .b8 s[24], .param .u8 tail) {
  .reg .b32 %r<3>; .reg .b64 %d<3>;
  ld.param.u64 %d0, [s]; ld.param.u32 %r0, [s+8]; ld.param.u64 %d1, [s+16]; ld.param.u8 %r1, [tail];
  cvta.to.global.u64 %d0, %d0; cvta.to.global.u64 %d1, %d1;
  ld.global.u32 %r2, [%d0]; add.u32 %r2, %r2, %r0; add.u32 %r2, %r2, %r1;
  st.global.u32 [%d1], %r2;
  ret;
}
.extern .shared .align 4 .b8 room[];
.visible .entry last_of_room(.param .u64 y, .param .u32 bytes) {
  .reg .b32 %r<3>; .reg .b64 %d;
  ld.param.u64 %d, [y]; ld.param.u32 %r0, [bytes]; cvta.to.global.u64 %d, %d;
  mov.u32 %r1, room; add.u32 %r1, %r1, %r0;
  st.shared.u32 [%r1+-4], %r0; ld.shared.u32 %r2, [%r1+-4]; st.global.u32 [%d], %r2;
  ret;
}
.visible .entry limited(.param .u64 y) .maxntid 64, 1, 1 {
  .reg .b32 %r; .reg .b64 %d;
  .shared .align 4 .b8 own[1024];
  ld.param.u64 %d, [y]; cvta.to.global.u64 %d, %d;
  mov.u32 %r, 7; st.shared.u32 [own], %r; ld.shared.u32 %r, [own]; st.global.u32 [%d], %r;
  ret;
}
.extern .func (.param .b32 out) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 said[19] = {116, 104, 114, 101, 97, 100, 32, 37, 117, 32, 115, 97, 121, 115, 32, 115, 111, 10, 0};
.visible .entry says() {
  .local .align 4 .b8 frame[4];
  .reg .b32 %r; .reg .b64 %d<4>;
  mov.u32 %r, %tid.x;
  mov.u64 %d0, frame; cvta.local.u64 %d1, %d0; st.local.u32 [%d0], %r;
  mov.u64 %d2, said; cvta.global.u64 %d3, %d2;
  { .param .b64 a; .param .b64 b; .param .b32 c;
    st.param.b64 [a], %d3; st.param.b64 [b], %d1;
    call.uni (c), vprintf, (a, b); }
  ret;
}
.visible .entry overrun() {
  .reg .b64 %d;
  mov.u64 %d, 0x10; st.global.u32 [%d], 1;
  ret;
}
)";

}  // namespace conformance
