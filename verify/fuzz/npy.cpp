// Any bytes as .npy -> an array that is the same when written and read again, or InputError.
#include "verify/launch/file/npy.h"

#include "model/machine/failure.h"
#include "verify/fuzz/outcome.h"
#include "verify/fuzz/scratch.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fuzz = bitwell::fuzz;
  namespace launch = bitwell::launch;
  namespace machine = bitwell::machine;
  static const bitwell::fuzz::Scratch scratch;
  const std::string path = scratch.put("x.npy", bitwell::fuzz::text_of(data, size));
  bitwell::fuzz::outcome<bitwell::machine::InputError>([&] {
    const launch::Array array = launch::read_npy(path);
    std::string why;
    launch::Array again;
    try {
      again = launch::read_npy(scratch.put("again.npy", launch::npy_text(array)));
    } catch (const bitwell::machine::InputError& e) {
      why = e.what();
    }
    bitwell::fuzz::require(why.empty(), "what was written can be read: " + why);
    bitwell::fuzz::require(
        again.dtype == array.dtype && again.shape == array.shape && again.bytes == array.bytes,
        "an array survives writing and reading");
  });
  return 0;
}
