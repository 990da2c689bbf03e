#include "model/isa/compile/contraction.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

#include "model/isa/compile/source_line.h"

namespace bitwell::isa {
namespace {

using ptx::Instruction;

constexpr std::array<std::string_view, 7> kTypes{".f32",  ".f64",    ".f16",  ".f16x2",
                                                 ".bf16", ".bf16x2", ".f32x2"};
constexpr std::array<std::string_view, 4> kRoundings{".rn", ".rz", ".rm", ".rp"};

// The floating-point type of a mul, add or sub that leaves its rounding to ptxas; empty of any other.
std::string_view type_left_open(const Instruction& i, bool product) {
  if (product ? i.opcode != "mul" : i.opcode != "add" && i.opcode != "sub") return "";
  for (const std::string_view r : kRoundings)
    if (ptx::has(i, r)) return "";
  for (const std::string_view t : kTypes)
    if (ptx::has(i, t)) return t;
  return "";
}

bool copies(const Instruction& i) { return i.opcode == "mov" || i.opcode == "neg"; }

void visit(const std::vector<ptx::Statement>& body, const auto& look) {
  for (const ptx::Statement& s : body) {
    visit(s.body, look);
    if (s.kind == ptx::Statement::Kind::instruction && !s.instruction.operands.empty()) look(s.instruction);
  }
}

}  // namespace

std::vector<Finding> contractions(const ptx::Module& module, const ptx::Function& function) {
  // By register: the first product that it may hold, by type.
  std::map<std::string, std::map<std::string_view, const Instruction*>> products;
  visit(function.body, [&](const Instruction& i) {
    if (const std::string_view type = type_left_open(i, true); !type.empty())
      products[i.operands[0].name].try_emplace(type, &i);
  });
  if (products.empty()) return {};
  for (bool more = true; more;) {
    more = false;
    visit(function.body, [&](const Instruction& i) {
      if (!copies(i) || i.operands.size() != 2) return;
      const auto from = products.find(i.operands[1].name);
      if (from == products.end() || i.operands[0].name.empty()) return;
      const auto held = from->second;
      for (const auto& [type, product] : held)
        more = products[i.operands[0].name].try_emplace(type, product).second || more;
    });
  }
  std::vector<Finding> out;
  visit(function.body, [&](const Instruction& i) {
    const std::string_view type = type_left_open(i, false);
    if (type.empty()) return;
    for (size_t n = 1; n < i.operands.size(); ++n) {
      const auto held = products.find(i.operands[n].name);
      if (held == products.end() || !held->second.contains(type)) continue;
      const Instruction& product = *held->second.at(type);
      out.push_back({Finding::Kind::contractible, i.at.line,
                     "'" + i.opcode + std::string(type) + "' of the product of PTX line " +
                         std::to_string(product.at.line) +
                         ", neither with a rounding modifier: ptxas may fuse them",
                     cuda_place(module, i.source)});
      return;
    }
  });
  return out;
}

}  // namespace bitwell::isa
