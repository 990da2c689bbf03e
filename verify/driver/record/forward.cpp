// Every function of the driver goes on to the machine's own, but for those that calls.cpp looks at. The
// functions are jumps, so that whatever arguments they have stay as they are.
#include <dlfcn.h>
#include <unistd.h>

#include <exception>

#include "verify/driver/core/asked.h"
#include "verify/driver/core/say.h"
#include "verify/driver/record/real.h"

// No header of CUDA's is here: its macros rename functions.
extern "C" {
__attribute__((visibility("hidden"))) int bitwell_absent() { return 801; }  // CUDA_ERROR_NOT_SUPPORTED
#define FUNCTION(name) __attribute__((visibility("hidden"))) void* bitwell_to_##name = nullptr;
#include "driver_functions.inc"
#undef FUNCTION
}

#define FUNCTION(name)                    \
  asm(".pushsection .text\n"              \
      ".weak " #name                      \
      "\n"                                \
      ".type " #name ",@function\n" #name \
      ":\n"                               \
      "jmp *bitwell_to_" #name            \
      "(%rip)\n"                          \
      ".size " #name ", .-" #name         \
      "\n"                                \
      ".popsection\n");
#include "driver_functions.inc"
#undef FUNCTION

namespace bitwell::driver {
namespace {

void* library = nullptr;

struct To {
  const char* name;
  void** at;
};
constexpr To kAll[] = {
#define FUNCTION(name) {#name, &bitwell_to_##name},
#include "driver_functions.inc"
#undef FUNCTION
};

// Before the program can call any.
__attribute__((constructor)) void find_all() {
  std::string path;
  try {
    path = asked_of_environment().driver;
  } catch (const std::exception& e) {
    say(e.what());
  }
  if (path.empty()) {
    say("this libcuda.so.1 keeps launches in front of a GPU's: bitwell exec --gpu --record DIR -- PROGRAM");
    _exit(kUnusable);
  }
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    say(std::string("the driver cannot be loaded: ") + dlerror());
    _exit(kUnusable);
  }
  for (const To& to : kAll) {
    void* const ours = looked_at_by_thread(to.name);
    *to.at = ours == nullptr ? real_symbol(to.name) : ours;
  }
}

}  // namespace

void* real_symbol(const char* symbol) {
  void* const out = dlsym(library, symbol);
  return out == nullptr ? reinterpret_cast<void*>(&bitwell_absent) : out;
}

bool has_real(const char* symbol) { return dlsym(library, symbol) != nullptr; }

}  // namespace bitwell::driver
