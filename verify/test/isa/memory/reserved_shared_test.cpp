// The part of shared memory that the system keeps, as an H200 tells of it (driver 580.159.04; ptxas 13.0 and
// the driver's own compiler gave the same words).
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "../../kernel.h"
#include "model/run/turns/residency.h"

namespace bitwell::isa {
namespace {

// What the first CTA of a launch read.
struct Recorded {
  uint32_t fixed, dynamic;    // bytes of shared memory that the kernel declares, and that it is launched with
  uint32_t total, aggregate;  // %total_smem_size, %aggr_smem_size
  uint32_t fixed_at, dynamic_at;  // addresses; fixed_at is 0x400 where there is nothing
};
constexpr Recorded kRecorded[] = {{0, 0, 0, 1024, 0x400, 0x400},
                                  {4, 0, 128, 1040, 0x400, 0x410},
                                  {100, 0, 128, 1136, 0x400, 0x470},
                                  {128, 0, 128, 1152, 0x400, 0x480},
                                  {1000, 0, 1024, 2032, 0x400, 0x7f0},
                                  {40000, 0, 40064, 41024, 0x400, 0xa040},
                                  {0, 4, 128, 1028, 0x400, 0x400},
                                  {0, 1000, 1024, 2024, 0x400, 0x400},
                                  {100, 1000, 1152, 2136, 0x400, 0x470},
                                  {100, 200000, 200192, 201136, 0x400, 0x470},
                                  {0, 232448, 232448, 233472, 0x400, 0x400}};

// `body` has %d0, the CTA's 64 bytes of the output.
test::Kernel kernel(uint32_t fixed, const std::string& body, const std::string& target = "sm_90a") {
  return {.target = target,
          .module = ".extern .shared .align 16 .b8 dynamic[];",
          .parameters = ".param .u64 out",
          .registers = ".reg .b32 %r<12>;\n.reg .b64 %d<4>;",
          .shared = fixed == 0 ? "" : ".shared .b8 fixed[" + std::to_string(fixed) + "];",
          .start =
              "ld.param.u64 %d0, [out];\nmov.u32 %r0, %ctaid.x;\nmul.wide.u32 %d1, %r0, 64;\n"
              "add.u64 %d0, %d0, %d1;",
          .body = body};
}

// The 16 words that each CTA leaves.
std::vector<std::vector<uint32_t>> run(test::Kernel k, uint32_t dynamic, uint32_t ctas = 1,
                                       uint32_t cluster = 1) {
  k.shape = {.grid = {ctas, 1, 1}, .block = {1, 1, 1}, .cluster = {cluster, 1, 1}, .dynamic_shared = dynamic};
  k.buffers = {test::output(size_t{64} * ctas)};
  const std::vector<uint32_t> words = k.held().all<uint32_t>(0);
  std::vector<std::vector<uint32_t>> out(ctas, std::vector<uint32_t>(16));
  for (size_t c = 0; c < ctas; ++c) std::copy_n(&words[16 * c], 16, out[c].data());
  return out;
}

// Moves each of them to a word of the output.
std::string stored(const std::vector<std::string>& values) {
  std::string out;
  for (size_t i = 0; i < values.size(); ++i)
    out += "mov.u32 %r1, " + values[i] + ";\nst.global.u32 [%d0+" + std::to_string(4 * i) + "], %r1;\n";
  return out;
}

const std::vector<std::string> kPlaces{"%reserved_smem_offset_begin", "%reserved_smem_offset_end",
                                       "%reserved_smem_offset_cap", "%reserved_smem_offset_0",
                                       "%reserved_smem_offset_1"};

TEST(ReservedShared, PlacesAndSizesAreThoseOfAnH200) {
  for (const Recorded& r : kRecorded) {
    std::vector<std::string> asked = kPlaces;
    for (const char* more : {"%total_smem_size", "%dynamic_smem_size", "%aggr_smem_size", "dynamic"})
      asked.emplace_back(more);
    if (r.fixed != 0) asked.emplace_back("fixed");
    std::vector<uint32_t> want{0, 288, 1024, 0, 0, r.total, r.dynamic, r.aggregate, r.dynamic_at};
    if (r.fixed != 0) want.push_back(r.fixed_at);
    std::vector<uint32_t> got = run(kernel(r.fixed, stored(asked)), r.dynamic)[0];
    got.resize(want.size());
    EXPECT_EQ(got, want) << r.fixed << " bytes, " << r.dynamic << " dynamic";
  }
}

// Sizes do not depend on whether the kernel asks for the places.
TEST(ReservedShared, SizesAreTheKernelsOwn) {
  for (const Recorded& r : kRecorded) {
    const std::string use = r.fixed == 0 ? "" : "mov.u32 %r2, fixed;\n";
    const std::vector<uint32_t> got =
        run(kernel(r.fixed, use + stored({"%total_smem_size", "%aggr_smem_size"})), r.dynamic)[0];
    EXPECT_EQ(got[0], r.total);
    EXPECT_EQ(got[1], r.aggregate);
  }
}

// Zeros at first, and then what the kernel writes, in each CTA of its own and apart from its variables.
TEST(ReservedShared, IsMemoryOfTheCta) {
  const std::string body =
      "mov.u32 %r2, %reserved_smem_offset_1;\nld.shared.u32 %r3, [%r2+284];\nst.global.u32 [%d0], %r3;\n"
      "add.u32 %r4, %r0, 7;\nst.shared.u32 [%r2], %r4;\nst.shared.u32 [fixed], 99;\n"
      "ld.shared.u32 %r5, [%r2];\nst.global.u32 [%d0+4], %r5;\n";
  const test::Kernel k = kernel(64, body);
  const std::vector<std::vector<uint32_t>> out = run(k, 16, 8);
  for (uint32_t c = 0; c < 8; ++c) {
    EXPECT_EQ(out[c][0], 0u);
    EXPECT_EQ(out[c][1], c + 7);
  }
  try {
    run(k, 16, 8, 2);
    ADD_FAILURE() << "in a cluster";
  } catch (const machine::Unsupported& e) {
    EXPECT_NE(std::string(e.what()).find("recorded; they are of CTAs without one"), std::string::npos)
        << e.what();
  }
}

TEST(ReservedShared, TakesNothingOfWhatALaunchMayHave) {
  const auto with = kernel(0, stored(kPlaces)).program(), without = kernel(0, "").program();
  EXPECT_NO_THROW(run(kernel(0, stored(kPlaces)), 232448));
  EXPECT_THROW(run(kernel(0, stored(kPlaces)), 232449), machine::InputError);
  for (const uint32_t dynamic : {0, 1000, 115712, 115713}) {
    run::Shape shape;
    shape.dynamic_shared = dynamic;
    EXPECT_EQ(run::residency(*with, shape).ctas_per_sm, run::residency(*without, shape).ctas_per_sm)
        << dynamic;
  }
}

TEST(ReservedShared, OfOtherTargetsNothingIsKnown) {
  for (const std::string& place : kPlaces) try {
      kernel(0, stored({place}), "sm_100a").program();
      ADD_FAILURE() << place;
    } catch (const machine::Unsupported& e) {
      EXPECT_NE(std::string(e.what()).find(place), std::string::npos) << e.what();
    }
}

// ptxas 13.0 takes a load by such an address and dies of a store: it is unsupported, with what to do instead.
TEST(SpecialRegisters, AsAddressesAreRefusedWithTheWayOut) {
  for (const char* access : {"ld.shared.u32 %r1, [%reserved_smem_offset_1];", "ld.shared.u32 %r1, [%laneid];",
                             "st.shared.u32 [%reserved_smem_offset_begin+4], %r1;"})
    try {
      kernel(0, access).program();
      ADD_FAILURE() << access;
    } catch (const machine::Unsupported& e) {
      EXPECT_NE(std::string(e.what()).find("as an address: move it into a register"), std::string::npos)
          << e.what();
    }
  EXPECT_THROW(kernel(0, "ld.shared.u32 %r1, [%nothing];").program(), machine::InputError);
}

TEST(SpecialRegisters, OfTimeAndTheLaunchAreMovedOrConvertedAsIntegers) {
  for (const char* taken : {"cvt.u64.u32 %d1, %reserved_smem_offset_1;", "cvt.u64.u32 %d1, %envreg1;",
                            "cvt.u32.u64 %r1, %clock64;", "cvt.u64.u32 %d1, %clock;"})
    EXPECT_EQ(kernel(0, taken).refusal(), "") << taken;
  for (const char* refused :
       {"add.u32 %r1, %reserved_smem_offset_1, 4;", "cvt.rn.f32.u32 %r1, %clock;",
        "mov.u64 %d1, %reserved_smem_offset_1;", "mov.u32 %r1, %reserved_smem_offset_2;"})
    EXPECT_THROW(kernel(0, refused).program(), machine::InputError) << refused;
}

}  // namespace
}  // namespace bitwell::isa
