#include "model/machine/tensor/descriptor_fields.h"

#include <charconv>

#include "model/machine/failure.h"

namespace bitwell::machine {
namespace {

using Names = std::vector<std::pair<uint32_t, std::string>>;
using FieldList = std::vector<DescriptorField>;

uint64_t mask(const DescriptorField& f) { return (uint64_t{2} << (f.last - f.first)) - 1; }

std::string bits_text(const DescriptorField& f) {
  return f.first == f.last ? "bit " + std::to_string(f.first)
                           : "bits " + std::to_string(f.first) + " to " + std::to_string(f.last);
}

// Puts rows of what is reserved where `fields`, in order, leave bits out.
FieldList with_gaps(FieldList fields, int bits) {
  FieldList out;
  int at = 0;
  const auto gap = [&](int end) {
    if (at < end) out.push_back({"reserved", at, end - 1, "must be 0", 1, "", {}, true});
  };
  for (DescriptorField& f : fields) {
    gap(f.first);
    at = f.last + 1;
    out.push_back(std::move(f));
  }
  gap(bits);
  return out;
}

Names types_of(MmaKind kind) {
  switch (kind) {
    case MmaKind::f16: return {{0, "f16"}, {1, "bf16"}};
    case MmaKind::tf32: return {{2, "tf32"}};
    case MmaKind::i8: return {{0, "u8"}, {1, "s8"}};
    case MmaKind::f8f6f4:
    case MmaKind::mxf8f6f4: return {{0, "e4m3"}, {1, "e5m2"}, {3, "e2m3"}, {4, "e3m2"}, {5, "e2m1"}};
    default: return {{1, "e2m1"}};
  }
}
Names results_of(MmaKind kind) {
  if (kind == MmaKind::tf32) return {{1, "f32"}};
  if (kind == MmaKind::i8) return {{2, "s32"}};
  return {{0, "f16"}, {1, "f32"}};
}
Names scales_of(MmaKind kind) {
  if (kind == MmaKind::mxf4nvf4) return {{0, "ue4m3"}, {1, "ue8m0"}};
  return {{1, "ue8m0"}};
}

}  // namespace

uint64_t DescriptorField::value(uint64_t word) const { return word >> first & mask(*this); }

std::string DescriptorField::meaning(uint64_t word) const {
  const uint64_t v = value(word);
  if (reserved) return v == 0 ? "" : "must be 0";
  for (const auto& [code, text] : names)
    if (code == v) return text;
  if (!names.empty()) return "no value of this field";
  return std::to_string(v * unit) + (of.empty() ? "" : " " + of);
}

uint64_t DescriptorField::set(uint64_t word, std::string_view text) const {
  const auto put = [&](uint64_t v) { return (word & ~(mask(*this) << first)) | v << first; };
  std::string known;
  for (const auto& [code, its_name] : names) {
    if (its_name == text) return put(code);
    known += (known.empty() ? "" : ", ") + its_name;
  }
  const bool hex = text.starts_with("0x");
  const std::string_view digits = hex ? text.substr(2) : text;
  uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number, hex ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size() || number % unit != 0 ||
      number / unit > mask(*this))
    throw InputError(name + " (" + bits_text(*this) + ") takes " +
                     (known.empty() ? "" : "one of " + known + ", or ") +
                     (unit == 1 ? "a number" : "a multiple of " + std::to_string(unit)) + " up to " +
                     std::to_string(mask(*this) * unit) + (of.empty() ? "" : " " + of) + "; got '" +
                     std::string(text) + "'");
  return put(number / unit);
}

std::vector<DescriptorField> matrix_descriptor_fields(DescriptorForm form) {
  FieldList out{
      {"start", 0, 13, "low 18 bits of the shared memory address", 16, "bytes"},
      {"leading", 16, 29, "leading dimension offset; K-major with a swizzle does not use it", 16, "bytes"},
      {"stride", 32, 45, "from 8 rows to the next 8 (K-major)", 16, "bytes"},
  };
  if (form == DescriptorForm::tcgen05) out.push_back({"constant", 46, 48, "fixed", 1, "", {{1, "1"}}});
  out.push_back({"base_offset", 49, 51, "where the swizzle's pattern starts: address bits 7 to 9", 1, ""});
  if (form == DescriptorForm::wgmma) {
    out.push_back({"swizzle",
                   62,
                   63,
                   "how 16-byte pieces change places",
                   1,
                   "",
                   {{0, "none"}, {1, "128b"}, {2, "64b"}, {3, "32b"}}});
    return with_gaps(std::move(out), 64);
  }
  out.push_back({"leading_mode", 52, 52, "what `leading` is", 1, "", {{0, "offset"}, {1, "address"}}});
  out.push_back({"swizzle",
                 61,
                 63,
                 "how 16-byte pieces change places",
                 1,
                 "",
                 {{0, "none"}, {1, "128b_atom_32b"}, {2, "128b"}, {4, "64b"}, {6, "32b"}}});
  return with_gaps(std::move(out), 64);
}

std::vector<DescriptorField> instruction_descriptor_fields(MmaKind kind) {
  const bool scaled = block_scaled(kind);
  const Names no_yes{{0, "no"}, {1, "yes"}};
  const Names major{{0, "k"}, {1, "mn"}};
  FieldList out{{"sparsity_selector", 0, 1, "which metadata, of a sparse A"},
                {"sparse", 2, 2, "A is sparse", 1, "", no_yes}};
  if (scaled) {
    out.push_back({"b_scale_id", 4, 5, "first byte of B's scales in their column"});
  } else {
    out.push_back({"saturate", 3, 3, "integers only", 1, "", no_yes});
    out.push_back({"d_type", 4, 5, "type of D", 1, "", results_of(kind)});
  }
  out.push_back({"a_type", 7, 9, "type of A", 1, "", types_of(kind)});
  out.push_back({"b_type", 10, 12, "type of B", 1, "", types_of(kind)});
  out.push_back({"negate_a", 13, 13, "A with its signs turned", 1, "", no_yes});
  out.push_back({"negate_b", 14, 14, "B with its signs turned", 1, "", no_yes});
  out.push_back({"a_major", 15, 15, "which dimension of A is contiguous", 1, "", major});
  out.push_back({"b_major", 16, 16, "which dimension of B is contiguous", 1, "", major});
  out.push_back({"n", 17, 22, "columns of D", 8, "columns"});
  if (scaled) out.push_back({"scale_type", 23, 23, "type of the scales", 1, "", scales_of(kind)});
  out.push_back({"m", 24, 28, "rows of D, of both CTAs with cta_group::2", 16, "rows"});
  if (scaled) {
    out.push_back({"a_scale_id", 29, 30, "first byte of A's scales in their column"});
    if (kind != MmaKind::mxf8f6f4)
      out.push_back({"k_size", 31, 31, "elements of k", 1, "", {{0, "64"}, {1, "96"}}});
  } else {
    out.push_back({"max_shift",
                   30,
                   31,
                   "of .ws: how far columns of B may move",
                   1,
                   "",
                   {{0, "none"}, {1, "8"}, {2, "16"}, {3, "32"}}});
  }
  return with_gaps(std::move(out), 32);
}

std::vector<DescriptorField> column_mask_fields() {
  const Names no_yes{{0, "no"}, {1, "yes"}};
  FieldList out;
  for (int i = 0; i < 4; ++i)
    out.push_back({"start_" + std::to_string(i), 8 * i, 8 * i + 7,
                   "columns by which bank " + std::to_string(i) + "'s first span is shorter"});
  for (int i = 0; i < 4; ++i)
    out.push_back({"zeros_first_" + std::to_string(i), 32 + i, 32 + i,
                   "whether bank " + std::to_string(i) + "'s first span is of zeros", 1, "", no_yes});
  out.push_back({"masks", 39, 39, "whether any column counts as zeros", 1, "", no_yes});
  out.push_back({"zeros", 40, 47, "columns of a span of zeros, less 1"});
  out.push_back({"used", 48, 55, "columns of a span that is used, less 1"});
  out.push_back({"shift", 56, 61, "how far all columns are moved", 1, "columns"});
  return with_gaps(std::move(out), 64);
}

uint64_t blank_descriptor(const std::vector<DescriptorField>& fields) {
  uint64_t word = 0;
  for (const DescriptorField& f : fields)
    if (f.names.size() == 1) word |= uint64_t{f.names.front().first} << f.first;
  return word;
}

const DescriptorField& descriptor_field(const std::vector<DescriptorField>& fields, std::string_view name) {
  std::string known;
  for (const DescriptorField& f : fields) {
    if (f.reserved) continue;
    if (f.name == name) return f;
    known += (known.empty() ? "" : ", ") + f.name;
  }
  throw InputError("no field '" + std::string(name) + "'; there are " + known);
}

}  // namespace bitwell::machine
