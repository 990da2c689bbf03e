#include "verify/gemv.h"

#include <random>

#include "model/machine/failure.h"

namespace bitwell::verify {

using machine::InputError;
using number::Combine;
using number::GroupSum;
using number::Join;

const std::vector<GemvRung>& gemv_rungs() {
  static const std::vector<GemvRung> rungs{
      {"naive", {128, 1, 1}, 128, 16, {.name = "naive", .tile = 16, .group = GroupSum::scaled_products_f32}},
      {"shared_b",
       {32, 8, 1},
       8,
       128,
       {.name = "shared_b",
        .threads = 32,
        .tile = 2,
        .group = GroupSum::running_f16,
        .combine = Combine::shuffle_down,
        .combine_f16 = true}},
      {"intrinsics",
       {32, 8, 1},
       8,
       64,
       {.name = "intrinsics",
        .threads = 32,
        .group = GroupSum::fma_chain_f32,
        .join = Join::fused,
        .combine = Combine::shuffle_down}},
      {"ptx_decode",
       {32, 8, 1},
       8,
       64,
       {.name = "ptx_decode",
        .threads = 32,
        .group = GroupSum::two_chains_f16x2,
        .join = Join::multiply_add,
        .combine = Combine::shuffle_down}},
      {"two_tiles",
       {32, 8, 1},
       8,
       64,
       {.name = "two_tiles",
        .threads = 32,
        .group = GroupSum::two_chains_f16x2,
        .join = Join::fused,
        .accumulators = 2,
        .combine = Combine::shuffle_down}},
      {"fused",
       {32, 8, 1},
       8,
       64,
       {.name = "fused",
        .threads = 32,
        .group = GroupSum::one_chain_f16x2,
        .join = Join::gathered,
        .combine = Combine::shuffle_down}},
      {"split_k_shared",
       {16, 16, 1},
       16,
       64,
       {.name = "split_k_shared",
        .threads = 16,
        .group = GroupSum::products_times_scale_f32,
        .combine = Combine::sequential}},
      {"split_k_shuffle",
       {16, 16, 1},
       16,
       64,
       {.name = "split_k_shuffle",
        .threads = 16,
        .group = GroupSum::products_times_scale_f32,
        .combine = Combine::butterfly}},
      {"fp16_combine",
       {8, 32, 1},
       32,
       64,
       {.name = "fp16_combine",
        .threads = 8,
        .group = GroupSum::running_f16x2,
        .combine = Combine::butterfly,
        .combine_f16 = true}},
      {"fp32_combine",
       {8, 32, 1},
       32,
       64,
       {.name = "fp32_combine",
        .threads = 8,
        .group = GroupSum::running_f16x2,
        .drain_each_tile = true,
        .combine = Combine::butterfly}}};
  return rungs;
}

const GemvRung& gemv_rung(std::string_view name) {
  std::string known;
  for (const GemvRung& r : gemv_rungs()) {
    if (r.name == name) return r;
    known += (known.empty() ? "" : ", ") + std::string(r.name);
  }
  throw InputError("no GEMV rung '" + std::string(name) + "'; there are " + known);
}

std::string gemv_entry(const GemvRung& rung, ScaleLayout layout) {
  return "gemv_" + std::string(rung.name) + (layout == ScaleLayout::row_major ? "_row_major" : "_blocked");
}

std::string GemvCase::describe() const {
  std::string name;
  for (const auto& [d, text] : kGemvData)
    if (d == data) name = text;
  return "m=" + std::to_string(m) + " k=" + std::to_string(k) + " l=" + std::to_string(l) + " " + name +
         (layout == ScaleLayout::row_major ? " row-major" : " blocked") + " seed " + std::to_string(seed);
}

namespace {

// Draws codes. Boundary data are rules; the rest is weighted random.
class Source {
 public:
  Source(GemvData data, uint64_t seed) : data_(data), random_(seed) {}

  // Element k of a row of a (is_a) or of b.
  uint8_t nibble(int k, int size, bool is_a) {
    const auto r = static_cast<uint32_t>(random_());
    switch (data_) {
      case GemvData::problem: return k % 2 == 0 ? r % 4 : 0;
      case GemvData::zeros: return (r & 1) != 0 ? 8 : 0;
      case GemvData::largest: return is_a && r % 64 == 0 ? 0xF : 7;
      case GemvData::cancellation:
        if (k == size / 2) return 1;
        if (!is_a) return 7;
        return k < size / 2 ? 7 : 0xF;
      case GemvData::swamped:
      case GemvData::swamped_tiles: {  // the third part of four repeats the first
        const int part = data_ == GemvData::swamped ? 16 : 64;
        if (k == 0) row_.clear();
        const auto back = static_cast<size_t>(2 * part);
        row_.push_back(k / part % 4 == 2 ? row_[row_.size() - back] : static_cast<uint8_t>(r % 16));
        return row_.back();
      }
      default: return r % 16;
    }
  }

  uint8_t scale(int group, bool is_a) {
    const auto r = static_cast<uint32_t>(random_());
    switch (data_) {
      case GemvData::problem: return static_cast<uint8_t>(r % 3 == 0 ? 0x00 : r % 3 == 1 ? 0x38 : 0x40);
      case GemvData::all_codes: return finite(r);
      case GemvData::zeros: return r % 4 == 0 ? 0x80 : r % 4 == 1 ? 0x38 : 0x00;
      case GemvData::largest: return r % 16 == 0 ? 0xFE : 0x7E;
      case GemvData::cancellation: return 0x38;
      case GemvData::huge_and_tiny: return group % 2 == 0 ? 0x7E : 0x01;
      case GemvData::swamped:
      case GemvData::swamped_tiles: {
        const int part = data_ == GemvData::swamped ? group : group / 4;
        if (part % 4 == 0 || part % 4 == 2)
          return is_a           ? (part % 4 == 0 ? 0x78 : 0xF8)
                 : part % 8 < 4 ? 0x38
                                : 0x77;  // 256 times 1, or 240: fp16's range, or fp32's
        return moderate(r);
      }
      case GemvData::subnormal_scales: return static_cast<uint8_t>((r & 0x80) | (r % 8));
      case GemvData::nan_scales: return r % 512 == 0 ? ((r & 0x10000) != 0 ? 0xFF : 0x7F) : moderate(r);
      default: return moderate(r);
    }
  }

 private:
  static uint8_t finite(uint32_t r) { return static_cast<uint8_t>((r & 0x7F) == 0x7F ? r ^ 1 : r); }
  static uint8_t moderate(uint32_t r) { return static_cast<uint8_t>((r & 0x80) | (0x28 + (r & 0x1F))); }

  GemvData data_;
  std::mt19937_64 random_;
  std::vector<uint8_t> row_;
};

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

void fill(const GemvCase& c, Source& source, bool is_a, std::vector<std::byte>& data,
          std::vector<std::byte>& scales) {
  const int rows = is_a ? c.m : 1;
  const int groups = c.k / 16;
  data.resize(static_cast<size_t>(c.l) * static_cast<size_t>(rows) * static_cast<size_t>(c.k / 2));
  // Padding is NaN: a kernel that reads it shows.
  scales.assign(scale_bytes(c.layout, rows, groups, c.l), std::byte{0x7F});
  size_t at = 0;
  for (int batch = 0; batch < c.l; ++batch)
    for (int row = 0; row < rows; ++row) {
      for (int k = 0; k < c.k; k += 2) {
        const uint8_t low = source.nibble(k, c.k, is_a);
        data[at++] = static_cast<std::byte>(low | source.nibble(k + 1, c.k, is_a) << 4);
      }
      for (int g = 0; g < groups; ++g)
        scales[scale_offset(c.layout, row, rows, g, groups, batch)] =
            static_cast<std::byte>(source.scale(g, is_a));
    }
}

}  // namespace

GemvProblem::GemvProblem(const GemvCase& c) : spec(c) {
  Source source(c.data, c.seed);
  fill(c, source, true, a, sfa);
  fill(c, source, false, b, sfb);
}

Launch GemvProblem::launch(const GemvRung& rung, const std::string& ptx) const {
  const auto& s = spec;
  if (s.k % rung.k_multiple != 0 || s.k < 0 || s.m <= 0 || s.l <= 0)
    throw InputError("gemv_" + std::string(rung.name) + " takes m and l of at least 1 and k a multiple of " +
                     std::to_string(rung.k_multiple) + "; got m = " + std::to_string(s.m) +
                     ", k = " + std::to_string(s.k) + ", l = " + std::to_string(s.l));
  Launch out;
  out.ptx = ptx;
  out.entry = gemv_entry(rung, s.layout);
  out.shape.block = rung.block;
  out.shape.grid = {(static_cast<uint32_t>(s.m) + rung.rows - 1) / rung.rows, static_cast<uint32_t>(s.l), 1};
  out.add_buffer({"a", a, true, true, false});
  out.add_buffer({"b", b, true, true, false});
  out.add_buffer({"sfa", sfa, true, true, false});
  out.add_buffer({"sfb", sfb, true, true, false});
  out.add_buffer({"c", std::vector<std::byte>(2 * static_cast<size_t>(s.m) * static_cast<size_t>(s.l)), false,
                  false, true});
  out.add_scalar(s.m);
  out.add_scalar(s.k);
  out.add_scalar(s.l);
  return out;
}

GemvProblem::Row GemvProblem::row(int batch, int row) const {
  Row out;
  const int groups = spec.k / 16;
  const auto half = static_cast<size_t>(spec.k / 2);
  const auto unpack = [&](const std::vector<std::byte>& from, size_t at, std::vector<uint8_t>& to) {
    to.reserve(2 * half);
    for (size_t i = 0; i < half; ++i) {
      to.push_back(static_cast<uint8_t>(from[at + i]) & 0xF);
      to.push_back(static_cast<uint8_t>(from[at + i]) >> 4);
    }
  };
  unpack(a, (static_cast<size_t>(batch) * static_cast<size_t>(spec.m) + static_cast<size_t>(row)) * half,
         out.a);
  unpack(b, static_cast<size_t>(batch) * half, out.b);
  for (int g = 0; g < groups; ++g) {
    out.sfa.push_back(static_cast<uint8_t>(sfa[scale_offset(spec.layout, row, spec.m, g, groups, batch)]));
    out.sfb.push_back(static_cast<uint8_t>(sfb[scale_offset(spec.layout, 0, 1, g, groups, batch)]));
  }
  return out;
}

std::vector<GemvCase> gemv_reduced_cases(const GemvRung& rung) {
  std::vector<GemvCase> out;
  uint64_t seed = 1000;
  const auto add = [&](int m, int k, int l, GemvData data) {
    for (const ScaleLayout layout : {ScaleLayout::row_major, ScaleLayout::blocked})
      out.push_back({m, k, l, data, layout, seed++});
  };
  for (const auto& [data, name] : kGemvData) {
    add(37, 1152, 1, data);   // ragged m, k that no thread count divides
    add(200, 2048, 2, data);  // more than one scale atom
  }
  add(1, 128, 1, GemvData::all_codes);
  add(128, 256, 3, GemvData::moderate);
  add(256, 7168, 1, GemvData::moderate);  // a contest test shape
  add(24, 8192, 1, GemvData::swamped);    // several tiles a thread
  add(24, 8192, 1, GemvData::swamped_tiles);
  if (rung.k_multiple <= 64) add(65, 64, 2, GemvData::moderate);
  if (rung.k_multiple <= 16) {
    add(129, 16, 1, GemvData::all_codes);
    add(33, 48, 2, GemvData::moderate);
    add(5, 0, 2, GemvData::moderate);  // k = 0: +0
  }
  return out;
}

std::vector<GemvCase> gemv_full_cases() {
  std::vector<GemvCase> out;
  uint64_t seed = 1111;
  for (const auto& [m, k, l] :
       {std::array{7168, 16384, 1}, std::array{4096, 7168, 8}, std::array{7168, 2048, 4}})
    out.push_back({m, k, l, GemvData::moderate, ScaleLayout::blocked, seed++});
  return out;
}

}  // namespace bitwell::verify
