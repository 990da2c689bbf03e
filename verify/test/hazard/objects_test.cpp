// Where an address comes from is known where it can be followed, and not known anywhere else.
#include "model/hazard/flow/objects.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

#include "model/hazard/checker.h"
#include "model/hazard/flow/local_pointers.h"
#include "model/isa/compile/compile.h"
#include "model/machine/memory/memory.h"
#include "model/ptx/parse.h"

namespace bitwell::hazard {
namespace {

// The variable that the load of the last line goes through, of two; "": not known.
std::string origin(const std::string& body, const std::string& functions = "") {
  const std::string text = ".version 8.7\n.target sm_90a\n.address_size 64\n" + functions + R"(
.visible .entry k(.param .u64 p)
{
.reg .b32 %r<16>;
.reg .b64 %a<16>;
.reg .pred %q<2>;
.shared .align 16 .b8 one[64];
.shared .align 16 .b8 two[64];
mov.u32 %r0, one;
mov.u32 %r1, two;
mov.u32 %r2, %tid.x;
)" + body;
  const auto line = static_cast<int>(std::count(text.begin(), text.end(), '\n')) + 1;
  const Objects objects(isa::compile(ptx::parse(text + " ld.shared.u32 %r15, [%r9];\nret;\n}\n"), "k"),
                        {{"one", 0, 64}, {"two", 64, 64}});
  const Object* found = objects.read_at(line);
  return found == nullptr ? "" : found->name;
}

TEST(Origins, GoThroughSumsMasksAndChoices) {
  EXPECT_EQ(origin("mov.u32 %r9, %r0;"), "one");
  EXPECT_EQ(origin("mov.u32 %r9, two+4;"), "two");
  EXPECT_EQ(origin("mad.lo.u32 %r9, %r2, 4, %r0;"), "one");
  EXPECT_EQ(origin("add.u32 %r9, %r2, %r1;\nsub.u32 %r9, %r9, %r2;"), "two");
  EXPECT_EQ(origin("xor.b32 %r9, %r0, %r2;"), "one");
  EXPECT_EQ(origin("and.b32 %r9, %r0, -16;"), "one");
  EXPECT_EQ(origin("selp.b32 %r9, %r0, %r0, %q0;"), "one");
  EXPECT_EQ(origin("mov.b64 %a0, {%r0, 0};\ncvt.u32.u64 %r9, %a0;"), "one");
  EXPECT_EQ(origin("sub.u32 %r3, %r1, %r1;\nadd.u32 %r9, %r0, %r3;"), "one");  // an index
}

TEST(Origins, GoThroughRegistersHoweverTheirNumberIsWritten) {
  EXPECT_EQ(origin("mov.u32 %r09, %r00;"), "one");
  EXPECT_EQ(origin("mov.u32 %r003, %r01;\nadd.u32 %r9, %r3, %r2;"), "two");
}

TEST(Origins, AreNotKnownWhereTheyCannotBeFollowed) {
  EXPECT_EQ(origin("selp.b32 %r9, %r0, %r1, %q0;"), "");
  EXPECT_EQ(origin("sub.u32 %r3, %r1, %r0;\nadd.u32 %r9, %r0, %r3;"), "");
  EXPECT_EQ(origin("add.u32 %r9, %r0, %r1;"), "");
  EXPECT_EQ(origin("and.b32 %r3, %r0, 15;\nadd.u32 %r9, %r3, %r2;"), "");
  EXPECT_EQ(origin("shr.u32 %r3, %r0, 4;\nshl.b32 %r9, %r3, 4;"), "");
  EXPECT_EQ(origin("ld.shared.u32 %r9, [%r0];"), "");
  EXPECT_EQ(origin("ld.shared.u32 %r3, [%r0];\nselp.b32 %r9, %r0, %r3, %q0;"), "");
  EXPECT_EQ(origin("cvt.u32.u64 %r9, %a9;"), "");
}

TEST(Origins, AreOfTheLastAssignmentInABlockAndOfAllBehindALabel) {
  EXPECT_EQ(origin("mov.u32 %r9, %r1;\nmov.u32 %r9, %r0;"), "one");
  EXPECT_EQ(origin("mov.u32 %r9, %r1;\n@%q0 mov.u32 %r9, %r0;"), "");
  EXPECT_EQ(origin("mov.u32 %r9, %r1;\n@%q0 bra there;\nmov.u32 %r9, %r0;\nthere:"), "");
  EXPECT_EQ(origin("mov.u32 %r9, %r0;\nagain:\nadd.u32 %r9, %r9, 4;\n@%q0 bra again;\n"), "one");
  EXPECT_EQ(origin("{\n.reg .b32 %r<16>;\nmov.u32 %r9, two;\n}\nmov.u32 %r9, %r0;\nhere:"), "one");
}

constexpr const char* kFunction = R"(.func (.param .b32 out) same(.param .b32 place)
{
.reg .b32 %r<4>;
ld.param.u32 %r1, [place];
mov.u32 %r2, %tid.x;
add.u32 %r1, %r1, %r2;
st.param.b32 [out], %r1;
ret;
}
)";
std::string called(const std::string& with) {
  return "{\n.param .b32 in0;\n.param .b32 out0;\nst.param.b32 [in0], " + with +
         ";\ncall.uni (out0), same, (in0);\nld.param.b32 %r9, [out0];\n}\n";
}

TEST(Origins, GoThroughCalls) {
  EXPECT_EQ(origin(called("%r0"), kFunction), "one");
  EXPECT_EQ(origin("{\n.reg .b32 %s;\nadd.u32 %s, %r0, %r2;\n" + called("%s") + "}\n", kFunction), "one");
  EXPECT_EQ(origin(called("%r1") + called("%r0"), kFunction), "");  // what it returns is of both
  EXPECT_EQ(origin("mov.u64 %a3, same;\n" + called("%r0"), kFunction), "");
}

// A function that is declared before it is defined, several parameters, and functions of which nothing is
// known.
TEST(Origins, GoThroughParametersByTheirPlaces) {
  const std::string declared = ".func (.param .b32 out) same(.param .b32 place);\n";
  EXPECT_EQ(origin(called("%r0"), declared + kFunction), "one");
  EXPECT_EQ(origin(called("%r0"), kFunction + declared), "one");
  const std::string call = "call.uni (out0), pick, (in0, in1);\n";
  const auto two = [&](const char* returned, const std::string& what) {
    const std::string pick =
        ".func (.param .b32 out) pick(.param .b32 a, .param .b32 b)\n{\n.reg .b32 %r<4>;\nld.param.u32 %r1, "
        "[" +
        std::string(returned) + "];\nst.param.b32 [out], %r1;\nret;\n}\n";
    return origin(
        "{\n.param .b32 in0;\n.param .b32 in1;\n.param .b32 out0;\nst.param.b32 [in0], %r0;\nst.param.b32 "
        "[in1], %r1;\n" +
            what + "ld.param.b32 %r9, [out0];\n}\n",
        pick);
  };
  EXPECT_EQ(two("a", call), "one");
  EXPECT_EQ(two("b", call), "two");
  const std::string nothing = ".func nothing(.param .b32 a)\n{\nret;\n}\n";
  EXPECT_EQ(
      origin(
          "mov.u32 %r9, %r0;\n{\n.param .b32 in0;\nst.param.b32 [in0], %r1;\ncall.uni nothing, (in0);\n}\n",
          nothing),
      "one");
  const std::string through =
      "{\n.param .b32 in0;\n.param .b32 out0;\nst.param.b32 [in0], %r0;\nproto: .callprototype (.param .b32 "
      "_) _ (.param .b32 _);\n"
      "call (out0), %a5, (in0), proto;\nld.param.b32 %r9, [out0];\n}\n";
  EXPECT_EQ(origin(through, kFunction), "");
}

TEST(Origins, OfMasksSumsAndCopies) {
  // A mask that clears low bits aligns, any other may make anything.
  for (const auto& [mask, kept] : {std::pair{"-1", true},
                                   {"-2", true},
                                   {"-128", true},
                                   {"-3", false},
                                   {"127", false},
                                   {"0", false},
                                   {"%r2", false}}) {
    EXPECT_EQ(origin("and.b32 %r9, %r0, " + std::string(mask) + ";"), kept ? "one" : "") << mask;
    EXPECT_EQ(origin("and.b32 %r9, " + std::string(mask) + ", %r0;"), kept ? "one" : "") << mask;
  }
  EXPECT_EQ(origin("cvt.u64.u32 %a0, %r0;\nand.b64 %a1, %a0, -16;\ncvt.u32.u64 %r9, %a1;"), "one");
  EXPECT_EQ(origin("cvt.u64.u32 %a0, %r0;\nand.b64 %a1, %a0, 4294967280;\ncvt.u32.u64 %r9, %a1;"), "");
  // The product is an index or nothing.
  EXPECT_EQ(origin("mad.lo.u32 %r9, %r0, 4, %r2;"), "");
  EXPECT_EQ(origin("mad.lo.u32 %r9, %r0, 4, %r0;"), "");
  EXPECT_EQ(origin("mul.lo.u32 %r9, %r0, 1;"), "");
  EXPECT_EQ(origin("or.b32 %r9, %r0, 4;"), "one");
  EXPECT_EQ(origin("sub.u32 %r9, %r2, %r0;"), "");
  EXPECT_EQ(origin("sub.u32 %r9, %r0, 4;"), "one");
  // Of a distance between two of one variable; of what may be a place of another, nothing is known.
  EXPECT_EQ(
      origin("mov.u32 %r3, %r0;\n@%q0 mov.u32 %r3, %r2;\nsub.u32 %r4, %r3, %r0;\nadd.u32 %r9, %r1, %r4;"),
      "");
  EXPECT_EQ(origin("sub.u32 %r4, %r0, %r0;\nadd.u32 %r9, %r1, %r4;"), "two");
  // What says whose it is, of which only the value counts.
  EXPECT_EQ(origin("mapa.shared::cluster.u32 %r9, %r0, %r1;"), "one");
  EXPECT_EQ(origin("shfl.sync.idx.b32 %r9, %r0, %r1, 31, -1;"), "one");
  EXPECT_EQ(origin("shfl.sync.idx.b32 %r9, %r2, %r1, 31, -1;"), "");
  EXPECT_EQ(origin("cvt.u64.u32 %a0, %r0;\ncvta.shared.u64 %a1, %a0;\ncvta.to.shared.u64 %a2, "
                   "%a1;\ncvt.u32.u64 %r9, %a2;"),
            "one");
  EXPECT_EQ(origin("and.b32 %r9, %r0, 0xFFFFFFF0;"), "one");
  // Whatever may be of two, or is made of an address by arithmetic, stays unknown where it goes on.
  EXPECT_EQ(
      origin("add.u32 %r3, %r0, %r1;\nadd.u32 %r4, %r3, %r2;\nmov.u32 %r9, %r0;\n@%q0 mov.u32 %r9, %r4;"),
      "");
  EXPECT_EQ(origin("sub.u32 %r3, %r2, %r0;\nadd.u32 %r9, %r1, %r3;"), "");
  EXPECT_EQ(origin("add.u32 %r3, %r0, %r1;\nsub.u32 %r4, %r3, %r0;\nadd.u32 %r9, %r1, %r4;"), "");
  EXPECT_EQ(origin("again:\nselp.b32 %r9, %r3, %r0, %q0;\nmov.u32 %r3, %r9;\n@%q0 bra again;"), "one");
  EXPECT_EQ(origin("mov.u32 %r9, %r0;\n@%q0 activemask.b32 %r9;"), "");
  EXPECT_EQ(origin("prmt.b32 %r9, %r2, %r2, %r0;"), "");
  EXPECT_EQ(origin("shf.l.wrap.b32 %r9, %r2, %r2, %r0;"), "");
  // Results of what reads memory are nobody's.
  EXPECT_EQ(origin("mov.u32 %r9, %r0;\natom.shared.add.u32 %r9, [%r0], %r0;"), "");
  EXPECT_EQ(origin("mov.u32 %r9, %r0;\n@%q0 atom.shared.add.u32 %r9, [%r0], %r0;"), "");
}

// A place holds from its first byte to its last; one without a size, all behind it.
TEST(Origins, HoldTheirBytes) {
  Object o{"one", 64, 16};
  o.elsewhere = {256};
  for (uint64_t at = 0; at < 400; ++at)
    for (const uint64_t bytes : {1, 4, 16})
      EXPECT_EQ(o.holds(at, bytes), (at >= 64 && at + bytes <= 80) || (at >= 256 && at + bytes <= 272)) << at;
  const Object all{"dynamic", 64, 0};
  EXPECT_FALSE(all.holds(63, 1));
  EXPECT_TRUE(all.holds(64, 1) && all.holds(1 << 20, 16));
  using Space = Object::Space;
  for (const auto& [generic, space, offset] :
       {std::tuple<uint64_t, Space, uint64_t>{
            machine::kSharedWindow + (uint64_t{3} << machine::kRankShift) + 73, Space::shared, 73},
        {machine::kSharedWindow + machine::kWindowSize, Space::global,
         machine::kSharedWindow + machine::kWindowSize},
        {machine::kLocalWindow + 8, Space::local, 8},
        {machine::kConstWindow + 8, Space::constant, machine::kConstWindow + 8},
        {machine::kConstWindow + machine::kWindowSize, Space::global,
         machine::kConstWindow + machine::kWindowSize},
        {4096, Space::global, 4096}}) {
    const ObjectPlace place = object_place(generic);
    EXPECT_EQ(place.space, space) << generic;
    EXPECT_EQ(place.at, offset) << generic;
  }
}

// A lane that leaves the variable between others that do not, by its place in the shared memory of another
// CTA.
TEST(Origins, OfEachLaneInTheMemoryThatItReaches) {
  const isa::Program program = isa::compile(
      ptx::parse(".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<3>;\n"
                 ".shared .align 16 .b8 one[64];\nmov.u32 %r0, one;\nld.shared.u32 %r1, [%r0];\nret;\n}\n"),
      "k");
  const auto at = [](uint64_t rank, uint64_t offset) {
    return machine::kSharedWindow + (rank << machine::kRankShift) + offset;
  };
  for (const uint64_t offset : {64, 0}) {
    Checker checker({2, 1, 1}, {2, 1, 1});
    checker.follow(Objects(program, {{"one", 64, 0}}));
    std::array<uint64_t, machine::kLanes> addresses{};
    addresses.fill(at(0, 64));
    addresses[1] = at(1, offset);
    addresses[2] = at(1, 128);
    const machine::Access a{machine::AccessKind::read, {}, {}, 0, 7, 0, 1, 9, addresses, 4};
    checker.observer().tell({{}, a});
    const auto outside = std::count_if(checker.findings().begin(), checker.findings().end(),
                                       [](const Finding& f) { return f.kind == Kind::outside_object; });
    EXPECT_EQ(outside, offset == 64 ? 0 : 1);
  }
}

// Lanes side by side are in the variable where the first and the last are; nor is a row passed over because
// the one before it, by the same instruction, was in it.
TEST(Origins, OfLanesSideBySideTheLastOneMayLeave) {
  const isa::Program program = isa::compile(
      ptx::parse(".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k()\n{\n.reg .b32 %r<3>;\n"
                 ".shared .align 16 .b8 one[192];\nmov.u32 %r0, one;\nld.shared.u32 %r1, [%r0];\nret;\n}\n"),
      "k");
  for (const bool said : {false, true}) {
    Checker checker({1, 1, 1}, {1, 1, 1});
    checker.follow(Objects(program, {{"one", 64, 192}}));
    for (const uint64_t offset : {64, 128, 256, 132, 60}) {
      std::array<uint64_t, machine::kLanes> addresses{};
      for (uint64_t i = 0; i < machine::kLanes; ++i) addresses[i] = machine::kSharedWindow + offset + 4 * i;
      machine::Access a{machine::AccessKind::read, {}, {}, 0, ~0u, 0, 1, 9, addresses, 4};
      a.consecutive = said;
      checker.observer().tell({{}, a});
      const auto outside = std::accumulate(checker.findings().begin(), checker.findings().end(), uint64_t{0},
                                           [](uint64_t all, const Finding& f) {
                                             return all + (f.kind == Kind::outside_object ? f.count : 0);
                                           });
      EXPECT_EQ(outside, offset == 60 ? 34u : offset == 132 ? 33u : offset == 256 ? 32u : 0u) << offset;
    }
  }
}

// PTX ISA 9.0, 9.7.9.7.
TEST(Shuffles, TakeTheLaneOfTheManualOrTheirOwn) {
  const auto from = [](char mode, uint32_t lane, uint32_t clamp, uint32_t to) {
    return LocalPointers::Shuffle{1, mode, lane, clamp, {}}.from(to);
  };
  constexpr uint32_t kWhole = 31, kUp = 0, kFour = 0x1C1F, kFourUp = 0x1C00;
  EXPECT_EQ(from('i', 5, kWhole, 0), 5u);
  EXPECT_EQ(from('i', 5, kWhole, 5), 5u);
  EXPECT_EQ(from('i', 0, kFour, 6), 4u);
  EXPECT_EQ(from('i', 5, kFour, 2), 1u);
  EXPECT_EQ(from('u', 1, kUp, 0), 0u);
  EXPECT_EQ(from('u', 1, kUp, 31), 30u);
  EXPECT_EQ(from('u', 1, kFourUp, 4), 4u);
  EXPECT_EQ(from('d', 1, kWhole, 31), 31u);
  EXPECT_EQ(from('d', 2, kWhole, 29), 31u);
  EXPECT_EQ(from('d', 1, kFour, 7), 7u);
  EXPECT_EQ(from('b', 1, kWhole, 6), 7u);
  EXPECT_EQ(from('b', 16, 15, 3), 3u);
}
// The manual's table, for all lanes: its predicate, and the lane itself where that is false.
TEST(Shuffles, OfEveryModeSegmentAndClamp) {
  for (const char mode : {'u', 'd', 'b', 'i'})
    for (const uint32_t segment : {0u, 0x10u, 0x18u, 0x1Cu, 0x1Eu, 0x1Fu})
      for (const uint32_t clamp : {0u, 3u, 7u, 15u, 31u})
        for (uint32_t b = 0; b < 64; b += b < 34 ? 1 : 7)
          for (uint32_t lane = 0; lane < 32; ++lane) {
            const int bits = static_cast<int>(b % 32);
            const int highest = static_cast<int>((lane & segment) | (clamp & ~segment));
            int j = 0;
            bool valid = false;
            switch (mode) {
              case 'u': j = static_cast<int>(lane) - bits, valid = j >= highest; break;
              case 'd': j = static_cast<int>(lane) + bits, valid = j <= highest; break;
              case 'b': j = static_cast<int>(lane) ^ bits, valid = j <= highest; break;
              default:
                j = static_cast<int>((lane & segment) | (b % 32 & ~segment)), valid = j <= highest;
                break;
            }
            EXPECT_EQ((LocalPointers::Shuffle{1, mode, b, segment << 8 | clamp, {}}.from(lane)),
                      valid ? static_cast<uint32_t>(j) : lane)
                << mode << " " << b << " " << segment << " " << clamp;
          }
}

}  // namespace
}  // namespace bitwell::hazard
