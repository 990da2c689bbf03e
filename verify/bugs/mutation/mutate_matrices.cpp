#include <cstdint>
#include <utility>

#include "verify/bugs/mutation/site.h"

namespace bitwell::bugs {
namespace {

constexpr int kColumns = 4;  // of tensor memory: those of a block of scale factors

std::string flipped(int bit, const char* type) {
  return std::string("xor.") + type + " $, " + std::to_string(uint64_t{1} << bit);
}

// Of a matrix descriptor in shared memory: its first address bits, its two offsets, its base offset and its
// swizzle.
void descriptor(Site& s, const char* kind, size_t i) {
  for (const int bit : {0, 1, 16, 32, 49, 62}) s.wrapped(kind, i, ".b64", flipped(bit, "b64"));
}

void columns(Site& s, size_t i) {
  const std::string& o = s.parts().operands[i];
  if (o.front() != '[') return;
  for (const int by : {kColumns, -kColumns})
    s.computed("column changed", i, "[planted]", ".b32", "add.s32 $, " + std::to_string(by),
               o.substr(1, o.size() - 2));
}

void wgmma(Site& s) {
  const Parts& p = s.parts();
  const size_t n = p.operands.size();
  s.operand("accumulation changed", n - 4, p.operands[n - 4] == "1" ? "0" : "1");
  s.operand("accumulation changed", n - 3, "-1");
  s.operand("accumulation changed", n - 2, "-1");
  s.operand("descriptor changed", n - 1, p.operands[n - 1] == "0" ? "1" : "0");
  descriptor(s, "descriptor changed", n - 5);
  Braces swapped = braces(p.operands[1]);
  if (swapped.elements.size() < 2 || p.operands[1].front() != '{') return;
  std::swap(swapped.elements[0], swapped.elements[1]);
  s.operand("order changed", 1, swapped.text());
}

// [accumulator], A's and B's descriptor, the instruction's, [scales of A], [of B], whether to add.
void tcgen05_mma(Site& s) {
  const Parts& p = s.parts();
  s.remove("mma deleted");
  s.wrapped("accumulation changed", p.operands.size() - 1, ".pred", "not.pred $");
  for (const size_t i : {size_t{1}, size_t{2}})
    if (p.operands[i].front() != '[') descriptor(s, "descriptor changed", i);
  // Formats and scale factors' first column, signs, B's order, N, the scale factors' format, M.
  for (const int bit : {4, 7, 13, 15, 17, 23, 24, 27})
    s.wrapped("instruction descriptor changed", 3, ".b32", flipped(bit, "b32"));
  for (size_t i = 0; i < p.operands.size(); ++i) columns(s, i);
}

// Where a copy's data goes or comes from, who gets it, and which part of a tensor it is.
void copies(Site& s) {
  constexpr int64_t kRow = 128;  // bytes, of a swizzled tile
  const Parts& p = s.parts();
  if (p.is("cp.async.bulk") && p.has("shared::cluster.global"))
    for (const int64_t by : {kRow, -kRow}) s.moved("destination moved", 0, by);
  if (p.has("multicast::cluster") && p.operands.back().front() == '%')
    for (const int bit : {0, 1})
      s.wrapped("receivers changed", p.operands.size() - 1, ".b16", flipped(bit, "b16"));
  if (p.is("mapa")) s.wrapped("receivers changed", 2, ".b32", flipped(0, "b32"));
  if (!p.is("cp.async.bulk.tensor")) return;
  for (size_t i = 0; i < p.operands.size(); ++i) {
    if (p.operands[i].front() != '[') continue;
    const Braces b = braces(p.operands[i]);
    for (size_t c = 0; c + 1 < b.elements.size(); ++c) {
      Braces swapped = b;
      std::swap(swapped.elements[c], swapped.elements[c + 1]);
      s.operand("coordinates swapped", i, swapped.text());
    }
    for (size_t c = 0; c < b.elements.size(); ++c)
      for (const int by : {1, -1}) {
        Braces other = b;
        const auto v = integer(b.elements[c]);
        other.elements[c] = v ? std::to_string(*v + by) : "planted";
        if (v)
          s.operand("coordinate changed", i, other.text());
        else
          s.computed("coordinate changed", i, other.text(), ".b32", "add.s32 $, " + std::to_string(by),
                     b.elements[c]);
      }
  }
}

}  // namespace

void plant_matrices(Site& s) {
  const Parts& p = s.parts();
  if (p.is("wgmma.mma_async")) wgmma(s);
  if (p.is("tcgen05.mma")) tcgen05_mma(s);
  if (p.is("tcgen05.cp")) {
    columns(s, 0);
    descriptor(s, "copy descriptor changed", 1);
  }
  if (p.is("tcgen05.ld")) columns(s, 1);
  copies(s);
}

}  // namespace bitwell::bugs
