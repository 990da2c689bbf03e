#include "verify/driver/core/not_run.h"

#include <gtest/gtest.h>

#include <new>

#include "model/machine/failure.h"

namespace bitwell::driver {
namespace {

TEST(NotRun, EveryFailureIsOneOfTheStatuses) {
  const auto of = [](const auto& error) { return ending_of(std::make_exception_ptr(error)); };
  const Ending code = of(NoCode(CUDA_ERROR_NO_BINARY_FOR_GPU, "it has machine code only"));
  EXPECT_EQ(code.status, kUnsupported);
  EXPECT_EQ(code.error, CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_TRUE(code.said);
  EXPECT_FALSE(code.lost);
  const Ending unsupported = of(machine::Unsupported("opcode 'multimem'"));
  EXPECT_EQ(unsupported.status, kUnsupported);
  EXPECT_EQ(unsupported.words, "unsupported: opcode 'multimem'");
  EXPECT_TRUE(unsupported.lost);
  EXPECT_EQ(of(machine::InputError("a grid of 0")).status, kUnusable);
  EXPECT_EQ(of(std::bad_alloc()).error, CUDA_ERROR_OUT_OF_MEMORY);
  const Ending bug = of(machine::ModelBug("a row is missing"));
  EXPECT_EQ(bug.status, kModelBug);
  EXPECT_NE(bug.words.find("a bug in bitwell: "), std::string::npos);
  EXPECT_TRUE(bug.lost);
}

}  // namespace
}  // namespace bitwell::driver
