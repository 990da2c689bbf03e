#include "verify/suite/kernels/hopper.h"

#include "kernels/gemm/launch.h"
#include "model/machine/arch.h"
#include "verify/suite/kernels/gemm.h"
#include "verify/suite/parallel.h"
#include "verify/suite/sizes.h"

namespace bitwell::suite {

using machine::TensorMap;
using machine::TensorSwizzle;
using machine::TensorType;

namespace {

// k as a whole, in one CTA.
const GemmVariant kOneSum{gemm::kTileN, 1, oracle::Output::f32};

}  // namespace

launch::Launch decode_launch(const Nvfp4Operand& a, const Build& build) {
  launch::Launch out;
  out.ptx = build.file("gemm/prepare");
  out.entry = "gemm_decode";
  const size_t pieces = u(gemm::steps_of(a.k)) * 8;  // of a row, 16 bytes each
  out.shape.block = {gemm::kPrepareThreads, 1, 1};
  out.shape.grid = {static_cast<uint32_t>(32 * gemm::up(a.rows, 128)),
                    static_cast<uint32_t>((pieces + gemm::kPrepareThreads - 1) / gemm::kPrepareThreads),
                    static_cast<uint32_t>(a.l)};
  out.add_buffer({"a", a.codes, true, true, false});
  out.add_buffer({"sfa", a.scales, true, true, false});
  out.add_buffer({"decoded", std::vector<std::byte>(u(a.l) * u(a.rows) * pieces * 16), false, false, true});
  out.add_scalar(a.rows);
  out.add_scalar(a.k);
  return out;
}

Reserves ring_reserves(int tile_m, int bs, int maps) {
  return {"hopper-ring",
          {{"tile_m", tile_m}, {"bs", bs}, {"maps", maps}},
          0,
          static_cast<int64_t>(machine::arch(90).shared),
          0};
}

TensorMap box3(TensorType type, int element, std::array<int, 3> dims, int pitch, std::array<uint32_t, 2> box,
               TensorSwizzle swizzle) {
  TensorMap t;
  t.type = type;
  t.rank = 3;
  t.dims = {u(dims[0]), u(dims[1]), u(dims[2]), 1, 1};
  t.strides = {u(element), u(pitch), u(pitch) * u(dims[1]), 0, 0};
  t.box = {box[0], box[1], 1, 1, 1};
  t.swizzle = swizzle;
  return t;
}

TensorMap decoded_map(int m, int k, int l, int rows) {
  const int padded_k = gemm::steps_of(k) * gemm::kStep;
  return box3(TensorType::f16, 2, {padded_k, m, l}, padded_k * 2, {gemm::kStep, static_cast<uint32_t>(rows)},
              TensorSwizzle::b128);
}

TensorMap code_bytes_map(int n, int k, int l) {
  return box3(TensorType::u8, 1, {gemm::pitch_of(k), n, l}, gemm::pitch_of(k),
              {gemm::kStep / 2, gemm::kTileN}, TensorSwizzle::none);
}

std::vector<int> numbers_of_rows(int tile_m) {
  std::vector<int> out;
  for (int eight = 0; eight < tile_m; eight += 8)
    for (const int more : {2, 3}) out.push_back(eight + more);
  return out;
}

uint32_t wgmma_sum(const Nvfp4Operand::Row& a, const Nvfp4Operand::Row& b) {
  return gemm_element(kOneSum, gemm_operand(a), gemm_operand(b));
}

Nvfp4Sums wgmma_sums(const Nvfp4Operand& a, const Nvfp4Operand& b, bool exact) {
  Nvfp4Sums out;
  out.sums.resize(u(a.l) * u(a.rows) * u(b.rows));
  if (exact) out.exact.resize(out.sums.size());
  for (int batch = 0; batch < a.l; ++batch) {
    std::vector<Nvfp4Operand::Row> rows;
    std::vector<std::vector<oracle::HalfWord>> columns;
    for (int n = 0; n < b.rows; ++n) {
      rows.push_back(b.row(batch, n));
      columns.push_back(gemm_operand(rows.back()));
    }
    each_in_parallel(u(a.rows), 0, [&](size_t m) {
      const Nvfp4Operand::Row row = a.row(batch, static_cast<int>(m));
      const std::vector<oracle::HalfWord> of_a = gemm_operand(row);
      const size_t first = (u(batch) * u(a.rows) + m) * u(b.rows);
      for (size_t n = 0; n < columns.size(); ++n) {
        out.sums[first + n] = gemm_element(kOneSum, of_a, columns[n]);
        if (exact) out.exact[first + n] = oracle::dot(row.codes, rows[n].codes, row.scales, rows[n].scales);
      }
    });
  }
  return out;
}

}  // namespace bitwell::suite
