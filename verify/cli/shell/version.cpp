#include "verify/cli/shell/version.h"

#include "bitwell_commit.h"

namespace bitwell::cli {

std::string version() {
#ifdef __clang__
  const std::string compiler = __VERSION__;  // "Clang 14.0.6"
#else
  const std::string compiler = "g++ " __VERSION__;
#endif
  return "bitwell " BITWELL_VERSION " (commit " BITWELL_COMMIT ", " + compiler + ")";
}

std::string overview() {
  return "bitwell runs a compiled CUDA kernel on a CPU, bit for bit as an H200 does, and says what is wrong "
         "with it.\n"
         "  bitwell init KERNEL.ptx --out launch.json   writes the launch of a kernel of yours, to be filled "
         "in\n"
         "  bitwell run launch.json --races             runs it, and finds what nothing orders\n"
         "  bitwell exec -- ./program                   runs a CUDA program as it is, and judges its "
         "kernels\n"
         "  bitwell --help                              all commands; bitwell COMMAND --help: one of them\n";
}

}  // namespace bitwell::cli
