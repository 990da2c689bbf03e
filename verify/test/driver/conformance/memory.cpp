// Allocations, copies, and what pointers say of themselves.
#include "verify/test/driver/conformance/conformance.h"

namespace conformance {

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

}  // namespace conformance
