#include "verify/suite/nvfp4/nvfp4_operand.h"

#include <string>

#include "model/machine/failure.h"
#include "verify/oracle/epilogue.h"

namespace bitwell::suite {
namespace {

uint8_t finite(uint32_t r) { return static_cast<uint8_t>((r & 0x7F) == 0x7F ? r ^ 1 : r); }
uint8_t moderate(uint32_t r) { return static_cast<uint8_t>((r & 0x80) | (0x28 + (r & 0x1F))); }

// The E4M3 code of a number in [0, 1), one of 4096.
uint8_t uniform(uint32_t r) {
  static const std::vector<uint8_t> codes = [] {
    std::vector<uint8_t> out;
    for (int i = 0; i < 4096; ++i) out.push_back(oracle::to_e4m3((static_cast<float>(i) + 0.5f) / 4096));
    return out;
  }();
  return codes[r % 4096];
}

size_t scale_offset(ScaleLayout layout, int row, int rows, int group, int groups, int batch) {
  const auto u = [](int v) { return static_cast<size_t>(v); };
  if (layout == ScaleLayout::row_major) return (u(batch) * u(rows) + u(row)) * u(groups) + u(group);
  const size_t atoms_m = (u(rows) + 127) / 128;
  const size_t atoms_k = (u(groups) + 3) / 4;
  return ((u(batch) * atoms_m + u(row) / 128) * atoms_k + u(group) / 4) * 512 + u(row) % 32 * 16 +
         u(row) % 128 / 32 * 4 + u(group) % 4;
}

size_t scale_bytes(ScaleLayout layout, int rows, int groups, int batches) {
  const auto u = [](int v) { return static_cast<size_t>(v); };
  if (layout == ScaleLayout::row_major) return u(batches) * u(rows) * u(groups);
  return u(batches) * ((u(rows) + 127) / 128) * ((u(groups) + 3) / 4) * 512;
}

}  // namespace

std::string_view name_of(OperandData data) {
  for (const auto& [d, name] : kOperandData)
    if (d == data) return name;
  for (const auto& [d, name] : kLaterData)
    if (d == data) return name;
  throw machine::ModelBug("data without a name");
}

uint8_t OperandSource::nibble(int k, int size, bool is_a) {
  const auto r = static_cast<uint32_t>(random_());
  switch (data_) {
    case OperandData::problem: return k % 2 == 0 ? r % 4 : 0;
    case OperandData::zeros: return (r & 1) != 0 ? 8 : 0;
    case OperandData::contest_dual:
    case OperandData::contest_group: return r & 0xB;
    case OperandData::one_zero: return is_a == (k / 16 % 2 == 0) ? (r & 1) * 8 : r % 16;
    case OperandData::largest: return is_a && r % 64 == 0 ? 0xF : 7;
    case OperandData::cancellation:
      if (k == size / 2) return 1;
      if (!is_a) return 7;
      return k < size / 2 ? 7 : 0xF;
    case OperandData::swamped:
    case OperandData::swamped_tiles: {  // the third part of four repeats the first, of A with other signs
      const int part = data_ == OperandData::swamped ? 16 : 64;
      if (k == 0) row_.clear();
      const auto back = static_cast<size_t>(2 * part);
      const uint8_t sign = is_a ? 8 : 0;
      row_.push_back(k / part % 4 == 2 ? row_[row_.size() - back] ^ sign : static_cast<uint8_t>(r % 16));
      return row_.back();
    }
    default: return r % 16;
  }
}

uint8_t OperandSource::scale(int group, bool is_a) {
  const auto r = static_cast<uint32_t>(random_());
  switch (data_) {
    case OperandData::problem: return static_cast<uint8_t>(r % 3 == 0 ? 0x00 : r % 3 == 1 ? 0x38 : 0x40);
    case OperandData::all_codes: return finite(r);
    case OperandData::zeros: return r % 4 == 0 ? 0x80 : r % 4 == 1 ? 0x38 : 0x00;
    case OperandData::largest: return r % 16 == 0 ? 0xFE : 0x7E;
    case OperandData::one_zero: return 0x7E;
    case OperandData::contest_dual: return uniform(r);
    case OperandData::contest_group: return (r & 1) != 0 ? 0x38 : 0x40;
    case OperandData::cancellation: return 0x38;
    case OperandData::huge_and_tiny: return group % 2 == 0 ? 0x7E : 0x01;
    case OperandData::swamped:
    case OperandData::swamped_tiles: {
      const int part = data_ == OperandData::swamped ? group : group / 4;
      if (part % 4 == 0 || part % 4 == 2)
        return is_a ? 0x78 : part % 8 < 4 ? 0x38 : 0x77;  // 256 times 1, or 240: fp16's range, or fp32's
      return moderate(r);
    }
    case OperandData::subnormal_scales: return static_cast<uint8_t>((r & 0x80) | (r % 8));
    case OperandData::nan_scales: return r % 512 == 0 ? ((r & 0x10000) != 0 ? 0xFF : 0x7F) : moderate(r);
    default: return moderate(r);
  }
}

Nvfp4Operand::Nvfp4Operand(OperandSource& source, bool is_a, int rows_, int k_, int l_, ScaleLayout layout_)
    : rows(rows_), k(k_), l(l_), layout(layout_) {
  if (rows < 1 || l < 1 || k < 0 || k % 16 != 0)
    throw machine::InputError(
        "an NVFP4 operand has at least one row and batch, and k a multiple of 16; got " +
        std::to_string(rows) + " rows (m or n), k = " + std::to_string(k) + ", l = " + std::to_string(l));
  fill(
      [&](int, int, int i) {
        const uint8_t low = source.nibble(2 * i, k, is_a);
        return low | source.nibble(2 * i + 1, k, is_a) << 4;
      },
      [&](int, int, int group) { return source.scale(group, is_a); });
}

Nvfp4Operand::Nvfp4Operand(const problem::Operand& of, int first, int rows_, int l_, ScaleLayout layout_)
    : rows(rows_), k(static_cast<int>(of.k)), l(l_), layout(layout_) {
  const auto u = [](int v) { return static_cast<uint64_t>(v); };
  fill([&](int batch, int row, int i) { return of.codes(u(batch), u(first + row), u(i)); },
       [&](int batch, int row, int group) { return of.scale(u(batch), u(first + row), u(group)); });
}

template <class Codes, class Scales>
void Nvfp4Operand::fill(Codes codes_of, Scales scale_of) {
  const int groups = k / 16;
  codes.resize(static_cast<size_t>(l) * static_cast<size_t>(rows) * static_cast<size_t>(k / 2));
  scales.assign(scale_bytes(layout, rows, groups, l), std::byte{0x7F});
  size_t at = 0;
  for (int batch = 0; batch < l; ++batch)
    for (int row = 0; row < rows; ++row) {
      for (int i = 0; i < k / 2; ++i) codes[at++] = static_cast<std::byte>(codes_of(batch, row, i));
      for (int g = 0; g < groups; ++g)
        scales[scale_offset(layout, row, rows, g, groups, batch)] =
            static_cast<std::byte>(scale_of(batch, row, g));
    }
}

Nvfp4Operand::Row Nvfp4Operand::row(int batch, int row) const {
  Row out;
  const auto half = static_cast<size_t>(k / 2);
  const size_t at =
      (static_cast<size_t>(batch) * static_cast<size_t>(rows) + static_cast<size_t>(row)) * half;
  out.codes.reserve(2 * half);
  for (size_t i = 0; i < half; ++i) {
    out.codes.push_back(static_cast<uint8_t>(codes[at + i]) & 0xF);
    out.codes.push_back(static_cast<uint8_t>(codes[at + i]) >> 4);
  }
  for (int g = 0; g < k / 16; ++g)
    out.scales.push_back(static_cast<uint8_t>(scales[scale_offset(layout, row, rows, g, k / 16, batch)]));
  return out;
}

}  // namespace bitwell::suite
