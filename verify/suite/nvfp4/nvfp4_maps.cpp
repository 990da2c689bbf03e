#include "verify/suite/nvfp4/nvfp4_maps.h"

#include "verify/suite/sizes.h"

namespace bitwell::suite {
namespace {}  // namespace

machine::TensorMap code_map(const Nvfp4Operand& of, int box) {
  machine::TensorMap t;
  t.type = machine::TensorType::u4x16_align8b;
  t.rank = 3;
  t.dims = {u(of.k), u(of.rows), u(of.l), 1, 1};
  t.strides = {0, u(of.k) / 2, u(of.k) / 2 * u(of.rows), 0, 0};
  t.box = {nvfp4::kTileK, static_cast<uint32_t>(box), 1, 1, 1};
  t.swizzle = machine::TensorSwizzle::b128;
  return t;
}

machine::TensorMap scale_map(const Nvfp4Operand& of, int steps) {
  const uint64_t all = u(nvfp4::up(of.k, nvfp4::kStep));
  const uint64_t atoms = u(nvfp4::up(of.rows, nvfp4::kRows));
  machine::TensorMap t;
  t.type = machine::TensorType::u16;
  t.rank = 4;
  t.dims = {nvfp4::kAtom / 2, all, atoms, u(of.l), 1};
  t.strides = {2, nvfp4::kAtom, nvfp4::kAtom * all, nvfp4::kAtom * all * atoms, 0};
  t.box = {nvfp4::kAtom / 2, static_cast<uint32_t>(steps), 1, 1, 1};
  return t;
}

}  // namespace bitwell::suite
