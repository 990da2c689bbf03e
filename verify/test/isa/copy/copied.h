// A kernel around one copy: every byte of shared memory and of a buffer is known before, and seen behind it.
#pragma once
#include <cstring>

#include "../../kernel.h"
#include "model/machine/tensor/tensor_map_bytes.h"

namespace bitwell::isa {

inline constexpr uint32_t kTile = 1024, kGlobal = 4096;

inline std::byte of_global(size_t i) { return static_cast<std::byte>(i * 5 + 3); }
inline std::byte of_tile(size_t i) { return static_cast<std::byte>(i * 11 + 7); }

// %r0: the lane; %r9: the place in `tile`, the last variable of shared memory; %d8: that in `buffer`; %d2: a
// tensor map of it; %p0: lane 0; %r3: 0; `bar`: an mbarrier of one arrival.
inline test::Left copied(const std::string& body, uint32_t in_tile, uint32_t in_buffer,
                         const machine::TensorMap& map, const std::string& target, uint32_t align = 128) {
  std::vector<std::byte> bytes(kGlobal), tile(kTile);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = of_global(i);
  for (size_t i = 0; i < tile.size(); ++i) tile[i] = of_tile(i);
  const test::Kernel k{
      .target = target,
      .parameters = ".param .u64 pbuffer, .param .u64 ptile, .param .u64 pout, .param .align 128 .b8 m[128]",
      .registers = ".reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %d<12>;",
      .shared = ".shared .align 128 .b64 bar; .shared .align " + std::to_string(align) + " .b8 tile[" +
                std::to_string(kTile) + "];",
      .start =
          "ld.param.u64 %d0, [pbuffer]; ld.param.u64 %d5, [ptile]; ld.param.u64 %d1, [pout]; mov.b64 %d2, "
          "m;\n"
          "cvta.param.u64 %d2, %d2; mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; mov.u32 %r3, 0; mov.u32 "
          "%r1, tile;\n"
          "@%p0 mbarrier.init.shared.b64 [bar], 1; @%p0 fence.mbarrier_init.release.cluster;\n"
          "mad.lo.u32 %r4, %r0, 16, %r1; mul.wide.u32 %d3, %r0, 16; add.u64 %d5, %d5, %d3; add.u64 %d1, %d1, "
          "%d3;\n"
          "ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%d5]; st.shared.v4.u32 [%r4], {%r5, %r6, %r7, %r8};\n"
          "ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%d5+512]; st.shared.v4.u32 [%r4+512], {%r5, %r6, %r7, "
          "%r8};\n"
          "fence.proxy.async; bar.warp.sync -1; add.u32 %r9, %r1, " +
          std::to_string(in_tile) + "; add.u64 %d8, %d0, " + std::to_string(in_buffer) + ";",
      .body = body,
      .finish =
          "bar.warp.sync -1;\n"
          "ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4]; st.global.v4.u32 [%d1], {%r5, %r6, %r7, %r8};\n"
          "ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r4+512]; st.global.v4.u32 [%d1+512], {%r5, %r6, %r7, "
          "%r8};",
      .buffers = {{"buffer", std::move(bytes), true, false, true},
                  test::input(std::move(tile)),
                  test::output(kTile)},
      .all_written = false};
  launch::Launch l = k.launch();
  l.add_tensor_map(0, map);
  return k.run(std::move(l));
}

inline machine::TensorMap rows_of_64(uint32_t columns, uint32_t rows, uint32_t stride) {
  machine::TensorMap m;
  m.type = machine::TensorType::u8;
  m.rank = 2;
  m.dims = {64, 32, 1, 1, 1};
  m.strides = {0, 64, 0, 0, 0};
  m.box = {columns, rows, 1, 1, 1};
  m.element_strides[1] = stride;
  return m;
}

inline std::string loaded(uint32_t bytes, const std::string& copy) {
  return "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], " + std::to_string(bytes) + ";\n@%p0 " + copy +
         "\nbar.warp.sync -1;\nW: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0; @!%p1 bra W;\n";
}
inline std::string stored(const std::string& copy) {
  return "@%p0 " + copy + "\ncp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n";
}

}  // namespace bitwell::isa
