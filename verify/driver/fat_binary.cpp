#include "verify/driver/fat_binary.h"

#include <dlfcn.h>
#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace bitwell::driver {
namespace {

// What __cudaRegisterFatBinary gets (fatbinary_section.h of the CUDA Toolkit).
struct Wrapper {
  uint32_t magic, version;
  const std::byte* data;
  const void* names;
};
constexpr uint32_t kWrapperMagic = 0x466243b1;

// A fat binary's header and that of each of its entries. Nothing official says what their fields are; these
// are read off nvcc's own output, with each --compress-mode.
struct Header {
  uint32_t magic;
  uint16_t version, header_bytes;
  uint64_t bytes;  // of all entries
};
constexpr uint32_t kMagic = 0xba55ed50;

struct Entry {
  uint16_t kind, version;
  uint32_t header_bytes;
  uint64_t bytes;  // in the file
  uint32_t compressed_bytes, unknown;
  uint16_t minor, major;
  uint32_t sm;
  uint32_t name_at, name_bytes;
  uint64_t flags;
  uint64_t unknown2;
  uint64_t plain_bytes;  // when decompressed
};
constexpr uint16_t kPtx = 1, kElf = 2;
constexpr uint64_t kLz4 = 0x2000, kZstd = 0x8000;

// One block of LZ4 (github.com/lz4/lz4, doc/lz4_Block_format.md). False where it is none.
bool lz4(std::string_view in, std::string& out, size_t size) {
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
    if (literals > in.size() - at || literals > size - out.size()) return false;
    out.append(in.substr(at, literals));
    at += literals;
    if (at == in.size()) break;  // the last one has no match
    if (in.size() - at < 2) return false;
    const size_t back = static_cast<uint8_t>(in[at]) | static_cast<size_t>(static_cast<uint8_t>(in[at + 1]))
                                                           << 8;
    at += 2;
    size_t length = more(token & 15) + 4;
    if (back == 0 || back > out.size() || length > size - out.size()) return false;
    while (length-- != 0) out.push_back(out[out.size() - back]);
  }
  return out.size() == size;
}

// By the system's library, where there is one.
bool zstd(std::string_view in, std::string& out, size_t size) {
  using Decompress = size_t (*)(void*, size_t, const void*, size_t);
  static const auto decompress = [] {
    void* const library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    return library == nullptr ? nullptr : reinterpret_cast<Decompress>(dlsym(library, "ZSTD_decompress"));
  }();
  if (decompress == nullptr) return false;
  out.resize(size);
  return decompress(out.data(), size, in.data(), in.size()) == size;
}

// PTX ends at its first NUL; nvcc pads it.
std::string text_of(std::string_view bytes) { return std::string(bytes.substr(0, bytes.find('\0'))); }

// The PTX that a cubin of `nvcc -lineinfo` holds, lines ending in NUL; empty where there is none.
std::string ptx_of_cubin(std::string_view elf) {
  Elf64_Ehdr header;
  if (elf.size() < sizeof header) return "";
  std::memcpy(&header, elf.data(), sizeof header);
  const auto section = [&](size_t i, Elf64_Shdr& s) {
    const uint64_t at = header.e_shoff + i * sizeof s;
    if (at > elf.size() || elf.size() - at < sizeof s) return false;
    std::memcpy(&s, elf.data() + at, sizeof s);
    return s.sh_type == SHT_NOBITS || (s.sh_offset <= elf.size() && s.sh_size <= elf.size() - s.sh_offset);
  };
  Elf64_Shdr names;
  if (!section(header.e_shstrndx, names)) return "";
  for (size_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr s;
    if (!section(i, s) || s.sh_name >= names.sh_size) continue;
    const std::string_view all = elf.substr(names.sh_offset, names.sh_size);
    if (text_of(all.substr(s.sh_name)) != ".nv_debug_ptx_txt") continue;
    std::string text(elf.substr(s.sh_offset, s.sh_size));
    std::replace(text.begin(), text.end(), '\0', '\n');
    return text;
  }
  return "";
}

void add_cubin(std::string_view elf, const std::string& sm, FatBinary& to) {
  std::string ptx = ptx_of_cubin(elf);
  if (ptx.empty())
    to.machine_code.push_back(sm);
  else
    to.ptx.push_back(std::move(ptx));
}

void add_entry(const Entry& e, std::string_view stored, FatBinary& to) {
  const bool packed = (e.flags & (kLz4 | kZstd)) != 0;
  std::string plain;
  if (packed) {
    const std::string_view in = stored.substr(0, e.compressed_bytes);
    if (!((e.flags & kLz4) != 0 ? lz4(in, plain, e.plain_bytes) : zstd(in, plain, e.plain_bytes))) {
      to.trouble.push_back(
          "the program's code for sm_" + std::to_string(e.sm) +
          " is compressed and could not be decompressed: build it with nvcc --compress-mode=none");
      return;
    }
    stored = plain;
  }
  if (e.kind == kPtx) to.ptx.push_back(text_of(stored));
  if (e.kind == kElf) add_cubin(stored, "sm_" + std::to_string(e.sm), to);
}

void add_entries(const std::byte* data, FatBinary& to) {
  Header header;
  std::memcpy(&header, data, sizeof header);
  const std::byte* at = data + header.header_bytes;
  const std::byte* const end = at + header.bytes;
  while (static_cast<size_t>(end - at) >= sizeof(Entry)) {
    Entry e;
    std::memcpy(&e, at, sizeof e);
    if (e.header_bytes < offsetof(Entry, plain_bytes) ||
        e.header_bytes + e.bytes > static_cast<size_t>(end - at)) {
      to.trouble.push_back("a fat binary's entry of kind " + std::to_string(e.kind) +
                           " is longer than the fat binary");
      return;
    }
    add_entry(e, {reinterpret_cast<const char*>(at) + e.header_bytes, e.bytes}, to);
    at += e.header_bytes + e.bytes;
  }
}

uint64_t elf_bytes(const char* image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  return std::max<uint64_t>(header.e_shoff + uint64_t{header.e_shnum} * sizeof(Elf64_Shdr),
                            header.e_phoff + uint64_t{header.e_phnum} * sizeof(Elf64_Phdr));
}

}  // namespace

FatBinary read_fat_binary(const void* image) {
  FatBinary out;
  uint32_t magic = 0;
  std::memcpy(&magic, image, sizeof magic);
  if (magic == kWrapperMagic) {
    Wrapper wrapper;
    std::memcpy(&wrapper, image, sizeof wrapper);
    image = wrapper.data;
    std::memcpy(&magic, image, sizeof magic);
  }
  const char* const text = static_cast<const char*>(image);
  if (magic == kMagic)
    add_entries(static_cast<const std::byte*>(image), out);
  else if (std::memcmp(image, ELFMAG, SELFMAG) == 0)
    add_cubin({text, elf_bytes(text)}, "another device", out);
  else
    out.ptx.emplace_back(text);
  return out;
}

}  // namespace bitwell::driver
