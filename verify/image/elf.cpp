#include "verify/image/elf.h"

namespace bitwell::image {

std::optional<std::string_view> part(std::string_view bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return std::nullopt;
  return bytes.substr(offset, size);
}

std::string text_of(std::string_view bytes) { return std::string(bytes.substr(0, bytes.find('\0'))); }

Elf::Elf(std::string_view bytes) : bytes_(bytes), header_(at<Elf64_Ehdr>(bytes, 0)) {
  if (!header_) return;
  if (const auto names = section(header_->e_shstrndx)) names_ = contents(*names).value_or("");
  if (names_.empty()) header_.reset();
}

std::optional<Elf64_Shdr> Elf::section(uint64_t i) const {
  if (header_->e_shoff > bytes_.size()) return std::nullopt;
  return at<Elf64_Shdr>(bytes_, header_->e_shoff + i * sizeof(Elf64_Shdr));
}

std::optional<std::string_view> Elf::contents(const Elf64_Shdr& s) const {
  if (s.sh_type == SHT_NOBITS) return std::nullopt;
  return part(bytes_, s.sh_offset, s.sh_size);
}

}  // namespace bitwell::image
