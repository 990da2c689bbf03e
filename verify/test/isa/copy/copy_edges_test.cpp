// Copies at the last place where they fit, of shared and of global memory: every byte around them stays as it
// was; one step further, and beside their alignment, they fault. And the bytes that pad a tensor's elements.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "copied.h"

namespace bitwell::isa {
namespace {

struct Edge {
  std::string body;
  bool loads;
  uint32_t bytes;          // of `tile`
  uint32_t align;          // of the place there
  uint32_t in_buffer = 0;  // bytes that %d8 names; 0: the map does
  uint32_t buffer_align = 16;
  uint32_t columns = 16, rows = 1;  // of the map's box
  const char* target = "sm_90a";
  uint32_t stride = 1;  // of the map's rows: those that are named are as many as before
};

std::vector<Edge> edges() {
  std::vector<Edge> out;
  for (const uint32_t bytes : {16u, 48u, 528u}) {
    const std::string size = std::to_string(bytes);
    out.push_back(
        {loaded(bytes, "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%d8], " +
                           size + ", [bar];"),
         true, bytes, 16, bytes});
    out.push_back({stored("cp.async.bulk.global.shared::cta.bulk_group [%d8], [%r9], " + size + ";"), false,
                   bytes, 16, bytes});
  }
  for (const uint32_t bytes : {4u, 8u, 16u})
    out.push_back(
        {"@%p0 cp.async.ca.shared.global [%r9], [%d8], " + std::to_string(bytes) + "; cp.async.wait_all;",
         true, bytes, bytes, bytes, bytes});
  const std::string tensor = "cp.async.bulk.tensor.2d.";
  out.push_back(
      {loaded(96, tensor + "shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%d2, {16, 5}], "
                           "[bar];"),
       true, 96, 128, 0, 16, 32, 3});
  out.push_back({stored(tensor + "global.shared::cta.bulk_group [%d2, {16, 5}], [%r9];"), false, 96, 128, 0,
                 16, 32, 3});
  for (const uint32_t stride : {1u, 2u}) {
    out.push_back(
        {loaded(192, tensor +
                         "shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes [%r9], [%d2, "
                         "{16, 5, 6, 7, 8}], [bar];"),
         true, 192, 128, 0, 16, 48, 1, "sm_100a", stride});
    out.push_back(
        {stored(tensor + "global.shared::cta.tile::scatter4.bulk_group [%d2, {16, 5, 6, 7, 8}], [%r9];"),
         false, 192, 128, 0, 16, 48, 1, "sm_100a", stride});
  }
  return out;
}

// Both memories behind the copy, where it takes place.
void expect_copied(const Edge& e, const test::Left& left, uint32_t in_tile, uint32_t in_buffer) {
  ASSERT_EQ(left.end(), "held") << e.body << in_tile << " " << in_buffer;
  std::vector<std::byte> buffer(kGlobal), tile(kTile);
  for (size_t i = 0; i < buffer.size(); ++i) buffer[i] = of_global(i);
  for (size_t i = 0; i < tile.size(); ++i) tile[i] = of_tile(i);
  for (uint32_t i = 0; i < e.bytes; ++i) {
    const size_t there = e.in_buffer != 0 ? in_buffer + i : (5 + i / e.columns) * 64 + 16 + i % e.columns;
    if (e.loads)
      tile[in_tile + i] = of_global(there);
    else
      buffer[there] = of_tile(in_tile + i);
  }
  EXPECT_EQ(left.buffers[0].bytes, buffer) << e.body << in_tile << " " << in_buffer;
  EXPECT_EQ(left.buffers[2].bytes, tile) << e.body << in_tile << " " << in_buffer;
}

TEST(CopyEdges, TheLastPlaceAndTheNext) {
  for (const Edge& e : edges()) {
    const auto at = [&](uint32_t in_tile, uint32_t in_buffer) {
      return copied(e.body, in_tile, in_buffer, rows_of_64(e.columns, e.rows, e.stride), e.target);
    };
    const uint32_t last = (kTile - e.bytes) / e.align * e.align;
    for (const uint32_t in_tile : {0u, e.align, last}) expect_copied(e, at(in_tile, 0), in_tile, 0);
    EXPECT_NE(
        at(last + e.align, 0).fault.find("out-of-bounds access of " + std::to_string(e.bytes) + " bytes"),
        std::string::npos)
        << e.body << at(last + e.align, 0).end();
    EXPECT_FALSE(at(last - e.align / 2, 0).fault.empty()) << e.body;
    if (e.in_buffer == 0) continue;
    const uint32_t end = kGlobal - e.in_buffer;
    for (const uint32_t in_buffer : {e.buffer_align, end})
      expect_copied(e, at(last, in_buffer), last, in_buffer);
    EXPECT_NE(at(0, end + e.buffer_align).fault.find("'buffer' of 4096 bytes"), std::string::npos)
        << e.body << at(0, end + e.buffer_align).end();
    EXPECT_FALSE(at(0, end - e.buffer_align / 2).fault.empty()) << e.body;
  }
}

// What nobody waits for is noted where the CTA ends, once for each copy.
TEST(CopyEdges, WhatIsUnderWayWhenItsCtaEndsIsNoted) {
  const std::string expect = "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;\n";
  for (const auto& [body, what] : std::vector<std::pair<std::string, std::string>>{
           {"@%p0 cp.async.ca.shared.global [%r9], [%d8], 16; ret;\n", "cp.async.ca.shared.global"},
           {"@%p0 cp.async.ca.shared.global [%r9], [%d8], 16; @%p0 cp.async.mbarrier.arrive.noinc.shared.b64 "
            "[bar]; "
            "ret;\n",
            "cp.async.mbarrier.arrive"},
           {expect + "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [%d8], "
                     "16, [bar]; "
                     "ret;\n",
            "cp.async.bulk.shared::cluster.global"},
           {"@%p0 cp.async.bulk.global.shared::cta.bulk_group [%d8], [%r9], 16; ret;\n",
            "cp.async.bulk.global.shared::cta"}}) {
    const test::Left left = copied(body, 0, 0, rows_of_64(16, 1, 1), "sm_90a");
    ASSERT_EQ(left.end(), "held") << body;
    EXPECT_EQ(std::count_if(left.notes.begin(), left.notes.end(),
                            [&, &about = what](const run::Note& n) {
                              return n.text.find(about) != std::string::npos &&
                                     n.text.find("is under way when its CTA ends") != std::string::npos;
                            }),
              1)
        << what << (left.notes.empty() ? "" : left.notes[0].text);
  }
}

// Of a warp that stores to a run of bytes, the thread is named whose bytes are still a copy's.
TEST(CopyEdges, AStoreIntoACopyNamesItsThread) {
  for (const uint32_t size : {1u, 2u, 4u, 8u})
    for (const uint32_t at : {0u, 16u, 32u}) {
      const std::string bits = std::to_string(8 * size), reg = size == 8 ? "%d8" : "%r3";
      const test::Left left =
          copied("@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16; mad.lo.u32 %r11, %r0, " +
                     std::to_string(size) +
                     ", %r1;\n@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], "
                     "[%d8], 16, [bar];\n"
                     "bar.warp.sync -1; st.shared.b" +
                     bits + " [%r11], " + reg + ";\n",
                 at, 0, rows_of_64(16, 1, 1), "sm_90a");
      const bool meets = at < 32 * size;
      EXPECT_EQ(left.fault.find("a write to 'tile'") != std::string::npos, meets) << left.fault;
      if (meets) {
        EXPECT_NE(left.fault.find("thread (" + std::to_string(at / size) + ",0,0)"), std::string::npos)
            << left.fault;
      }
    }
}

// Bytes that are not read are zeros, with a cache policy behind their number and without one.
TEST(CopyEdges, APartIsFilledWithZeros) {
  for (const uint32_t part : {0u, 1u, 8u, 15u, 16u})
    for (const bool hinted : {false, true}) {
      const test::Left left =
          copied("@%p0 cp.async.cg.shared.global" + std::string(hinted ? ".L2::cache_hint" : "") +
                     " [%r9], [%d8], 16, " + std::to_string(part) + (hinted ? ", %d8" : "") +
                     ";\ncp.async.wait_all;\n",
                 32, 64, rows_of_64(16, 1, 1), "sm_90a");
      ASSERT_EQ(left.end(), "held");
      for (uint32_t i = 0; i < 64; ++i) {
        const bool inside = i >= 32 && i < 48;
        EXPECT_EQ(left.buffers[2].bytes[i], !inside         ? of_tile(i)
                                            : i - 32 < part ? of_global(32 + i)
                                                            : std::byte{0})
            << part << " " << i;
      }
    }
}

// A field that is replaced is written, and what was not written beside the bytes that copies read stays so.
TEST(CopyEdges, AReplacedFieldLeavesTheUpperBytesAsTheyWere) {
  for (const char* replace : {"tensormap.replace.tile.rank.shared::cta.b1024.b32 [map], 1;",
                              "tensormap.replace.tile.rank.b1024.b32 [%d2], 1;"})  // by its generic address
    for (const int at : {0, 8, 63, 64, 100, 127}) {
      const test::Left left =
          test::Kernel{
              .parameters = ".param .u64 pout",
              .registers = ".reg .b32 %r<4>; .reg .b64 %d<4>;",
              .shared = ".shared .align 128 .b8 map[128];",
              .start =
                  "ld.param.u64 %d0, [pout]; mov.u64 %d1, 0; mov.u64 %d2, map; cvta.shared.u64 %d2, %d2;",
              .body =
                  "st.shared.v2.u64 [map], {%d1, %d1}; st.shared.v2.u64 [map+16], {%d1, %d1};\n"
                  "st.shared.v2.u64 [map+32], {%d1, %d1}; st.shared.v2.u64 [map+48], {%d1, %d1};\n" +
                  std::string(replace) + "\nld.shared.u8 %r1, [map+" + std::to_string(at) +
                  "]; st.global.u32 [%d0], %r1;",
              .shape = {.block = {1, 1, 1}},
              .buffers = {test::output(4)},
              .all_written = false}
              .run();
      EXPECT_EQ(left.fault.empty(), at < 64) << at << left.fault;
      if (at < 64) {
        EXPECT_EQ(left.all<uint32_t>(0)[0], at == 8 ? 16u : 0u) << at;  // the rank's bits, from 68 on
      }
    }
}

// A map is copied whole where what copies read of it was written: 64 bytes.
TEST(CopyEdges, AMapThatWasNotWrittenIsNotCopied) {
  for (const int written : {0, 48, 64, 128}) {
    std::string writes;
    for (int at = 0; at < written; at += 16)
      writes += "st.shared.v2.u64 [map+" + std::to_string(at) + "], {%d1, %d1};\n";
    const std::string end =
        test::Kernel{
            .parameters = ".param .u64 pout",
            .registers = ".reg .b64 %d<4>;",
            .shared = ".shared .align 128 .b8 map[128];",
            .start = "ld.param.u64 %d0, [pout]; mov.u64 %d1, 0;",
            .body = writes +
                    "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
                    "[%d0], [map], 128;",
            .buffers = {test::output(128)},
            .all_written = false}
            .run()
            .end();
    EXPECT_EQ(end == "held", written >= 64) << written << end;
    if (written < 64) {
      EXPECT_NE(end.find("a tensor map is copied that was never written"), std::string::npos) << end;
    }
  }
}

// Constants at the end of what an instruction takes, and the next ones.
TEST(CopyEdges, ConstantsBeyondTheirRangeAreRefused) {
  struct Constant {
    const char* text;  // N: the number
    uint64_t last, next;
    const char* target = "sm_90a";
  };
  for (const Constant& c : std::vector<Constant>{
           {"cp.async.bulk.global.shared::cta.bulk_group [%d8], [%r9], N;", (1 << 20) - 16, 1 << 20},
           {"cp.async.bulk.global.shared::cta.bulk_group [%d8], [%r9], N;", 16, 24},
           {"cp.async.ca.shared.global [%r9], [%d8], 4, N;", 4, 5},
           {"cp.async.ca.shared.global [%r9], [%d8], 8, N;", 8, 9},
           {"cp.async.cg.shared.global [%r9], [%d8], 16, N;", 16, 17},
           {"cp.async.ca.shared.global [%r9], [%d8], N;", 8, 12},
           {"cp.async.cg.shared.global [%r9], [%d8], N;", 16, 8},
           {"tensormap.replace.tile.elemtype.global.b1024.b32 [%d8], N;", 12, 13},
           {"tensormap.replace.tile.elemtype.global.b1024.b32 [%d8], N;", 15, 16, "sm_100a"},
           {"tensormap.replace.tile.interleave_layout.global.b1024.b32 [%d8], N;", 2, 3},
           {"tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%d8], N;", 3, 4},
           {"tensormap.replace.tile.fill_mode.global.b1024.b32 [%d8], N;", 1, 2},
           {"tensormap.replace.tile.box_dim.global.b1024.b32 [%d8], N, %r3;", 4, 5},
           {"tensormap.replace.tile.global_stride.global.b1024.b64 [%d8], N, %d8;", 4, 5},
           {"fence.proxy.tensormap::generic.acquire.gpu [%d8], N;", 128, 64},
           {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d8], "
            "[%r9], N;",
            128, 64},
           {"cp.async.ca.shared.global.L2::cache_hint [%r9], [%d8], N, %d8;", 8, 12},
           {"st.bulk.weak.shared::cta [%r9], N, 0;", 8, 12, "sm_100a"}}) {
    for (const uint64_t n : {c.last, c.next}) {
      std::string text = c.text;
      text.replace(text.find(" N") + 1, 1, std::to_string(n));
      const test::Kernel k{
          .target = c.target, .registers = ".reg .b32 %r<12>; .reg .b64 %d<12>;", .body = text};
      EXPECT_EQ(k.refusal().empty(), n == c.last) << text << k.refusal();
    }
  }
}

// Of 16 bytes the first 8, or 12, are 16 elements; what stands behind them is nobody's, whatever stood there
// before (PTX ISA 9.0, 5.5.1, ".b4x16_p64" and ".b6x16_p32").
TEST(CopyEdges, WhatPadsElementsIsNotKnown) {
  for (const auto& [type, bytes] :
       {std::pair{machine::TensorType::u4x16_align16b, 8u}, {machine::TensorType::u6x16_align16b, 12u}}) {
    machine::TensorMap map;
    map.type = type;
    map.rank = 2;
    map.dims = {256, 8, 1, 1, 1};
    map.strides = {0, 256, 0, 0, 0};
    map.box = {128, 2, 1, 1, 1};
    for (uint32_t at = 0; at < 272; ++at) {
      if (at % 16 != 0 && at % 16 != 7 && at % 16 != 8 && at % 16 != 11 && at % 16 != 12 && at % 16 != 15)
        continue;
      if (at >= 32 && at < 224) continue;
      const test::Left left = [&, &bytes = bytes] {
        const std::string body = loaded(2 * 8 * bytes,
                                        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_"
                                        "tx::bytes [%r9], [%d2, {128, "
                                        "1}], [bar];") +
                                 "@%p0 ld.shared.u8 %r10, [tile+" + std::to_string(at) +
                                 "]; @%p0 st.global.u8 [%d8], %r10; bra END;\n";
        std::vector<std::byte> none;
        return copied(body + "bra END;\nEND: ret;\n", 0, 0, map, "sm_100a");
      }();
      const bool known = at >= 256 || at % 16 < bytes;
      EXPECT_EQ(left.fault.empty(), known) << bytes << " " << at << " " << left.fault;
      if (!known || !left.fault.empty()) continue;
      const size_t group = at / 16;  // eight of a row
      const std::byte want = at >= 256
                                 ? of_tile(at)
                                 : of_global((1 + group / 8) * 256 + 8 * bytes + group % 8 * bytes + at % 16);
      EXPECT_EQ(left.buffers[0].bytes[0], want) << bytes << " " << at;
    }
  }
}

}  // namespace
}  // namespace bitwell::isa
