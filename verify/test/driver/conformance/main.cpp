// What CUDA's documentation promises of its driver, asked of the library that the command line names: the
// same program runs against a GPU's driver and against bitwell's. It links nothing of CUDA's.
//
// Usage: driver_conformance LIBRARY [-v]     LIBRARY: libcuda.so.1, by name or by path
// Exit status: how many expectations were not met, at most 100; 77 where there is no device.
#include "verify/test/driver/conformance/conformance.h"

int main(int words, char** word) {
  using namespace conformance;
  if (words < 2) {
    std::fprintf(stderr, "usage: %s LIBRARY [-v]\n", word[0]);
    return 100;
  }
  verbose = words > 2 && std::strcmp(word[2], "-v") == 0;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a driver may end the process
  library = dlopen(word[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 100;
  }
  const int lost = child(lost_context), ended = child(unload_at_exit);
  const CUdeviceptr foreign = of_another_process();
  before_init();
  const CUresult init = CU(cuInit)(0);
  if (init == CUDA_ERROR_NO_DEVICE) {
    std::printf("there is no device\n");
    return 77;
  }
  section = "cuInit";
  well(init, "it works");
  Device d;
  errors();
  devices(d);
  contexts(d);
  memory();
  pointers(d);
  modules(d);
  linked();
  attributes(d);
  launches(d);
  streams();
  by_thread(d);
  graphs(d);
  entry_points();
  printing(d);
  edges(d);
  mistakes(d, foreign);
  fork_meanwhile();
  section = "processes of their own";
  held(lost == 0, "a lost context", std::to_string(lost));
  held(ended == 0, "a module that is unloaded by a destructor", std::to_string(ended));
  const int forked = child(fork_after_init);
  held(forked == 0, "fork after cuInit", std::to_string(forked));
  char name[100] = "";
  CU(cuDeviceGetName)(name, sizeof name, d.device);
  if (std::strstr(name, "bitwell") != nullptr) {
    sizes_beyond_64_bits();
    few_parameters(d);
    no_attribute();
    undefined(d);
  }
  int version = 0;
  CU(cuDriverGetVersion)(&version);
  std::printf("%s, CUDA %d.%d: %d held, %d not\n", name, version / 1000, version % 1000 / 10, held_count,
              failures);
  return std::min(failures, 100);
}
