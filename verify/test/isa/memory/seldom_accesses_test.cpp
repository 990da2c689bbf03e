// Loads, stores and surfaces as kernels seldom use them: bytes of which some bits are known, lanes in several
// memories, vectors that no target or version has, and places outside an array.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

// %r0: the thread; %r1: `tile`; %u: nobody has written it; %d1: `out`; %p0: thread 0.
test::Kernel accessing(const std::string& body) {
  return {
      .parameters = ".param .u64 pout",
      .registers = ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<16>; .reg .b32 %u; .reg .b64 %d<10>;",
      .shared = ".shared .align 128 .b8 tile[1024];",
      .start = "ld.param.u64 %d1, [pout]; mov.u32 %r0, %tid.x; mov.u32 %r1, tile; setp.eq.u32 %p0, %r0, 0;",
      .body = body,
      .buffers = {test::output(256)},
      .all_written = false};
}

// A load that extends a sign knows the upper bits where it knows the sign, and no more.
TEST(SeldomAccesses, ASignIsKnownOrNot) {
  struct Case {
    const char *load, *shift, *unknown;  // the bits of what is stored that nobody knows
    int bytes;
    bool wide, known;
  };
  for (const Case& c :
       {Case{"s8", "8", "0x0F", 1, false, true}, Case{"s8", "8", "0x80", 1, false, false},
        Case{"u8", "8", "0x80", 1, false, true}, Case{"s8", "31", "0x80", 1, false, false},
        Case{"s8", "31", "0x7F", 1, false, true}, Case{"s16", "16", "0x7FFF", 2, false, true},
        Case{"s16", "16", "0x8000", 2, false, false}, Case{"u16", "16", "0x8000", 2, false, true},
        Case{"s8", "56", "0x80", 1, true, false}, Case{"s8", "56", "0x70", 1, true, true},
        Case{"s16", "56", "0x8000", 2, true, false}, Case{"s32", "63", "0x80000000", 4, true, false},
        Case{"s32", "32", "0x7FFFFFFF", 4, true, true}, Case{"u32", "32", "0x80000000", 4, true, true}}) {
    const std::string to = c.wide ? "%d2" : "%r3", bits = c.wide ? "64" : "32";
    const test::Left left =
        accessing("and.b32 %r2, %u, " + std::string(c.unknown) + ";\nst.shared.u" +
                  std::to_string(8 * c.bytes) + " [tile], %r2;\nbar.warp.sync -1;\nld.shared." + c.load +
                  " " + to + ", [tile];\nshr.u" + bits + " " + to + ", " + to + ", " + c.shift +
                  ";\n@%p0 st.global.b" + bits + " [%d1], " + to + ";\n")
            .run();
    const std::string what = std::string(c.load) + " of " + c.unknown + ": " + left.end();
    EXPECT_EQ(left.fault.empty(), c.known) << what;
    if (c.known) {
      EXPECT_EQ(left.all<uint32_t>(0)[0], 0u) << what;
    }
  }
}

// Lanes that read a module's variable, which is always written, beside lanes that read shared memory, which
// is followed.
TEST(SeldomAccesses, LanesOfSeveralMemories) {
  for (const bool written : {true, false}) {
    test::Kernel k = accessing(
        "mad.lo.u32 %r2, %r0, 4, %r1; and.b32 %r3, %r0, 1; setp.eq.u32 %p1, %r3, 1;\n" +
        std::string(written ? "@%p1 st.shared.u32 [%r2], %r0;\n" : "") +
        "mul.wide.u32 %d2, %r0, 4; add.u64 %d1, %d1, %d2; mov.u64 %d3, variable; cvta.global.u64 %d3, %d3;\n"
        "add.u64 %d3, %d3, %d2; cvt.u64.u32 %d4, %r2; cvta.shared.u64 %d4, %d4; selp.b64 %d3, %d4, %d3, "
        "%p1;\n"
        "ld.u32 %r4, [%d3]; st.global.u32 [%d1], %r4; @!%p1 st.u32 [%d3], %r0;\n");
    k.module = ".global .align 4 .u32 variable[32] = {500, 0, 502};";
    const test::Left left = k.run();
    EXPECT_EQ(left.fault.empty(), written) << left.fault;
    if (!written) continue;
    std::vector<uint32_t> want(64);
    for (uint32_t i = 1; i < 32; i += 2) want[i] = i;
    want[0] = 500, want[2] = 502;
    EXPECT_EQ(left.all<uint32_t>(0), want);
  }
}

// Vectors of 32 bytes need PTX 8.8 and sm_100, global memory, and ld or st; 128 bits at once PTX 8.3 (PTX ISA
// 9.0, 9.7.9.8, "PTX ISA Notes").
TEST(SeldomAccesses, VectorsThatSomeTargetsHave) {
  struct Case {
    const char *body, *version, *target;
    bool taken;
  };
  for (const Case& c :
       {Case{"ld.global.v4.b64 {%d2, %d3, %d4, %d5}, [%d1];", "8.8", "sm_100", true},
        Case{"ld.global.v4.b64 {%d2, %d3, %d4, %d5}, [%d1];", "8.7", "sm_100", false},
        Case{"ld.global.v4.b64 {%d2, %d3, %d4, %d5}, [%d1];", "9.0", "sm_90", false},
        Case{"ld.global.v8.b32 {%r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9}, [%d1];", "8.8", "sm_100", true},
        Case{"ld.global.v8.b32 {%r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9}, [%d1];", "8.7", "sm_100", false},
        Case{"ld.v4.b64 {%d2, %d3, %d4, %d5}, [%d1];", "8.8", "sm_100", true},
        Case{"ld.shared.v4.b64 {%d2, %d3, %d4, %d5}, [%r1];", "8.8", "sm_100", false},
        Case{"ldu.global.v4.b64 {%d2, %d3, %d4, %d5}, [%d1];", "8.8", "sm_100", false},
        Case{"st.global.v4.b64 [%d1], {%d2, %d3, %d4, %d5};", "8.8", "sm_100", true},
        Case{"st.const.b32 [kept], %r2;", "8.8", "sm_100", false},
        Case{"ld.global.b128 %q, [%d1];", "8.3", "sm_75", true},
        Case{"ld.global.b128 %q, [%d1];", "8.2", "sm_90", false}}) {
    test::Kernel k = accessing(c.body);
    k.version = c.version;
    k.target = c.target;
    k.module = ".const .b32 kept[1] = {1};";
    if (std::strstr(c.body, "%q") != nullptr && k.version != "8.2") k.registers += " .reg .b128 %q;";
    EXPECT_EQ(k.refusal().empty(), c.taken)
        << c.body << " of PTX " << c.version << " for " << c.target << ": " << k.refusal();
  }
}

machine::Texture array(bool surface, const char* channel, uint32_t channels, uint64_t width,
                       uint64_t layers = 0) {
  machine::Texture t;
  t.name = "t";
  for (const machine::Channel& c : machine::kChannels)
    if (c.name == channel) t.channel = c;
  t.channels = channels;
  t.size[0] = width;
  t.layers = layers;
  t.surface = surface;
  return t;
}
// The array has 48 bytes 1, 2, ...; %d2 is its handle.
test::Left on_array(const machine::Texture& t, const std::string& body, bool read_only = false) {
  test::Kernel k = accessing(body);
  k.parameters += ", .param .u64 array";
  k.start += " ld.param.u64 %d2, [array]; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u32 %r5, 0;";
  k.registers += " .reg .f32 %f<9>;";
  launch::Launch l = k.launch();
  std::vector<std::byte> texels(48);
  for (size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<std::byte>(i + 1);
  if (t.channel.kind == 'f') texels[1] = std::byte{0x7E};  // the first half is a NaN
  l.buffers.push_back({"t", std::move(texels), true, read_only, !read_only});
  launch::Pointer handle{0, l.buffers.size() - 1, 0};
  handle.texture = t;
  l.arguments.push_back({std::vector<std::byte>(8), 0, {}, {handle}});
  return k.run(std::move(l));
}

TEST(SeldomAccesses, WhatSurfacesAndTexturesDoNotHaveIsNamed) {
  struct Case {
    const char* name;
    machine::Texture array;
    const char *body, *says;
    bool read_only = false;
  };
  for (const Case& c : std::vector<Case>{
           {"the last layer", array(true, "u32", 1, 3, 2), "suld.b.a1d.b32.trap %r6, [%d2, {%r3, %r4}];",
            "held"},
           {"no such layer", array(true, "u32", 1, 3, 2), "suld.b.a1d.b32.trap %r6, [%d2, {2, %r4}];",
            "suld outside 't': layer 2 of 2"},
           {"none with clamping", array(true, "u32", 1, 3, 2), "suld.b.a1d.b32.clamp %r6, [%d2, {2, %r4}];",
            "suld of a layer that 't' does not have"},
           {"none to store to", array(true, "u32", 1, 3, 2), "sust.b.a1d.b32.zero [%d2, {2, %r4}], %r4;",
            "sust of a layer that 't' does not have"},
           {"rows that are no multiple", array(true, "u32", 1, 3),
            "suld.b.1d.v2.b32.clamp {%r6, %r7}, [%d2, {16}];",
            "suld.clamp of 8 bytes at the end of rows of 12"},
           {"rows that are a multiple", array(true, "u32", 1, 4),
            "suld.b.1d.v2.b32.clamp {%r6, %r7}, [%d2, {16}];", "held"},
           {"a store to what is read-only", array(true, "u32", 1, 3), "sust.b.1d.b32.trap [%d2, {0}], %r4;",
            "write to 't', which is read-only", true},
           {"layers that are none", array(true, "u32", 1, 3), "suld.b.a1d.b32.trap %r6, [%d2, {0, %r4}];",
            "'t' is an array of 1 dimension, this instruction is for an array of 1 dimension with layers"},
           {"layers that are some", array(true, "u32", 1, 3, 2), "suld.b.1d.b32.trap %r6, [%d2, %r4];",
            "'t' is an array of 1 dimension with layers, this instruction is for an array of 1 dimension"},
           {"a half that is no number", array(false, "f16", 1, 3),
            "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d2, {0}];",
            "a NaN of f16, whose bits as f32 nobody has measured"},
           {"a half that is", array(false, "f16", 1, 3),
            "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d2, {1}];", "held"},
           {"a texture's last layer", array(false, "u32", 1, 3, 2),
            "tex.a1d.v4.u32.s32 {%r6, %r7, %r8, %r9}, [%d2, {1, %r4}];", "held"},
           {"behind a texture's last layer", array(false, "u32", 1, 3, 2),
            "tex.a1d.v4.u32.s32 {%r6, %r7, %r8, %r9}, [%d2, {2, %r4}];", "tex of 't': layer 2 of 2"},
           {"a whole coordinate behind the last", array(false, "u32", 1, 3),
            "tex.1d.v4.u32.s32 {%r6, %r7, %r8, %r9}, [%d2, {3}];",
            "the whole coordinate 3 outside the array"},
           {"a whole coordinate before the first", array(false, "u32", 1, 3),
            "tex.1d.v4.u32.s32 {%r6, %r7, %r8, %r9}, [%d2, {-1}];",
            "the whole coordinate -1 outside the array"},
           {"a layer that nobody knows", array(false, "u32", 1, 3, 2),
            "tex.a1d.v4.u32.s32 {%r6, %r7, %r8, %r9}, [%d2, {%u, %r4}];", "a texture's layer"},
           {"a layer of a surface that nobody knows", array(true, "u32", 1, 3, 2),
            "suld.b.a1d.b32.trap %r6, [%d2, {%u, %r4}];", "a surface's layer"}}) {
    const std::string end = on_array(c.array, c.body, c.read_only).end();
    EXPECT_NE(end.find(c.says), std::string::npos) << c.name << ": " << end;
  }
}

// A register may be named twice, of both a load and a store.
TEST(SeldomAccesses, OneRegisterInSeveralPlacesOfASurfaceStore) {
  const test::Left left =
      on_array(array(true, "u32", 1, 12),
               "mov.u32 %r6, 0x11111111; mov.u32 %r7, 0x22222222;\n@%p0 sust.b.1d.v2.b32.trap [%d2, {0}], "
               "{%r6, %r6};\n@%p0 sust.b.1d.v4.b32.trap [%d2, {16}], {%r6, %r7, %r6, %r7};\n"
               "suld.b.1d.v2.b32.trap {%r8, _}, [%d2, {16}]; @%p0 st.global.u32 [%d1], %r8;");
  ASSERT_EQ(left.end(), "held");
  const auto words = left.all<uint32_t>(1);
  EXPECT_EQ(words[0], 0x11111111u);
  EXPECT_EQ(words[1], 0x11111111u);
  EXPECT_EQ(words[4], 0x11111111u);
  EXPECT_EQ(words[5], 0x22222222u);
  EXPECT_EQ(words[6], 0x11111111u);
  EXPECT_EQ(words[7], 0x22222222u);
  EXPECT_EQ(words[8], 0x24232221u + 0u);
  EXPECT_EQ(left.all<uint32_t>(0)[0], 0x11111111u);
}

// The last place of an array of one, and bytes of which one is a constant.
TEST(SeldomAccesses, PlacesBehindASingleTexelAreIt) {
  const test::Left left =
      on_array(array(true, "u32", 1, 1),
               "suld.b.1d.b32.clamp %r6, [%d2, {8}]; suld.b.1d.b32.clamp %r7, [%d2, {-4}];\n"
               "@%p0 st.global.v2.u32 [%d1], {%r6, %r7};");
  ASSERT_EQ(left.end(), "held");
  EXPECT_EQ(left.all<uint32_t>(0)[0], 0x04030201u);
  EXPECT_EQ(left.all<uint32_t>(0)[1], 0x04030201u);
  const test::Left bytes = on_array(array(true, "u8", 2, 6),
                                    "mov.u16 %h1, 0x1177; @%p0 sust.b.1d.v2.b8.trap [%d2, {4}], {%h1, 9};");
  ASSERT_EQ(bytes.end(), "held");
  EXPECT_EQ(bytes.all<uint32_t>(1)[1], 0x08070977u);
}

}  // namespace
}  // namespace bitwell::isa
