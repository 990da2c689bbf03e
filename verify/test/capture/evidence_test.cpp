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
class Evidence : public testing::Test {
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

TEST_F(Evidence, NothingIsKnownWithoutCaptures) {
  EXPECT_EQ(without_device_evidence(program("add.u32 %r1, %r2, 1;\nadd.u32 %r1, %r2, 2;\nret;\n"), folder_),
            (std::vector<std::string>{"add.u32", "ret"}));
}

TEST_F(Evidence, AnInstructionIsKnownByItsDigestOrByPrograms) {
  const isa::Program p = program("add.u32 %r1, %r2, 1;\nsub.u32 %r1, %r2, 2;\nret;\n");
  record("instructions.json", "add.u32");
  EXPECT_EQ(without_device_evidence(p, folder_), (std::vector<std::string>{"sub.u32", "ret"}));
  std::ofstream(folder_ + "/programs.txt") << "# of a GPU\nret\nsub.u32\n";
  EXPECT_TRUE(without_device_evidence(p, folder_).empty());
}

TEST_F(Evidence, TensorCoresAreKnownByShapeAndTypesButN) {
  const std::string mma =
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, "
      "%r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3};\nret;\n";
  record("tensor.json", "mma.sync.m16n8k16.f32.bf16, directed");
  EXPECT_EQ(without_device_evidence(program(mma), folder_).size(), 2u);
  record("tensor.json", "mma.sync.m16n8k16.f32.f16, directed");
  EXPECT_EQ(without_device_evidence(program(mma), folder_), (std::vector<std::string>{"ret"}));
}

TEST_F(Evidence, AsynchronousOnesAreKnownByFamily) {
  const isa::Program p =
      program("mbarrier.init.shared.b64 [bar], 1;\nmbarrier.inval.shared.b64 [bar];\nret;\n");
  record("async.json", "bulk load, 1");
  EXPECT_TRUE(lacks(without_device_evidence(p, folder_), "mbarrier.init.shared.b64"));
  record("async.json", "mbarrier, 1");
  EXPECT_EQ(without_device_evidence(p, folder_), (std::vector<std::string>{"ret"}));
}

TEST(RecordedEvidence, AnH200VouchesForArithmetic) {
  const auto lacking = without_device_evidence(
      program("fma.rn.f32 %f1, %f2, %f3, %f4;\nmov.u32 %r1, %r2;\nret;\n"), share_folder("captures"));
  EXPECT_FALSE(lacks(lacking, "fma.rn.f32"));
}

}  // namespace
}  // namespace bitwell::capture
