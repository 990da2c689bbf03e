// Reductions into a tensor: each operation with each type of tensor map, boxes that hang over its edges,
// beside loops over elements. Which are taken stands in the PTX ISA (cp.reduce.async.bulk.tensor).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "../../kernel.h"
#include "model/number/half.h"

namespace bitwell::isa {
namespace {

using machine::TensorType;

constexpr int64_t kColumns = 32, kWidth = 27, kRows = 9, kBoxColumns = 8, kBoxRows = 4;

const std::map<std::string, std::set<std::string>> kTaken = {
    {"add", {"u32", "s32", "u64", "f16", "bf16", "f32"}},
    {"min", {"u32", "s32", "u64", "s64", "f16", "bf16"}},
    {"max", {"u32", "s32", "u64", "s64", "f16", "bf16"}},
    {"inc", {"u32"}},
    {"dec", {"u32"}},
    {"and", {"u32", "s32", "u64", "s64"}},
    {"or", {"u32", "s32", "u64", "s64"}},
    {"xor", {"u32", "s32", "u64", "s64"}}};

// Small integers, and any bits of an integer type.
uint64_t drawn(const std::string& type, std::mt19937_64& random) {
  const auto small = static_cast<float>(static_cast<int>(random() % 200) - 100);
  if (type == "f32") return std::bit_cast<uint32_t>(small);
  if (type == "bf16") return std::bit_cast<uint32_t>(small) >> 16;
  if (type == "f16") return number::float_to_half(small);
  const uint64_t value = random() % 4 == 0 ? random() % 3 : random();
  return type.ends_with("64") ? value : value & 0xFFFFFFFF;
}
float real(const std::string& type, uint64_t code) {
  return type == "f32"    ? std::bit_cast<float>(static_cast<uint32_t>(code))
         : type == "bf16" ? std::bit_cast<float>(static_cast<uint32_t>(code << 16))
                          : number::half_to_float(static_cast<uint16_t>(code));
}
// The element of the tensor that comes of `a` there and `b` of the box.
uint64_t reduced(const std::string& op, const std::string& type, uint64_t a, uint64_t b) {
  if (op == "and") return a & b;
  if (op == "or") return a | b;
  if (op == "xor") return a ^ b;
  if (op == "inc") return a >= b ? 0 : a + 1;
  if (op == "dec") return a == 0 || a > b ? b : a - 1;
  if (op == "add") {
    if (type == "f32") return std::bit_cast<uint32_t>(real(type, a) + real(type, b));
    if (type == "bf16") return std::bit_cast<uint32_t>(real(type, a) + real(type, b)) >> 16;
    if (type == "f16") return number::float_to_half(real(type, a) + real(type, b));
    return type.ends_with("64") ? a + b : (a + b) & 0xFFFFFFFF;
  }
  bool less = a < b;
  if (type == "s32") less = static_cast<int32_t>(a) < static_cast<int32_t>(b);
  if (type == "s64") less = static_cast<int64_t>(a) < static_cast<int64_t>(b);
  if (type == "f16" || type == "bf16") less = real(type, a) < real(type, b);
  return less == (op == "min") ? a : b;
}

TEST(TensorReduce, IsWhatLoopsOverItsElementsSay) {
  std::mt19937_64 random(8);
  int taken = 0;
  for (const auto& [op, types] : kTaken)
    for (size_t t = 0; t < static_cast<size_t>(TensorType::u4x16_align8b); ++t)
      for (const auto& [column, row] : {std::pair<int64_t, int64_t>{8, 2}, {0, 5}, {24, 7}}) {
        const std::string type(machine::kTensorTypes[t].name);
        const auto size = static_cast<size_t>(machine::kTensorTypes[t].bits / 8);
        machine::TensorMap map;
        map.type = static_cast<TensorType>(t);
        map.rank = 2;
        map.dims = {kWidth, kRows, 1, 1, 1};
        map.strides = {0, kColumns * size, 0, 0, 0};
        map.box = {kBoxColumns, kBoxRows, 1, 1, 1};
        if (kBoxColumns * size % 16 != 0) map.box[0] = 16;
        const auto columns = static_cast<int64_t>(map.box[0]);
        std::vector<uint64_t> before, with;
        const auto bytes_of = [&](std::vector<uint64_t>& values, int64_t count) {
          std::vector<std::byte> out(static_cast<size_t>(count) * size);
          for (int64_t i = 0; i < count; ++i) {
            values.push_back(drawn(type, random));
            std::memcpy(out.data() + static_cast<size_t>(i) * size, &values.back(), size);
          }
          return out;
        };
        launch::Launch l;
        l.entry = "k";
        l.shape.block = {32, 1, 1};
        const std::vector<std::byte> tensor = bytes_of(before, kColumns * kRows);
        l.add_buffer({"tensor", tensor, true, false, true});
        std::vector<std::byte> box = bytes_of(with, columns * kBoxRows);
        box.resize(1024);
        l.add_buffer({"box", box, true, true, false});
        l.add_tensor_map(0, map);
        const std::string text =
            ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 tensor, .param "
            ".u64 "
            "box, .param .align 128 .b8 map[128]) {\n.reg .pred %p; .reg .b32 %r<9>; .reg .b64 "
            "%d<5>;\n.shared "
            ".align 128 .b8 tile[1024];\nld.param.u64 %d0, [box]; mov.b64 %d1, map; cvta.param.u64 %d1, "
            "%d1;\n"
            "mov.u32 %r0, %tid.x; setp.eq.u32 %p, %r0, 0; mul.wide.u32 %d2, %r0, 32; add.u64 %d0, %d0, %d2;\n"
            "mov.u32 %r1, tile; mad.lo.u32 %r2, %r0, 32, %r1;\nld.global.v4.b32 {%r3, %r4, %r5, %r6}, [%d0]; "
            "st.shared.v4.b32 [%r2], {%r3, %r4, %r5, %r6};\nld.global.v4.b32 {%r3, %r4, %r5, %r6}, [%d0+16]; "
            "st.shared.v4.b32 [%r2+16], {%r3, %r4, %r5, %r6};\nfence.proxy.async.shared::cta;\nbar.sync 0;\n"
            "@!%p bra DONE;\ncp.reduce.async.bulk.tensor.2d.global.shared::cta." +
            op + ".tile.bulk_group [%d1, {" + std::to_string(column) + ", " + std::to_string(row) +
            "}], [tile];\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nDONE: ret;\n}\n";
        const std::string what = op + " " + type + " at " + std::to_string(column);
        std::string refusal;
        try {
          test::run_ptx(text, l);
        } catch (const machine::Unsupported& e) {
          refusal = e.what();
        }
        const std::string wanted = "this reduction into a tensor of type " + type;
        ASSERT_EQ(refusal.find(wanted) != std::string::npos, !types.contains(type))
            << what << ": " << refusal;
        if (!types.contains(type)) continue;
        ASSERT_EQ(refusal, "") << what;
        ++taken;
        // In units of 16 bytes, the last of which may pass the edge (H200).
        const int64_t edge =
            std::min(column + columns, static_cast<int64_t>((kWidth * size + 15) / 16 * 16 / size));
        for (int64_t y = 0; y < kRows; ++y)
          for (int64_t x = 0; x < kColumns; ++x) {
            const auto at = static_cast<size_t>(y * kColumns + x);
            const bool inside = x >= column && x < edge && y >= row && y < row + kBoxRows;
            const uint64_t want = inside
                                      ? reduced(op, type, before[at],
                                                with[static_cast<size_t>((y - row) * columns + x - column)])
                                      : before[at];
            uint64_t is = 0;
            std::memcpy(&is, l.buffers[0].bytes.data() + at * size, size);
            if (inside && op != "and" && op != "or" && op != "xor" && type.find('f') != std::string::npos) {
              ASSERT_EQ(real(type, is), real(type, want)) << what << ", element " << x << " " << y;
              continue;
            }
            ASSERT_EQ(is, want & (size == 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * size) - 1))
                << what << ", element " << x << " " << y;
          }
      }
  EXPECT_EQ(taken, 3 * 32);
}

}  // namespace
}  // namespace bitwell::isa
