// Modules that are loaded into a context, and taken out of it.
#include <gtest/gtest.h>

#include "counter.h"

namespace bitwell::isa {
namespace {

TEST(Modules, KeepTheirVariablesFromLaunchToLaunch) {
  Context context;
  const Allocation out = context.allocate("out", 4);
  const ModuleHandle m = context.load(counter(5, 3, 100));
  for (int i = 0; i < 4; ++i) context.launch(m, "count", {}, {});
  context.launch(m, "tell", {}, {argument(out)});
  EXPECT_EQ(word(context, out), 5u + 4 * 3 + 100);
  EXPECT_EQ(word(context, context.variable(m, "total")), 17u);
}

// As objects with virtual functions do that one kernel makes and another calls.
TEST(Modules, AFunctionWhoseAddressAnotherKernelStoredIsCalled) {
  const std::string text =
      ".version 8.0\n.target sm_90a\n.address_size 64\n.func (.param .b32 r) seven()\n{\n.reg .b32 "
      "%x;\nmov.u32 %x, 7;\n"
      "st.param.b32 [r], %x;\nret;\n}\n.func (.param .b32 r) nine()\n{\n.reg .b32 %x;\nmov.u32 %x, "
      "9;\nst.param.b32 [r], "
      "%x;\nret;\n}\n.global .align 8 .u64 table[1] = {nine};\n"
      ".visible .entry make(.param .u64 out)\n{\n.reg .b64 %d<4>;\nld.param.u64 %d0, [out];\nmov.u64 %d1, "
      "seven;\n"
      "ld.global.u64 %d2, [table];\nst.global.u64 [%d0], %d1;\nst.global.u64 [%d0+8], %d2;\nret;\n}\n"
      ".visible .entry use(.param .u64 in, .param .u64 out)\n{\n.reg .b64 %d<4>;\n.reg .b32 %r;\n.reg .b32 "
      "%t;\n"
      ".reg .b64 %o;\nmov.u32 %t, %tid.x;\nmul.wide.u32 %o, %t, 8;\nld.param.u64 %d0, [in];\nld.param.u64 "
      "%d1, [out];\n"
      "add.u64 %d0, %d0, %o;\nadd.u64 %d1, %d1, %o;\nld.global.u64 %d2, [%d0];\n{\n.param .b32 x;\n"
      "to: .callprototype (.param .b32 _) _ ();\ncall (x), %d2, (), to;\nld.param.b32 %r, [x];\n}\n"
      "st.global.u32 [%d1], %r;\nret;\n}\n";
  Context context;
  const Allocation pointers = context.allocate("pointers", 16), out = context.allocate("out", 16);
  const ModuleHandle m = context.load(text);
  context.launch(m, "make", {}, {argument(pointers)});
  run::Shape two;
  two.block = {2, 1, 1};
  context.launch(m, "use", two, {argument(pointers), argument(out)});
  EXPECT_EQ(word(context, out), 7u);
  EXPECT_EQ(word(context, out, 8), 9u);
}

TEST(Modules, WithEntriesAndVariablesOfOneNameStandSideBySide) {
  Context context;
  const Allocation out = context.allocate("out", 8);
  const ModuleHandle a = context.load(counter(1, 1, 1000));
  const ModuleHandle b = context.load(counter(2, 10, 2000));
  EXPECT_NE(context.variable(a, "total").address, context.variable(b, "total").address);
  EXPECT_NE(context.variable(a, "offset").address, context.variable(b, "offset").address);
  context.launch(a, "count", {}, {});
  context.launch(b, "count", {}, {});
  context.launch(b, "count", {}, {});
  context.launch(a, "tell", {}, {argument(out)});
  context.launch(b, "tell", {}, {argument(out.address + 4)});
  EXPECT_EQ(word(context, out), 1002u);
  EXPECT_EQ(word(context, out, 4), 2022u);
}

TEST(Modules, OfOneTextThatIsLoadedTwiceHaveVariablesOfTheirOwn) {
  Context context;
  const Allocation out = context.allocate("out", 8);
  const ModuleHandle a = context.load(counter(1, 1, 1000)), b = context.load(counter(1, 1, 1000));
  EXPECT_EQ(context.module(a), context.module(b));  // read once
  context.launch(a, "count", {}, {});
  context.launch(a, "count", {}, {});
  context.launch(a, "tell", {}, {argument(out)});
  context.launch(b, "tell", {}, {argument(out.address + 4)});
  EXPECT_EQ(word(context, out), 1003u);
  EXPECT_EQ(word(context, out, 4), 1001u);
}

TEST(Modules, OfLaunchesInFlightTogetherHaveVariablesOfTheirOwn) {
  Context context;
  const Allocation out = context.allocate("out", 8);
  const ModuleHandle a = context.load(counter(1, 1, 1000)), b = context.load(counter(2, 10, 2000));
  const std::vector<KernelLaunch> launches{{a, "count"},
                                           {b, "count"},
                                           {a, "tell", {}, {argument(out)}},
                                           {b, "tell", {}, {argument(out.address + 4)}}};
  run::Options options;
  options.schedule.policy = run::Policy::eager;  // each starts when the one before has ended
  EXPECT_EQ(context.launch(launches, options).size(), 4u);
  EXPECT_EQ(word(context, out), 1002u);
  EXPECT_EQ(word(context, out, 4), 2012u);
}

TEST(Modules, StartAnewWhenTheyAreLoadedAgain) {
  Context context;
  const Allocation out = context.allocate("out", 4);
  const ModuleHandle first = context.load(counter(1, 1, 1000));
  const uint64_t stood = context.variable(first, "total").address;
  context.launch(first, "count", {}, {});
  const uint32_t seven = 7;
  context.write(context.variable(first, "offset"), std::as_bytes(std::span(&seven, 1)));
  context.launch(first, "tell", {}, {argument(out)});
  EXPECT_EQ(word(context, out), 9u);
  context.unload(first);
  const ModuleHandle again = context.load(counter(1, 1, 1000));
  EXPECT_EQ(context.variable(again, "total").address, stood);
  context.launch(again, "tell", {}, {argument(out)});
  EXPECT_EQ(word(context, out), 1001u);
}

TEST(Modules, LeaveTheOthersAsTheyAre) {
  Context context;
  const Allocation out = context.allocate("out", 4);
  const ModuleHandle a = context.load(counter(1, 1, 1000)), b = context.load(counter(2, 10, 2000));
  context.launch(b, "count", {}, {});
  context.unload(a);
  context.launch(b, "count", {}, {});
  context.launch(b, "tell", {}, {argument(out)});
  EXPECT_EQ(word(context, out), 2022u);
}

TEST(Modules, ThatAreUnloadedTakeTheirVariablesWithThem) {
  Context context;
  const ModuleHandle a = context.load(counter(1, 1, 1000)), b = context.load(counter(2, 10, 2000));
  const Allocation total = context.variable(a, "total");
  context.unload(a);
  EXPECT_THROW(word(context, total), machine::InputError);
  try {
    context.launch(b, "tell", {}, {argument(total.address)});
    FAIL() << "a variable was written that is there no more";
  } catch (const machine::Fault& e) {
    EXPECT_NE(std::string(e.what()).find("'total, which was freed when its module was unloaded'"),
              std::string::npos)
        << e.what();
  }
}

TEST(Modules, HaveConstantsThatTheirOwnAddressesReachAsIntegersToo) {
  Context context;
  const Allocation out = context.allocate("out", 8);
  const auto text = [](int value) {
    return kHead + ".const .align 4 .u32 c[2] = {0, " + std::to_string(value) +
           "};\n.visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<4>;\n.reg .b64 %a<3>;\n"
           "ld.param.u64 %a0, [out];\nmov.u32 %r0, c;\nld.const.u32 %r1, [%r0+4];\n"
           "cvta.const.u64 %a1, c;\nld.u32 %r2, [%a1+4];\nadd.u32 %r3, %r1, %r2;\n"
           "st.global.u32 [%a0], %r3;\nret;\n}\n";
  };
  const ModuleHandle a = context.load(text(7)), b = context.load(text(70));
  context.launch(a, "k", {}, {argument(out)});
  context.launch(b, "k", {}, {argument(out.address + 4)});
  EXPECT_EQ(word(context, out), 14u);
  EXPECT_EQ(word(context, out, 4), 140u);
}

TEST(Modules, MayBeSharedByContexts) {
  const auto module = std::make_shared<const isa::Module>(counter(1, 1, 1000));
  Context one, other;
  const ModuleHandle a = one.load(module), b = other.load(module);
  one.launch(a, "count", {}, {});
  EXPECT_EQ(word(one, one.variable(a, "total")), 2u);
  EXPECT_EQ(word(other, other.variable(b, "total")), 1u);
  EXPECT_EQ(one.program(a, "count"), other.program(b, "count"));  // at one place, compiled once
}

TEST(Modules, WithoutVariablesAreCompiledOnceWhereverTheyStand) {
  Context context;
  context.load(counter(1, 1, 1000));
  const std::string text = kHead + ".visible .entry k()\n{\nret;\n}\n";
  const ModuleHandle a = context.load(text), b = context.load(text);
  EXPECT_EQ(context.program(a, "k"), context.program(b, "k"));
}

// More texts than are kept, with constants, of which each has a place.
TEST(Modules, OfManyTextsComeAndGo) {
  Context context;
  const Allocation out = context.allocate("out", 4);
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < 200; ++i) {
      const ModuleHandle m = context.load(counter(i, 1, 1000));
      context.launch(m, "count", {}, {});
      context.launch(m, "tell", {}, {argument(out)});
      ASSERT_EQ(word(context, out), 1001u + static_cast<uint32_t>(i));
      context.unload(m);
    }
}

TEST(Modules, AreNotPlacedTwiceByHand) {
  machine::Memory memory;
  const isa::Module module(counter(0, 1, 0));
  const auto program = module.program("count");
  run::run(*program, {}, {}, memory);
  EXPECT_THROW(run::run(*program, {}, {}, memory), machine::ModelBug);
}

TEST(Modules, NameTheirFileInWhatTheyRefuse) {
  const auto said = [](const std::string& text, const std::string& entry) -> std::string {
    try {
      isa::Module(text, "some.ptx").program(entry);
    } catch (const machine::InputError& e) {
      return e.what();
    } catch (const machine::Unsupported& e) {
      return e.what();
    }
    return "";
  };
  const std::string good = ".visible .entry k()\n{\nret;\n}\n";
  EXPECT_EQ(said(kHead + good, "k"), "");
  EXPECT_EQ(said(kHead + good, "j").rfind("'some.ptx': no entry 'j'", 0), 0u) << said(kHead + good, "j");
  EXPECT_EQ(said("nonsense", "k").rfind("'some.ptx' is not PTX: ", 0), 0u) << said("nonsense", "k");
  const std::string unknown = kHead + ".visible .entry k()\n{\nnever.was;\n}\n";
  EXPECT_EQ(said(unknown, "k").rfind("'some.ptx': ", 0), 0u) << said(unknown, "k");
  Context context;
  EXPECT_THROW(context.load("nonsense"), machine::InputError);
  const ModuleHandle m = context.load(unknown);  // bodies are read when they are asked for
  EXPECT_THROW(context.launch(m, "k", {}, {}), machine::Unsupported);
  EXPECT_NO_THROW(context.launch(context.load(kHead + good), "k", {}, {}));
}

}  // namespace
}  // namespace bitwell::isa
