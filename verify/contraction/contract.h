// PTX as ptxas takes it: with the products and sums that it makes one instruction of.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/ptx/syntax.h"
#include "verify/contraction/code_of_lines.h"

namespace bitwell::contraction {

// A sum and a product, by their PTX lines.
struct Pair {
  int sum = 0, product = 0;
  bool operator==(const Pair&) const = default;
};

struct Contracted {
  std::string text;
  size_t sums = 0;            // that may be fused and that machine code was made of
  std::vector<Pair> fused{};  // in the order of the text
  std::vector<Pair>
      unclear{};  // left apart: some of the machine code has them fused, some not, or it cannot be seen
};

// `text` with fma in place of each sum that the machine code of the whole text has fused with a product: the
// sum's line has nothing but fused instructions, and the product's line nothing at all that multiplies. Every
// line keeps its number. A product that nothing else takes is taken out. `module`: the text, or what
// ptx::reached_from leaves of it, parsed.
Contracted contracted(const std::string& text, const ptx::Module& module,
                      const std::map<int64_t, LineCode>& code);

}  // namespace bitwell::contraction
