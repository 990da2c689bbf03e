// Which instructions of a kernel a GPU has vouched for.
#include "verify/capture/evidence.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "model/isa/compile/compile.h"
#include "model/ptx/parse.h"
#include "verify/capture/captures.h"

namespace bitwell::capture {
namespace {

isa::Program program(const std::string& body) {
  return isa::compile(ptx::parse(".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry e()\n{\n"
                                 ".reg .b32 %r<40>; .reg .f32 %f<40>; .reg .b64 %d<4>; .shared .b64 bar;\n" +
                                 body + "}\n"),
                      "e");
}

bool lacks(const std::vector<std::string>& all, const std::string& name) {
  return std::find(all.begin(), all.end(), name) != all.end();
}

// A folder of captures that knows nothing but what a test writes.
class HowKnown : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        (std::filesystem::temp_directory_path() / ("bitwell-evidence-" + std::to_string(getpid()))).string();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void record(const std::string& file, const std::string& name) {
    write_capture(folder_ + "/" + file, {"a GPU", "a driver", "13.0", {{name, "0"}}});
  }
  std::string folder_;
};

TEST_F(HowKnown, NothingIsKnownWithoutCaptures) {
  EXPECT_EQ(without_device_evidence(program("add.u32 %r1, %r2, 1;\nadd.u32 %r1, %r2, 2;\nret;\n"), folder_),
            (std::vector<std::string>{"add.u32", "ret"}));
}

TEST_F(HowKnown, AnInstructionIsKnownByItsDigestOrByPrograms) {
  const isa::Program p = program("add.u32 %r1, %r2, 1;\nsub.u32 %r1, %r2, 2;\nret;\n");
  record("instructions.json", "add.u32");
  EXPECT_EQ(without_device_evidence(p, folder_), (std::vector<std::string>{"sub.u32", "ret"}));
  std::ofstream(folder_ + "/programs.txt") << "# of a GPU\nret\nsub.u32\n";
  EXPECT_TRUE(without_device_evidence(p, folder_).empty());
}

TEST_F(HowKnown, MovesLoadsAndStoresOfTheSameBytesAreKnownTogether) {
  std::ofstream(folder_ + "/programs.txt") << "ld.param.b32\nld.b16\nmov.b32\nst.u8\n";
  const std::set<std::string> same{"ld.param.u32", "ld.param.f32", "ld.u16", "mov.f32",
                                   "mov.s32",      "st.b8",        "st.s8"};
  // One as signed widens by the sign; of other bytes; arithmetic.
  const std::set<std::string> others{"add.b32", "ld.param.b64", "ld.s16", "mov.pred", "st.b16"};
  EXPECT_EQ(evidence_of(same, 90, folder_).at(0).instructions, same);
  ASSERT_EQ(evidence_of(same, 90, folder_).size(), 1u);
  EXPECT_EQ(evidence_of(others, 90, folder_).at(0).instructions, others);
  EXPECT_EQ(evidence_of(others, 90, folder_).at(0).how, "manual");
}

TEST_F(HowKnown, TensorCoresAreKnownByShapeAndTypesButN) {
  const std::string mma =
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, "
      "%r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3};\nret;\n";
  record("tensor.json", "mma.sync.m16n8k16.f32.bf16, directed");
  EXPECT_EQ(without_device_evidence(program(mma), folder_).size(), 2u);
  record("tensor.json", "mma.sync.m16n8k16.f32.f16, directed");
  EXPECT_EQ(without_device_evidence(program(mma), folder_), (std::vector<std::string>{"ret"}));
}

TEST_F(HowKnown, AsynchronousOnesAreKnownByFamily) {
  const isa::Program p =
      program("mbarrier.init.shared.b64 [bar], 1;\nmbarrier.inval.shared.b64 [bar];\nret;\n");
  record("async.json", "bulk load, 1");
  EXPECT_TRUE(lacks(without_device_evidence(p, folder_), "mbarrier.init.shared.b64"));
  record("async.json", "mbarrier, 1");
  EXPECT_EQ(without_device_evidence(p, folder_), (std::vector<std::string>{"ret"}));
}

// "published tcgen05.mma.x", a line each.
std::string told(const std::vector<Evidence>& all) {
  std::string out;
  for (const Evidence& e : all)
    for (const std::string& i : e.instructions) out += e.how + (e.elsewhere ? " elsewhere " : " ") + i + "\n";
  return out;
}

TEST_F(HowKnown, IsOfTheTarget) {
  record("instructions.json", "add.u32");
  std::ofstream(folder_ + "/programs.txt") << "ex2.approx.f32\n";
  const std::set<std::string> all{"add.u32", "sub.u32", "ex2.approx.f32"};
  EXPECT_EQ(told(evidence_of(all, 90, folder_)), "device add.u32\ndevice ex2.approx.f32\nmanual sub.u32\n");
  EXPECT_EQ(told(evidence_of(all, 100, folder_)),
            "manual elsewhere add.u32\nmanual sub.u32\napproximate ex2.approx.f32\n");
  EXPECT_EQ(told(evidence_of(all, 90, folder_, true)),
            "device add.u32\nmanual sub.u32\napproximate ex2.approx.f32\n");
}

TEST_F(HowKnown, OfTensorCoresIsTheTablesOfDotProducts) {
  const std::string warp = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
  const std::string bytes = "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32";
  const std::string mixed = "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e4m3.e2m1.f32";
  const std::string scaled =
      "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3";
  const std::string fifth = "tcgen05.mma.cta_group::1.kind::", copy = "tcgen05.cp.cta_group::1.128x256b";
  record("tensor.json", "mma.sync.m16n8k16.f32.f16, directed");
  EXPECT_EQ(told(evidence_of({warp, bytes}, 90, folder_)), "device " + warp + "\nmanual " + bytes + "\n");
  EXPECT_EQ(told(evidence_of({warp, bytes, mixed, scaled}, 120, folder_)),
            "published " + warp + "\npublished " + scaled + "\nmanual " + mixed + "\nmanual " + bytes + "\n");
  EXPECT_EQ(
      told(evidence_of({fifth + "f16", fifth + "i8", fifth + "mxf4nvf4.block_scale", copy}, 100, folder_)),
      "published " + fifth + "f16\npublished " + fifth + "mxf4nvf4.block_scale\nmanual " + copy +
          "\nmanual " + fifth + "i8\n");
}

TEST_F(HowKnown, NamesOperationsAndWholeInstructionsWhereTheyAreKnownInTwoWays) {
  record("instructions.json", "add.u32");
  const std::vector<Evidence> all = evidence_of(
      {"add.u32", "add.u8", "tcgen05.wait::ld.sync.aligned", "cp.async.bulk.tensor.2d.x"}, 90, folder_);
  EXPECT_EQ(all.at(0).operations(all), (std::set<std::string>{"add.u32"}));
  EXPECT_EQ(all.at(1).operations(all),
            (std::set<std::string>{"add.u8", "tcgen05.wait::ld.sync", "cp.async.bulk.tensor"}));
}

TEST(RecordedEvidence, AnH200VouchesForArithmetic) {
  const auto lacking = without_device_evidence(
      program("fma.rn.f32 %f1, %f2, %f3, %f4;\nmov.u32 %r1, %r2;\nret;\n"), share_folder("captures"));
  EXPECT_FALSE(lacks(lacking, "fma.rn.f32"));
}

}  // namespace
}  // namespace bitwell::capture
