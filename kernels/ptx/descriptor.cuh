// The 64-bit matrix descriptors of tcgen05.mma and tcgen05.cp (PTX ISA 9.0, 9.7.16.4.1), and the 32-bit instruction
// descriptors (9.7.16.4.2), as these kernels use them.
#pragma once
#include <cstdint>

namespace ptx {

constexpr uint64_t kDescriptorVersion = uint64_t{1} << 46;
// K-major rows of 128 bytes, eight together, swizzled by 128 bytes.
constexpr uint64_t kMatrix128b = uint64_t{1} << 16 | uint64_t{1024 >> 4} << 32 | kDescriptorVersion | uint64_t{2} << 61;
// Scales as tcgen05.cp reads them: eight rows of 16 bytes together.
constexpr uint64_t kMatrixScales = uint64_t{1} << 16 | uint64_t{128 >> 4} << 32 | kDescriptorVersion;
// One of them at an address in shared memory.
__device__ inline uint64_t matrix_at(uint64_t descriptor, uint32_t address) {
  return descriptor | (address & 0x3FFFF) >> 4;
}

// E2M1 in A and B, scales of UE4M3; m and n of the whole MMA.
constexpr uint32_t instruction_mxf4nvf4(int m, int n) {
  return 1u << 7 | 1u << 10 | static_cast<uint32_t>(n >> 3) << 17 | static_cast<uint32_t>(m >> 4) << 24;
}
// fp16, or bf16, in A and B; fp32 sums.
constexpr uint32_t instruction_f16(int m, int n, bool bf16) {
  return 1u << 4 | (bf16 ? 1u << 7 | 1u << 10 : 0u) | static_cast<uint32_t>(n >> 3) << 17 | static_cast<uint32_t>(m >> 4) << 24;
}

}  // namespace ptx
