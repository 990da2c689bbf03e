#include "verify/image/unpack.h"

#include <dlfcn.h>

#include <cstdint>

namespace bitwell::image {

// github.com/lz4/lz4, doc/lz4_Block_format.md
std::optional<std::string> from_lz4(std::string_view in, size_t size) {
  std::string out;
  size_t at = 0;
  const auto more = [&](size_t length) {
    if (length != 15) return length;
    uint8_t byte = 255;
    while (byte == 255 && at < in.size()) length += byte = static_cast<uint8_t>(in[at++]);
    return length;
  };
  while (at < in.size()) {
    const uint8_t token = static_cast<uint8_t>(in[at++]);
    const size_t literals = more(token >> 4);
    if (literals > in.size() - at || literals > size - out.size()) return std::nullopt;
    out.append(in.substr(at, literals));
    at += literals;
    if (at == in.size()) break;  // the last one has no match
    if (in.size() - at < 2) return std::nullopt;
    const size_t back = static_cast<uint8_t>(in[at]) | static_cast<size_t>(static_cast<uint8_t>(in[at + 1]))
                                                           << 8;
    at += 2;
    size_t length = more(token & 15) + 4;
    if (back == 0 || back > out.size() || length > size - out.size()) return std::nullopt;
    while (length-- != 0) out.push_back(out[out.size() - back]);
  }
  if (out.size() != size) return std::nullopt;
  return out;
}

std::optional<std::string> from_zstd(std::string_view in, size_t size) {
  using Decompress = size_t (*)(void*, size_t, const void*, size_t);
  static const auto decompress = [] {
    void* const library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    return library == nullptr ? nullptr : reinterpret_cast<Decompress>(dlsym(library, "ZSTD_decompress"));
  }();
  if (decompress == nullptr) return std::nullopt;
  std::string out(size, '\0');
  if (decompress(out.data(), size, in.data(), in.size()) != size) return std::nullopt;
  return out;
}

}  // namespace bitwell::image
