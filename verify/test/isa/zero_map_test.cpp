// Tensor maps that come as 128 bytes: a kernel makes one out of zeros, field by field, as Triton does (an
// H200 loads by it); and one is in memory as an H200's driver wrote it.
#include <gtest/gtest.h>

#include <cstring>

#include "model/machine/failure.h"
#include "model/ptx/parse.h"
#include "verify/launch/launch.h"

namespace bitwell::verify {
namespace {

// A kernel that fills shared memory with zeros, does what `first` says and copies the box at (128, 40) out,
// by the map in global memory, of 64 rows of 256 halves, box 64 by 8.
std::string kernel(const std::string& first) {
  return R"(.version 9.0
.target sm_90a
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
mad.lo.u32 %r2, %r0, 4, %r1;
st.shared.b32 [%r2], 0;
setp.eq.u32 %p0, %r0, 0;
mov.u32 %r3, full;
@%p0 mbarrier.init.shared.b64 [%r3], 1;
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
Launch launched(const std::string& first, std::vector<std::byte> map = std::vector<std::byte>(128)) {
  Launch l;
  l.entry = "k";
  l.shape.block = {32, 1, 1};
  std::vector<std::byte> in(2 * 256 * 64);
  for (size_t i = 0; i < in.size() / 2; ++i) {
    const auto value = static_cast<uint16_t>(i);
    std::memcpy(&in[2 * i], &value, 2);
  }
  l.add_buffer({"in", in, true, true, false});
  l.buffers[0].address = kH200Address;
  l.add_buffer({"map", std::move(map), true, false, true});
  l.add_buffer({"out", std::vector<std::byte>(1024), true, false, true});
  simulate(isa::compile(ptx::parse(kernel(first)), "k"), l, {}, true);
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

void expect_box(const Launch& l) {
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
  const Launch l = launched(made(all_fields()));
  expect_box(l);
  const std::vector<std::byte> driver = of_an_h200();
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(l.buffers[1].bytes[i], driver[i]) << "byte " << i;
}

TEST(ZeroMap, BytesOfAnH200sDriverAreAMap) { expect_box(launched("", of_an_h200())); }

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
}  // namespace bitwell::verify
