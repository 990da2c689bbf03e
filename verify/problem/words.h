// Words that a B200 gave for single instructions, as others published them: lines of "kind | A | B | C |
// scales of A | scales of B | D" in hexadecimal.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bitwell::problem {

struct Word {
  std::vector<uint32_t> a, b;
  uint32_t c = 0;
  std::vector<uint8_t> scales_a, scales_b;
  uint32_t d = 0;
};
// Of one kind. Throws machine::InputError for a line of it that is not of that form.
std::vector<Word> words_of(std::string_view kind, const std::string& text);

}  // namespace bitwell::problem
