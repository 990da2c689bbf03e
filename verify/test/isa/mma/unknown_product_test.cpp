// A product of elements that were never written: what is called known of D no choice of them changes, and
// what is called unknown some choice does.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "../../kernel.h"
#include "model/ptx/parse.h"
#include "model/run/cluster.h"
#include "model/run/watch/definedness.h"

namespace bitwell::isa {
namespace {

// Codes of an operand that are finite and no zero: (random & keep) | set. `element` are the bits of one, from
// the lowest of a register on, and `elements` of them follow each other `stride` bits apart.
struct Codes {
  uint64_t keep, set;
  size_t stride;
  uint64_t element;
};
constexpr Codes kF16{0x83FF83FF, 0x3C003C00, 16, 0xFFFF}, kBf16{0x807F807F, 0x3F803F80, 16, 0xFFFF},
    kF32{0x807FFFFF, 0x3F800000, 32, 0xFFFFFFFF}, kE4m3{0x8F8F8F8F, 0x30303030, 8, 0xFF},
    kInt8{0xFFFFFFFF, 0x01010101, 8, 0xFF}, kInt4{0xFFFFFFFF, 0x11111111, 4, 0xF},
    kInt32{0xFFFFFFFF, 0, 32, 0xFFFFFFFF}, kF64{0x800FFFFFFFFFFFFF, 0x3FF0000000000000, 64, ~uint64_t{0}},
    kE2m1Padded{0xFFFFFFFF, 0x04040404, 8, 0x3C}, kE3m2Padded{0xFFFFFFFF, 0x01010101, 8, 0x3F},
    kE2m1{0xFFFFFFFF, 0x11111111, 4, 0xF}, kUe4m3{0x0F0F0F0F, 0x30303030, 32, 0xFFFFFFFF};

struct Registers {
  size_t count;
  const Codes& codes;
};
struct Case {
  const char* text;  // up to the operands
  Registers d, a, b, c;
  const char* target = "sm_90a";
  bool scaled = false;
};
const Case kCases[] = {
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", {4, kF32}, {4, kF16}, {2, kF16}, {4, kF32}},
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", {4, kF32}, {2, kF16}, {1, kF16}, {4, kF32}},
    {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", {2, kF16}, {4, kF16}, {2, kF16}, {2, kF16}},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", {4, kF32}, {4, kBf16}, {2, kBf16}, {4, kF32}},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", {4, kF32}, {4, kF32}, {2, kF32}, {4, kF32}},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", {4, kF32}, {4, kE4m3}, {2, kE4m3}, {4, kF32}},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", {4, kInt32}, {4, kInt8}, {2, kInt8}, {4, kInt32}},
    {"mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32", {4, kInt32}, {2, kInt8}, {1, kInt8}, {4, kInt32}},
    {"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", {2, kInt32}, {1, kInt8}, {1, kInt8}, {2, kInt32}},
    {"mma.sync.aligned.m16n8k64.row.col.s32.u4.u4.s32", {4, kInt32}, {4, kInt4}, {2, kInt4}, {4, kInt32}},
    {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", {2, kF64}, {1, kF64}, {1, kF64}, {2, kF64}},
    {"mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64", {4, kF64}, {4, kF64}, {2, kF64}, {4, kF64}},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32",
     {4, kF32},
     {4, kE2m1Padded},
     {2, kE3m2Padded},
     {4, kF32},
     "sm_120a"},
    {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3",
     {4, kF32},
     {4, kE2m1},
     {2, kE2m1},
     {4, kF32},
     "sm_120a",
     true},
    {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", {8, kF32}, {8, kF16}, {8, kF16}, {8, kF32}},
    {"wmma.mma.sync.aligned.col.row.m32n8k16.f16.f16", {4, kF16}, {8, kF16}, {8, kF16}, {4, kF16}},
    {"wmma.mma.sync.aligned.col.row.m8n32k16.s32.s8.s8.s32",
     {8, kInt32},
     {1, kInt8},
     {4, kInt8},
     {8, kInt32}},
    {"wmma.mma.sync.aligned.row.row.m16n16k8.f32.tf32.tf32.f32", {8, kF32}, {4, kF32}, {4, kF32}, {8, kF32}},
    {"wmma.mma.sync.aligned.col.col.m8n8k4.f64.f64.f64.f64", {2, kF64}, {1, kF64}, {1, kF64}, {2, kF64}},
};

// The instruction, all of whose registers are live behind it, so that each has a row of its own.
std::string kernel_of(const Case& c) {
  size_t next = 1;
  std::string before, operands, after;
  const auto name = [&](const Codes& codes) {
    const std::string out = std::string(codes.stride == 64                      ? "%q"
                                        : codes.stride == 32 && &codes == &kF32 ? "%f"
                                                                                : "%r") +
                            std::to_string(next++);
    after += "st.global." + std::string(codes.stride == 64 ? "b64" : "b32") + " [%q0], " + out + ";";
    return out;
  };
  for (const Registers* of : {&c.d, &c.a, &c.b, &c.c}) {
    operands += of == &c.d ? " {" : ", {";
    // tf32 stands in .b32.
    const bool words = (of == &c.a || of == &c.b) && &of->codes == &kF32;
    for (size_t i = 0; i < of->count; ++i)
      operands += (i == 0 ? "" : ", ") + name(words ? kInt32 : of->codes);
    operands += "}";
  }
  if (c.scaled)
    for (int i = 0; i < 2; ++i) operands += ", {" + name(kUe4m3) + "}, {0, " + std::to_string(i) + "}";
  return std::string(".version 9.0\n.target ") + c.target +
         "\n.address_size 64\n.visible .entry k() {\n.reg .b32 %r<64>; .reg .f32 %f<64>; .reg .b64 %q<64>;\n"
         "mov.u64 %q0, 0;\n" +
         c.text + operands + ";\n" + after + "\nret;\n}\n";
}

struct Row {
  uint32_t row;
  const Codes* codes;
  std::array<uint64_t, 32> value{}, unknown{};

  size_t bytes() const { return codes->stride == 64 ? 8 : 4; }
};

void check(const Case& c, uint32_t seed, size_t places) {
  RC_LOG() << c.text << "\n";
  std::mt19937_64 random(seed);
  const Program program = isa::compile(ptx::parse(kernel_of(c)), "k");
  const Op* op = nullptr;
  for (const Op& o : program.functions[0].code)
    if (o.results != nullptr && o.sources != nullptr) op = &o;
  RC_ASSERT(op != nullptr);
  machine::Memory memory;
  run::Shape shape;
  shape.block = {32, 1, 1};
  machine::Region constants("constant memory", machine::kConstWindow, 0, true);
  run::Flight flight;
  run::Grid grid{program, shape, {}, memory, constants, {"the parameter block", 0, 8, true}, flight};
  run::Cluster cluster(grid, {0, 0, 0});
  machine::Warp& warp = cluster.ctas[0]->warps[0];
  warp.splits[0].activation = cluster.ctas[0]->activate(program.entry, warp, warp.exists, nullptr);
  run::Context context(*cluster.ctas[0], warp, 0, true);

  std::vector<Row> rows;
  size_t at = 0;
  for (const Registers* of : {&c.a, &c.b, &c.c})
    for (size_t i = 0; i < of->count; ++i) rows.push_back({(*op->sources)[at++], &of->codes});
  if (c.scaled)
    for (const size_t i : {size_t{0}, size_t{3}}) rows.push_back({(*op->sources)[at + i], &kUe4m3});
  for (Row& r : rows)
    for (uint64_t& v : r.value) v = (random() & r.codes->keep) | r.codes->set;
  // Whole elements, or bits of them, or those that are of none.
  bool whole = true;
  for (size_t p = 0; p < places; ++p) {
    Row& r = rows[random() % rows.size()];
    const size_t elements = 8 * r.bytes() / r.codes->stride;
    const uint64_t element = r.codes->element << r.codes->stride * (random() % elements);
    uint64_t all = 0;
    for (size_t e = 0; e < elements; ++e) all |= r.codes->element << r.codes->stride * e;
    const uint64_t register_bits = r.bytes() == 8 ? ~uint64_t{0} : 0xFFFFFFFF;
    const uint64_t choices[] = {element, all, register_bits, register_bits & ~all, element & random()};
    const size_t choice = random() % 5;
    whole = whole && choice != 4;
    r.unknown[random() % 32] |= choices[choice];
  }
  const auto put = [&](const Row& r, int lane, uint64_t v) {
    std::memcpy(context.rows() + r.row + r.bytes() * static_cast<size_t>(lane), &v, r.bytes());
  };
  const size_t bytes = c.d.codes.stride == 64 ? 8 : 4;
  const auto result = [&](size_t i, int lane) {
    uint64_t out = 0;
    std::memcpy(&out, context.rows() + (*op->results)[i] + bytes * static_cast<size_t>(lane), bytes);
    return out;
  };
  for (const Row& r : rows)
    for (int lane = 0; lane < 32; ++lane) {
      put(r, lane, r.value[static_cast<size_t>(lane)]);
      run::set_unknown(context, r.row, lane, r.bytes(), {r.unknown[static_cast<size_t>(lane)], 0}, {});
    }
  RC_ASSERT(op->effect(*op, context, ~0u) == Next::advance);
  using Results = std::vector<std::array<uint64_t, 32>>;
  Results said(c.d.count), first(c.d.count), changed(c.d.count);
  for (size_t i = 0; i < c.d.count; ++i)
    for (int lane = 0; lane < 32; ++lane)
      said[i][static_cast<size_t>(lane)] = run::unknown_of(context, (*op->results)[i], lane, bytes).low;

  for (const Row& r : rows)
    for (int lane = 0; lane < 32; ++lane) run::set_unknown(context, r.row, lane, r.bytes(), {}, {});
  for (int choice = 0; choice < 12; ++choice) {
    for (const Row& r : rows)
      for (int lane = 0; lane < 32; ++lane) {
        const uint64_t unknown = r.unknown[static_cast<size_t>(lane)];
        // Zeros first, and then what is none and finite, so that whole elements do change the sums.
        const uint64_t fill = choice == 0   ? 0
                              : choice == 1 ? (random() & r.codes->keep) | r.codes->set
                                            : random();
        if (unknown != 0) put(r, lane, (r.value[static_cast<size_t>(lane)] & ~unknown) | (fill & unknown));
      }
    RC_ASSERT(op->effect(*op, context, ~0u) == Next::advance);
    for (size_t i = 0; i < c.d.count; ++i)
      for (int lane = 0; lane < 32; ++lane) {
        const auto l = static_cast<size_t>(lane);
        if (choice == 0) first[i][l] = result(i, lane);
        changed[i][l] |= result(i, lane) ^ first[i][l];
      }
  }
  for (size_t i = 0; i < c.d.count; ++i)
    for (size_t lane = 0; lane < 32; ++lane) {
      RC_ASSERT((changed[i][lane] & ~said[i][lane]) == 0u);
      for (size_t bit = 0; whole && bit < 8 * bytes; bit += c.d.codes.stride)
        RC_ASSERT(((said[i][lane] >> bit & c.d.codes.element) != 0) ==
                  ((changed[i][lane] >> bit & c.d.codes.element) != 0));
    }
}

RC_GTEST_PROP(UnknownProduct, WhatIsKnownNoChoiceChangesAndWhatIsNotSomeChoiceDoes, ()) {
  const auto seed = *rc::gen::arbitrary<uint32_t>().as("seed");
  const auto places = *rc::gen::inRange<size_t>(0, 5).as("lanes of a register that lack something");
  for (const Case& c : kCases) check(c, seed, places);
}

}  // namespace
}  // namespace bitwell::isa
