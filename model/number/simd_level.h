// The instruction sets that the array loops are compiled for, and whether this host has them.
#pragma once
#include <string_view>

namespace bitwell::number {

// "scalar", "avx2" (with FMA and BMI2), "avx512" (F, BW, DQ, VL, VBMI, VNNI).
inline bool has_level(std::string_view level) {
  const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
                    __builtin_cpu_supports("bmi2") != 0;
  if (level == "avx512")
    return avx2 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
           __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
           __builtin_cpu_supports("avx512vbmi") != 0 && __builtin_cpu_supports("avx512vnni") != 0;
  return level == "avx2" ? avx2 : level == "scalar";
}

}  // namespace bitwell::number
