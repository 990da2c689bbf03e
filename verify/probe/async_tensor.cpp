// Tensor copies: random legal maps, boxes at every edge, all element types and swizzles that an H200 takes.
#include "verify/probe/async_text.h"

namespace bitwell::probe {
namespace {

using machine::TensorMap;
using machine::TensorSwizzle;
using machine::TensorType;

// A legal map over at most 1 MiB, and where boxes may start: boundary values first, then anything.
struct Drawn {
  TensorMap map;
  uint64_t bytes = 0;  // of the tensor with its padding
};
Drawn draw_map(uint32_t rank, Random& random, const std::vector<TensorType>& types, bool steps) {
  for (;;) {
    Drawn out;
    TensorMap& m = out.map;
    m.rank = rank;
    m.type = types[random() % types.size()];
    m.swizzle = static_cast<TensorSwizzle>(random() % 4);
    m.fill_nan = machine::kTensorTypes[static_cast<size_t>(m.type)].floating && random() % 2 == 0;
    const auto element = static_cast<uint64_t>(m.bits()) / 8;
    uint64_t stride = 0;
    for (size_t d = 0; d < rank; ++d) {
      m.box[d] = 1 + static_cast<uint32_t>(random() % (d == 0 ? 256 : 24));
      if (d == 0)
        m.box[0] = std::max<uint32_t>(
            1, m.box[0] * static_cast<uint32_t>(element) / 16 * 16 / static_cast<uint32_t>(element));
      m.dims[d] = 1 + random() % (d == 0 ? 300 : rank > 3 ? 12 : 40);
      if (random() % 4 == 0) m.dims[d] = m.box[d];
      m.element_strides[d] =
          steps && random() % (d == 0 ? 8 : 3) == 0 ? 1 + static_cast<uint32_t>(random() % 8) : 1;
      if (d > 0) m.strides[d] = stride;
      stride = d == 0 ? (m.dims[0] * element + 15) / 16 * 16 + random() % 3 * 16
                      : stride * m.dims[d] + random() % 2 * 16;
    }
    out.bytes = stride;
    if (out.bytes > 1 << 20 || m.footprint() > kTile || m.row_bytes() % 16 != 0) continue;
    try {
      machine::check(m);
    } catch (const machine::InputError&) {
      continue;
    }
    return out;
  }
}

std::string describe(const TensorMap& m) {
  return fmt::format(
      "{} dims {},{},{},{},{} strides {},{},{},{} box {},{},{},{},{} steps {},{},{},{},{} swizzle {} fill {}",
      machine::kTensorTypes[static_cast<size_t>(m.type)].name, m.dims[0], m.dims[1], m.dims[2], m.dims[3],
      m.dims[4], m.strides[1], m.strides[2], m.strides[3], m.strides[4], m.box[0], m.box[1], m.box[2],
      m.box[3], m.box[4], m.element_strides[0], m.element_strides[1], m.element_strides[2],
      m.element_strides[3], m.element_strides[4],
      machine::kTensorSwizzles[static_cast<size_t>(m.swizzle)].name, m.fill_nan ? "nan" : "zero");
}

std::vector<int32_t> draw_coordinates(const TensorMap& m, uint32_t ctas, Random& random,
                                      bool leaving = false) {
  std::vector<int32_t> out;
  for (uint32_t c = 0; c < ctas; ++c)
    for (size_t d = 0; d < 5; ++d) {
      const auto dim = static_cast<int64_t>(m.dims[d]);
      const auto box = static_cast<int64_t>(m.box[d]);
      const int64_t edges[] = {0, dim - box, dim - 1, dim, 1 - box, -box, -1, dim - box + 1};
      const uint64_t kind = random() % 10;
      int64_t v = d >= m.rank ? 0
                  : kind < 8  ? edges[kind]
                              : static_cast<int64_t>(random() % static_cast<uint64_t>(dim + box)) - box;
      if (leaving) v = std::max<int64_t>(v, 0);
      if (d == 0) v = v * m.bits() / 128 * 128 / m.bits();  // a multiple of 16 bytes
      out.push_back(static_cast<int32_t>(v));
    }
  return out;
}

std::string coordinates(uint32_t rank) {
  std::string text =
      "mul.lo.u32 %r10, %r1, 20; cvt.u64.u32 %q4, %r10; ld.param.u64 %q5, [coords]; add.u64 %q4, %q4, %q5;\n";
  for (uint32_t d = 0; d < rank; ++d) text += fmt::format("ld.global.b32 %r{}, [%q4+{}];\n", 11 + d, 4 * d);
  return text + "mov.b64 %q6, map; cvta.param.u64 %q6, %q6;\n";
}
std::string box_operand(uint32_t rank) {
  std::string text = "[%q6, {";
  for (uint32_t d = 0; d < rank; ++d) text += fmt::format("{}%r{}", d > 0 ? ", " : "", 11 + d);
  return text + "}]";
}
constexpr const char* kMapParameter = ".param .align 128 .b8 map[128], .param .u64 coords, ";

const std::vector<TensorType> kLoadTypes{
    TensorType::u8,      TensorType::u16,  TensorType::u32,     TensorType::s32, TensorType::u64,
    TensorType::s64,     TensorType::f16,  TensorType::f32,     TensorType::f64, TensorType::bf16,
    TensorType::f32_ftz, TensorType::tf32, TensorType::tf32_ftz};

template <uint32_t Rank>
AsyncCase tensor_load(uint64_t seed) {
  Random random(seed);
  AsyncCase out;
  out.ptx = module(
      std::string(kMapParameter) + ".param .u64 out, .param .u32 bytes",
      fill_tile() + kReady + "@!%p0 bra wait;\n" + coordinates(Rank) +
          "ld.param.u32 %r20, [bytes]; mbarrier.arrive.expect_tx.shared.b64 _, [bar], %r20;\n" +
          fmt::format("cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                      "[tile], {}, [bar];\n",
                      Rank, box_operand(Rank)) +
          kWait + store_tile("out"));
  const Drawn drawn = draw_map(Rank, random, kLoadTypes, true);
  constexpr uint32_t ctas = 4;
  launch::Launch& l = out.launch;
  l.entry = "probe";
  l.shape.grid = {ctas, 1, 1};
  l.shape.block = {kThreads, 1, 1};
  const size_t tensor = l.add_hidden_buffer({"tensor", random_bytes(drawn.bytes, random), true, true, false});
  l.add_tensor_map(tensor, drawn.map);
  l.add_buffer({"coords", bytes_of(draw_coordinates(drawn.map, ctas, random)), true, true, false});
  l.add_buffer({"out", std::vector<std::byte>(size_t{ctas} * kTile), false, false, true});
  l.add_scalar(static_cast<uint32_t>(drawn.map.box_bytes()));
  out.description = describe(drawn.map);
  return out;
}

// One CTA, so that nothing hangs on an order.
AsyncCase tensor_out(uint32_t rank, const std::string& spelling, const std::vector<TensorType>& types,
                     uint64_t seed) {
  Random random(seed);
  AsyncCase out;
  out.ptx =
      module(std::string(kMapParameter) + ".param .u64 in",
             load_tile("in") + "fence.proxy.async;\nbar.sync 0;\n@!%p0 bra done;\n" + coordinates(rank) +
                 spelling + " " + box_operand(rank) + ", [tile];\n" + kDrain + "done:\n");
  const Drawn drawn = draw_map(rank, random, types, true);
  launch::Launch& l = out.launch;
  l.entry = "probe";
  l.shape.block = {kThreads, 1, 1};
  const size_t tensor = l.add_hidden_buffer({"tensor", random_bytes(drawn.bytes, random), true, false, true});
  l.add_tensor_map(tensor, drawn.map);
  l.add_buffer({"coords", bytes_of(draw_coordinates(drawn.map, 1, random, true)), true, true, false});
  l.add_buffer({"in", random_bytes(kTile, random), true, true, false});
  out.description = describe(drawn.map);
  return out;
}
template <uint32_t Rank>
AsyncCase tensor_store(uint64_t seed) {
  return tensor_out(Rank, fmt::format("cp.async.bulk.tensor.{}d.global.shared::cta.tile.bulk_group", Rank),
                    kLoadTypes, seed);
}
AsyncCase tensor_reduce(uint64_t seed) {
  using enum TensorType;
  struct Row {
    const char* operation;
    std::vector<TensorType> types;
  };
  static const Row rows[] = {{"add", {u32, s32, u64, f16, bf16, f32}},
                             {"min", {u32, s32, u64, s64, f16, bf16}},
                             {"max", {u32, s32, u64, s64, f16, bf16}},
                             {"inc", {u32}},
                             {"dec", {u32}},
                             {"and", {u32, u64}},
                             {"or", {u32, u64}},
                             {"xor", {u32, u64}}};
  const Row& row = rows[seed % 8];
  const auto rank = static_cast<uint32_t>(1 + seed / 8 % 5);
  AsyncCase out =
      tensor_out(rank,
                 fmt::format("cp.reduce.async.bulk.tensor.{}d.global.shared::cta.{}.tile.bulk_group", rank,
                             row.operation),
                 row.types, seed);
  out.description = std::string(row.operation) + " " + out.description;
  return out;
}

// Rank `rank` of 4 sends a box to the CTAs of a mask; those wait for it.
AsyncCase multicast(uint64_t seed) {
  Random random(seed);
  AsyncCase out;
  const bool bulk = seed % 2 == 0;
  out.ptx = module(
      std::string(kMapParameter) +
          ".param .u64 memory, .param .u64 out, .param .u32 bytes, .param .u32 mask, .param .u32 issuer",
      fill_tile() + kClusterReady +
          "ld.param.u32 %r20, [bytes]; ld.param.u32 %r22, [mask]; ld.param.u32 %r23, [issuer]; cvt.u16.u32 "
          "%h0, %r22;\n"
          "shr.u32 %r24, %r22, %r21; and.b32 %r24, %r24, 1; setp.ne.u32 %p2, %r24, 0;\n"  // this CTA waits
          "@!%p0 bra issued;\n@%p2 mbarrier.arrive.expect_tx.shared.b64 _, [bar], %r20;\n"
          "setp.ne.u32 %p3, %r21, %r23;\n@%p3 bra issued;\n" +
          coordinates(2) + "ld.param.u64 %q8, [memory];\n" +
          (bulk ? std::string("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
                              "cluster [tile], "
                              "[%q8], %r20, [bar], %h0;\n")
                : "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes."
                  "multicast::cluster "
                  "[tile], " +
                      box_operand(2) + ", [bar], %h0;\n") +
          "issued:\n@!%p2 bra through;\n" + kWait + "through:\n" + kClusterEnd + store_tile("out"),
      ".explicitcluster\n");
  const Drawn drawn = draw_map(2, random, kLoadTypes, false);
  launch::Launch& l = out.launch;
  l.entry = "probe";
  l.shape.grid = {8, 1, 1};
  l.shape.cluster = {4, 1, 1};
  l.shape.block = {kThreads, 1, 1};
  const size_t tensor = l.add_hidden_buffer({"tensor", random_bytes(drawn.bytes, random), true, true, false});
  l.add_tensor_map(tensor, drawn.map);
  auto starts = draw_coordinates(drawn.map, 8, random);
  l.add_buffer({"coords", bytes_of(starts), true, true, false});
  const uint32_t bytes =
      bulk ? draw_units(random, kTile / 16) * 16 : static_cast<uint32_t>(drawn.map.box_bytes());
  l.add_buffer({"memory", random_bytes(kTile, random), true, true, false});
  l.add_buffer({"out", std::vector<std::byte>(size_t{8} * kTile), false, false, true});
  l.add_scalar(bytes);
  l.add_scalar(static_cast<uint32_t>(1 + random() % 15));
  l.add_scalar(static_cast<uint32_t>(random() % 4));
  out.description = describe(drawn.map);
  return out;
}

// The map that the kernel is given is another one: every field is replaced before the load.
std::string replacements(const TensorMap& m, const char* space) {
  static constexpr int element_numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 11, 12};  // by TensorType
  std::string text;
  const auto put = [&](const std::string& field, const std::string& type, const std::string& values) {
    text += fmt::format("tensormap.replace.tile.{}{}.b1024.{} [%q9], {};\n", field, space, type, values);
  };
  for (uint32_t d = 0; d < m.rank; ++d) {
    put("box_dim", "b32", fmt::format("{}, {}", d, m.box[d]));
    put("global_dim", "b32", fmt::format("{}, {}", d, m.dims[d]));
    put("element_stride", "b32", fmt::format("{}, {}", d, m.element_strides[d]));
    if (d == 0) continue;
    text += fmt::format("mov.b64 %q10, {};\n", m.strides[d]);
    put("global_stride", "b64", fmt::format("{}, %q10", d - 1));
  }
  put("rank", "b32", std::to_string(m.rank - 1));
  put("elemtype", "b32", std::to_string(element_numbers[static_cast<size_t>(m.type)]));
  put("interleave_layout", "b32", "0");
  put("swizzle_mode", "b32", std::to_string(static_cast<int>(m.swizzle)));
  put("fill_mode", "b32", m.fill_nan ? "1" : "0");
  text += "ld.param.u64 %q10, [tensor];\n";
  put("global_address", "b64", "%q10");
  return text;
}
AsyncCase replaced(uint64_t seed) {
  Random random(seed);
  AsyncCase out;
  const auto rank = static_cast<uint32_t>(1 + seed % 5);
  const bool in_shared = seed / 5 % 2 == 0;  // or in global memory, where it is used
  const Drawn drawn = draw_map(rank, random, kLoadTypes, true);
  // A map given as tf32 stays so (H200).
  const std::vector<TensorType> given(kLoadTypes.begin(), kLoadTypes.end() - 2);
  const Drawn other = draw_map(rank, random, given, true);
  // Warp 0 copies the given map, its first lane changes it.
  const std::string edit =
      "setp.ge.u32 %p4, %r0, 32;\n@%p4 bra edited;\n"
      "mov.b64 %q6, map; cvta.param.u64 %q6, %q6; mul.wide.u32 %q7, %r0, 4; add.u64 %q8, %q6, %q7; ld.b32 "
      "%r25, [%q8];\n"
      "ld.param.u64 %q11, [maps]; mul.wide.u32 %q12, %r1, 128; add.u64 %q11, %q11, %q12; mov.u64 %q9, "
      "copy;\n" +
      std::string(in_shared ? "" : "mov.u64 %q9, %q11;\n") + "add.u64 %q7, %q9, %q7;\n" +
      (in_shared ? "st.shared.b32 [%q7], %r25;\n" : "st.global.b32 [%q7], %r25;\n") +
      "bar.warp.sync 0xFFFFFFFF;\n@!%p0 bra replaced;\n" +
      replacements(drawn.map, in_shared ? ".shared::cta" : ".global") +
      "replaced:\nbar.warp.sync 0xFFFFFFFF;\n" +
      (in_shared ? "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
                   "[%q11], [copy], 128;\n"
                 : "fence.proxy.tensormap::generic.release.gpu;\n") +
      "fence.proxy.tensormap::generic.acquire.gpu [%q11], 128;\nedited:\nbar.sync 0;\n";
  std::string load = coordinates(rank);
  load = load.substr(0, load.find("mov.b64 %q6, map;")) + "mov.u64 %q6, %q11;\n";
  out.ptx = module(
      std::string(kMapParameter) + ".param .u64 out, .param .u32 bytes, .param .u64 maps, .param .u64 tensor",
      ".shared .align 128 .b8 copy[128];\n" + fill_tile() + kReady + edit + "@!%p0 bra wait;\n" + load +
          "ld.param.u32 %r20, [bytes]; mbarrier.arrive.expect_tx.shared.b64 _, [bar], %r20;\n" +
          fmt::format("cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                      "[tile], {}, [bar];\n",
                      rank, box_operand(rank)) +
          kWait + store_tile("out"));
  constexpr uint32_t ctas = 2;
  launch::Launch& l = out.launch;
  l.entry = "probe";
  l.shape.grid = {ctas, 1, 1};
  l.shape.block = {kThreads, 1, 1};
  const size_t tensor = l.add_hidden_buffer(
      {"tensor", random_bytes(std::max(drawn.bytes, other.bytes), random), true, true, false});
  l.add_tensor_map(tensor, other.map);
  l.add_buffer({"coords", bytes_of(draw_coordinates(drawn.map, ctas, random)), true, true, false});
  l.add_buffer({"out", std::vector<std::byte>(size_t{ctas} * kTile), false, false, true});
  l.add_scalar(static_cast<uint32_t>(drawn.map.box_bytes()));
  l.add_buffer({"maps", std::vector<std::byte>(size_t{ctas} * 128), true, false, false});
  l.arguments.push_back({{}, tensor});
  out.description = describe(drawn.map) + " in place of " + describe(other.map);
  return out;
}

}  // namespace

std::vector<AsyncFamily> tensor_families() {
  return {{"tensor load 1d", tensor_load<1>},   {"tensor load 2d", tensor_load<2>},
          {"tensor load 3d", tensor_load<3>},   {"tensor load 4d", tensor_load<4>},
          {"tensor load 5d", tensor_load<5>},   {"tensor store 1d", tensor_store<1>},
          {"tensor store 2d", tensor_store<2>}, {"tensor store 3d", tensor_store<3>},
          {"tensor store 4d", tensor_store<4>}, {"tensor store 5d", tensor_store<5>},
          {"tensor reduce", tensor_reduce},     {"multicast", multicast},
          {"tensor map, replaced", replaced}};
}

}  // namespace bitwell::probe
