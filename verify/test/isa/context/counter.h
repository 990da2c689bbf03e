// Modules with variables, and words of a context's memory.
#pragma once
#include <array>
#include <cstring>
#include <string>

#include "model/isa/context/context.h"

namespace bitwell::isa {

inline const std::string kHead = ".version 9.0\n.target sm_90\n.address_size 64\n";

// `count` adds `step` to .global `total`; `tell` stores total + .const `offset` at its argument.
inline std::string counter(int start, int step, int offset) {
  return kHead + ".visible .global .align 4 .u32 total = " + std::to_string(start) +
         ";\n.const .align 4 .u32 offset = " + std::to_string(offset) +
         ";\n.visible .entry count()\n{\n.reg .b32 %r<4>;\nld.global.u32 %r0, [total];\nadd.u32 %r1, %r0, " +
         std::to_string(step) +
         ";\nst.global.u32 [total], %r1;\nret;\n}\n"
         ".visible .entry tell(.param .u64 out)\n{\n.reg .b32 %r<4>;\n.reg .b64 %a<2>;\n"
         "ld.param.u64 %a0, [out];\nld.global.u32 %r0, [total];\nld.const.u32 %r1, [offset];\n"
         "add.u32 %r2, %r0, %r1;\nst.global.u32 [%a0], %r2;\nret;\n}\n";
}

inline uint32_t word(const Context& context, const Allocation& at, uint64_t offset = 0) {
  std::array<std::byte, 4> b{};
  context.read(at, b, offset);
  uint32_t out = 0;
  std::memcpy(&out, b.data(), 4);
  return out;
}

}  // namespace bitwell::isa
