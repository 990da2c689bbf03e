#include "model/layout/operands.h"

#include <algorithm>

#include "model/layout/algebra.h"
#include "model/layout/scale_factors.h"

namespace bitwell::layout {
namespace {
using Items = std::vector<Tuple>;
}  // namespace

Hardware operand_tile(int64_t rows, int64_t k, int64_t bits, SharedSwizzle swizzle, Major major) {
  const SharedSwizzleRow& pattern = row_of(swizzle);
  const bool mn = major == Major::mn;
  const bool wide = swizzle == SharedSwizzle::b128_atom_32b;
  if (pattern.atom != 16 && !(wide && mn && bits == 32))
    throw LayoutError("no " + std::string(mn ? "MN" : "K") + "-major operand of " + std::to_string(bits) +
                      " bits has the swizzle " + std::string(pattern.name));
  if (mn && bits < 8) throw LayoutError("operands of " + std::to_string(bits) + " bits are K-major only");
  const int64_t span = std::max<int64_t>(pattern.span, 16);
  const int64_t across = span * 8 / bits;  // elements of one atom's row
  const int64_t deep = wide ? 4 : 8;       // rows of one atom
  const auto whole = [](const char* name, int64_t extent, int64_t of, const std::string& what) {
    if (extent % of != 0)
      throw LayoutError(std::string(name) + " = " + std::to_string(extent) + " is no multiple of the " +
                        std::to_string(of) + " " + what);
  };
  const std::string held = "elements that " + std::to_string(span) + " bytes hold";
  whole("rows", rows, mn ? across : deep, mn ? held : "of an atom");
  whole("k", k, mn ? deep : across, mn ? "of an atom" : held);
  Hardware h;
  h.space = Space::shared;
  h.unit_bits = bits;
  const Layout atom =
      mn ? Layout(Items{across, deep}, Items{1, across}) : Layout(Items{deep, across}, Items{across, 1});
  h.layout.layout = tile_to_shape(atom, Items{rows, k}, Tuple(mn ? Items{2, 1} : Items{1, 2}));
  if (const Swizzle& s = pattern.steps[0]; s.bits != 0) {
    // From bytes to elements: 2^n elements a byte move the bits up, 2^n bytes an element down.
    const int up = bits == 4 ? 1 : bits == 8 ? 0 : bits == 16 ? -1 : -2;
    h.layout.swizzle = Swizzle{s.bits, s.base + up, s.shift};
  }
  h.axes = {{"row", rows}, {"k", k}};
  h.region = multiply(rows, k);
  h.source = "PTX ISA 9.0, 9.7.16.4 (canonical layouts); CUTLASS UMMA::Layout_" +
             std::string(mn ? "MN" : "K") + "_SW" + std::to_string(span) + (wide ? "_32B" : "") + "_Atom";
  h.evidence = "manual; CUTLASS 4.7";
  const auto bytes = [](int64_t n) { return std::to_string(n) + " bytes"; };
  const std::string steps =
      !mn ? "SBO (next 8 rows) " + bytes(8 * span) +
                (span == 16 ? ", LBO (next 16 bytes of K) " + bytes(16 * rows) : "")
      : span == 16 ? "SBO (next 16 bytes of rows) " + bytes(16 * k) + ", LBO (next 8 k) " + bytes(128)
                   : "SBO (next " + std::to_string(deep) + " k) " + bytes(deep * span) + ", LBO (next " +
                         bytes(span) + " of rows) " + bytes(span * k);
  h.notes.push_back("descriptor: " + steps + "; base aligned to " + bytes(8 * span));
  return h;
}

int64_t rows_of_cta(Operand operand, int64_t tile_m, int64_t tile_n, int ctas) {
  switch (operand) {
    case Operand::a:
    case Operand::sfa: return tile_m / ctas;
    case Operand::b: return tile_n / ctas;
    case Operand::sfb: return multiply(ceil_divide(tile_n, kAtomRows), kAtomRows);
  }
  return 0;
}

Hardware pair_partition(Operand operand, int64_t tile_m, int64_t tile_n, int64_t k) {
  const bool scales = operand == Operand::sfa || operand == Operand::sfb;
  const int64_t bytes = scales ? k / 16 : k / 2;
  const int64_t rows = rows_of_cta(operand, tile_m, tile_n, 2);
  const int64_t each = multiply(rows, bytes);
  Hardware h;
  h.space = Space::shared;
  if (operand == Operand::sfb) {
    h.layout.layout = Layout(Items{rows, bytes, 2}, Items{bytes, 1, each});
    h.axes = {{"row", rows}, {"byte", bytes}, {"cta", 2}};
    h.notes.push_back("whole in both CTAs: tcgen05.cp copies it into each CTA's tensor memory");
  } else {
    h.layout.layout = Layout(Items{Items{rows, 2}, bytes}, Items{Items{bytes, each}, 1});
    h.axes = {{"row", 2 * rows}, {"byte", bytes}};
    h.notes.push_back("rows 0 to " + std::to_string(rows - 1) + " in the leader, the rest in its peer");
  }
  h.region = 2 * each;
  h.source = "PTX ISA 9.0, 9.7.16.5 (cta_group::2); CUTLASS partition_shape_A and _B";
  h.evidence = "manual; CUTLASS 4.7";
  h.notes.push_back("an offset of " + std::to_string(each) + " or more is the peer's shared memory");
  return h;
}

std::vector<Named> operand_layouts() {
  return {
      {"operand-smem",
       "An operand tile in shared memory, in elements",
       {{"rows", "128", "rows of the tile in this CTA"},
        {"k", "256", "elements along K"},
        {"bits", "4", "of an element: 4, 8, 16 or 32"},
        {"swizzle", "128", "bytes: 128, 64, 32 or none; 128-atom-32 for MN-major elements of 32 bits"},
        {"major", "k", "what lies side by side: k, or mn for rows"}},
       [](const Parameters& p) {
         const std::string s = choice(p, "swizzle", {"128", "64", "32", "none", "128-atom-32"});
         return operand_tile(number(p, "rows", 8, 256), number(p, "k", 8, 1 << 16),
                             std::stoll(choice(p, "bits", {"4", "8", "16", "32"})),
                             s == "none"  ? SharedSwizzle::none
                             : s == "32"  ? SharedSwizzle::b32
                             : s == "64"  ? SharedSwizzle::b64
                             : s == "128" ? SharedSwizzle::b128
                                          : SharedSwizzle::b128_atom_32b,
                             choice(p, "major", {"k", "mn"}) == "mn" ? Major::mn : Major::k);
       }},
      {"pair",
       "Which CTA of a pair holds which row of an operand (cta_group::2)",
       {{"operand", "b", "a, b, sfa or sfb"},
        {"m", "256", "M of the MMA tile"},
        {"n", "128", "N of the MMA tile"},
        {"k", "256", "elements along K of the tile"}},
       [](const Parameters& p) {
         const std::string o = choice(p, "operand", {"a", "b", "sfa", "sfb"});
         const int64_t m = number(p, "m", 256, 256);
         const int64_t n = number(p, "n", 16, 256);
         const int64_t k = number(p, "k", 64, 1 << 16);
         if (n % 16 != 0)
           throw LayoutError("n = " + std::to_string(n) + " is no multiple of 16 (cta_group::2)");
         if (k % 64 != 0) throw LayoutError("k = " + std::to_string(k) + " is no multiple of 64");
         return pair_partition(o == "a"     ? Operand::a
                               : o == "b"   ? Operand::b
                               : o == "sfa" ? Operand::sfa
                                            : Operand::sfb,
                               m, n, k);
       }},
  };
}

}  // namespace bitwell::layout
