// What a process cannot survive.
#include "verify/test/driver/conformance/conformance.h"

namespace conformance {

int child(void (*f)()) {
  std::fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) {
    f();
    std::fflush(stdout);
    _exit(failures > 0 ? 1 : 0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void fork_after_init() {
  section = "fork after cuInit";
  failures = 0;
  int count = 0;
  // A count needs no device: the newer drivers may know it still.
  gives_either(CUDA_SUCCESS, CUDA_ERROR_NOT_INITIALIZED, CU(cuDeviceGetCount)(&count), "a count");
  CUdeviceptr p = 0;
  gives(CUDA_ERROR_NOT_INITIALIZED, CU(cuMemAlloc)(&p, 4), "nothing is allocated in the child");
}

void lost_context() {
  section = "a kernel that writes where nothing is";
  failures = 0;
  well(CU(cuInit)(0), "cuInit");
  Device d;
  well(CU(cuDevicePrimaryCtxRetain)(&d.context, 0), "retain");
  well(CU(cuCtxSetCurrent)(d.context), "set");
  well(CU(cuModuleLoadData)(&d.module, kModule), "load");
  const CUdeviceptr p = allocated(4);
  well(CU(cuLaunchKernel)(function(d, "overrun"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
       "the launch is well");
  gives(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuCtxSynchronize)(), "synchronization tells");
  CUdeviceptr q = 0;
  gives(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuMemAlloc)(&q, 4), "so does every later call");
  unsigned out = 0;
  gives(CUDA_ERROR_ILLEGAL_ADDRESS, CU(cuMemcpyDtoH)(&out, p, 4), "and copies");
}

// Destructors of a program's own run behind those of its thread.
void unload_at_exit() {
  section = "at the process's end";
  failures = 0;
  well(CU(cuInit)(0), "cuInit");
  static Device kept;
  well(CU(cuDevicePrimaryCtxRetain)(&kept.context, 0), "retain");
  well(CU(cuCtxSetCurrent)(kept.context), "set");
  well(CU(cuModuleLoadData)(&kept.module, kModule), "load");
  std::atexit([] {
    CUcontext current = nullptr;
    well(CU(cuCtxGetCurrent)(&current), "the current context");
    held(current == kept.context, "is as it was");
    well(CU(cuModuleUnload)(kept.module), "the module is unloaded");
    std::fflush(stdout);
    _exit(failures > 0 ? 1 : 0);
  });
  std::exit(1);
}

}  // namespace conformance
