// Allocations and copies. Streams are no matter: everything is done when it is asked for.
#include "model/machine/memory.h"

#include <algorithm>
#include <cstring>

#include "verify/driver/runtime/call.h"

using namespace bitwell::driver;
using bitwell::machine::InputError;

namespace {

// Where the bytes at a pointer are, which may be the host's or the device's. Throws InputError where they
// lead out of an allocation. What is written has no file that holds it any more.
std::byte* bytes_at(Session& s, const void* pointer, uint64_t bytes, bool written) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  if (Allocation* a = s.memory.find(address, std::max<uint64_t>(bytes, 1)); a != nullptr) {
    if (written) a->used = true, a->file.clear();
    return a->data + (address - a->address);
  }
  if (const Allocation* a = s.memory.find(address); a != nullptr)
    throw InputError(std::to_string(bytes) + " bytes at byte " + std::to_string(address - a->address) +
                     " of '" + a->name + "', which has " + std::to_string(a->bytes));
  if (address >= bitwell::machine::kBuffers && address < 2 * bitwell::machine::kBuffers)
    throw InputError("no memory is allocated at " + std::to_string(address));
  return const_cast<std::byte*>(static_cast<const std::byte*>(pointer));
}

cudaError_t allocate(const char* name, void** out, size_t bytes, Reach reach) {
  return call(name, [&](Session& s) {
    *out = nullptr;
    if (bytes == 0) return cudaSuccess;
    const uint64_t most = s.device().arch().device.memory;
    if (reach == Reach::device && (bytes > most || s.memory.bytes() > most - bytes))
      return cudaErrorMemoryAllocation;
    const Allocation* a = s.memory.allocate(bytes, reach);
    if (a == nullptr) return cudaErrorMemoryAllocation;
    *out = reinterpret_cast<void*>(a->address);
    return cudaSuccess;
  });
}

cudaError_t release(const char* name, void* pointer) {
  return call(name, [&](Session& s) {
    if (pointer == nullptr || s.memory.release(reinterpret_cast<uint64_t>(pointer))) return cudaSuccess;
    return cudaErrorInvalidValue;
  });
}

cudaError_t copy(const char* name, void* to, const void* from, size_t bytes) {
  return call(name, [&](Session& s) {
    if (bytes == 0) return cudaSuccess;
    const std::byte* source = bytes_at(s, from, bytes, false);
    std::memmove(bytes_at(s, to, bytes, true), source, bytes);
    return cudaSuccess;
  });
}

cudaError_t copy_rows(const char* name, void* to, size_t to_pitch, const void* from, size_t from_pitch,
                      size_t width, size_t rows) {
  return call(name, [&](Session& s) {
    for (size_t r = 0; r < rows && width != 0; ++r) {
      const std::byte* source =
          bytes_at(s, static_cast<const std::byte*>(from) + r * from_pitch, width, false);
      std::memmove(bytes_at(s, static_cast<std::byte*>(to) + r * to_pitch, width, true), source, width);
    }
    return cudaSuccess;
  });
}

cudaError_t fill(const char* name, void* to, int value, size_t bytes) {
  return call(name, [&](Session& s) {
    if (bytes != 0) std::memset(bytes_at(s, to, bytes, true), value, bytes);
    return cudaSuccess;
  });
}

cudaError_t fill_rows(const char* name, void* to, size_t pitch, int value, size_t width, size_t rows) {
  return call(name, [&](Session& s) {
    for (size_t r = 0; r < rows && width != 0; ++r)
      std::memset(bytes_at(s, static_cast<std::byte*>(to) + r * pitch, width, true), value, width);
    return cudaSuccess;
  });
}

// What stands in a variable before any launch has changed it.
std::vector<std::byte>& value_of(Session& s, Symbol& symbol) {
  if (!symbol.value) {
    if (symbol.module->is_initialised(symbol.name, s.device().sm))
      throw InputError("'" + symbol.name + "' has an initial value, and only all of it can be written here");
    symbol.value.emplace(symbol.bytes);
  }
  return *symbol.value;
}

std::byte* in_symbol(Session& s, const void* key, size_t bytes, size_t offset) {
  Symbol* const symbol = s.modules.symbol(key);
  if (symbol == nullptr) throw InputError("this is no variable of the device");
  if (offset > symbol->bytes || bytes > symbol->bytes - offset)
    throw InputError(std::to_string(bytes) + " bytes at byte " + std::to_string(offset) + " of '" +
                     symbol->name + "', which has " + std::to_string(symbol->bytes));
  if (offset == 0 && bytes == symbol->bytes && !symbol->value) symbol->value.emplace(bytes);
  return value_of(s, *symbol).data() + offset;
}

cudaError_t to_symbol(const char* name, const void* symbol, const void* from, size_t bytes, size_t offset) {
  return call(name, [&](Session& s) {
    std::memcpy(in_symbol(s, symbol, bytes, offset), bytes_at(s, from, bytes, false), bytes);
    return cudaSuccess;
  });
}
cudaError_t from_symbol(const char* name, void* to, const void* key, size_t bytes, size_t offset) {
  return call(name, [&](Session& s) {
    if (Symbol* symbol = s.modules.symbol(key); symbol != nullptr) value_of(s, *symbol);
    std::memcpy(bytes_at(s, to, bytes, true), in_symbol(s, key, bytes, offset), bytes);
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** out, size_t bytes) { return allocate("cudaMalloc", out, bytes, Reach::device); }
cudaError_t cudaMallocAsync(void** out, size_t bytes, cudaStream_t) {
  return allocate("cudaMallocAsync", out, bytes, Reach::device);
}
cudaError_t cudaMallocFromPoolAsync(void** out, size_t bytes, cudaMemPool_t, cudaStream_t) {
  return allocate("cudaMallocFromPoolAsync", out, bytes, Reach::device);
}
cudaError_t cudaMallocManaged(void** out, size_t bytes, unsigned) {
  return allocate("cudaMallocManaged", out, bytes, Reach::both);
}
cudaError_t cudaMallocHost(void** out, size_t bytes) {
  return allocate("cudaMallocHost", out, bytes, Reach::both);
}
cudaError_t cudaHostAlloc(void** out, size_t bytes, unsigned) {
  return allocate("cudaHostAlloc", out, bytes, Reach::both);
}
cudaError_t cudaMallocPitch(void** out, size_t* pitch, size_t width, size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return allocate("cudaMallocPitch", out, *pitch * height, Reach::device);
}
cudaError_t cudaFree(void* pointer) { return release("cudaFree", pointer); }
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t) { return release("cudaFreeAsync", pointer); }
cudaError_t cudaFreeHost(void* pointer) { return release("cudaFreeHost", pointer); }
cudaError_t cudaHostGetDevicePointer(void** out, void* host, unsigned) {
  return call("cudaHostGetDevicePointer", [&](Session& s) {
    *out = host;
    return s.memory.find(reinterpret_cast<uint64_t>(host)) == nullptr ? cudaErrorInvalidValue : cudaSuccess;
  });
}
// Only copies reach it.
cudaError_t cudaHostRegister(void*, size_t, unsigned) { return cudaSuccess; }
cudaError_t cudaHostUnregister(void*) { return cudaSuccess; }

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  return copy("cudaMemcpy", to, from, bytes);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t) {
  return copy("cudaMemcpyAsync", to, from, bytes);
}
cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes) {
  return copy("cudaMemcpyPeer", to, from, bytes);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, cudaStream_t) {
  return copy("cudaMemcpyPeerAsync", to, from, bytes);
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                         size_t rows, cudaMemcpyKind) {
  return copy_rows("cudaMemcpy2D", to, to_pitch, from, from_pitch, width, rows);
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t rows, cudaMemcpyKind, cudaStream_t) {
  return copy_rows("cudaMemcpy2DAsync", to, to_pitch, from, from_pitch, width, rows);
}
cudaError_t cudaMemset(void* to, int value, size_t bytes) { return fill("cudaMemset", to, value, bytes); }
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t) {
  return fill("cudaMemsetAsync", to, value, bytes);
}
cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t rows) {
  return fill_rows("cudaMemset2D", to, pitch, value, width, rows);
}
cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t rows, cudaStream_t) {
  return fill_rows("cudaMemset2DAsync", to, pitch, value, width, rows);
}

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset,
                               cudaMemcpyKind) {
  return to_symbol("cudaMemcpyToSymbol", symbol, from, bytes, offset);
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset,
                                    cudaMemcpyKind, cudaStream_t) {
  return to_symbol("cudaMemcpyToSymbolAsync", symbol, from, bytes, offset);
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind) {
  return from_symbol("cudaMemcpyFromSymbol", to, symbol, bytes, offset);
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset,
                                      cudaMemcpyKind, cudaStream_t) {
  return from_symbol("cudaMemcpyFromSymbolAsync", to, symbol, bytes, offset);
}
cudaError_t cudaGetSymbolSize(size_t* out, const void* key) {
  return call("cudaGetSymbolSize", [&](Session& s) {
    const Symbol* const symbol = s.modules.symbol(key);
    if (symbol == nullptr) return cudaErrorInvalidSymbol;
    *out = symbol->bytes;
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* out, const void* pointer) {
  return call("cudaPointerGetAttributes", [&](Session& s) {
    *out = {};
    const Allocation* const a = s.memory.find(reinterpret_cast<uint64_t>(pointer));
    out->type = a == nullptr                ? cudaMemoryTypeUnregistered
                : a->reach == Reach::device ? cudaMemoryTypeDevice
                                            : cudaMemoryTypeHost;
    if (a != nullptr) out->devicePointer = const_cast<void*>(pointer);
    if (a == nullptr || a->reach == Reach::both) out->hostPointer = const_cast<void*>(pointer);
    return cudaSuccess;
  });
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return call("cudaMemGetInfo", [&](Session& s) {
    *total = s.device().arch().device.memory;
    *free = *total - std::min<size_t>(*total, s.memory.bytes());
    return cudaSuccess;
  });
}
// Hints, which change no result.
cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned, cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, cudaMemLocation) { return cudaSuccess; }
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* out, int) {
  static int pool;
  *out = reinterpret_cast<cudaMemPool_t>(&pool);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* out, int device) {
  return cudaDeviceGetDefaultMemPool(out, device);
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) { return cudaSuccess; }
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) { return cudaSuccess; }

}  // extern "C"
