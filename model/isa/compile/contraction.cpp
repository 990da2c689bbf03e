#include "model/isa/compile/contraction.h"

#include <string>

#include "model/isa/compile/source_line.h"
#include "model/ptx/contraction.h"

namespace bitwell::isa {

std::vector<Finding> contractions(const ptx::Module& module, const ptx::Function& function) {
  std::vector<Finding> out;
  const ptx::Instruction* last = nullptr;
  for (const ptx::Contractible& c : ptx::contractible(function)) {
    if (c.sum == last) continue;
    last = c.sum;
    const std::string product = "' of the product of PTX line " + std::to_string(c.product->at.line);
    out.push_back({Finding::Kind::contractible, c.sum->at.line,
                   "'" + c.sum->opcode + std::string(c.type) + product +
                       (ptx::has(*c.sum, ".rn") || ptx::has(*c.product, ".rn")
                            ? ", in spite of .rn: ptxas 12.9 and 13.0 fuse them"
                            : ", neither with a rounding modifier: ptxas may fuse them"),
                   cuda_place(module, c.sum->source)});
  }
  return out;
}

}  // namespace bitwell::isa
