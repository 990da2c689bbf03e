#include <array>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "verify/bugs/mutation/site.h"

namespace bitwell::bugs {
namespace {

bool shifts(const Parts& p) { return p.is("shl") || p.is("shr") || p.is("shf"); }

bool has_constants(const Parts& p) {
  static constexpr std::array kWith{"add",  "sub", "mad",  "mul",  "or",   "xor",  "min",
                                    "max",  "mov", "fma",  "bfi",  "bfe",  "dp4a", "neg",
                                    "shfl", "and", "selp", "setp", "prmt", "lop3"};
  for (const char* base : kWith)
    if (p.is(base)) return true;
  return shifts(p);
}

// Of an fp32 constant: twice as much; of 0: 1.
std::string doubled(const std::string& constant) {
  const uint64_t bits = std::stoull(constant.substr(2), nullptr, 16);
  char text[16];
  std::snprintf(text, sizeof text, "0f%08X",
                static_cast<unsigned>(bits == 0 ? 0x3F800000 : bits + 0x00800000));
  return text;
}

void constant(Site& s, size_t i, int64_t v) {
  const Parts& p = s.parts();
  if (p.is("prmt")) {
    const int64_t swapped = (v & ~0xFF) | (v & 0xF) << 4 | (v >> 4 & 0xF);
    s.operand("selector changed", i, std::to_string(swapped));
    s.operand("selector changed", i, std::to_string(v ^ 1));
    return;
  }
  if (p.is("and")) {
    if (v == 0) return;
    s.operand("mask changed", i, std::to_string(v & (v - 1)));  // lowest bit
    const int width = p.has("64") ? 64 : p.has("16") ? 16 : 32;
    uint64_t top = uint64_t{1} << (width - 1);
    while ((static_cast<uint64_t>(v) & top) == 0) top >>= 1;
    s.operand("mask changed", i, std::to_string(v & ~static_cast<int64_t>(top)));  // highest
    return;
  }
  const char* kind = p.is("setp") ? "bound changed" : shifts(p) ? "shift changed" : "constant changed";
  s.operand(kind, i, std::to_string(v + 1));
  s.operand(kind, i, std::to_string(v - 1));
}

void constants(Site& s) {
  const Parts& p = s.parts();
  if (!has_constants(p)) return;
  for (size_t i = 1; i < p.operands.size(); ++i) {
    const std::string& o = p.operands[i];
    if (o.size() == 10 && o.rfind("0f", 0) == 0)
      s.operand("constant changed", i, doubled(o));
    else if (const auto v = integer(o))
      constant(s, i, *v);
  }
  if (p.is("prmt") && !integer(p.operands[3])) s.wrapped("selector changed", 3, ".b32", "xor.b32 $, 1");
}

// Bytes that a lane reaches.
int width(const Parts& p) {
  if (p.is("stmatrix") || p.is("cp.async.cg")) return 16;
  int bytes = p.has("8") && !p.has("v8") ? 1 : 4;
  for (const int b : {16, 32, 64})
    for (const char* t : {".u", ".s", ".b", ".f"})
      if (p.has(t + std::to_string(b))) bytes = b / 8;
  if (p.has(".v2")) bytes *= 2;
  if (p.has(".v4")) bytes *= 4;
  return bytes;
}

void addresses(Site& s) {
  const Parts& p = s.parts();
  const bool reads = p.is("ld") && !p.has(".param");
  if (!reads && !p.is("st") && !p.is("stmatrix") && !p.is("cp.async.cg")) return;
  const int bytes = width(p);
  for (size_t i = 0; i < p.operands.size(); ++i) {
    if (p.operands[i].front() != '[' || (p.is("st.async") && i != 0)) continue;
    for (const int by : {bytes, -bytes}) s.moved("address moved", i, by);
  }
}

void comparisons(Site& s) {
  const Parts& p = s.parts();
  if (p.is("setp")) {
    static constexpr std::array<std::pair<const char*, const char*>, 5> kPairs{
        {{".lt", ".le"}, {".gt", ".ge"}, {".eq", ".ne"}, {".lo", ".ls"}, {".hi", ".hs"}}};
    for (const auto& [a, b] : kPairs) {
      if (p.opcode.find(std::string(a) + ".") == 4)
        s.opcode("comparison changed", a, b);
      else if (p.opcode.find(std::string(b) + ".") == 4)
        s.opcode("comparison changed", b, a);
    }
  }
  if (!p.guard.empty()) {
    Parts q = p;
    q.guard = p.guard[1] == '!' ? "@" + p.guard.substr(2) : "@!" + p.guard.substr(1);
    s.add("guard negated", q.text());
  }
}

void operations(Site& s) {
  constexpr const char* kKind = "operation changed";
  const Parts& p = s.parts();
  static constexpr std::array<std::pair<const char*, const char*>, 8> kOther{{{"add", "sub"},
                                                                              {"sub", "add"},
                                                                              {"min", "max"},
                                                                              {"max", "min"},
                                                                              {"and", "or"},
                                                                              {"or", "and"},
                                                                              {"xor", "or"},
                                                                              {"mul.lo", "mul.hi"}}};
  for (const auto& [from, to] : kOther)
    if (p.is(from)) s.opcode(kKind, from, to);
  // To the left untyped bits are shifted; to the right numbers, signed or not.
  for (const char* bits : {"16", "32", "64"}) {
    s.opcode(kKind, std::string("shl.b") + bits, std::string("shr.u") + bits);
    for (const char* type : {"u", "s", "b"})
      s.opcode(kKind, std::string("shr.") + type + bits, std::string("shl.b") + bits);
  }
  // The result's; products and sums inside are exact in many places.
  if (p.is("cvt") && (p.has(".f16") || p.has(".bf16") || p.has("f16x2")) && p.has(".f32") && !p.has("e4m3"))
    s.opcode("rounding changed", ".rn", ".rz");
}

void order(Site& s) {
  constexpr const char* kKind = "order changed";
  const Parts& p = s.parts();
  if (p.is("selp") || p.is("prmt") || p.is("sub") || (p.is("cvt") && p.operands.size() == 3)) {
    Parts q = p;
    std::swap(q.operands[1], q.operands[2]);
    s.add(kKind, q.text());
  }
  if (p.is("stmatrix") || p.is("ldmatrix")) s.opcode(kKind, ".trans", "");
  if (!p.is("ld") && !p.is("st") && !p.is("stmatrix")) return;
  for (size_t i = 0; i < p.operands.size(); ++i) {
    Braces swapped = braces(p.operands[i]);
    if (swapped.elements.size() < 2 || p.operands[i].front() != '{') continue;
    std::swap(swapped.elements[0], swapped.elements[1]);
    s.operand(kKind, i, swapped.text());
  }
}

}  // namespace

void plant_values(Site& s) {
  constants(s);
  addresses(s);
  comparisons(s);
  operations(s);
  order(s);
}

}  // namespace bitwell::bugs
