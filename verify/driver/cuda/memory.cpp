// Memory: allocations, copies, fills, what pointers are.
#include <cuda.h>

#include <algorithm>
#include <cstring>

#include "verify/driver/core/sizes.h"
#include "verify/driver/core/work.h"

using namespace bitwell::driver;

namespace {

CUresult allocate(const char* name, CUdeviceptr* out, size_t bytes, Kind kind, unsigned flags = 0) {
  return driver_call(name, [&](State& s) {
    present(out);
    s.streams.not_while_any_is_captured();
    *out = s.memory.allocate(bytes, kind, flags, s.most_memory(), s.current()).address;
  });
}
CUresult allocate_in_stream(const char* name, CUdeviceptr* out, size_t bytes, CUstream stream) {
  return driver_call(name, [&](State& s) {
    present(out);
    s.streams.find(stream);
    *out = s.memory.allocate(bytes, Kind::device, 0, s.most_memory(), s.current()).address;
  });
}
CUresult allocate_host(const char* name, void** out, size_t bytes, unsigned flags) {
  return driver_call(name, [&](State& s) {
    present(out);
    constexpr unsigned known =
        CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    if ((flags & ~known) != 0) throw Refused(CUDA_ERROR_INVALID_VALUE);
    *out = reinterpret_cast<void*>(
        s.memory.allocate(bytes, Kind::host, flags, ~uint64_t{0}, s.current()).address);
  });
}

CUresult do_copy(const char* name, uint64_t to, uint64_t from, size_t bytes, CUstream stream = nullptr) {
  return driver_call(name, [&](State& s) { copy(s, to, from, bytes, stream); });
}
CUresult do_fill(const char* name, CUdeviceptr to, uint32_t value, unsigned size, size_t count,
                 CUstream stream = nullptr) {
  return driver_call(name, [&](State& s) { fill(s, to, value, size, count, stream); });
}
CUresult do_fill_rows(const char* name, CUdeviceptr to, size_t pitch, uint32_t value, unsigned size,
                      size_t width, size_t height, CUstream stream = nullptr) {
  return driver_call(name, [&](State& s) {
    fill_rows(s, to, value, size, {width, height, pitch, 0}, stream);
  });
}

struct End {
  uint64_t base, pitch;
};
End end_of(State& s, CUmemorytype type, const void* host, CUdeviceptr device, size_t pitch, size_t x,
           size_t y) {
  if (type == CU_MEMORYTYPE_ARRAY) {
    s.missing("copies of CUDA arrays");
    throw Refused(CUDA_ERROR_NOT_SUPPORTED);
  }
  const uint64_t base = type == CU_MEMORYTYPE_HOST ? address_of(host) : device;
  return {plus(plus(base, times(y, pitch)), x), pitch};
}
CUresult copy_2d(const char* name, const CUDA_MEMCPY2D* c, CUstream stream) {
  return driver_call(name, [&](State& s) {
    present(c);
    const End from =
        end_of(s, c->srcMemoryType, c->srcHost, c->srcDevice, c->srcPitch, c->srcXInBytes, c->srcY);
    const End to =
        end_of(s, c->dstMemoryType, c->dstHost, c->dstDevice, c->dstPitch, c->dstXInBytes, c->dstY);
    copy_rows(s, to.base, from.base, {c->WidthInBytes, c->Height, to.pitch, from.pitch}, stream);
  });
}

constexpr uint64_t kPitch = 512;

// Of the pool's attributes, those that are an int.
bool is_word(CUmemPool_attribute which) {
  return which >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
         which <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

CUmemoryPool the_pool() {
  static int pool;
  return reinterpret_cast<CUmemoryPool>(&pool);
}

}  // namespace

extern "C" {

CUresult cuMemGetInfo(size_t* free, size_t* total) {
  return driver_call("cuMemGetInfo", [&](State& s) {
    if (total != nullptr) *total = s.most_memory();
    if (free != nullptr) *free = s.most_memory() - std::min(s.most_memory(), s.memory.device_bytes());
  });
}
CUresult cuMemAlloc(CUdeviceptr* out, size_t bytes) {
  return allocate("cuMemAlloc", out, bytes, Kind::device);
}
CUresult cuMemAllocManaged(CUdeviceptr* out, size_t bytes, unsigned flags) {
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) return CUDA_ERROR_INVALID_VALUE;
  return allocate("cuMemAllocManaged", out, bytes, Kind::managed, flags);
}
CUresult cuMemAllocPitch(CUdeviceptr* out, size_t* pitch, size_t width, size_t height, unsigned element) {
  return driver_call("cuMemAllocPitch", [&](State& s) {
    present(out);
    present(pitch);
    if (element != 4 && element != 8 && element != 16) throw Refused(CUDA_ERROR_INVALID_VALUE);
    s.streams.not_while_any_is_captured();
    const uint64_t row = padded(width, kPitch);
    *out = s.memory.allocate(times(row, height), Kind::device, 0, s.most_memory(), s.current()).address;
    *pitch = row;
  });
}
CUresult cuMemFree(CUdeviceptr pointer) {
  return driver_call("cuMemFree", [&](State& s) {
    if (pointer == 0) return;
    s.streams.not_while_any_is_captured();
    s.memory.release(pointer, false);
  });
}
CUresult cuMemAllocAsync(CUdeviceptr* out, size_t bytes, CUstream stream) {
  return allocate_in_stream("cuMemAllocAsync", out, bytes, stream);
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* out, size_t bytes, CUmemoryPool, CUstream stream) {
  return allocate_in_stream("cuMemAllocFromPoolAsync", out, bytes, stream);
}
CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  return driver_call("cuMemFreeAsync", [&](State& s) {
    // A graph's memory stays for as often as it is launched.
    if (s.streams.find(stream).capture == nullptr) s.memory.release(pointer, false);
  });
}
CUresult cuMemAllocHost(void** out, size_t bytes) { return allocate_host("cuMemAllocHost", out, bytes, 0); }
CUresult cuMemHostAlloc(void** out, size_t bytes, unsigned flags) {
  return allocate_host("cuMemHostAlloc", out, bytes, flags);
}
CUresult cuMemFreeHost(void* pointer) {
  return driver_call("cuMemFreeHost", [&](State& s) { s.memory.release(address_of(pointer), true); });
}
CUresult cuMemHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return driver_call("cuMemHostRegister", [&](State& s) {
    constexpr unsigned none = CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
    constexpr unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP;
    if ((flags & ~(known | none)) != 0) throw Refused(CUDA_ERROR_INVALID_VALUE);
    if ((flags & none) != 0) {
      s.missing("memory of devices, or that is only read, in cuMemHostRegister");
      throw Refused(CUDA_ERROR_NOT_SUPPORTED);
    }
    s.memory.add_host(pointer, bytes, flags, s.current());
  });
}
CUresult cuMemHostUnregister(void* pointer) {
  return driver_call("cuMemHostUnregister", [&](State& s) { s.memory.remove_host(pointer); });
}
CUresult cuMemHostGetDevicePointer(CUdeviceptr* out, void* pointer, unsigned flags) {
  return driver_call("cuMemHostGetDevicePointer", [&](State& s) {
    const Block* const b = s.memory.find(address_of(pointer));
    if (flags != 0 || b == nullptr || b->kind == Kind::device) throw Refused(CUDA_ERROR_INVALID_VALUE);
    present(out) = address_of(pointer);
  });
}
CUresult cuMemHostGetFlags(unsigned* out, void* pointer) {
  return driver_call("cuMemHostGetFlags", [&](State& s) {
    const Block* const b = s.memory.find(address_of(pointer));
    if (b == nullptr || b->kind == Kind::device) throw Refused(CUDA_ERROR_INVALID_VALUE);
    present(out) = b->flags | CU_MEMHOSTALLOC_DEVICEMAP;
  });
}
CUresult cuMemGetAddressRange(CUdeviceptr* base, size_t* bytes, CUdeviceptr pointer) {
  return driver_call("cuMemGetAddressRange", [&](State& s) {
    const std::optional<Block> b = s.memory.seen(pointer);
    if (!b) throw Refused(CUDA_ERROR_NOT_FOUND);
    if (base != nullptr) *base = b->address;
    if (bytes != nullptr) *bytes = b->bytes;
  });
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t n) { return do_copy("cuMemcpy", to, from, n); }
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream stream) {
  return do_copy("cuMemcpyAsync", to, from, n, stream);
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t n) {
  return do_copy("cuMemcpyHtoD", to, address_of(from), n);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t n, CUstream stream) {
  return do_copy("cuMemcpyHtoDAsync", to, address_of(from), n, stream);
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t n) {
  return do_copy("cuMemcpyDtoH", address_of(to), from, n);
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t n, CUstream stream) {
  return do_copy("cuMemcpyDtoHAsync", address_of(to), from, n, stream);
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t n) {
  return do_copy("cuMemcpyDtoD", to, from, n);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream stream) {
  return do_copy("cuMemcpyDtoDAsync", to, from, n, stream);
}
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t n) {
  return do_copy("cuMemcpyPeer", to, from, n);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t n,
                           CUstream stream) {
  return do_copy("cuMemcpyPeerAsync", to, from, n, stream);
}
CUresult cuMemcpy2D(const CUDA_MEMCPY2D* c) { return copy_2d("cuMemcpy2D", c, nullptr); }
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* c) { return copy_2d("cuMemcpy2DUnaligned", c, nullptr); }
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* c, CUstream stream) {
  return copy_2d("cuMemcpy2DAsync", c, stream);
}

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t n) {
  return do_fill("cuMemsetD8", to, value, 1, n);
}
CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t n) {
  return do_fill("cuMemsetD16", to, value, 2, n);
}
CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t n) {
  return do_fill("cuMemsetD32", to, value, 4, n);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t n, CUstream stream) {
  return do_fill("cuMemsetD8Async", to, value, 1, n, stream);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t n, CUstream stream) {
  return do_fill("cuMemsetD16Async", to, value, 2, n, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t n, CUstream stream) {
  return do_fill("cuMemsetD32Async", to, value, 4, n, stream);
}
CUresult cuMemsetD2D8(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height) {
  return do_fill_rows("cuMemsetD2D8", to, pitch, value, 1, width, height);
}
CUresult cuMemsetD2D32(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height) {
  return do_fill_rows("cuMemsetD2D32", to, pitch, value, 4, width, height);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height,
                           CUstream stream) {
  return do_fill_rows("cuMemsetD2D8Async", to, pitch, value, 1, width, height, stream);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height,
                            CUstream stream) {
  return do_fill_rows("cuMemsetD2D32Async", to, pitch, value, 4, width, height, stream);
}

CUresult cuPointerGetAttribute(void* out, CUpointer_attribute which, CUdeviceptr pointer) {
  return driver_call("cuPointerGetAttribute", [&](State& s) {
    if (out == nullptr || !pointer_attribute(s, which, pointer, out)) throw Refused(CUDA_ERROR_INVALID_VALUE);
  });
}
// What leads to nothing of CUDA's has zeros.
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* which, void** out, CUdeviceptr pointer) {
  return driver_call("cuPointerGetAttributes", [&](State& s) {
    present(which);
    present(out);
    for (unsigned i = 0; i < count; ++i) {
      if (out[i] == nullptr) throw Refused(CUDA_ERROR_INVALID_VALUE);
      if (pointer_attribute(s, which[i], pointer, out[i])) continue;
      const bool number = which[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
      const bool word = number || which[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE ||
                        which[i] == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS ||
                        which[i] == CU_POINTER_ATTRIBUTE_IS_MANAGED;
      const bool byte = which[i] == CU_POINTER_ATTRIBUTE_MAPPED ||
                        which[i] == CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE;
      std::memset(out[i], 0, byte ? 1 : word ? 4 : 8);
      const int none = CU_DEVICE_INVALID;
      if (number) std::memcpy(out[i], &none, sizeof none);
    }
  });
}
CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute which, CUdeviceptr pointer) {
  return driver_call("cuPointerSetAttribute", [&](State& s) {
    Block* const b = s.memory.find(pointer);
    if (value == nullptr || which != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || b == nullptr)
      throw Refused(CUDA_ERROR_INVALID_VALUE);
    b->synchronous = *static_cast<const unsigned*>(value) != 0;
  });
}

// Hints, which change no result.
CUresult cuMemPrefetchAsync(CUdeviceptr pointer, size_t, CUmemLocation, unsigned, CUstream) {
  return driver_call("cuMemPrefetchAsync", [&](State& s) {
    if (s.memory.find(pointer) == nullptr) throw Refused(CUDA_ERROR_INVALID_VALUE);
  });
}
CUresult cuMemAdvise(CUdeviceptr pointer, size_t, CUmem_advise, CUmemLocation) {
  return driver_call("cuMemAdvise", [&](State& s) {
    if (s.memory.find(pointer) == nullptr) throw Refused(CUDA_ERROR_INVALID_VALUE);
  });
}
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* out, CUdevice device) {
  return driver_call<Need::init>("cuDeviceGetDefaultMemPool", [&](State&) {
    if (device != 0) throw Refused(CUDA_ERROR_INVALID_DEVICE);
    present(out) = the_pool();
  });
}
CUresult cuDeviceGetMemPool(CUmemoryPool* out, CUdevice device) {
  return cuDeviceGetDefaultMemPool(out, device);
}
// What is set is given back: how memory is kept ready changes no result here.
CUresult cuMemPoolSetAttribute(CUmemoryPool, CUmemPool_attribute which, void* value) {
  return driver_call<Need::init>("cuMemPoolSetAttribute", [&](State& s) {
    const bool word = is_word(which);
    if (!word && which != CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) throw Refused(CUDA_ERROR_INVALID_VALUE);
    uint64_t& kept = s.pool[which] = 0;
    std::memcpy(&kept, &present(static_cast<const char*>(value)), word ? 4 : 8);
  });
}
CUresult cuMemPoolGetAttribute(CUmemoryPool, CUmemPool_attribute which, void* out) {
  return driver_call<Need::init>("cuMemPoolGetAttribute", [&](State& s) {
    if (which < CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES || which > CU_MEMPOOL_ATTR_USED_MEM_HIGH)
      throw Refused(CUDA_ERROR_INVALID_VALUE);
    const bool word = is_word(which);
    const auto kept = s.pool.find(which);
    const uint64_t value = kept != s.pool.end()                         ? kept->second
                           : word                                       ? 1
                           : which == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD ? 0
                                                                        : s.memory.bytes();
    std::memcpy(&present(static_cast<char*>(out)), &value, word ? 4 : 8);
  });
}
CUresult cuMemPoolTrimTo(CUmemoryPool, size_t) {
  return driver_call<Need::init>("cuMemPoolTrimTo", [](State&) {});
}
CUresult cuMemPoolSetAccess(CUmemoryPool, const CUmemAccessDesc*, size_t) {
  return driver_call<Need::init>("cuMemPoolSetAccess", [](State&) {});
}

}  // extern "C"
