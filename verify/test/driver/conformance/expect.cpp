#include "verify/test/driver/conformance/conformance.h"

namespace conformance {

void* library = nullptr;
int failures = 0, held_count = 0;
bool verbose = false;
int child_writes = -1;
const char* section = "";

std::string name_of(CUresult result) {
  const char* out = nullptr;
  if (CU(cuGetErrorName)(result, &out) != CUDA_SUCCESS || out == nullptr) return std::to_string(result);
  return out;
}

void judge(bool well, const char* what, const std::string& have) {
  if (well) {
    ++held_count;
    if (verbose) std::printf("held: %s: %s\n", section, what);
    return;
  }
  ++failures;
  std::printf("NOT: %s: %s: %s\n", section, what, have.c_str());
}
void held(bool is, const char* what, const std::string& have) { judge(is, what, have); }
void well(CUresult have, const char* what) { judge(have == CUDA_SUCCESS, what, name_of(have)); }
void gives(CUresult want, CUresult have, const char* what) {
  judge(have == want, what, name_of(have) + ", not " + name_of(want));
}
void gives_either(CUresult one, CUresult other, CUresult have, const char* what) {
  judge(have == one || have == other, what, name_of(have));
}

CUfunction function(const Device& d, const char* name) {
  CUfunction out = nullptr;
  well(CU(cuModuleGetFunction)(&out, d.module, name), name);
  return out;
}
CUdeviceptr allocated(size_t bytes) {
  CUdeviceptr out = 0;
  well(CU(cuMemAlloc)(&out, bytes), "cuMemAlloc");
  return out;
}
unsigned word(CUdeviceptr at) {
  unsigned out = 0xdead;
  well(CU(cuMemcpyDtoH)(&out, at, sizeof out), "cuMemcpyDtoH");
  return out;
}

void CUDA_CB tell(void* data) {
  const auto* told = static_cast<Told*>(data);
  told->order->push_back(told->number);
}

}  // namespace conformance
