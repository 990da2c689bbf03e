// What CUDA's documentation promises of its driver, asked of the library that the command line names: the
// same program runs against a GPU's driver and against bitwell's. It links nothing of CUDA's.
//
// Usage: driver_conformance LIBRARY [-v]     LIBRARY: libcuda.so.1, by name or by path
// Exit status: how many expectations were not met, at most 100; 77 where there is no device.
#include <cuda.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

void* library = nullptr;
int failures = 0, held_count = 0;
bool verbose = false;
const char* section = "";

template <class F>
F* find(const char* name) {
  void* const out = dlsym(library, name);
  if (out == nullptr) {
    std::printf("the library has no %s\n", name);
    std::exit(100);
  }
  return reinterpret_cast<F*>(out);
}
// A function of cuda.h, whose macros give it the name of its newest version.
#define NAME2(f) #f
#define NAME(f) NAME2(f)
#define CU(f) (*find<decltype(f)>(NAME(f)))

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
void held(bool is, const char* what, const std::string& have = "it is not so") { judge(is, what, have); }
void well(CUresult have, const char* what) { judge(have == CUDA_SUCCESS, what, name_of(have)); }
void gives(CUresult want, CUresult have, const char* what) {
  judge(have == want, what, name_of(have) + ", not " + name_of(want));
}
// Where drivers differ by version: either of two.
void gives_either(CUresult one, CUresult other, CUresult have, const char* what) {
  judge(have == one || have == other, what, name_of(have));
}

// Kernels for every device since sm_80.
constexpr const char* kModule = R"(
.version 7.0
.target sm_80
.address_size 64
.global .align 4 .u32 counter = 5;
.const .align 4 .b8 table[16];
.visible .entry scale(.param .u64 x, .param .u64 y, .param .u32 n) {
  .reg .pred %p; .reg .b32 %r<6>; .reg .b64 %d<5>;
  ld.param.u64 %d0, [x]; ld.param.u64 %d1, [y]; ld.param.u32 %r0, [n];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
  mad.lo.u32 %r1, %r1, %r2, %r3;
  setp.ge.u32 %p, %r1, %r0;
  @%p ret;
  cvta.to.global.u64 %d0, %d0; cvta.to.global.u64 %d1, %d1;
  mul.wide.u32 %d2, %r1, 4;
  add.u64 %d0, %d0, %d2; add.u64 %d1, %d1, %d2;
  ld.global.u32 %r4, [%d0];
  shl.b32 %r4, %r4, 1;
  st.global.u32 [%d1], %r4;
  ret;
}
.visible .entry count() {
  .reg .b32 %r<2>;
  atom.global.add.u32 %r0, [counter], 1;
  ret;
}
.visible .entry first_of_table(.param .u64 y) {
  .reg .b32 %r; .reg .b64 %d;
  ld.param.u64 %d, [y]; cvta.to.global.u64 %d, %d;
  ld.const.u32 %r, [table]; st.global.u32 [%d], %r;
  ret;
}
.visible .entry structure(.param .align 8 .b8 s[24], .param .u8 tail) {
  .reg .b32 %r<3>; .reg .b64 %d<3>;
  ld.param.u64 %d0, [s]; ld.param.u32 %r0, [s+8]; ld.param.u64 %d1, [s+16]; ld.param.u8 %r1, [tail];
  cvta.to.global.u64 %d0, %d0; cvta.to.global.u64 %d1, %d1;
  ld.global.u32 %r2, [%d0]; add.u32 %r2, %r2, %r0; add.u32 %r2, %r2, %r1;
  st.global.u32 [%d1], %r2;
  ret;
}
.extern .shared .align 4 .b8 room[];
.visible .entry last_of_room(.param .u64 y, .param .u32 bytes) {
  .reg .b32 %r<3>; .reg .b64 %d;
  ld.param.u64 %d, [y]; ld.param.u32 %r0, [bytes]; cvta.to.global.u64 %d, %d;
  mov.u32 %r1, room; add.u32 %r1, %r1, %r0;
  st.shared.u32 [%r1+-4], %r0; ld.shared.u32 %r2, [%r1+-4]; st.global.u32 [%d], %r2;
  ret;
}
.visible .entry limited(.param .u64 y) .maxntid 64, 1, 1 {
  .reg .b32 %r; .reg .b64 %d;
  .shared .align 4 .b8 own[1024];
  ld.param.u64 %d, [y]; cvta.to.global.u64 %d, %d;
  mov.u32 %r, 7; st.shared.u32 [own], %r; ld.shared.u32 %r, [own]; st.global.u32 [%d], %r;
  ret;
}
.extern .func (.param .b32 out) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 said[19] = {116, 104, 114, 101, 97, 100, 32, 37, 117, 32, 115, 97, 121, 115, 32, 115, 111, 10, 0};
.visible .entry says() {
  .local .align 4 .b8 frame[4];
  .reg .b32 %r; .reg .b64 %d<4>;
  mov.u32 %r, %tid.x;
  mov.u64 %d0, frame; cvta.local.u64 %d1, %d0; st.local.u32 [%d0], %r;
  mov.u64 %d2, said; cvta.global.u64 %d3, %d2;
  { .param .b64 a; .param .b64 b; .param .b32 c;
    st.param.b64 [a], %d3; st.param.b64 [b], %d1;
    call.uni (c), vprintf, (a, b); }
  ret;
}
.visible .entry overrun() {
  .reg .b64 %d;
  mov.u64 %d, 0x10; st.global.u32 [%d], 1;
  ret;
}
)";

struct Device {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
};

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

void memory() {
  section = "memory";
  CUdeviceptr p = 0;
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuMemAlloc)(&p, 0), "0 bytes");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuMemAlloc)(nullptr, 4), "NULL for the pointer");
  gives(CUDA_ERROR_OUT_OF_MEMORY, CU(cuMemAlloc)(&p, size_t{1} << 46), "64 TiB");
  well(CU(cuMemFree)(0), "freeing 0");
  p = allocated(1000);
  held(p % 256 == 0, "it stands on a boundary of 256");
  CUdeviceptr base = 0;
  size_t size = 0;
  well(CU(cuMemGetAddressRange)(&base, &size, p + 500), "the range of a pointer into it");
  held(base == p && size == 1000, "is all of it", std::to_string(size));
  std::vector<unsigned char> bytes(1000), have(1000);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(3 * i);
  well(CU(cuMemcpyHtoD)(p, bytes.data(), 1000), "to the device");
  well(CU(cuMemcpyDtoH)(have.data(), p, 1000), "and back");
  held(have == bytes, "the bytes are the same");
  well(CU(cuMemsetD32)(p, 0x01020304, 10), "fill");
  well(CU(cuMemsetD16)(p + 40, 0x0506, 2), "fill by halves");
  well(CU(cuMemsetD8)(p + 44, 7, 1), "fill by bytes");
  well(CU(cuMemcpyDtoH)(have.data(), p, 46), "back");
  held(have[0] == 4 && have[3] == 1 && have[39] == 1 && have[40] == 6 && have[43] == 5 && have[44] == 7 &&
           have[45] == bytes[45],
       "the fills end where they end");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuMemsetD32)(p + 1, 0, 1), "a fill of words at an odd address");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuMemcpyHtoD)(p, bytes.data(), size_t{1} << 40), "a copy past its end");
  CUDA_MEMCPY2D c{};
  c.srcMemoryType = CU_MEMORYTYPE_HOST, c.srcHost = bytes.data(), c.srcPitch = 20;
  c.dstMemoryType = CU_MEMORYTYPE_DEVICE, c.dstDevice = p, c.dstPitch = 32, c.dstXInBytes = 2;
  c.WidthInBytes = 10, c.Height = 3;
  well(CU(cuMemcpy2D)(&c), "rows");
  well(CU(cuMemcpyDtoH)(have.data(), p, 96), "back");
  held(std::memcmp(have.data() + 2 + 64, bytes.data() + 40, 10) == 0, "the third row");
  well(CU(cuMemFree)(p), "free");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuMemFree)(p), "free again");
  CUdeviceptr q = allocated(1000);
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuMemFree)(q + 8), "free inside of it");
  well(CU(cuMemFree)(q), "free");

  void* host = nullptr;
  well(CU(cuMemAllocHost)(&host, 4096), "pinned memory");
  CUdeviceptr from_device = 0;
  well(CU(cuMemHostGetDevicePointer)(&from_device, host, 0), "its device pointer");
  held(from_device == reinterpret_cast<CUdeviceptr>(host), "is the same");
  well(CU(cuMemFreeHost)(host), "free it");
  std::vector<int> own(4096);
  gives_either(CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,
               CU(cuMemHostGetDevicePointer)(&from_device, own.data(), 0), "that of memory of one's own");
  well(CU(cuMemHostRegister)(own.data(), 4096, 0), "register");
  gives(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, CU(cuMemHostRegister)(own.data(), 4096, 0), "and again");
  well(CU(cuMemHostUnregister)(own.data()), "unregister");
  gives(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, CU(cuMemHostUnregister)(own.data()), "and again");
}

void pointers(const Device& d) {
  section = "what pointers are";
  const CUdeviceptr p = allocated(1 << 12), inside = p + 100;
  unsigned type = 0, managed = 9;
  int ordinal = 9;
  CUcontext context = nullptr;
  CUdeviceptr pointer = 0, start = 0;
  size_t size = 0;
  well(CU(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, inside), "type");
  held(type == CU_MEMORYTYPE_DEVICE, "the device's");
  well(CU(cuPointerGetAttribute)(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, inside), "managed");
  held(managed == 0, "not managed");
  well(CU(cuPointerGetAttribute)(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, inside), "device");
  held(ordinal == d.device, "the device");
  well(CU(cuPointerGetAttribute)(&context, CU_POINTER_ATTRIBUTE_CONTEXT, inside), "context");
  held(context == d.context, "the context");
  well(CU(cuPointerGetAttribute)(&pointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, inside), "pointer");
  held(pointer == inside, "itself");
  well(CU(cuPointerGetAttribute)(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, inside), "start");
  well(CU(cuPointerGetAttribute)(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, inside), "size");
  held(start == p && size == 1 << 12, "the allocation");
  void* host = nullptr;
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuPointerGetAttribute)(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, inside),
        "it has no host pointer");
  int own = 0;
  const auto mine = reinterpret_cast<CUdeviceptr>(&own);
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, mine),
        "memory of the host's own has no type");
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* out[] = {&type, &pointer, &ordinal};
  well(CU(cuPointerGetAttributes)(3, which, out, mine), "several at once do not fail");
  held(type == 0 && pointer == 0, "they are 0");
  well(CU(cuPointerGetAttributes)(3, which, out, inside), "of the device's");
  held(type == CU_MEMORYTYPE_DEVICE && pointer == inside, "as one by one");
  CUdeviceptr m = 0;
  well(CU(cuMemAllocManaged)(&m, 4096, CU_MEM_ATTACH_GLOBAL), "managed memory");
  well(CU(cuPointerGetAttribute)(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, m), "managed");
  held(managed == 1, "is managed");
  well(CU(cuMemFree)(m), "free");
  well(CU(cuMemFree)(p), "free");
}

void modules(Device& d) {
  section = "modules";
  CUmodule none = nullptr;
  const char nonsense[] = "this is no PTX at all";
  gives_either(CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_INVALID_PTX, CU(cuModuleLoadData)(&none, nonsense),
               "nonsense");
  const char wrong[] = ".version 7.0\n.target sm_80\n.address_size 64\n.entry k() { mov.u32 %r9, 1; ret; }\n";
  gives(CUDA_ERROR_INVALID_PTX, CU(cuModuleLoadData)(&none, wrong), "PTX with a mistake");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuModuleLoadData)(&none, nullptr), "NULL");
  gives(CUDA_ERROR_FILE_NOT_FOUND, CU(cuModuleLoad)(&none, "/nowhere/at/all.cubin"),
        "a file that is not there");
  well(CU(cuModuleLoadData)(&d.module, kModule), "PTX");
  CUfunction f = nullptr;
  gives(CUDA_ERROR_NOT_FOUND, CU(cuModuleGetFunction)(&f, d.module, "absent"), "a kernel that is not there");
  CUdeviceptr global = 0;
  size_t size = 0;
  well(CU(cuModuleGetGlobal)(&global, &size, d.module, "counter"), "a variable");
  held(size == 4, "its size", std::to_string(size));
  held(word(global) == 5, "its first value");
  gives(CUDA_ERROR_NOT_FOUND, CU(cuModuleGetGlobal)(&global, &size, d.module, "absent"),
        "one that is not there");
  well(CU(cuModuleGetGlobal)(nullptr, &size, d.module, "table"), "without a place for the address");
  held(size == 16, "a constant's size");
  size = 0;
  well(CU(cuModuleGetGlobal)(&global, nullptr, d.module, "table"), "without a place for the size");
  const unsigned eleven = 11;
  well(CU(cuMemcpyHtoD)(global, &eleven, 4), "a constant is written");
  const CUdeviceptr out = allocated(4);
  void* parameters[] = {const_cast<CUdeviceptr*>(&out)};
  well(CU(cuLaunchKernel)(function(d, "first_of_table"), 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr),
       "launch");
  held(word(out) == 11, "and read by a kernel");
  CUmodule again = nullptr;
  well(CU(cuModuleLoadData)(&again, kModule), "the same text again");
  held(again != d.module, "is another module");
  CUdeviceptr other = 0;
  well(CU(cuModuleGetGlobal)(&other, &size, again, "counter"), "a variable of it");
  well(CU(cuModuleGetGlobal)(&global, &size, d.module, "counter"), "and of the first");
  held(other != global, "they are two");
  well(CU(cuModuleUnload)(again), "unload");
  well(CU(cuMemFree)(out), "free");

  section = "libraries";
  CUlibrary l = nullptr;
  well(CU(cuLibraryLoadData)(&l, kModule, nullptr, nullptr, 0, nullptr, nullptr, 0), "load");
  CUkernel kernel = nullptr;
  well(CU(cuLibraryGetKernel)(&kernel, l, "scale"), "kernel");
  gives(CUDA_ERROR_NOT_FOUND, CU(cuLibraryGetKernel)(&kernel, l, "absent"), "one that is not there");
  well(CU(cuLibraryGetKernel)(&kernel, l, "scale"), "kernel");
  well(CU(cuKernelGetFunction)(&f, kernel), "its function");
  unsigned count = 0;
  well(CU(cuLibraryGetKernelCount)(&count, l), "kernels");
  held(count == 8, "all of them", std::to_string(count));
  size_t offset = 9;
  well(CU(cuKernelGetParamInfo)(kernel, 2, &offset, &size), "its third parameter");
  held(offset == 16 && size == 4, "its place", std::to_string(offset) + ", " + std::to_string(size));
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuKernelGetParamInfo)(kernel, 3, &offset, &size), "a fourth");
  well(CU(cuLibraryUnload)(l), "unload");
}

void attributes(const Device& d) {
  section = "kernels' attributes";
  const CUfunction f = function(d, "limited");
  int value = 0;
  well(CU(cuFuncGetAttribute)(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f), "threads");
  held(value == 64, "as .maxntid says", std::to_string(value));
  well(CU(cuFuncGetAttribute)(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f), "static shared memory");
  held(value == 1024, "as declared", std::to_string(value));
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuFuncGetAttribute)(&value, static_cast<CUfunction_attribute>(500), f),
        "one that is none");
  gives(CUDA_ERROR_INVALID_VALUE,
        CU(cuFuncSetAttribute)(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 28),
        "256 MiB of shared memory");
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuFuncSetAttribute)(f, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 4),
        "one that cannot be set");
  int blocks = 0, grid = 0, block = 0;
  well(CU(cuOccupancyMaxActiveBlocksPerMultiprocessor)(&blocks, function(d, "scale"), 256, 0), "occupancy");
  held(blocks >= 2 && blocks <= 32, "some CTAs", std::to_string(blocks));
  well(CU(cuOccupancyMaxPotentialBlockSize)(&grid, &block, f, nullptr, 0, 0), "the best size of a CTA");
  held(block > 0 && block <= 64 && block % 32 == 0, "within .maxntid", std::to_string(block));
}

void launches(const Device& d) {
  section = "launches";
  const CUfunction scale = function(d, "scale");
  const CUdeviceptr x = allocated(400), y = allocated(400);
  std::vector<unsigned> numbers(100), have(100);
  for (unsigned i = 0; i < 100; ++i) numbers[i] = i * i;
  well(CU(cuMemcpyHtoD)(x, numbers.data(), 400), "input");
  unsigned n = 100;
  void* parameters[] = {const_cast<CUdeviceptr*>(&x), const_cast<CUdeviceptr*>(&y), &n};
  const auto launch = [&](unsigned g, unsigned b, void** p, void** extra) {
    return CU(cuLaunchKernel)(scale, g, 1, 1, b, 1, 1, 0, nullptr, p, extra);
  };
  well(launch(4, 32, parameters, nullptr), "parameters one by one");
  well(CU(cuMemcpyDtoH)(have.data(), y, 400), "output");
  held(have[99] == 2 * 99 * 99 && have[1] == 2, "what it computes");
  struct {
    CUdeviceptr x, y;
    unsigned n;
  } packed{x, y, 50};
  size_t size = 20;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  well(CU(cuMemsetD8)(y, 0, 400), "clear");
  well(launch(4, 32, nullptr, extra), "parameters in a buffer");
  well(CU(cuMemcpyDtoH)(have.data(), y, 400), "output");
  held(have[49] == 2 * 49 * 49 && have[50] == 0, "n is the buffer's");
  gives(CUDA_ERROR_INVALID_VALUE, launch(4, 32, parameters, extra), "both ways at once");
  gives(CUDA_ERROR_INVALID_VALUE, launch(4, 32, nullptr, nullptr), "neither");
  gives(CUDA_ERROR_INVALID_VALUE, launch(0, 32, parameters, nullptr), "no CTA");
  gives(CUDA_ERROR_INVALID_VALUE, launch(4, 0, parameters, nullptr), "no thread");
  gives(CUDA_ERROR_INVALID_VALUE, launch(4, 2048, parameters, nullptr), "2048 threads");
  gives(CUDA_ERROR_INVALID_HANDLE,
        CU(cuLaunchKernel)(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr), "no kernel");
  void* one[] = {const_cast<CUdeviceptr*>(&y)};
  gives_either(CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
               CU(cuLaunchKernel)(function(d, "limited"), 1, 1, 1, 128, 1, 1, 0, nullptr, one, nullptr),
               "more threads than .maxntid");

  // A structure with two pointers and a hole, and a byte behind it.
  struct {
    CUdeviceptr from;
    unsigned add;
    CUdeviceptr to;
  } s{x, 1000, y};
  unsigned char tail = 200;
  const unsigned seven = 7;
  well(CU(cuMemcpyHtoD)(x, &seven, 4), "input");
  void* two[] = {&s, &tail};
  well(CU(cuLaunchKernel)(function(d, "structure"), 1, 1, 1, 1, 1, 1, 0, nullptr, two, nullptr),
       "a structure");
  held(word(y) == 1207, "all of it arrives");

  const CUfunction room = function(d, "last_of_room");
  unsigned bytes = 40000;
  void* three[] = {const_cast<CUdeviceptr*>(&y), &bytes};
  well(CU(cuLaunchKernel)(room, 1, 1, 1, 1, 1, 1, bytes, nullptr, three, nullptr), "dynamic shared memory");
  held(word(y) == bytes, "its last word");
  bytes = 60000;
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuLaunchKernel)(room, 1, 1, 1, 1, 1, 1, bytes, nullptr, three, nullptr),
        "more than 48 KiB unasked");
  well(CU(cuFuncSetAttribute)(room, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000), "asked");
  well(CU(cuLaunchKernel)(room, 1, 1, 1, 1, 1, 1, bytes, nullptr, three, nullptr), "and granted");
  held(word(y) == bytes, "its last word");

  section = "launch attributes";
  CUlaunchAttribute a[2] = {};
  CUlaunchConfig c{};
  c.gridDimX = 4, c.gridDimY = c.gridDimZ = 1, c.blockDimX = 32, c.blockDimY = c.blockDimZ = 1;
  c.attrs = a;
  n = 100;
  well(CU(cuMemcpyHtoD)(x, numbers.data(), 400), "input");
  const auto extended = [&](unsigned count) {
    c.numAttrs = count;
    return CU(cuLaunchKernelEx)(&c, scale, parameters, nullptr);
  };
  well(extended(0), "none");
  a[0].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  a[0].value.programmaticStreamSerializationAllowed = 1;
  a[1].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  a[1].value.priority = 0;
  well(extended(2), "serialization and priority");
  a[0].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  a[0].value.cooperative = 1;
  well(extended(1), "cooperative");
  c.gridDimX = 1 << 20;
  gives(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, extended(1), "a cooperative grid that is not resident");
  c.gridDimX = 4;
  int clusters = 0;
  CU(cuDeviceGetAttribute)(&clusters, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, d.device);
  if (clusters != 0) {
    // The module is for sm_80, whose kernels take clusters too where the launch says so.
    a[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    a[0].value.clusterDim.x = 2, a[0].value.clusterDim.y = a[0].value.clusterDim.z = 1;
    well(extended(1), "clusters of 2");
    a[0].value.clusterDim.x = 3;
    gives_either(CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_CLUSTER_SIZE, extended(1),
                 "clusters of 3 in a grid of 4");
    c.gridDimX = 16;
    a[0].value.clusterDim.x = 16;
    gives(CUDA_ERROR_INVALID_CLUSTER_SIZE, extended(1), "clusters of 16");
    c.gridDimX = 4;
  }
  well(CU(cuCtxSynchronize)(), "nothing is amiss");
  well(CU(cuMemFree)(x), "free");
  well(CU(cuMemFree)(y), "free");
}

struct Told {
  int number;
  std::vector<int>* order;
};
void CUDA_CB tell(void* data) {
  const auto* told = static_cast<Told*>(data);
  told->order->push_back(told->number);
}
void CUDA_CB tell_with_status(CUstream, CUresult status, void* data) {
  const auto* told = static_cast<Told*>(data);
  told->order->push_back(status == CUDA_SUCCESS ? told->number : -1);
}

void streams() {
  section = "streams and events";
  CUstream s = nullptr, t = nullptr;
  CUevent e = nullptr, f = nullptr, untimed = nullptr;
  gives(CUDA_ERROR_INVALID_VALUE, CU(cuStreamCreate)(&s, 0x100), "a flag that is none");
  well(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), "create");
  well(CU(cuStreamCreateWithPriority)(&t, 0, -1), "create with a priority");
  unsigned flags = 9;
  well(CU(cuStreamGetFlags)(s, &flags), "flags");
  held(flags == CU_STREAM_NON_BLOCKING, "as given");
  unsigned long long id = 0, other = 0;
  well(CU(cuStreamGetId)(s, &id), "number");
  well(CU(cuStreamGetId)(t, &other), "number");
  held(id != other, "two streams have two numbers");
  well(CU(cuEventCreate)(&e, CU_EVENT_DEFAULT), "event");
  well(CU(cuEventCreate)(&f, CU_EVENT_DEFAULT), "event");
  well(CU(cuEventCreate)(&untimed, CU_EVENT_DISABLE_TIMING), "event without time");
  well(CU(cuEventQuery)(e), "one that was never recorded has happened");
  well(CU(cuEventSynchronize)(e), "and nobody waits for it");
  float passed = -1;
  gives(CUDA_ERROR_INVALID_HANDLE, CU(cuEventElapsedTime)(&passed, e, f), "but it has no time");
  std::vector<int> order;
  Told first{1, &order}, second{2, &order}, third{3, &order};
  well(CU(cuEventRecord)(e, s), "record");
  well(CU(cuLaunchHostFunc)(s, tell, &first), "a function of the host's");
  well(CU(cuStreamAddCallback)(s, tell_with_status, &second, 0), "a callback");
  well(CU(cuEventRecord)(f, s), "record");
  well(CU(cuStreamWaitEvent)(t, f, 0), "another stream waits");
  well(CU(cuLaunchHostFunc)(t, tell, &third), "and goes on");
  well(CU(cuStreamSynchronize)(t), "synchronize");
  held(order == std::vector<int>{1, 2, 3}, "in their order");
  well(CU(cuStreamQuery)(s), "the stream is done");
  well(CU(cuEventQuery)(f), "the event has happened");
  well(CU(cuEventElapsedTime)(&passed, e, f), "time");
  held(passed >= 0 && passed < 60000, "some", std::to_string(passed));
  well(CU(cuEventRecord)(untimed, s), "record");
  well(CU(cuEventSynchronize)(untimed), "synchronize");
  gives(CUDA_ERROR_INVALID_HANDLE, CU(cuEventElapsedTime)(&passed, e, untimed), "one without time has none");
  well(CU(cuStreamSynchronize)(nullptr), "the stream that is always there");
  well(CU(cuEventDestroy)(e), "destroy");
  well(CU(cuEventDestroy)(f), "destroy");
  well(CU(cuEventDestroy)(untimed), "destroy");
  well(CU(cuStreamDestroy)(s), "destroy");
  well(CU(cuStreamDestroy)(t), "destroy");

  section = "a function of the host's behind a copy";
  const CUdeviceptr p = allocated(4);
  well(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), "create");
  static unsigned seen = 0, copied = 0;
  well(CU(cuMemsetD32Async)(p, 77, 1, s), "fill");
  well(CU(cuMemcpyDtoHAsync)(&copied, p, 4, s), "copy");
  well(CU(cuLaunchHostFunc)(
           s, [](void*) { seen = copied; }, nullptr),
       "function");
  well(CU(cuStreamSynchronize)(s), "synchronize");
  held(seen == 77, "sees what was copied", std::to_string(seen));
  well(CU(cuStreamDestroy)(s), "destroy");
  well(CU(cuMemFree)(p), "free");
}

void graphs(const Device& d) {
  section = "graphs";
  CUstream s = nullptr, t = nullptr;
  CUevent e = nullptr;
  well(CU(cuStreamCreate)(&s, CU_STREAM_NON_BLOCKING), "stream");
  well(CU(cuStreamCreate)(&t, CU_STREAM_NON_BLOCKING), "stream");
  well(CU(cuEventCreate)(&e, CU_EVENT_DISABLE_TIMING), "event");
  const CUdeviceptr x = allocated(400), y = allocated(400);
  unsigned n = 100;
  std::vector<unsigned> numbers(100, 3), have(100);
  void* parameters[] = {const_cast<CUdeviceptr*>(&x), const_cast<CUdeviceptr*>(&y), &n};
  const CUfunction scale = function(d, "scale");
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  gives(CUDA_ERROR_ILLEGAL_STATE, CU(cuStreamEndCapture)(s, &graph),
        "the end of a capture that did not begin");
  gives(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
        CU(cuStreamBeginCapture)(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL),
        "the legacy stream is not captured");
  well(CU(cuMemsetD32)(x, 1, 100), "clear");
  well(CU(cuMemsetD32)(y, 0, 100), "clear");
  well(CU(cuStreamBeginCapture)(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "begin");
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  well(CU(cuStreamIsCapturing)(s, &status), "status");
  held(status == CU_STREAM_CAPTURE_STATUS_ACTIVE, "it is captured");
  well(CU(cuMemcpyHtoDAsync)(x, numbers.data(), 400, s), "a copy");
  well(CU(cuLaunchKernel)(scale, 4, 1, 1, 32, 1, 1, 0, s, parameters, nullptr), "a launch");
  well(CU(cuEventRecord)(e, s), "record");
  well(CU(cuStreamWaitEvent)(t, e, 0), "another stream joins");
  well(CU(cuMemsetD32Async)(y + 396, 9, 1, t), "a fill there");
  well(CU(cuEventRecord)(e, t), "record");
  well(CU(cuStreamWaitEvent)(s, e, 0), "and comes back");
  n = 1;  // what a launch was given is copied when it is captured
  well(CU(cuStreamEndCapture)(s, &graph), "end");
  well(CU(cuStreamIsCapturing)(t, &status), "status of the other");
  held(status == CU_STREAM_CAPTURE_STATUS_NONE, "it is captured no more");
  held(word(y) == 0, "nothing has run");
  size_t count = 0;
  well(CU(cuGraphGetNodes)(graph, nullptr, &count), "nodes");
  held(count == 3, "a copy, a launch and a fill", std::to_string(count));
  well(CU(cuGraphInstantiate)(&exec, graph, 0), "instantiate");
  well(CU(cuGraphDestroy)(graph), "the graph may go");
  well(CU(cuGraphLaunch)(exec, s), "launch");
  well(CU(cuStreamSynchronize)(s), "synchronize");
  well(CU(cuMemcpyDtoH)(have.data(), y, 400), "output");
  held(have[0] == 6 && have[98] == 6 && have[99] == 9, "all of it has run");
  well(CU(cuMemsetD32)(y, 0, 100), "clear");
  well(CU(cuGraphLaunch)(exec, s), "launch again");
  well(CU(cuStreamSynchronize)(s), "synchronize");
  held(word(y) == 6, "and again");
  well(CU(cuGraphExecDestroy)(exec), "destroy");

  well(CU(cuStreamBeginCapture)(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), "begin");
  gives(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, CU(cuStreamSynchronize)(s),
        "a captured stream is not waited for");
  gives(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, CU(cuStreamEndCapture)(s, &graph), "which spoils the capture");
  held(graph == nullptr, "there is no graph");
  well(CU(cuStreamIsCapturing)(s, &status), "status");
  held(status == CU_STREAM_CAPTURE_STATUS_NONE, "the stream is free again");

  // Node by node.
  CUgraphNode clear = nullptr, run = nullptr, host = nullptr;
  well(CU(cuGraphCreate)(&graph, 0), "create");
  CUDA_MEMSET_NODE_PARAMS fill{};
  fill.dst = x, fill.value = 5, fill.elementSize = 4, fill.width = 100, fill.height = 1;
  well(CU(cuGraphAddMemsetNode)(&clear, graph, nullptr, 0, &fill, d.context), "a fill");
  CUDA_KERNEL_NODE_PARAMS kernel{};
  n = 100;
  kernel.func = scale, kernel.gridDimX = 4, kernel.gridDimY = kernel.gridDimZ = 1;
  kernel.blockDimX = 32, kernel.blockDimY = kernel.blockDimZ = 1, kernel.kernelParams = parameters;
  well(CU(cuGraphAddKernelNode)(&run, graph, &clear, 1, &kernel), "a launch behind it");
  std::vector<int> order;
  Told told{4, &order};
  CUDA_HOST_NODE_PARAMS function{tell, &told};
  well(CU(cuGraphAddHostNode)(&host, graph, &run, 1, &function), "a function behind that");
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  well(CU(cuGraphNodeGetType)(run, &type), "type");
  held(type == CU_GRAPH_NODE_TYPE_KERNEL, "a kernel's");
  well(CU(cuGraphInstantiate)(&exec, graph, 0), "instantiate");
  well(CU(cuGraphLaunch)(exec, s), "launch");
  well(CU(cuStreamSynchronize)(s), "synchronize");
  held(word(y) == 10 && order == std::vector<int>{4}, "all of it has run");
  well(CU(cuGraphExecDestroy)(exec), "destroy");
  well(CU(cuGraphDestroy)(graph), "destroy");
  well(CU(cuEventDestroy)(e), "destroy");
  well(CU(cuStreamDestroy)(s), "destroy");
  well(CU(cuStreamDestroy)(t), "destroy");
  well(CU(cuMemFree)(x), "free");
  well(CU(cuMemFree)(y), "free");
}

void entry_points() {
  section = "functions by name";
  void* f = nullptr;
  CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
  well(CU(cuGetProcAddress)("cuMemAlloc", &f, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &found), "cuMemAlloc");
  held(f == dlsym(library, "cuMemAlloc_v2") && found == CU_GET_PROC_ADDRESS_SUCCESS, "in its second version");
  well(CU(cuGetProcAddress)("cuLaunchKernelEx", &f, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &found),
       "of CUDA 12");
  f = &found;
  const CUresult early =
      CU(cuGetProcAddress)("cuLaunchKernelEx", &f, 11000, CU_GET_PROC_ADDRESS_DEFAULT, &found);
  held(f == nullptr && found == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT, "which CUDA 11.0 has not",
       name_of(early));
  f = &found;
  const CUresult none = CU(cuGetProcAddress)("cuNothing", &f, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &found);
  held(f == nullptr && found == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, "one that nobody has", name_of(none));
}

void printing(const Device& d) {
  section = "printf";
  std::fflush(stdout);
  char path[] = "/tmp/driver-conformance-XXXXXX";
  const int file = mkstemp(path), kept = dup(1);
  dup2(file, 1);
  well(CU(cuLaunchKernel)(function(d, "says"), 1, 1, 1, 2, 1, 1, 0, nullptr, nullptr, nullptr), "launch");
  well(CU(cuCtxSynchronize)(), "synchronize");
  std::fflush(stdout);
  dup2(kept, 1);
  char text[200] = "";
  const ssize_t size = pread(file, text, sizeof text - 1, 0);
  held(size > 0 && std::strstr(text, "thread 0 says so\n") != nullptr &&
           std::strstr(text, "thread 1 says so\n") != nullptr,
       "what kernels print is on stdout", text);
  unlink(path);
  close(file);
  close(kept);
}

// In processes of their own.
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
  const CUresult result = CU(cuDeviceGetCount)(&count);
  CUdeviceptr p = 0;
  gives(CUDA_ERROR_NOT_INITIALIZED, CU(cuMemAlloc)(&p, 4), "nothing is allocated in the child");
  static_cast<void>(result);
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

}  // namespace

int main(int words, char** word) {
  if (words < 2) {
    std::fprintf(stderr, "usage: %s LIBRARY [-v]\n", word[0]);
    return 100;
  }
  verbose = words > 2 && std::strcmp(word[2], "-v") == 0;
  library = dlopen(word[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 100;
  }
  const int lost = child(lost_context);
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
  attributes(d);
  launches(d);
  streams();
  graphs(d);
  entry_points();
  printing(d);
  section = "processes of their own";
  held(lost == 0, "a lost context", std::to_string(lost));
  const int forked = child(fork_after_init);
  held(forked == 0, "fork after cuInit", std::to_string(forked));
  char name[100] = "";
  CU(cuDeviceGetName)(name, sizeof name, d.device);
  int version = 0;
  CU(cuDriverGetVersion)(&version);
  std::printf("%s, CUDA %d.%d: %d held, %d not\n", name, version / 1000, version % 1000 / 10, held_count,
              failures);
  return std::min(failures, 100);
}
