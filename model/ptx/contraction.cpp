#include "model/ptx/contraction.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "model/ptx/blocks.h"

namespace bitwell::ptx {
namespace {

constexpr std::array<std::string_view, 7> kRounded{".f32",  ".f64",    ".f16",  ".f16x2",
                                                   ".bf16", ".bf16x2", ".f32x2"};
constexpr std::array<std::string_view, 4> kRoundings{".rn", ".rz", ".rm", ".rp"};

// The floating-point type of a mul, or of an add or sub, whose rounding is ptxas's to choose or is chosen by
// some of them; empty of any other.
std::string_view open_type(const Instruction& i, bool product) {
  if (product ? i.opcode != "mul" : i.opcode != "add" && i.opcode != "sub") return "";
  if (product && has(i, ".sat")) return "";
  std::string_view out;
  for (const std::string_view t : kRounded)
    if (has(i, t)) out = t;
  for (const std::string_view r : kRoundings)
    if (has(i, r) && !(r == ".rn" && out == ".f32x2")) return "";
  return out;
}

bool copies(const Instruction& i) {
  return (i.opcode == "mov" || i.opcode == "neg") && i.operands.size() == 2 && !i.operands[0].name.empty();
}

// A product that a register may hold.
struct Held {
  const Instruction* product;
  bool negated, certain, at_once;
};

}  // namespace

std::vector<Contractible> contractible(const Function& function) {
  std::map<std::string, size_t> writers;  // of what stands first, which is what an instruction writes
  std::map<std::string, std::vector<Held>> held;
  each_instruction(function.body, [&](const Instruction& i) {
    each_written(i, [&](const std::string& name) { ++writers[name]; });
    if (!open_type(i, true).empty()) held[i.operands[0].name].push_back({&i, false, true, true});
  });
  if (held.empty()) return {};
  for (bool more = true; more;) {
    more = false;
    each_instruction(function.body, [&](const Instruction& i) {
      if (!copies(i)) return;
      const auto from = held.find(i.operands[1].name);
      if (from == held.end()) return;
      for (Held h : std::vector<Held>(from->second)) {
        h.certain = h.certain && writers[i.operands[1].name] == 1;
        h.negated = h.negated != (i.opcode == "neg");
        h.at_once = false;
        std::vector<Held>& to = held[i.operands[0].name];
        if (std::any_of(to.begin(), to.end(), [&](const Held& o) { return o.product == h.product; }))
          continue;
        to.push_back(h);
        more = true;
      }
    });
  }
  const Blocks blocks(function);
  std::vector<Contractible> out;
  each_instruction(function.body, [&](const Instruction& i) {
    const std::string_view type = open_type(i, false);
    if (type.empty()) return;
    for (size_t n = 1; n < i.operands.size(); ++n) {
      const std::string& name = i.operands[n].name;
      const auto in = held.find(name);
      if (in == held.end()) continue;
      const auto last = std::find_if(in->second.begin(), in->second.end(), [&](const Held& h) {
        return h.at_once && !h.product->guard && blocks.keep(*h.product, i, name);
      });
      for (const Held& h : in->second) {
        if (last != in->second.end() && &h != &*last) continue;
        if (open_type(*h.product, true) != type || has(*h.product, ".ftz") != has(i, ".ftz")) continue;
        const bool certain = last != in->second.end() || (h.certain && writers[name] == 1);
        out.push_back({h.product, &i, n, h.negated, type, certain, h.at_once});
      }
    }
  });
  return out;
}

}  // namespace bitwell::ptx
