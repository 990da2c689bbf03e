// Allocations and copies, variables of the device.
#include <algorithm>
#include <cstring>

#include "verify/driver/core/work.h"
#include "verify/driver/runtime/call.h"

using namespace bitwell::driver;

namespace {

cudaError_t allocate(const char* name, void** out, size_t bytes, Kind kind, unsigned flags = 0) {
  return call(name, [&](State& s) {
    present(out) = nullptr;
    if (bytes == 0) return;
    if (kind == Kind::device) s.streams.not_while_any_is_captured();
    const uint64_t most = kind == Kind::device ? s.most_memory() : ~uint64_t{0};
    *out = reinterpret_cast<void*>(s.memory.allocate(bytes, kind, flags, most, s.current()).address);
  });
}
cudaError_t allocate_in_stream(const char* name, void** out, size_t bytes, cudaStream_t stream) {
  return forward(name, [&] {
    CUdeviceptr address = 0;
    const CUresult result = cuMemAllocAsync(&address, bytes, driver(stream));
    if (out != nullptr) *out = reinterpret_cast<void*>(address);
    return bytes == 0 ? CUDA_SUCCESS : result;
  });
}

void need_kind(cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    throw Refused(static_cast<CUresult>(cudaErrorInvalidMemcpyDirection));
}
cudaError_t do_copy(const char* name, void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                    cudaStream_t stream = nullptr) {
  return call(name, [&](State& s) {
    need_kind(kind);
    copy(s, driver(to), driver(from), bytes, stream);
  });
}
cudaError_t do_copy_rows(const char* name, void* to, size_t to_pitch, const void* from, size_t from_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream = nullptr) {
  return call(name, [&](State& s) {
    need_kind(kind);
    copy_rows(s, driver(to), driver(from), {width, height, to_pitch, from_pitch}, stream);
  });
}

// Bytes of a variable that the program has registered.
uint64_t in_symbol(State& s, const void* key, size_t bytes, size_t offset) {
  const Symbol* const symbol = s.modules.symbol(key);
  if (symbol == nullptr)
    throw Refused(static_cast<CUresult>(cudaErrorInvalidSymbol), "this is no variable of the device");
  if (offset > symbol->bytes || bytes > symbol->bytes - offset)
    throw Mistake(CUDA_ERROR_INVALID_VALUE, std::to_string(bytes) + " bytes at byte " +
                                                std::to_string(offset) + " of '" + symbol->name +
                                                "', which has " + std::to_string(symbol->bytes));
  return s.modules.variable(*symbol->module, symbol->name, s.device()).address + offset;
}
cudaError_t to_symbol(const char* name, const void* symbol, const void* from, size_t bytes, size_t offset,
                      cudaStream_t stream = nullptr) {
  return call(name,
              [&](State& s) { copy(s, in_symbol(s, symbol, bytes, offset), driver(from), bytes, stream); });
}
cudaError_t from_symbol(const char* name, void* to, const void* symbol, size_t bytes, size_t offset,
                        cudaStream_t stream = nullptr) {
  return call(name,
              [&](State& s) { copy(s, driver(to), in_symbol(s, symbol, bytes, offset), bytes, stream); });
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** out, size_t bytes) { return allocate("cudaMalloc", out, bytes, Kind::device); }
cudaError_t cudaMallocAsync(void** out, size_t bytes, cudaStream_t stream) {
  return allocate_in_stream("cudaMallocAsync", out, bytes, stream);
}
cudaError_t cudaMallocFromPoolAsync(void** out, size_t bytes, cudaMemPool_t, cudaStream_t stream) {
  return allocate_in_stream("cudaMallocFromPoolAsync", out, bytes, stream);
}
cudaError_t cudaMallocManaged(void** out, size_t bytes, unsigned flags) {
  return allocate("cudaMallocManaged", out, bytes, Kind::managed, flags);
}
cudaError_t cudaMallocHost(void** out, size_t bytes) {
  return allocate("cudaMallocHost", out, bytes, Kind::host);
}
cudaError_t cudaHostAlloc(void** out, size_t bytes, unsigned flags) {
  return allocate("cudaHostAlloc", out, bytes, Kind::host, flags);
}
cudaError_t cudaMallocPitch(void** out, size_t* pitch, size_t width, size_t height) {
  return forward("cudaMallocPitch", [&] {
    if (out == nullptr || pitch == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *out = nullptr;
    *pitch = 0;
    if (width == 0 || height == 0) return CUDA_SUCCESS;
    CUdeviceptr address = 0;
    const CUresult result = cuMemAllocPitch(&address, pitch, width, height, 4);
    *out = reinterpret_cast<void*>(address);
    return result;
  });
}
cudaError_t cudaFree(void* pointer) {
  return forward("cudaFree", [&] { return cuMemFree(driver(pointer)); });
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return forward("cudaFreeAsync", [&] { return cuMemFreeAsync(driver(pointer), driver(stream)); });
}
cudaError_t cudaFreeHost(void* pointer) {
  return forward("cudaFreeHost", [&] { return pointer == nullptr ? CUDA_SUCCESS : cuMemFreeHost(pointer); });
}
cudaError_t cudaHostGetDevicePointer(void** out, void* host, unsigned flags) {
  return forward("cudaHostGetDevicePointer",
                 [&] { return cuMemHostGetDevicePointer(reinterpret_cast<CUdeviceptr*>(out), host, flags); });
}
cudaError_t cudaHostGetFlags(unsigned* out, void* host) {
  return forward("cudaHostGetFlags", [&] { return cuMemHostGetFlags(out, host); });
}
cudaError_t cudaHostRegister(void* host, size_t bytes, unsigned flags) {
  return forward("cudaHostRegister", [&] { return cuMemHostRegister(host, bytes, flags); });
}
cudaError_t cudaHostUnregister(void* host) {
  return forward("cudaHostUnregister", [&] { return cuMemHostUnregister(host); });
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return do_copy("cudaMemcpy", to, from, bytes, kind);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return do_copy("cudaMemcpyAsync", to, from, bytes, kind, stream);
}
cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes) {
  return do_copy("cudaMemcpyPeer", to, from, bytes, cudaMemcpyDefault);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, cudaStream_t stream) {
  return do_copy("cudaMemcpyPeerAsync", to, from, bytes, cudaMemcpyDefault, stream);
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                         size_t height, cudaMemcpyKind kind) {
  return do_copy_rows("cudaMemcpy2D", to, to_pitch, from, from_pitch, width, height, kind);
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return do_copy_rows("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, height, kind, stream);
}
cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  return forward("cudaMemset",
                 [&] { return cuMemsetD8(driver(to), static_cast<unsigned char>(value), bytes); });
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  return forward("cudaMemsetAsync", [&] {
    return cuMemsetD8Async(driver(to), static_cast<unsigned char>(value), bytes, driver(stream));
  });
}
cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return forward("cudaMemset2D", [&] {
    return cuMemsetD2D8(driver(to), pitch, static_cast<unsigned char>(value), width, height);
  });
}
cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return forward("cudaMemset2DAsync", [&] {
    return cuMemsetD2D8Async(driver(to), pitch, static_cast<unsigned char>(value), width, height,
                             driver(stream));
  });
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset,
                               cudaMemcpyKind) {
  return to_symbol("cudaMemcpyToSymbol", symbol, from, bytes, offset);
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset,
                                    cudaMemcpyKind, cudaStream_t stream) {
  return to_symbol("cudaMemcpyToSymbolAsync", symbol, from, bytes, offset, stream);
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind) {
  return from_symbol("cudaMemcpyFromSymbol", to, symbol, bytes, offset);
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset,
                                      cudaMemcpyKind, cudaStream_t stream) {
  return from_symbol("cudaMemcpyFromSymbolAsync", to, symbol, bytes, offset, stream);
}
cudaError_t cudaGetSymbolAddress(void** out, const void* symbol) {
  return call("cudaGetSymbolAddress",
              [&](State& s) { present(out) = reinterpret_cast<void*>(in_symbol(s, symbol, 0, 0)); });
}
cudaError_t cudaGetSymbolSize(size_t* out, const void* symbol) {
  return call("cudaGetSymbolSize", [&](State& s) {
    in_symbol(s, symbol, 0, 0);
    present(out) = s.modules.symbol(symbol)->bytes;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* out, const void* pointer) {
  return call("cudaPointerGetAttributes", [&](State& s) {
    present(out) = {};
    const std::optional<Block> b = s.memory.seen(driver(pointer));
    if (!b) {
      out->type = cudaMemoryTypeUnregistered;
      out->device = cudaInvalidDeviceId;
      out->hostPointer = const_cast<void*>(pointer);
      return;
    }
    out->type = b->kind == Kind::device    ? cudaMemoryTypeDevice
                : b->kind == Kind::managed ? cudaMemoryTypeManaged
                                           : cudaMemoryTypeHost;
    out->devicePointer = const_cast<void*>(pointer);
    if (b->kind != Kind::device) out->hostPointer = const_cast<void*>(pointer);
  });
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return forward("cudaMemGetInfo", [&] { return cuMemGetInfo(free, total); });
}
// Hints, which change no result.
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t, cudaMemLocation, unsigned, cudaStream_t) {
  return call("cudaMemPrefetchAsync", [&](State& s) {
    if (s.memory.find(driver(pointer)) == nullptr) throw Refused(CUDA_ERROR_INVALID_VALUE);
  });
}
cudaError_t cudaMemAdvise(const void* pointer, size_t, cudaMemoryAdvise, cudaMemLocation) {
  return call("cudaMemAdvise", [&](State& s) {
    if (s.memory.find(driver(pointer)) == nullptr) throw Refused(CUDA_ERROR_INVALID_VALUE);
  });
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* out, int device) {
  return forward("cudaDeviceGetDefaultMemPool",
                 [&] { return cuDeviceGetDefaultMemPool(reinterpret_cast<CUmemoryPool*>(out), device); });
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* out, int device) {
  return cudaDeviceGetDefaultMemPool(out, device);
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which, void* value) {
  return forward("cudaMemPoolSetAttribute", [&] {
    return cuMemPoolSetAttribute(reinterpret_cast<CUmemoryPool>(pool),
                                 static_cast<CUmemPool_attribute>(which), value);
  });
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which, void* out) {
  return forward("cudaMemPoolGetAttribute", [&] {
    return cuMemPoolGetAttribute(reinterpret_cast<CUmemoryPool>(pool),
                                 static_cast<CUmemPool_attribute>(which), out);
  });
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) {
  return call("cudaMemPoolTrimTo", [](State&) {});
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t, const cudaMemAccessDesc*, size_t) {
  return call("cudaMemPoolSetAccess", [](State&) {});
}
// What graphs allocate is theirs at once.
cudaError_t cudaDeviceGetGraphMemAttribute(int, cudaGraphMemAttributeType, void* out) {
  return call("cudaDeviceGetGraphMemAttribute", [&](State&) {
    const uint64_t none = 0;
    std::memcpy(&present(static_cast<char*>(out)), &none, sizeof none);
  });
}
cudaError_t cudaDeviceSetGraphMemAttribute(int, cudaGraphMemAttributeType, void*) {
  return call("cudaDeviceSetGraphMemAttribute", [](State&) {});
}

}  // extern "C"
