// The sections of an ELF file: of a cubin, or of what a host's compiler made.
#pragma once
#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace bitwell::image {

constexpr uint16_t kCuda = 190;  // e_machine of a cubin

template <class T>
std::optional<T> at(std::string_view bytes, uint64_t offset) {
  T out;
  if (offset > bytes.size() || bytes.size() - offset < sizeof out) return std::nullopt;
  std::memcpy(&out, bytes.data() + offset, sizeof out);
  return out;
}

// Nothing where it is not all there.
std::optional<std::string_view> part(std::string_view bytes, uint64_t offset, uint64_t size);

// What stands in front of the first NUL.
std::string text_of(std::string_view bytes);

// Refers to the bytes.
class Elf {
 public:
  explicit Elf(std::string_view bytes);

  // Nothing where the file ends before it, or its sections have no names.
  const std::optional<Elf64_Ehdr>& header() const { return header_; }

  // `f` of each section's name, and its contents and number or its header; whether all of them are there.
  template <class F>
  bool each(F f) const {
    for (uint32_t i = 0; header_ && i < header_->e_shnum; ++i) {
      const auto s = section(i);
      if (!s) return false;
      if (s->sh_type == SHT_NOBITS || s->sh_type == SHT_NULL) continue;
      const auto inside = contents(*s);
      if (!inside || s->sh_name >= names_.size()) return false;
      const std::string name = text_of(names_.substr(s->sh_name));
      if constexpr (std::is_invocable_v<F, const std::string&, const Elf64_Shdr&>)
        f(name, *s);
      else
        f(name, *inside, i);
    }
    return header_.has_value();
  }

 private:
  std::optional<Elf64_Shdr> section(uint64_t i) const;
  std::optional<std::string_view> contents(const Elf64_Shdr& s) const;

  std::string_view bytes_;
  std::optional<Elf64_Ehdr> header_;
  std::string_view names_{};
};

}  // namespace bitwell::image
