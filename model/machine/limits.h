// What a target allows: each number once.
#pragma once
#include <array>
#include <cstdint>
#include <string>

namespace bitwell::machine {

// CUDA programming guide 13.0, "Technical specifications per compute capability", sm_75 and later.
inline constexpr uint32_t kMaxThreads = 1024;  // of a block
inline constexpr std::array<uint32_t, 3> kMaxBlock{1024, 1024, 64};
inline constexpr std::array<uint32_t, 3> kMaxGrid{2147483647, 65535, 65535};
inline constexpr uint32_t kPortableCluster = 8;  // CTAs: the size that every sm_90 and later allows
// Of 32 bits, of a thread and of a multiprocessor. A warp gets them from one of the multiprocessor's
// quarters, in units (cuda_occupancy.h of CUDA 13.0).
inline constexpr uint32_t kMaxRegisters = 255;
inline constexpr uint32_t kRegisters = 65536;
inline constexpr uint32_t kQuarters = 4;
inline constexpr uint32_t kRegisterUnit = 256;
inline constexpr uint64_t kMaxLocal = 512 << 10;    // bytes of local memory a thread
inline constexpr uint64_t kMaxConstant = 64 << 10;  // bytes of a module's .const variables

// Bytes of a CTA's shared memory that may be static, as ptxas 13.0 has it: all for a target of one
// architecture (sm_90a), 48 KiB for others.
uint64_t max_static_shared(int sm, const std::string& suffix);
// Bytes of an entry's parameters (PTX ISA 9.0, 6.1 ".param"; before PTX 8.1 what ptxas 13.0 takes).
uint64_t max_parameters(int version);

}  // namespace bitwell::machine
