// Any text as a line of `bitwell mma --batch` -> a word, or InputError.
#include "model/machine/failure.h"
#include "verify/fuzz/outcome.h"
#include "verify/mma/mma_dot.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace machine = bitwell::machine;
  namespace mma = bitwell::mma;
  const std::string text = bitwell::fuzz::text_of(data, size);
  for (const bool values : {false, true})
    bitwell::fuzz::outcome<machine::InputError>([&] {
      const mma::DotLine line = mma::read_line(text, values);
      std::vector<bitwell::number::DotChunk> trace;
      const uint32_t d = mma::compute(line.instruction, line.operands, &trace);
      bitwell::fuzz::require(d == mma::compute(line.instruction, line.operands, nullptr),
                             "a traced sum is the sum");
    });
  return 0;
}
