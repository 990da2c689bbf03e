// Names that values of LAUNCH.json are chosen from, each list from where the code has it.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "model/number/format.h"

namespace bitwell::schema {

// Element types of .npy files, as NumPy has them; the digit is their bytes.
inline constexpr std::array<std::string_view, 12> kElementTypes{"b1", "u1", "i1", "u2", "i2", "f2",
                                                                "u4", "i4", "f4", "u8", "i8", "f8"};
// Whether codes of a format lie side by side in memory: two to a byte, or in whole bytes.
constexpr bool packs(const number::Format& f) { return f.container == 4 || f.container % 8 == 0; }

inline constexpr std::array<std::string_view, 3> kGenerators{"uniform_bits", "iota_u32", "uniform_f32"};

std::vector<std::string> element_types();
std::vector<std::string> packed_formats();
std::vector<std::string> scalar_types();
std::vector<std::string> generators();
std::vector<std::string> tensor_types();
std::vector<std::string> tensor_swizzles();
std::vector<std::string> l2_promotions();
std::vector<std::string> tensor_fills();
std::vector<std::string> channels();
std::vector<std::string> boundaries();
std::vector<std::string> filters();
std::vector<std::string> orders_of_b();
std::vector<std::string> nans();

}  // namespace bitwell::schema
