#include "verify/image/image.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "verify/image/elf.h"
#include "verify/image/lines.h"
#include "verify/image/readable.h"
#include "verify/image/unpack.h"

namespace bitwell::image {
namespace {

constexpr uint64_t kMost = uint64_t{1} << 30;  // bytes of an image, or of a part of one when it is unpacked

// What a host program hands over (fatbinary_section.h of the CUDA Toolkit).
struct Wrapper {
  uint32_t magic, version;
  const std::byte* data;
  const std::byte* const* objects;  // of version 2: what it was linked of, to a null pointer
};
constexpr uint32_t kWrapperMagic = 0x466243b1, kLinked = 2;

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

void add_fat(std::string_view bytes, Image& to);

// Read off what nvcc 12 and 13 make: a newer ABI has it one byte higher.
std::string device(const Elf64_Ehdr& header) {
  const uint32_t sm = header.e_flags >> (header.e_ident[EI_ABIVERSION] >= 8 ? 8 : 0) & 0xff;
  return "sm_" + std::to_string(sm);
}

// False where its sections lie outside of it.
bool add_cubin(const Elf& elf, Image& to) {
  std::vector<std::string> entries;
  std::vector<std::string> texts;  // of what was linked, one a source
  LineSections lines;
  const std::pair<std::string_view, std::string_view*> of_lines[] = {
      {".debug_line", &lines.cuda},
      {".rela.debug_line", &lines.cuda_relocations},
      {".nv_debug_line_sass", &lines.ptx},
      {".rela.nv_debug_line_sass", &lines.ptx_relocations},
      {".symtab", &lines.symbols}};
  constexpr std::string_view code = ".text.", kept = ".nv_debug_ptx_txt";
  if (!elf.each([&](const std::string& name, std::string_view inside, uint32_t) {
        if (name.starts_with(kept)) texts.emplace_back(inside);
        for (const auto& [section, contents] : of_lines)
          if (name == section) *contents = inside;
        if (name.starts_with(code)) entries.push_back(name.substr(code.size()));
      }))
    return false;
  if (texts.empty()) {
    to.machine_code.push_back(device(*elf.header()));
    to.entries.insert(to.entries.end(), entries.begin(), entries.end());
  }
  for (std::string& ptx : texts) {
    std::replace(ptx.begin(), ptx.end(), '\0', '\n');  // with which each of its lines ends
    // Which lines are of which text a linked table of them does not say.
    if (texts.size() == 1) ptx = with_cuda_lines(std::move(ptx), lines);
    (texts.size() > 1 ? to.objects.emplace_back() : to).kept.push_back(std::move(ptx));
  }
  return true;
}

// What nvcc puts into objects and programs, one fat binary behind the other.
bool add_host(const Elf& elf, Image& to) {
  std::vector<Image> objects;
  const bool whole = elf.each([&](const std::string& name, std::string_view inside, uint32_t) {
    const bool linked = name == "__nv_relfatbin";
    if (name != ".nv_fatbin" && !linked) return;
    while (const auto header = at<Header>(inside, 0)) {
      if (header->magic != kMagic) {  // padding
        inside.remove_prefix(sizeof header->magic);
        continue;
      }
      add_fat(inside, linked ? objects.emplace_back() : to);
      const uint64_t bytes = header->header_bytes + std::min<uint64_t>(header->bytes, inside.size());
      inside.remove_prefix(std::min<uint64_t>(std::max<uint64_t>(bytes, sizeof *header), inside.size()));
    }
  });
  if (!objects.empty()) to.objects = std::move(objects);  // what was linked has less of them
  return whole;
}

void add_elf(std::string_view bytes, Image& to) {
  const Elf elf(bytes);
  const bool whole =
      elf.header() && (elf.header()->e_machine == kCuda ? add_cubin(elf, to) : add_host(elf, to));
  if (!whole) to.trouble.push_back("a file of machine code ends before its own sections");
}

void add_entry(const Entry& e, std::string_view stored, Image& to) {
  const std::string sm = "sm_" + std::to_string(e.sm);
  std::optional<std::string> plain;
  if ((e.flags & (kLz4 | kZstd)) != 0) {
    const std::string_view in = stored.substr(0, e.compressed_bytes);
    if (e.plain_bytes <= kMost)
      plain = (e.flags & kLz4) != 0 ? from_lz4(in, e.plain_bytes) : from_zstd(in, e.plain_bytes);
    if (!plain) {
      to.trouble.push_back("code for " + sm +
                           " is compressed and could not be decompressed: build it with nvcc "
                           "--compress-mode=none");
      return;
    }
    stored = *plain;
  }
  if (e.kind == kPtx) to.ptx.push_back(text_of(stored));  // nvcc pads PTX with NULs
  if (e.kind == kElf) add_elf(stored, to);
}

// `f` of each entry of a fat binary and of what is stored for it.
template <class F>
void each_entry(std::string_view bytes, std::vector<std::string>& trouble, F f) {
  const auto header = at<Header>(bytes, 0);
  if (!header || header->header_bytes < sizeof(Header) || header->header_bytes > bytes.size()) {
    trouble.push_back("a fat binary ends inside its header");
    return;
  }
  const auto all = part(bytes, header->header_bytes, header->bytes);
  if (!all) trouble.push_back("a fat binary says that it is longer than what is there");
  std::string_view rest = all.value_or(bytes.substr(header->header_bytes));
  while (const auto e = at<Entry>(rest, 0)) {
    const auto stored =
        e->header_bytes < offsetof(Entry, plain_bytes) ? std::nullopt : part(rest, e->header_bytes, e->bytes);
    if (!stored) {
      trouble.push_back("a fat binary's entry of kind " + std::to_string(e->kind) +
                        " is longer than the fat binary");
      return;
    }
    f(*e, *stored);
    rest.remove_prefix(e->header_bytes + e->bytes);
  }
}

void add_fat(std::string_view bytes, Image& to) {
  each_entry(bytes, to.trouble, [&](const Entry& e, std::string_view stored) { add_entry(e, stored, to); });
}

std::string_view view(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
bool is_elf(std::string_view bytes) { return bytes.starts_with(std::string_view(ELFMAG, SELFMAG)); }
bool is_fat(std::string_view bytes) { return at<uint32_t>(bytes, 0) == kMagic; }

// Heads alone are read.
Newest newest(std::string_view all) {
  Newest out;
  if (!is_fat(all)) return out;
  std::vector<std::string> ignored;
  each_entry(all, ignored, [&](const Entry& e, std::string_view stored) {
    const int sm = e.sm < 1000 ? static_cast<int>(e.sm) : 0;
    const bool kept = e.kind == kElf && (e.flags & (kLz4 | kZstd)) == 0 &&
                      stored.find(".nv_debug_ptx_txt") != std::string_view::npos;
    if (e.kind == kPtx || kept)
      out.ptx = std::max(out.ptx, sm);
    else if (e.kind == kElf)
      out.machine_code = std::max(out.machine_code, sm);
  });
  return out;
}

std::optional<Wrapper> wrapper_at(const void* image) {
  const auto* const bytes = static_cast<const std::byte*>(image);
  const auto out = at<Wrapper>(view({bytes, readable_bytes(bytes, sizeof(Wrapper))}), 0);
  return out && out->magic == kWrapperMagic ? out : std::nullopt;
}

// What the image there was linked of.
std::vector<std::string_view> objects_at(const void* image) {
  std::vector<std::string_view> out;
  const auto wrapper = wrapper_at(image);
  if (!wrapper || wrapper->version != kLinked || wrapper->objects == nullptr) return out;
  for (const std::byte* const* object = wrapper->objects; *object != nullptr; ++object)
    out.push_back(view({*object, readable_bytes(*object, kMost)}));
  return out;
}

}  // namespace

bool is_binary(std::span<const std::byte> bytes) { return is_elf(view(bytes)) || is_fat(view(bytes)); }

Image read(std::span<const std::byte> bytes) {
  const std::string_view all = view(bytes);
  Image out;
  if (is_fat(all))
    add_fat(all, out);
  else if (is_elf(all))
    add_elf(all, out);
  else
    out.ptx.push_back(text_of(all));
  return out;
}

std::span<const std::byte> readable(const void* image) {
  const auto wrapper = wrapper_at(image);
  const auto* const bytes = wrapper ? wrapper->data : static_cast<const std::byte*>(image);
  return {bytes, readable_bytes(bytes, kMost)};
}

Image read_at(const void* image) {
  Image out = read(readable(image));
  const std::vector<std::string_view> objects = objects_at(image);
  if (!objects.empty()) out.objects.clear();  // what was linked has less of them
  for (const std::string_view object : objects) add_fat(object, out.objects.emplace_back());
  return out;
}

Newest newest_at(const void* image) {
  Newest out = newest(view(readable(image)));
  int of_all = 0;  // CUDA's own library for launches from kernels has PTX for the newest device there is
  for (const std::string_view object : objects_at(image))
    if (const int sm = newest(object).ptx; sm != 0) of_all = of_all == 0 ? sm : std::min(of_all, sm);
  if (of_all != 0) out.ptx = of_all;
  return out;
}

}  // namespace bitwell::image
