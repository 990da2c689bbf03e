// Modules and memory that outlive a launch.
#include "model/isa/compile/module.h"

#include <gtest/gtest.h>

#include <cstring>

#include "model/machine/failure.h"
#include "model/ptx/parse.h"

namespace bitwell {
namespace {

using Arguments = std::vector<std::vector<std::byte>>;

std::vector<std::byte> bytes_of(uint64_t v) {
  std::vector<std::byte> out(sizeof v);
  std::memcpy(out.data(), &v, sizeof v);
  return out;
}
Arguments arguments(std::initializer_list<uint64_t> values) {
  Arguments out;
  for (const uint64_t v : values) out.push_back(bytes_of(v));
  return out;
}
uint32_t word(const machine::Memory& memory, uint64_t address) {
  uint32_t out = 0;
  std::array<std::byte, 4> b{};
  memory.read(address, b);
  std::memcpy(&out, b.data(), 4);
  return out;
}

// `count` adds `step` to .global `total`; `tell` stores total + .const `offset` at its argument.
ptx::Module counter(int start, int step, int offset) {
  return ptx::parse(
      ".version 9.0\n.target sm_90\n.address_size 64\n"
      ".visible .global .align 4 .u32 total = " +
      std::to_string(start) + ";\n.const .align 4 .u32 offset = " + std::to_string(offset) +
      ";\n.visible .entry count()\n{\n.reg .b32 %r<4>;\nld.global.u32 %r0, [total];\nadd.u32 %r1, %r0, " +
      std::to_string(step) +
      ";\nst.global.u32 [total], %r1;\nret;\n}\n"
      ".visible .entry tell(.param .u64 out)\n{\n.reg .b32 %r<4>;\n.reg .b64 %a<2>;\n"
      "ld.param.u64 %a0, [out];\nld.global.u32 %r0, [total];\nld.const.u32 %r1, [offset];\n"
      "add.u32 %r2, %r0, %r1;\nst.global.u32 [%a0], %r2;\nret;\n}\n");
}

TEST(Modules, KeepTheirVariablesFromLaunchToLaunch) {
  machine::Memory memory;
  const uint64_t out = memory.allocate("out", 4).base();
  isa::Module m(counter(5, 3, 100), memory);
  for (int i = 0; i < 4; ++i) m.run("count", {}, {});
  m.run("tell", {}, arguments({out}));
  EXPECT_EQ(word(memory, out), 5u + 4 * 3 + 100);
  ASSERT_NE(m.variable("total"), nullptr);
  EXPECT_EQ(word(memory, m.variable("total")->address), 17u);
}

TEST(Modules, OfOneMemoryHaveVariablesOfTheirOwn) {
  machine::Memory memory;
  const uint64_t out = memory.allocate("out", 8).base();
  isa::Module a(counter(1, 1, 1000), memory);
  isa::Module b(counter(2, 10, 2000), memory);
  EXPECT_NE(a.variable("total")->address, b.variable("total")->address);
  EXPECT_NE(a.variable("offset")->address, b.variable("offset")->address);
  a.run("count", {}, {});
  b.run("count", {}, {});
  b.run("count", {}, {});
  a.run("tell", {}, arguments({out}));
  b.run("tell", {}, arguments({out + 4}));
  EXPECT_EQ(word(memory, out), 1002u);
  EXPECT_EQ(word(memory, out + 4), 2022u);
}

TEST(Modules, AreNotPlacedTwice) {
  machine::Memory memory;
  const isa::Program program = isa::compile(counter(0, 1, 0), "count");
  isa::run(program, {}, {}, memory);
  EXPECT_THROW(isa::run(program, {}, {}, memory), machine::ModelBug);
}

TEST(Modules, HaveConstantsThatTheirOwnAddressesReachAsIntegersToo) {
  machine::Memory memory;
  const uint64_t out = memory.allocate("out", 8).base();
  const auto module = [](int value) {
    return ptx::parse(".version 9.0\n.target sm_90\n.address_size 64\n.const .align 4 .u32 c[2] = {0, " +
                      std::to_string(value) +
                      "};\n.visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<4>;\n.reg .b64 %a<3>;\n"
                      "ld.param.u64 %a0, [out];\nmov.u32 %r0, c;\nld.const.u32 %r1, [%r0+4];\n"
                      "cvta.const.u64 %a1, c;\nld.u32 %r2, [%a1+4];\nadd.u32 %r3, %r1, %r2;\n"
                      "st.global.u32 [%a0], %r3;\nret;\n}\n");
  };
  isa::Module a(module(7), memory);
  isa::Module b(module(70), memory);
  a.run("k", {}, arguments({out}));
  b.run("k", {}, arguments({out + 4}));
  EXPECT_EQ(word(memory, out), 14u);
  EXPECT_EQ(word(memory, out + 4), 140u);
}

TEST(Memory, GivesAddressesThatStayAndAreNotUsedAgain) {
  machine::Memory memory;
  const uint64_t a = memory.allocate("a", 64).base();
  const uint64_t b = memory.allocate("b", 64).base();
  memory.write(b, bytes_of(42));
  memory.free(a);
  const uint64_t c = memory.allocate("c", 64).base();
  EXPECT_NE(c, a);
  EXPECT_EQ(word(memory, b), 42u);
  isa::Module m(counter(0, 1, 0), memory);
  try {
    m.run("tell", {}, arguments({a}));
    FAIL() << "a freed buffer was written";
  } catch (const machine::Fault& e) {
    EXPECT_NE(std::string(e.what()).find("freed"), std::string::npos) << e.what();
  }
}

TEST(Memory, RefusesWhatIsInNoBuffer) {
  machine::Memory memory;
  const uint64_t a = memory.allocate("a", 64).base();
  std::array<std::byte, 8> eight{};
  EXPECT_NO_THROW(memory.write(a + 56, eight));
  EXPECT_THROW(memory.write(a + 57, eight), machine::InputError);
  EXPECT_THROW(memory.read(a + 57, eight), machine::InputError);
  EXPECT_THROW(memory.free(a + 1), machine::InputError);
  memory.free(a);
  EXPECT_THROW(memory.free(a), machine::InputError);
  EXPECT_THROW(memory.read(a, eight), machine::InputError);
}

}  // namespace
}  // namespace bitwell
