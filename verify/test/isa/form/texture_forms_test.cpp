// Which tex, suld and sust are PTX: what ptxas 13.0 says of each line is recorded, and bitwell says the same
// or calls it unsupported by name.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "model/isa/compile/compile.h"
#include "model/ptx/parse.h"

namespace bitwell::isa {
namespace {

struct Row {
  const char* line;
  bool legal;
};
// clang-format off
constexpr Row kRows[] = {
    {"tex.1d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f4}];", true},
    {"tex.1d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, %f4];", true},
    {"tex.1d.v4.f32.f32 {%f0,_,%f2,%f3}, [%d0, {%f4,%f5}];", true},
    {"tex.1d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%d0, {%f0,%f1,%f2,%f3}];", true},
    {"tex.1d.f32.f32 %f0, [%d0, {%f4}];", false},
    {"tex.1d.v2.f32.f32 {%f0,%f1}, [%d0, {%f4}];", false},
    {"tex.1d.v4.b32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f4}];", false},
    {"tex.1d.v4.u32.s32 {%r0,%r1,%r2,%r3}, [%d0, 3];", false},
    {"tex.1d.v4.u32.s32 {%r0,%r1,%r2,%r3}, [%d0, {3}];", true},
    {"tex.2d.v4.u32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f0,%f1}];", false},
    {"tex.2d.v4.u32.f32 {%r0,%f1,%r2,%r3}, [%d0, {%f0,%f1}];", true},
    {"tex.2d.v4.f32.f32 {%u0,%u1,%u2,%u3}, [%d0, {%f0,%f1}];", true},
    {"tex.2d.v4.f32.f32 {%u0,%f1,%r2,%s3}, [%d0, {%f0,%f1}];", false},
    {"tex.2d.v4.f32.f32 {%f0,%r1,%r2,%r3}, [%d0, {%f0,%f1}];", true},
    {"tex.2d.v4.f32.f32 {%h0,%h1,%h2,%h3}, [%d0, {%f0,%f1}];", false},
    {"tex.2d.v4.u32.f32 {%d0,%d1,%d2,%d3}, [%d0, {%f0,%f1}];", false},
    {"tex.2d.v4.u32.f32 {_,_,_,_}, [%d0, {%f0,%f1}];", false},
    {"tex.2d.v4.u32.f32 {%r0,%r0,%r2,%r3}, [%d0, {%f0,%f1}];", true},
    {"tex.2d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%d0, {%s0,%f1}];", false},
    {"tex.2d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%d0, {%s0,%s1}];", true},
    {"tex.2d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%d0, {3,4}];", false},
    {"tex.2d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%d0, {%f0,3}];", false},
    {"tex.2d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%d0, {0f00000000,%f1}];", true},
    {"tex.2d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%d0, {%f0,%h1}];", false},
    {"tex.2d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%d0, {%f0,%d1}];", false},
    {"tex.2d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%d0, {%f0,_}];", false},
    {"tex.2d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%d0, {%f0}];", false},
    {"tex.2d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%d0, %f0];", true},
    {"tex.2d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%d0, {%f0,%f1,%d2,%f3}];", false},
    {"tex.2d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%d0, {%f0,%f1,%s2,%f3}];", false},
    {"tex.2d.v4.u32.s32 {%r0,%r1,%r2,%r3}, [%d0, {%f0,%f1}];", false},
    {"tex.2d.v4.u32.s32 {%r0,%r1,%r2,%r3}, [%d0, {%u0,%s1}];", true},
    {"tex.2d.v4.u32.s32 {%r0,%r1,%r2,%r3}, [%d0, {3,%r4}];", true},
    {"tex.2d.v4.u32.s32 {%r0,%r1,%r2,%r3}, [%d0, {0f00000000,%r1}];", true},
    {"tex.2d.v4.u32.s32 {%r0,%r1,%r2,%r3}, [%d0, {%s0,%s1,%f2,%f3}];", false},
    {"tex.2d.v4.s32.u32 {%r0,%r1,%r2,%r3}, [%d0, {%r0,%r1}];", false},
    {"tex.2d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%v0, {%f0,%f1}];", true},
    {"tex.2d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%e0, {%f0,%f1}];", false},
    {"tex.2d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%r0, {%f0,%f1}];", false},
    {"tex.2d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [5, {%f0,%f1}];", false},
    {"tex.2d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%d0+4, {%f0,%f1}];", false},
    {"tex.2d.v4.u32.f32 {%r0,%r1,%r2,%r3}|%p0, [%d0, {%f0,%f1}];", true},
    {"tex.2d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%d0, {%f0,%f1}], {%r1,%r2};", true},
    {"tex.2d.v4.f16.f32 {%h0,%h1,%h2,%h3}, [%d0, {%f0,%f1}];", true},
    {"tex.2d.v2.f16x2.f32 {%r0,%r1}, [%d0, {%f0,%f1}];", true},
    {"tex.v4.2d.u32.f32 {%r0,%r1,%r2,%r3}, [%d0, {%f0,%f1}];", true},
    {"tex.2d.u32.v4.f32 {%r0,%r1,%r2,%r3}, [%d0, {%f0,%f1}];", true},
    {"tex.base.2d.v4.s32.f32 {%r0,%r1,%r2,%r3}, [%d0, {%r0,%r1}];", true},
    {"tex.level.2d.v4.s32.f32 {%r0,%r1,%r2,%r3}, [%d0, {%r0,%r1}], %f0;", true},
    {"tex.cube.v4.s32.f32 {%r0,%r1,%r2,%r3}, [%d0, {%r0,%r1,%r2,%r3}];", true},
    {"tex.3d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%d0, {%f0,%f1,%f2}];", false},
    {"tex.3d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%d0, {%f0,%f1,%f2,%f3}];", true},
    {"tex.a1d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%d0, {%r0,%f1}];", true},
    {"tex.a1d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%d0, {%s0,%f1}];", true},
    {"tex.a1d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%d0, {3,%f1}];", true},
    {"tex.a1d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%d0, {%f0,%f1}];", false},
    {"tex.a2d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%d0, {%r0,%f1,%f2,%r3}];", true},
    {"tex.a2d.v4.u32.f32 {%r0,%r1,%r2,%r3}, [%d0, {%r0,%f1,%f2}];", false},
    {"tld4.r.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%d0, {%f0,%f1}];", true},
    {"suld.b.1d.b32.trap {%r0}, [%d0, {%r1}];", true},
    {"suld.b.1d.b32.trap %r0, [%d0, %r1];", true},
    {"suld.b.1d.b32 {%r0}, [%d0, {%r1}];", false},
    {"suld.b.1d.b32.trap {%f0}, [%d0, {%r1}];", true},
    {"suld.b.1d.b32.trap {%h0}, [%d0, {%r1}];", false},
    {"suld.b.1d.b8.trap {%r0}, [%d0, {%r1}];", true},
    {"suld.b.1d.b8.trap {%c0}, [%d0, {%r1}];", true},
    {"suld.b.1d.u32.trap {%r0}, [%d0, {%r1}];", false},
    {"suld.b.1d.v4.b64.trap {%d0,%d1,%d2,%d3}, [%d0, {%r1}];", false},
    {"suld.b.1d.v2.b64.trap {%d0,%d1}, [%d0, {%r1}];", true},
    {"suld.b.1d.v2.b32.trap {%r0,_}, [%d0, {%r1}];", true},
    {"suld.b.1d.b32.cg.trap {%r0}, [%d0, {%r1}];", true},
    {"suld.b.1d.trap.b32 {%r0}, [%d0, {%r1}];", true},
    {"suld.1d.b.b32.trap {%r0}, [%d0, {%r1}];", false},
    {"suld.b.2d.b32.zero {%r0}, [%d0, {%f1,%f2}];", false},
    {"suld.b.2d.b32.zero {%r0}, [%d0, {4,5}];", true},
    {"suld.b.2d.b32.trap {_}, [%d0, {%u1,%s2}];", false},
    {"suld.b.2d.v2.b32.trap {_,_}, [%d0, {%u1,%s2}];", false},
    {"suld.b.2d.b32.trap {%d0}, [%d0, {%u1,%s2}];", true},
    {"suld.b.2d.b64.trap {%r0}, [%d0, {%u1,%s2}];", false},
    {"suld.b.2d.b32.trap {%p0}, [%d0, {%u1,%s2}];", false},
    {"suld.b.2d.b32.trap {%r0}, [%d0, {%h1,%s2}];", false},
    {"suld.b.2d.b32.trap {%r0,%r1}, [%d0, {%r1,%s2}];", true},
    {"suld.b.2d.v2.b32.trap {%r0}, [%d0, {%r1,%s2}];", false},
    {"suld.b.2d.v4.b32.trap {%r0,%r1}, [%d0, {%r1,%s2}];", false},
    {"suld.b.2d.v2.b32.trap {%r0,%f1}, [%d0, {%r1,%s2}];", true},
    {"suld.b.2d.v2.b32.trap {%s0,%f1}, [%d0, {%r1,%s2}];", false},
    {"suld.b.2d.v2.b16.trap {%r0,%h1}, [%d0, {%r1,%s2}];", false},
    {"suld.b.2d.b32.trap {%r0}, [%d0, {%r1,%s2,%f3,%r4}];", false},
    {"suld.b.3d.b32.zero {%r0}, [%d0, {%r1,%r2,%r3}];", false},
    {"suld.b.3d.b32.trap {%r0}, [%d0, {%r1,%s2,%r3,_}];", false},
    {"suld.b.3d.b32.trap {%r0}, [%d0, {%r1,%s2,%r3,%d3}];", false},
    {"suld.b.a1d.b32.trap {%r0}, [%d0, {%f1,%s2}];", false},
    {"suld.b.a2d.b32.zero {%r0}, [%d0, {%r1,%r2,%r3,%r4}];", true},
    {"suld.p.2d.v4.b32.clamp {%r0,%r1,%r2,%r3}, [%d0, {%r1,%r2}];", false},
    {"sust.b.2d.b32.clamp [%d0, {%r1,%r2}], {5};", true},
    {"sust.b.2d.b8.trap [%d0, {%r1,%s2}], 5;", true},
    {"sust.b.2d.b32.trap [%d0, {%r1,%s2}], {_};", false},
    {"sust.b.2d.b32.trap [%d0, {%r1,%s2}], {0f00000000};", true},
    {"sust.b.2d.b32.trap [%d0, {%r1,%s2}], {1.0};", false},
    {"sust.b.2d.b32.trap [%d0, {%r1,%s2}], {%d0};", true},
    {"sust.b.2d.b32.trap [%d0, {%r1,%s2}], {%h0};", false},
    {"sust.b.2d.b16.trap [%d0, {%r1,%s2}], {%f0};", true},
    {"sust.b.2d.b32.trap [%d0, {%r1,%s2}], {%r0,%r1};", true},
    {"sust.b.2d.v2.b32.trap [%d0, {%r1,%s2}], {%r0};", false},
    {"sust.b.2d.v2.b32.trap [%d0, {%r1,%s2}], {%s0,%f0};", false},
    {"sust.b.2d.v2.b32.trap [%d0, {%r1,%s2}], {%f0,5};", false},
    {"sust.b.2d.v2.b32.trap [%d0, {%r1,%s2}], {%r0,_};", false},
    {"sust.b.2d.cs.b8.trap [%d0, {%r1,%r2}], {%h0};", true},
    {"sust.b.2d.ca.b8.trap [%d0, {%r1,%r2}], {%h0};", false},
    {"sust.b.2d.v4.b16.trap [%d0, {%r1,%r2}], {%h0,%h1,%h2,%h3};", true},
    {"sust.b.2d.v4.b64.trap [%d0, {%r1,%r2}], {%d0,%d1,%d2,%d3};", false},
};
// clang-format on

std::string module_with(const char* line) {
  return std::string(
             ".version 9.0\n.target sm_90a\n.address_size 64\n.entry k() { .reg .b16 %h<9>; .reg .b32 %r<9>; "
             ".reg "
             ".s32 %s<9>; .reg .u32 %u<9>; .reg .f32 %f<9>; .reg .b64 %d<9>; .reg .u64 %v<9>; .reg .f64 "
             "%e<9>; "
             ".reg .pred %p<3>; .reg .b8 %c<3>;\n") +
         line + " ret; }\n";
}

// "", "unsupported", or why it is no PTX.
std::string judged(const char* line) {
  try {
    for (const Finding& f : check(ptx::parse(module_with(line)))) {
      if (f.kind == Finding::Kind::invalid) return f.what;
      if (f.kind == Finding::Kind::unsupported) return "unsupported";
    }
    return "";
  } catch (const std::runtime_error& e) {
    return e.what();
  }
}

TEST(TextureForms, BitwellSaysWhatPtxasSays) {
  for (const Row& row : kRows) {
    const std::string said = judged(row.line);
    EXPECT_TRUE(said == "unsupported" || said.empty() == row.legal) << row.line << ": " << said;
  }
}

// What nvcc emits for arrays of one to three dimensions is taken.
TEST(TextureForms, WhatNvccEmitsIsSupported) {
  for (const char* line : {"tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%d1, {%f2, %f3}];",
                           "tex.1d.v4.f32.s32 {%f4, %f5, %f6, %f7}, [%d1, {%r1}];",
                           "tex.3d.v4.s32.f32 {%r2, %r3, %r4, %r5}, [%d1, {%f2, %f4, %f3, %f3}];",
                           "tex.a2d.v4.s32.f32 {%r7, %r8, %r1, %r2}, [%d1, {%r6, %f4, %f3, %f3}];",
                           "suld.b.3d.v4.b32.clamp {%r8, %r1, %r2, %r3}, [%d1, {%r7, %r4, %r3, %r3}];",
                           "sust.b.a1d.b8.trap [%d1, {%r3, %r4}], {%h2};"})
    EXPECT_EQ(judged(line), "") << line;
}

TEST(TextureForms, PtxasSaysWhatIsRecorded) {
  if (!std::filesystem::exists(BITWELL_PTXAS)) GTEST_SKIP() << "no ptxas";
  const std::string path =
      (std::filesystem::temp_directory_path() / ("bitwell-texture-" + std::to_string(getpid()) + ".ptx"))
          .string();
  for (const Row& row : kRows) {
    std::ofstream(path) << module_with(row.line);
    const std::string command =
        std::string(BITWELL_PTXAS) + " -arch=sm_90a -O0 -o /dev/null " + path + " > /dev/null 2>&1";
    EXPECT_EQ(std::system(command.c_str()) == 0, row.legal) << row.line;
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace bitwell::isa
