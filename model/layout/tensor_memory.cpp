#include "model/layout/tensor_memory.h"

#include "model/layout/algebra.h"

namespace bitwell::layout {
namespace {
using Items = std::vector<Tuple>;
}

Hardware accumulator(int64_t m, int64_t n, int ctas, bool stationary) {
  const bool fits = stationary  ? m == 32 || m == 64 || m == 128
                    : ctas == 1 ? m == 64 || m == 128
                                : m == 128 || m == 256;
  if (!fits)
    throw LayoutError("m = " + std::to_string(m) + " with " + std::to_string(ctas) +
                      " CTA(s): it is 64 or 128 with one, 128 or 256 with two, 32, 64 or 128 with .ws");
  const int64_t step = stationary ? 64 : 8 * ctas;
  if (n < step || n % step != 0 || n > 256)
    throw LayoutError("n = " + std::to_string(n) + " is no multiple of " + std::to_string(step) +
                      " up to 256");
  Hardware h;
  h.space = Space::tensor;
  const int64_t rows = m / ctas;
  h.region = n;
  char path = 'A';
  Tuple tile_rows = rows;
  Tuple row_strides = kLane;
  Tuple columns = n;
  Tuple column_strides = kColumn;
  if (rows == 128) {
    path = ctas == 1 ? 'D' : 'A';
  } else if (ctas == 1 && !stationary) {
    tile_rows = Items{16, 4};
    row_strides = Items{kLane, 32 * kLane};
    path = 'F';
  } else {  // banks of as many lanes as there are rows, each with the next of the columns
    const int64_t banks = 128 / rows;
    columns = Items{n / banks, banks};
    column_strides = Items{kColumn, rows * kLane};
    h.region = n / banks;
    path = ctas == 2 ? 'B' : rows == 64 ? 'E' : 'G';
  }
  if (ctas == 2) {
    tile_rows = Items{rows, 2};
    row_strides = Items{kLane, kCta};
  }
  h.layout.layout = Layout(Items{tile_rows, columns}, Items{row_strides, column_strides});
  h.ctas = ctas;
  h.axes = {{"row", m}, {"column", n}};
  h.source = std::string("PTX ISA 9.0, 9.7.16.10 (data path ") + path + ")";
  h.evidence = "manual; CUTLASS 4.7";
  if (ctas == 2)
    h.notes.push_back(
        "the even CTA holds the first half of the tile's rows, the odd one the second, each all columns");
  if (path == 'F')
    h.notes.push_back("16 lanes of every 32 are used, the first of them where the address says");
  return h;
}

Hardware fragment(const std::string& shape, int64_t repeat, int64_t split, bool packed) {
  Hardware h;
  h.space = Space::tensor;
  const int64_t width = packed ? 2 : 1;  // columns of a register
  const int64_t column = width * kColumn;
  Tuple threads = 32;
  Tuple thread_strides = kLane;
  Items registers;
  Items register_strides;
  int64_t columns = 0;
  const auto legal = [&](int64_t most) {
    if (repeat < 1 || repeat > most || (repeat & (repeat - 1)) != 0)
      throw LayoutError("." + shape + ".x" + std::to_string(repeat) +
                        ": the repeat is a power of two up to " + std::to_string(most));
  };
  if (shape == "32x32b") {
    legal(128);
    registers = {repeat};
    register_strides = {column};
    columns = repeat * width;
  } else if (shape == "16x64b") {
    legal(128);
    threads = Items{2, 2, 8};
    thread_strides = Items{8 * kLane, column, kLane};
    registers = {repeat};
    register_strides = {2 * column};
    columns = 2 * repeat * width;
  } else if (shape == "16x128b") {
    legal(64);
    threads = Items{4, 8};
    thread_strides = Items{column, kLane};
    registers = {2, repeat};
    register_strides = {8 * kLane, 4 * column};
    columns = 4 * repeat * width;
  } else if (shape == "16x256b") {
    legal(32);
    threads = Items{4, 8};
    thread_strides = Items{2 * column, kLane};
    registers = {2, 2, repeat};
    register_strides = {column, 8 * kLane, 8 * column};
    columns = 8 * repeat * width;
  } else {  // 16x32bx2; the gap counts columns as they are
    legal(128);
    threads = Items{16, 2};
    thread_strides = Items{kLane, split * kColumn};
    registers = {repeat};
    register_strides = {column};
    columns = split + repeat * width;
  }
  int64_t count = 1;
  for (const Tuple& r : registers) count *= r.value;
  Items modes{threads, registers.size() == 1 ? registers[0] : Tuple(registers)};
  Items strides{thread_strides, registers.size() == 1 ? register_strides[0] : Tuple(register_strides)};
  h.axes = {{"thread", 32}, {"register", count}};
  if (packed) {
    modes.emplace_back(2);
    strides.emplace_back(kColumn);
    h.axes.push_back({"half", 2});
  }
  h.layout.layout = Layout(modes, strides);
  h.region = columns;
  h.source = "PTX ISA 9.0, 9.7.16.2 (tcgen05.ld, .st shapes); CUTLASS copy_traits_sm100.hpp";
  h.evidence = "manual; CUTLASS 4.2 headers";
  h.notes.push_back(
      "a warp reaches lanes 32 * (warp % 4) to 32 * (warp % 4) + 31; shapes of 16 lanes either half of them");
  return h;
}

Hardware copied(const std::string& shape) {
  Hardware h;
  h.space = Space::tensor;
  Tuple rows = 128;
  Tuple row_strides = kLane;
  int64_t bytes = 16;
  int64_t copies = 1;
  int64_t copy_stride = 0;
  if (shape == "128x256b") {
    bytes = 32;
  } else if (shape == "4x256b") {
    rows = 4;
    row_strides = 32 * kLane;
    bytes = 32;
  } else if (shape == "64x128b.warpx2::02_13") {
    rows = 64;
    copies = 2;
    copy_stride = 64 * kLane;
  } else if (shape == "64x128b.warpx2::01_23") {
    rows = Items{32, 2};
    row_strides = Items{kLane, 64 * kLane};
    copies = 2;
    copy_stride = 32 * kLane;
  } else if (shape == "32x128b.warpx4") {
    rows = 32;
    copies = 4;
    copy_stride = 32 * kLane;
  } else if (shape != "128x128b") {
    throw LayoutError("tcgen05.cp has no shape '" + shape + "'");
  }
  h.layout.layout = Layout(Items{rows, bytes, copies}, Items{row_strides, 1, copy_stride});
  h.axes = {{"row", product(rows)}, {"byte", bytes}, {"copy", copies}};
  h.region = bytes / kColumn;
  h.source = "PTX ISA 9.0, 9.7.16.9 (tcgen05.cp)";
  h.evidence = "manual";
  return h;
}

std::vector<TensorCell> tensor_cells(const Hardware& h) {
  std::vector<TensorCell> out;
  std::vector<Tuple> coordinate(h.axes.size(), Tuple(0));
  for (;;) {
    const TensorAddress a = tensor_address(h.layout(coordinate));
    out.push_back({static_cast<uint32_t>(a.lane), static_cast<uint32_t>(a.column)});
    size_t axis = h.axes.size();
    while (axis != 0 && ++coordinate[axis - 1].value == h.axes[axis - 1].extent) coordinate[--axis].value = 0;
    if (axis == 0) return out;
  }
}

namespace {

Hardware move(const Parameters& p) {
  const std::string shape = choice(p, "shape", {"32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2"});
  Parameters plain = p;
  std::string& num = plain.at("num");
  if (num.starts_with('x')) num.erase(0, 1);
  const int64_t repeat = number(plain, "num", 1, 128);
  const bool packed = choice(p, "pack", {"none", "16b"}) == "16b";
  const int64_t split = number(p, "split", 1, kTensorColumns);
  if (shape == "16x32bx2" && split < repeat * (packed ? 2 : 1))
    throw LayoutError("split = " + std::to_string(split) + ": the halves would overlap");
  Hardware h = fragment(shape, repeat, split, packed);
  h.layout.offset = number(p, "warp", 0, 3) * 32 * kLane;
  return h;
}

}  // namespace

std::vector<Named> tensor_memory_layouts() {
  const std::vector<ParameterHelp> moved{
      {"shape", "32x32b", "32x32b, 16x64b, 16x128b, 16x256b or 16x32bx2"},
      {"num", "x4", "x1 to x128"},
      {"pack", "none", "16b: .pack::16b or .unpack::16b, two columns a register"},
      {"split", "128", "16x32bx2: columns between the halves (immHalfSplitoff)"},
      {"warp", "0", "the warp % 4, whose lanes these are"}};
  return {
      {"acc-tmem",
       "The accumulator of tcgen05.mma: row and column of the tile to CTA, lane and column",
       {{"m", "128", "M of the MMA tile: 64 or 128, with two CTAs 128 or 256"},
        {"n", "128", "N of the MMA tile"},
        {"ctas", "1", "1 or 2 (cta_group)"},
        {"ws", "no", "yes: of tcgen05.mma.ws, with M = 32, 64 or 128"}},
       [](const Parameters& p) {
         const bool stationary = choice(p, "ws", {"no", "yes"}) == "yes";
         const auto ctas = static_cast<int>(number(p, "ctas", 1, 2));
         if (stationary && ctas == 2) throw LayoutError("ws = yes is of one CTA");
         return accumulator(number(p, "m", 1, 256), number(p, "n", 1, kTensorColumns), ctas, stationary);
       }},
      {"tmem-ld", "What one warp's tcgen05.ld moves: thread and register to lane and column", moved, move},
      {"tmem-st", "What one warp's tcgen05.st moves: the same", moved, move},
      {"tmem-cp",
       "Where tcgen05.cp copies to: row of the source and byte of it, as they arrive, to lane and column",
       {{"shape", "32x128b.warpx4", "the shape with its multicast: 128x256b, 64x128b.warpx2::02_13, ..."}},
       [](const Parameters& p) {
         return copied(choice(p, "shape", {std::begin(kCopyShapes), std::end(kCopyShapes)}));
       }},
  };
}

}  // namespace bitwell::layout
