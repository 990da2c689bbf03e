// 1 / x as the special-function unit of sm_90 has it (rcp.approx.ftz.f32), and the division made of it
// (div.full.f32). Their words are an H200's, one for each significand, in
// verify/device/captures/reciprocals.xz: differences from 1 / x to nearest, a signed byte each. It shares no
// code with the model that it judges, which computes them.
#pragma once

namespace bitwell::oracle {

// Subnormal numbers are zero, as operands and as results. NaN: 0x7FFFFFFF.
float reciprocal(float x);

// a / b: a * reciprocal(b), rounded once more; both are scaled first, by 1/4 where |b| is beyond 2^126 and by
// 2^24 where it is subnormal.
float divided_fully(float a, float b);

}  // namespace bitwell::oracle
