// What programs do wrong to the driver: the error that CUDA documents. What bitwell says of each is looked
// for by words.sh.
#include "verify/test/driver/conformance/conformance.h"

namespace conformance {
namespace {

void freed() {
  unsigned number = 0, type = 0;
  section = "memory that was freed";
  const CUdeviceptr gone = allocated(size_t{64} << 20);
  well(CU(cuMemFree)(gone), "free");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyDtoH)(&number, gone, 4), "copied from");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyHtoD)(gone, &number, 4), "copied to");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD32)(gone, 0, 1), "filled");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuMemFree)(gone), "freed a second time");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, gone),
        "asked what it is");
}

void foreign(CUdeviceptr address) {
  unsigned number = 0;
  section = "memory of another process";
  held(address != 0, "it has some");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyDtoH)(&number, address, 4), "copied from");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyHtoD)(address, &number, 4), "copied to");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuMemFree)(address), "freed");
}

void past() {
  section = "copies past an allocation";
  const CUdeviceptr few = allocated(1000), other = allocated(1000);
  std::vector<unsigned char> bytes(4 << 20);
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyHtoD)(few, bytes.data(), bytes.size()), "from the host");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyDtoH)(bytes.data(), few, bytes.size()), "to the host");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyDtoD)(other, few, bytes.size()), "on the device");
  well(CU(cuMemFree)(few), "free");
  well(CU(cuMemFree)(other), "free");
}

void wrong_context(const Device& d) {
  section = "the wrong context";
  CUcontext second = nullptr;
  const CUfunction scale = function(d, "scale");
  const CUdeviceptr x = allocated(4), y = allocated(4);
  unsigned n = 1;
  void* parameters[] = {const_cast<CUdeviceptr*>(&x), const_cast<CUdeviceptr*>(&y), &n};
  well(CU(cuCtxCreate)(&second, nullptr, 0, d.device), "create another");
  gives_either(CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_INVALID_HANDLE,
               CU(cuLaunchKernel)(scale, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr),
               "a kernel of the first");
  well(CU(cuCtxDestroy)(second), "destroy");
  well(CU(cuCtxSetCurrent)(d.context), "back");
  well(CU(cuMemFree)(x), "free");
  well(CU(cuMemFree)(y), "free");
}

void destroyed_context(const Device& d) {
  section = "a context that another thread destroys";
  CUcontext second = nullptr;
  well(CU(cuCtxCreate)(&second, nullptr, 0, d.device), "create");
  std::thread([&] {
    well(CU(cuCtxSetCurrent)(second), "a thread has it");
    std::thread([&] { well(CU(cuCtxDestroy)(second), "which another destroys"); }).join();
    CUdeviceptr p = 0;
    gives_either(CUDA_ERROR_CONTEXT_IS_DESTROYED, CUDA_ERROR_INVALID_CONTEXT, CU(cuMemAlloc)(&p, 4),
                 "and can do nothing");
  }).join();
  well(CU(cuCtxSetCurrent)(d.context), "back");
}

}  // namespace

// An address of device memory that another process has, and this one has not.
CUdeviceptr of_another_process() {
  int ends[2];
  if (pipe(ends) != 0) return 0;
  child_writes = ends[1];
  child([] {
    CUcontext context = nullptr;
    CUdeviceptr p = 0;
    constexpr size_t much = size_t{1} << 30;
    if (CU(cuInit)(0) == CUDA_SUCCESS && CU(cuDevicePrimaryCtxRetain)(&context, 0) == CUDA_SUCCESS &&
        CU(cuCtxSetCurrent)(context) == CUDA_SUCCESS && CU(cuMemAlloc)(&p, much) == CUDA_SUCCESS)
      p += much / 4 * 3;
    if (write(child_writes, &p, sizeof p) != sizeof p) _exit(1);
  });
  CUdeviceptr out = 0;
  if (read(ends[0], &out, sizeof out) != sizeof out) out = 0;
  close(ends[0]);
  close(ends[1]);
  return out;
}

void mistakes(const Device& d, CUdeviceptr of_another) {
  freed();
  foreign(of_another);
  past();
  wrong_context(d);
  destroyed_context(d);
}

// An H200's driver reads on behind them, says success, and the context is lost.
void few_parameters(const Device& d) {
  section = "parameters of the wrong size";
  const CUdeviceptr x = allocated(4);
  struct {
    CUdeviceptr x, y;
    unsigned n;
  } packed{x, x, 1};
  size_t size = 8;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  gives(CUDA_ERROR_INVALID_VALUE,
        CU(cuLaunchKernel)(function(d, "scale"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra),
        "8 bytes of 20");
  well(CU(cuCtxSynchronize)(), "nothing is amiss");
  well(CU(cuMemFree)(x), "free");
}

}  // namespace conformance
