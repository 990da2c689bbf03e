// States before cuInit, errors, devices, contexts.
#include "verify/test/driver/conformance/conformance.h"

namespace conformance {

void before_init() {
  section = "before cuInit";
  int number = -1;
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUdeviceptr pointer = 0;
  well(CU(cuDriverGetVersion)(&number), "the version is known");
  held(number >= 11000, "a version of CUDA", std::to_string(number));
  gives(CUDA_ERROR_NOT_INITIALIZED, CU(cuDeviceGetCount)(&number), "cuDeviceGetCount");
  gives(CUDA_ERROR_NOT_INITIALIZED, CU(cuDeviceGet)(&device, 0), "cuDeviceGet");
  gives(CUDA_ERROR_NOT_INITIALIZED, CU(cuCtxGetCurrent)(&context), "cuCtxGetCurrent");
  gives(CUDA_ERROR_NOT_INITIALIZED, CU(cuMemAlloc)(&pointer, 4), "cuMemAlloc");
  gives(CUDA_ERROR_NOT_INITIALIZED, CU(cuDevicePrimaryCtxRetain)(&context, 0), "cuDevicePrimaryCtxRetain");
  const char* text = nullptr;
  well(CU(cuGetErrorString)(CUDA_ERROR_INVALID_VALUE, &text), "errors have words before it");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuInit)(1), "cuInit with a flag");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuDriverGetVersion)(nullptr), "NULL for the version");
}

void errors() {
  section = "errors";
  const char* text = nullptr;
  well(CU(cuGetErrorName)(CUDA_ERROR_LAUNCH_FAILED, &text), "a name");
  held(text != nullptr && std::strcmp(text, "CUDA_ERROR_LAUNCH_FAILED") == 0, "the name is the enumerator's");
  text = "";
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuGetErrorName)(static_cast<CUresult>(12345), &text),
        "an unknown error");
  held(text == nullptr, "its name is NULL");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuGetErrorString)(static_cast<CUresult>(12345), &text), "its words");
}

void devices(Device& d) {
  section = "devices";
  int count = 0, value = 0;
  well(CU(cuDeviceGetCount)(&count), "count");
  well(CU(cuDeviceGet)(&d.device, 0), "the first");
  CUdevice other = 0;
  gives(CUDA_ERROR_INVALID_DEVICE, CU(cuDeviceGet)(&other, count), "an ordinal too large");
  gives(CUDA_ERROR_INVALID_DEVICE, CU(cuDeviceGet)(&other, -1), "a negative ordinal");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuDeviceGet)(nullptr, 0), "NULL for the device");
  gives(CUDA_ERROR_INVALID_DEVICE, CU(cuDeviceGetAttribute)(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 99),
        "an attribute of a device that is none");
  gives(CUDA_ERROR_INVALID_VALUE,
        CU(cuDeviceGetAttribute)(&value, static_cast<CUdevice_attribute>(100000), d.device),
        "an attribute that is none");
  well(CU(cuDeviceGetAttribute)(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, d.device), "warp size");
  held(value == 32, "it is 32", std::to_string(value));
  well(CU(cuDeviceGetAttribute)(&value, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, d.device), "threads");
  held(value == 1024, "they are 1024", std::to_string(value));
  char name[8] = "";
  well(CU(cuDeviceGetName)(name, sizeof name, d.device), "a name that is cut");
  held(std::strlen(name) < sizeof name && std::strlen(name) > 0, "it ends in a NUL");
  size_t bytes = 0;
  well(CU(cuDeviceTotalMem)(&bytes, d.device), "memory");
  held(bytes > size_t{1} << 30, "more than a GiB");
}

void contexts(Device& d) {
  section = "contexts";
  CUcontext current = reinterpret_cast<CUcontext>(&d), popped = nullptr;
  CUdeviceptr pointer = 0;
  well(CU(cuCtxGetCurrent)(&current), "cuCtxGetCurrent");
  held(current == nullptr, "a thread begins without one");
  gives(CUDA_ERROR_INVALID_CONTEXT, CU(cuMemAlloc)(&pointer, 4), "cuMemAlloc without one");
  gives(CUDA_ERROR_INVALID_CONTEXT, CU(cuCtxSynchronize)(), "cuCtxSynchronize without one");
  unsigned flags = 9;
  int active = 9;
  well(CU(cuDevicePrimaryCtxGetState)(d.device, &flags, &active), "the primary context's state");
  held(active == 0, "it is not active");
  well(CU(cuDevicePrimaryCtxRetain)(&d.context, d.device), "retain");
  held(d.context != nullptr, "it is there");
  well(CU(cuCtxGetCurrent)(&current), "cuCtxGetCurrent");
  held(current == nullptr, "to retain makes it nobody's current one");
  well(CU(cuDevicePrimaryCtxGetState)(d.device, &flags, &active), "state");
  held(active == 1, "it is active");
  CUcontext again = nullptr;
  well(CU(cuDevicePrimaryCtxRetain)(&again, d.device), "retain again");
  held(again == d.context, "it is the same");
  well(CU(cuDevicePrimaryCtxRelease)(d.device), "release");
  well(CU(cuCtxSetCurrent)(d.context), "set");
  well(CU(cuCtxGetCurrent)(&current), "get");
  held(current == d.context, "it is current");
  std::thread([&] {
    CUcontext there = d.context;
    well(CU(cuCtxGetCurrent)(&there), "of another thread");
    held(there == nullptr, "another thread has none");
    CUdeviceptr p = 0;
    gives(CUDA_ERROR_INVALID_CONTEXT, CU(cuMemAlloc)(&p, 4), "nor can it allocate");
  }).join();
  well(CU(cuCtxPushCurrent)(d.context), "push");
  well(CU(cuCtxPopCurrent)(&popped), "pop");
  held(popped == d.context, "what was pushed is popped");
  well(CU(cuCtxGetCurrent)(&current), "get");
  held(current == d.context, "what was below is current");
  CUdevice device = 9;
  well(CU(cuCtxGetDevice)(&device), "its device");
  held(device == d.device, "is the device");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuCtxGetCurrent)(nullptr), "NULL for the context");
  size_t limit = 0;
  gives_either(CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_UNSUPPORTED_LIMIT,
               CU(cuCtxGetLimit)(&limit, static_cast<CUlimit>(1000)), "a limit that is none");
}

}  // namespace conformance
