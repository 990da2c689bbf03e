// Which elements of a matrix a thread holds for wmma (PTX ISA 9.0, 9.7.14.4). The manual leaves it open; this
// is one choice, the same for load, mma and store: the accumulator's is that of mma.sync, the others hold
// elements that follow each other in memory in one register.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace bitwell::isa {

// `outer` and `inner` count elements: of A and B the inner ones follow each other in memory; of C and D outer
// is the row, inner the column, whatever the memory's layout.
struct FragmentPlace {
  size_t outer, inner;
};

struct WmmaFragment {
  char operand = 'a';  // a, b, or c for C and D
  size_t bits = 0;     // of an element
  size_t outer = 0, inner = 0;
  size_t registers = 0;    // of 32 bits, or of 64 for fp64
  size_t lanes_inner = 4;  // threads side by side in the inner direction

  size_t each() const { return bits == 64 ? 1 : 32 / bits; }  // elements in a register
  // Registers that hold something of their own: the others, of fp16 A and B, repeat them.
  size_t distinct() const { return outer * inner / (32 * each()); }
  // Of a thread's element x, counted through its registers. The lane's share and the element's add up:
  // place(lane, x) = place(lane, 0) + place(0, x).
  FragmentPlace place(size_t lane, size_t x) const;
};

// Of operand a, b or c of a shape such as ".m16n16k16" and a type such as ".bf16"; `row`: A and B lie in
// rows.
WmmaFragment wmma_fragment(char operand, const std::string& shape, bool row, const std::string& type);

}  // namespace bitwell::isa
