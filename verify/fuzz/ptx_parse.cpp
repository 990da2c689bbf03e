// Any text -> syntax, or SyntaxError.
#include "model/ptx/parse.h"
#include "verify/fuzz/outcome.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text = bitwell::fuzz::text_of(data, size);
  bitwell::fuzz::outcome<bitwell::ptx::SyntaxError>([&] { bitwell::ptx::parse(text); });
  return 0;
}
