// What is said of an output beside a GPU's; no GPU is needed for that.
#include "verify/device/beside.h"

#include <gtest/gtest.h>

#include "../kernel.h"
#include "verify/capture/captures.h"

namespace bitwell::device {
namespace {

std::vector<std::byte> bytes(std::initializer_list<int> all) {
  std::vector<std::byte> out;
  for (const int b : all) out.push_back(static_cast<std::byte>(b));
  return out;
}

TEST(Beside, EqualOutputsHaveNoDifference) {
  const OutputBeside o = output_beside("y", bytes({1, 2}), bytes({1, 2}), {});
  EXPECT_EQ(o.name, "y");
  EXPECT_EQ(o.bytes, 2u);
  EXPECT_FALSE(o.differs);
}

TEST(Beside, TheFirstByteBelongsToAnElement) {
  launch::Output output;
  output.dtype = "u2";
  output.shape = {2, 2};
  const OutputBeside o =
      output_beside("y", bytes({1, 0, 2, 0, 3, 0, 4, 0}), bytes({1, 0, 2, 0, 3, 9, 5, 0}), output);
  ASSERT_TRUE(o.differs);
  EXPECT_EQ(o.differs->byte, 5u);
  EXPECT_EQ(o.differs->element, "[1, 0]");
  EXPECT_EQ(o.differs->here, "0x0003");
  EXPECT_EQ(o.differs->on_gpu, "0x0903");
}

TEST(Beside, ElementsOfFourBitsShareAByte) {
  launch::Output output;
  output.format = "e2m1";
  const OutputBeside o = output_beside("y", bytes({0x10, 0x32}), bytes({0x10, 0x33}), output);
  ASSERT_TRUE(o.differs);
  EXPECT_EQ(o.differs->element, "[2]");
  EXPECT_EQ(o.differs->here, "0x32");
}

TEST(Beside, AFaultIsADifference) {
  Beside b;
  EXPECT_TRUE(b.holds());
  b.outputs.push_back({"y", 4});
  EXPECT_TRUE(b.holds());
  b.fault = "CUDA_ERROR_ILLEGAL_ADDRESS";
  EXPECT_FALSE(b.holds());
  b.fault.clear();
  b.outputs[0].differs = OutputBeside::Differs{0, "[0]", "0x00", "0x01"};
  EXPECT_FALSE(b.holds());
}

TEST(Beside, SaysOnceWhatNoGpuVouchesFor) {
  test::Kernel k;
  k.target = "sm_100a";
  k.registers = ".reg .b32 %r<4>;";
  k.body = "mov.u32 %r0, %tid.x;\nadd.u32 %r1, %r0, 1;";
  const auto program = k.program();
  const Unvouched none = unvouched({}, capture::share_folder("captures"));
  EXPECT_TRUE(none.instructions.empty() && none.targets.empty());
  const Unvouched once = unvouched({program.get()}, capture::share_folder("captures"));
  const Unvouched twice = unvouched({program.get(), program.get()}, capture::share_folder("captures"));
  EXPECT_EQ(once.instructions, twice.instructions);
  EXPECT_EQ(once.targets, (std::map<std::string, std::string>{{"sm_100a", "manual"}}));
}

}  // namespace
}  // namespace bitwell::device
