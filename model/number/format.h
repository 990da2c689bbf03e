// Number formats as table rows. Every algorithm of model/number takes a Format; a new format is a new row.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace bitwell::number {

// Which codes are not finite numbers.
enum class Special {
  none,      // every code is a number (OCP FP4, FP6)
  ieee,      // all-ones exponent: infinity and NaN (IEEE 754)
  nan_only,  // only the all-ones magnitude is NaN, no infinity (OCP E4M3)
  scale      // UE8M0: code 0xFF is NaN, no zero, no subnormals, code c is 2^(c - 127)
};

// One format. `bits` is the number of bits that carry meaning, `container` the bits it is stored in;
// `ignored_low` bits at the bottom of the container are dropped before anything else (TF32).
struct Format {
  std::string_view name;
  int bits;
  int container;
  int exponent_bits;
  int fraction_bits;
  int bias;
  bool is_signed;
  Special special;
  int ignored_low;
  std::string_view source;

  constexpr int emin() const { return 1 - bias; }
  constexpr int emax() const {  // largest exponent of a finite value
    const int top = (1 << exponent_bits) - 1;
    return (special == Special::ieee || special == Special::scale ? top - 1 : top) - bias;
  }
  constexpr uint64_t fraction_mask() const { return (uint64_t{1} << fraction_bits) - 1; }
  constexpr uint64_t magnitude_mask() const { return (uint64_t{1} << (exponent_bits + fraction_bits)) - 1; }
  constexpr uint64_t sign_mask() const {
    return is_signed ? uint64_t{1} << (exponent_bits + fraction_bits) : 0;
  }
  constexpr bool has_infinity() const { return special == Special::ieee; }
  constexpr bool has_nan() const { return special != Special::none; }
  // The largest finite magnitude's code.
  constexpr uint64_t max_code() const {
    switch (special) {
      case Special::none: return magnitude_mask();
      case Special::ieee: return magnitude_mask() - fraction_mask() - 1;
      default: return magnitude_mask() - 1;
    }
  }
  // NVIDIA's canonical NaN: every magnitude bit set, sign clear (PTX ISA, "canonical NaN"; H200: 0x7FFF,
  // 0x7FFFFFFF). f64 keeps payloads on the device, so it never asks for this.
  constexpr uint64_t canonical_nan() const { return magnitude_mask() << ignored_low; }
};

inline constexpr Format e2m1{"e2m1", 4, 4, 2, 1, 1, true, Special::none, 0, "OCP MX 1.0, 5.3.3"};
inline constexpr Format e2m3{"e2m3", 6, 6, 2, 3, 1, true, Special::none, 0, "OCP MX 1.0, 5.3.2"};
inline constexpr Format e3m2{"e3m2", 6, 6, 3, 2, 3, true, Special::none, 0, "OCP MX 1.0, 5.3.2"};
inline constexpr Format e3m4{
    "e3m4", 8, 8, 3, 4, 3, true, Special::ieee, 0, "ml_dtypes float8_e3m4, LLVM APFloat Float8E3M4"};
inline constexpr Format e4m3{"e4m3", 8, 8, 4, 3, 7, true, Special::nan_only, 0, "OCP OFP8 1.0 (e4m3fn)"};
inline constexpr Format e5m2{"e5m2", 8, 8, 5, 2, 15, true, Special::ieee, 0, "OCP OFP8 1.0"};
inline constexpr Format ue4m3{
    "ue4m3", 7, 8, 4, 3, 7, false, Special::nan_only, 0, "PTX ISA, block scaling; top bit ignored"};
inline constexpr Format ue8m0{"ue8m0", 8, 8, 8, 0, 127, false, Special::scale, 0, "OCP MX 1.0, 5.4.1"};
inline constexpr Format f16{"f16", 16, 16, 5, 10, 15, true, Special::ieee, 0, "IEEE 754 binary16"};
inline constexpr Format bf16{
    "bf16", 16, 16, 8, 7, 127, true, Special::ieee, 0, "PTX ISA, alternate floating point"};
inline constexpr Format tf32{
    "tf32", 19, 32, 8, 10, 127, true, Special::ieee, 13, "PTX ISA, alternate floating point"};
inline constexpr Format f32{"f32", 32, 32, 8, 23, 127, true, Special::ieee, 0, "IEEE 754 binary32"};
inline constexpr Format f64{"f64", 64, 64, 11, 52, 1023, true, Special::ieee, 0, "IEEE 754 binary64"};

// Every row. Tests loop over this; `bitwell formats` prints it.
inline constexpr std::array<const Format*, 13> formats{&e2m1,  &e2m3, &e3m2, &e3m4, &e4m3, &e5m2, &ue4m3,
                                                       &ue8m0, &f16,  &bf16, &tf32, &f32,  &f64};

constexpr bool widths_add_up() {
  for (const Format* f : formats)
    if (f->bits != f->exponent_bits + f->fraction_bits + (f->is_signed ? 1 : 0) ||
        f->container < f->bits + f->ignored_low)
      return false;
  return true;
}
static_assert(widths_add_up());

// The row of that name, or nullptr.
constexpr const Format* find_format(std::string_view name) {
  for (const Format* f : formats)
    if (f->name == name) return f;
  return nullptr;
}

}  // namespace bitwell::number
