// Loads and stores by shared memory address (PTX ISA 9.7.9.8 "ld", 9.7.9.11 "st").
#pragma once
#include <cstdint>

namespace ptx {

__device__ inline uint2 ld_shared_v2(uint32_t from) {
  uint2 d;
  asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(d.x), "=r"(d.y) : "r"(from));
  return d;
}
__device__ inline uint4 ld_shared_v4(uint32_t from) {
  uint4 d;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(d.x), "=r"(d.y), "=r"(d.z), "=r"(d.w) : "r"(from));
  return d;
}
__device__ inline float4 ld_shared_v4_f32(uint32_t from) {
  float4 d;
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(d.x), "=f"(d.y), "=f"(d.z), "=f"(d.w) : "r"(from));
  return d;
}
__device__ inline uint32_t ld_shared_u8(uint32_t from) {
  uint32_t d;
  asm volatile("ld.shared.u8 %0, [%1];" : "=r"(d) : "r"(from));
  return d;
}
__device__ inline uint16_t ld_shared_u16(uint32_t from) {
  uint16_t d;
  asm volatile("ld.shared.u16 %0, [%1];" : "=h"(d) : "r"(from));
  return d;
}
__device__ inline uint32_t ld_shared_u32(uint32_t from) {
  uint32_t d;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(d) : "r"(from));
  return d;
}
__device__ inline float ld_shared_f32(uint32_t from) {
  float d;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(d) : "r"(from));
  return d;
}
__device__ inline void st_shared_v4(uint32_t to, uint4 v) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}
__device__ inline void st_shared_f32(uint32_t to, float v) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(to), "f"(v) : "memory");
}

}  // namespace ptx
