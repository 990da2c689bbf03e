// Tensor maps that come as 128 bytes: a kernel makes one out of zeros, field by field, as Triton does (an
// H200 loads by it); and one is in memory as an H200's driver wrote it.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <utility>

#include "../../kernel.h"
#include "model/machine/failure.h"
#include "model/machine/tensor/tensor_map_bytes.h"
#include "model/ptx/parse.h"
#include "verify/findings/watch.h"

namespace bitwell::isa {
namespace {

// A kernel that fills the 64 bytes of `fields` that a copy reads with zeros, does what `first` says and
// copies the box at (128, 40) out, by the map in global memory, of 64 rows of 256 halves, box 64 by 8.
std::string kernel(const std::string& first, const std::string& target) {
  return ".version 9.0\n.target " + target + R"(
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 map, .param .u64 out)
{
.reg .pred %p<3>;
.reg .b32 %r<8>;
.reg .b64 %d<8>;
.shared .align 128 .b8 fields[128];
.shared .align 128 .b8 tile[1024];
.shared .align 8 .b64 full;
ld.param.u64 %d0, [in];
ld.param.u64 %d1, [map];
ld.param.u64 %d2, [out];
mov.u32 %r0, %tid.x;
mov.u32 %r1, fields;
mad.lo.u32 %r2, %r0, 2, %r1;
st.shared.b16 [%r2], 0;
setp.eq.u32 %p0, %r0, 0;
mov.u32 %r3, full;
@%p0 mbarrier.init.shared.b64 [%r3], 1;
@%p0 fence.mbarrier_init.release.cluster;
bar.sync 0;
)" + first +
         R"(
mov.u32 %r4, tile;
@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 1024;
@%p0 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r4], [%d1, {128, 40}], [%r3];
wait:
mbarrier.try_wait.parity.shared.b64 %p1, [%r3], 0;
@!%p1 bra wait;
mad.lo.u32 %r5, %r0, 32, %r4;
mul.wide.u32 %d3, %r0, 32;
add.u64 %d3, %d3, %d2;
.reg .b32 %v<8>;
ld.shared.v4.b32 {%v0, %v1, %v2, %v3}, [%r5];
ld.shared.v4.b32 {%v4, %v5, %v6, %v7}, [%r5+16];
st.global.v4.b32 [%d3], {%v0, %v1, %v2, %v3};
st.global.v4.b32 [%d3+16], {%v4, %v5, %v6, %v7};
ret;
}
)";
}

std::string field(const std::string& name, const std::string& type, const std::string& values) {
  return "@%p0 tensormap.replace.tile." + name + ".shared::cta.b1024." + type + " [%r1], " + values + ";\n";
}

constexpr uint64_t kH200Address = 0x7F8561E00000;

// The halves of the tensor count up from 0.
launch::Launch launched(const std::string& first, std::vector<std::byte> map = std::vector<std::byte>(128),
                        const run::Options& options = {}, const std::string& target = "sm_90a") {
  launch::Launch l;
  l.entry = "k";
  l.shape.block = {32, 1, 1};
  std::vector<std::byte> in(2 * 256 * 64);
  for (size_t i = 0; i < in.size() / 2; ++i) {
    const auto value = static_cast<uint16_t>(i);
    std::memcpy(&in[2 * i], &value, 2);
  }
  l.add_buffer({"in", in, true, true, false});
  l.buffers[0].address = kH200Address;
  const size_t given = map.size();  // the rest is 0
  l.add_buffer({"map", std::move(map), true, false, true, 128 - given});
  l.add_buffer({"out", std::vector<std::byte>(1024), true, false, true});
  test::run_ptx(kernel(first, target), l, options, false);
  return l;
}

// The fields replaced in shared memory, and the map that they make stored to global memory.
std::string made(const std::string& fields) {
  return fields + R"(bar.warp.sync -1;
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], [%r1], 128;
fence.proxy.tensormap::generic.acquire.gpu [%d1], 128;
)";
}

const std::string& all_fields() {
  static const std::string out =
      field("global_address", "b64", "%d0") + field("rank", "b32", "1") + field("box_dim", "b32", "0, 64") +
      field("box_dim", "b32", "1, 8") + field("global_dim", "b32", "0, 256") +
      field("global_dim", "b32", "1, 64") + field("global_stride", "b64", "0, 512") +
      field("element_stride", "b32", "0, 1") + field("element_stride", "b32", "1, 1") +
      field("elemtype", "b32", "6") + field("interleave_layout", "b32", "0") +
      field("swizzle_mode", "b32", "0") + field("fill_mode", "b32", "0");
  return out;
}

void expect_box(const launch::Launch& l) {
  for (size_t row = 0; row < 8; ++row)
    for (size_t column = 0; column < 64; ++column) {
      uint16_t value = 0;
      std::memcpy(&value, &l.buffers[2].bytes[2 * (64 * row + column)], 2);
      EXPECT_EQ(value, (40 + row) * 256 + 128 + column);
    }
}

// What cuTensorMapEncodeTiled wrote on an H200 (a line of tensor_maps.txt.xz).
std::vector<std::byte> of_an_h200() {
  const std::string digits =
      "0000e061857f0000100300002000000000000000000000000000000000000000"
      "ff0000003f0000000000000000000000000000000000003f0700000000000000"
      "00040000000000001000000000000000" +
      std::string(96, '0');
  std::vector<std::byte> out;
  for (size_t i = 0; i < digits.size(); i += 2)
    out.push_back(static_cast<std::byte>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  return out;
}

// The 64 bytes that copies read are the driver's too.
TEST(ZeroMap, FieldsMakeAMapOfZeros) {
  const launch::Launch l = launched(made(all_fields()));
  expect_box(l);
  const std::vector<std::byte> driver = of_an_h200();
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(l.buffers[1].bytes[i], driver[i]) << "byte " << i;
}

TEST(ZeroMap, BytesOfAnH200sDriverAreAMap) { expect_box(launched("", of_an_h200())); }

// The warp has met at the copy of a map, which reads once, for all of it: one thread may replace fields
// behind it.
TEST(ZeroMap, TheWarpCopiesAMapOnce) {
  const std::string replaced_by_one = made(all_fields()) + field("fill_mode", "b32", "0");
  run::Options options;
  findings::Watch watch;
  const Program program = isa::compile(ptx::parse(kernel(replaced_by_one, "sm_90a")), "k");
  options.observers.push_back(watch.observer());
  run::Shape shape;
  shape.block = {32, 1, 1};
  watch.begin(program, shape);
  std::map<std::pair<int, machine::AccessKind>, int> whole;  // accesses to 128 bytes, by line
  options.observers.push_back({[&](const machine::Event& event) {
                                 const auto* a = std::get_if<machine::Access>(&event.what);
                                 if (a != nullptr && a->bytes == 128 && a->operation == 0 && a->met == ~0u)
                                   ++whole[{a->ptx_line, a->kind}];
                               },
                               true});
  expect_box(launched(replaced_by_one, std::vector<std::byte>(128), options));
  ASSERT_EQ(whole.size(), 2u);
  for (const auto& [what, times] : whole) EXPECT_EQ(times, 1);
  for (const findings::Found& f : watch.findings())
    ADD_FAILURE() << hazard::row_of(f.finding.kind).name << " at lines " << f.finding.earlier.site.ptx_line
                  << " and " << f.finding.later.site.ptx_line;
}

// The CuTe DSL makes them so for sm_100a: bit 65 is set, and what no copy reads is anything.
TEST(ZeroMap, BytesOfTheCuteDslAreAMap) {
  std::vector<std::byte> map = of_an_h200();
  map[8] |= std::byte{2};
  std::vector<std::byte> read(map.begin(), map.begin() + 64);
  for (size_t i = 64; i < map.size(); ++i) map[i] = static_cast<std::byte>(0xC3 + 5 * i);
  expect_box(launched("", map));
  expect_box(launched("", read));
}

// Of a place where nothing was written nobody makes a map.
TEST(ZeroMap, WhatACopyReadsMustBeWritten) {
  for (const std::string& first :
       {std::string("@%p0 tensormap.replace.tile.rank.shared::cta.b1024.b32 [tile], 1;\n"),
        std::string(
            "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%d1], "
            "[tile], 128;\n")})
    EXPECT_THROW(launched(first), machine::Fault) << first;
}

// Its fp4 has the number 11: the box holds the bytes that it does by bitwell's own map of that type.
TEST(ZeroMap, FourBitsOfTheCuteDslAreThoseOfBitwellsMap) {
  machine::TensorMap m;
  m.type = machine::TensorType::u4x16_align8b;
  m.rank = 2;
  m.address = kH200Address;
  m.dims = {256, 64, 1, 1, 1};
  m.strides[1] = 128;
  m.box = {256, 8, 1, 1, 1};
  machine::TensorMapBytes own = machine::encode(m);
  machine::TensorMapBytes dsl = own;
  for (size_t i = 64; i < dsl.size(); ++i) dsl[i] = std::byte{0x5A};
  dsl[8] = (dsl[8] & std::byte{0x7F}) | std::byte{0x82};  // the type's low bit, and bit 65
  dsl[9] = (dsl[9] & std::byte{0xF8}) | std::byte{5};
  const auto box = [&](const machine::TensorMapBytes& bytes) {
    return launched("", {bytes.begin(), bytes.end()}, {}, "sm_100a").buffers[2].bytes;
  };
  EXPECT_EQ(box(dsl), box(own));
}

// Zeros alone are no map to load by.
TEST(ZeroMap, ZerosWhoseFieldsNobodyReplacedAreNone) {
  try {
    launched(made(""));
    ADD_FAILURE() << "it ran";
  } catch (const machine::Fault& f) {
    EXPECT_NE(std::string(f.what()).find("there is no tensor map at this address"), std::string::npos)
        << f.what();
  }
}

}  // namespace
}  // namespace bitwell::isa
