// Whose variable an address is in, wherever it was put down: threads of two warps, words of global and of
// shared memory.
#include "model/hazard/flow/handed_over.h"

#include <gtest/gtest.h>

#include "model/hazard/flow/objects.h"
#include "model/isa/compile/compile.h"
#include "model/machine/memory/memory.h"
#include "model/ptx/parse.h"

namespace bitwell::hazard {
namespace {

constexpr int kBody = 14;  // line of the first instruction behind the declarations' own
constexpr uint64_t kLocal = machine::kLocalWindow, kShared = machine::kSharedWindow, kWord = 4096;

// What a kernel hands on. %a0 is the address of `mine`, %a1 that of `other`, %a2 is no address of a variable.
class Handed {
 public:
  explicit Handed(const std::string& body)
      : objects_(isa::compile(ptx::parse(R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .b32 %r<16>;
.reg .b64 %a<16>;
.local .align 8 .b8 mine[64];
.local .align 8 .b8 other[64];
mov.u64 %a0, mine;
cvta.local.u64 %a0, %a0;
mov.u64 %a1, other;
cvta.local.u64 %a1, %a1; ld.param.u64 %a2, [p];
)" + body + "\nret;\n}\n"),
                              "k"),
                 {{"mine", 0, 64, Object::Space::local}, {"other", 64, 64, Object::Space::local}}),
        over_(objects_.local_pointers()) {}

  // The access of line kBody + `line` by one lane of a unit, at an address; found: "unit.lane at line", or
  // "".
  std::string at(int line, machine::AccessKind kind, UnitId unit, uint32_t lane, uint64_t address,
                 uint64_t bytes = 8, uint32_t cluster = 0) {
    std::array<uint64_t, machine::kLanes> addresses{};
    addresses[lane] = address;
    machine::Access a{};
    a.kind = kind;
    a.lanes = 1u << lane;
    a.ptx_line = kBody + line;
    a.addresses = addresses;
    a.bytes = bytes;
    std::string out;
    over_.access(a, cluster, unit, [&](uint32_t by, const HandedOver::Maker& m) {
      out += (by == lane ? "" : "another lane ") + std::to_string(m.unit) + "." + std::to_string(m.lane) +
             " at " + std::to_string(m.line - kBody);
      if (m.object) out += " " + objects_.object(*m.object).name;
    });
    return out;
  }
  std::string store(int line, UnitId unit, uint32_t lane, uint64_t to, uint64_t bytes = 8,
                    uint32_t cluster = 0) {
    return at(line, machine::AccessKind::write, unit, lane, to, bytes, cluster);
  }
  std::string load(int line, UnitId unit, uint32_t lane, uint64_t from, uint64_t bytes = 8,
                   uint32_t cluster = 0) {
    return at(line, machine::AccessKind::read, unit, lane, from, bytes, cluster);
  }

 private:
  Objects objects_;
  HandedOver over_;
};

const std::string kThrough = "st.global.u64 [%a2], %a0;\nld.global.u64 %a3, [%a2];\nst.u32 [%a3], 1;";

TEST(HandedOver, AnAddressIsItsMakersWhereverItIsLoaded) {
  Handed h(kThrough);
  EXPECT_EQ(h.store(0, 7, 3, kWord), "");
  EXPECT_EQ(h.load(1, 7, 4, kWord), "");
  EXPECT_EQ(h.store(2, 7, 4, kLocal, 4), "7.3 at 0 mine");
  EXPECT_EQ(h.load(1, 9, 3, kWord), "");
  EXPECT_EQ(h.store(2, 9, 3, kLocal, 4), "7.3 at 0 mine");  // a lane of that number, of another warp
  EXPECT_EQ(h.load(1, 7, 3, kWord), "");
  EXPECT_EQ(h.store(2, 7, 3, kLocal, 4), "");  // its own
  EXPECT_EQ(h.store(2, 8, 3, kLocal, 4), "");  // who has loaded nothing
}

// Of a thread that loads the same word again only the last one counts.
TEST(HandedOver, AWordThatWasReplacedIsForgotten) {
  Handed h(kThrough);
  h.store(0, 7, 3, kWord);
  h.load(1, 7, 4, kWord);
  EXPECT_NE(h.store(2, 7, 4, kLocal, 4), "");
  h.load(1, 7, 4, kWord + 8);  // where nobody put an address
  EXPECT_EQ(h.store(2, 7, 4, kLocal, 4), "");
  // A store over a part of the word, from below, within, or behind it.
  for (const auto& [address, bytes, meets] : {std::tuple{kWord - 4, 4u, false},
                                              {kWord - 4, 5u, true},
                                              {kWord + 7, 1u, true},
                                              {kWord + 8, 4u, false},
                                              {kWord - 8, 8u, false},
                                              {kWord, 1u, true}}) {
    Handed again(kThrough);
    again.store(0, 7, 3, kWord);
    again.at(1000, machine::AccessKind::write, 8, 0, address, bytes);
    again.load(1, 7, 4, kWord);
    EXPECT_EQ(again.store(2, 7, 4, kLocal, 4).empty(), meets) << address << " " << bytes;
  }
  // At the very start of memory nothing lies below.
  Handed first(kThrough);
  first.store(0, 7, 3, 0);
  first.at(1000, machine::AccessKind::write, 8, 0, 4, 4);
  first.load(1, 7, 4, 0);
  EXPECT_EQ(first.store(2, 7, 4, kLocal, 4), "");
}

// A store right behind a word leaves it, also where that is the first of all.
TEST(HandedOver, AStoreBehindAWordLeavesIt) {
  for (const uint64_t word : {uint64_t{0}, uint64_t{1}, uint64_t{8}, kWord}) {
    Handed h(kThrough);
    h.store(0, 7, 3, word);
    h.at(1000, machine::AccessKind::write, 8, 0, word + 8, 4);
    h.load(1, 7, 4, word);
    EXPECT_EQ(h.store(2, 7, 4, kLocal, 4), "7.3 at 0 mine") << word;
  }
}

// Both words of a vector, each its own.
TEST(HandedOver, WordsOfAVectorStandBehindEachOther) {
  Handed h(
      "st.global.v2.u64 [%a2], {%a0, %a1};\nld.global.v2.u64 {%a3, %a4}, [%a2];\nst.u32 [%a3], 1;\nst.u32 "
      "[%a4], "
      "1;\nld.global.u64 %a5, [%a2+8];\nst.u32 [%a5], 1;");
  h.store(0, 7, 3, kWord, 16);
  h.load(1, 7, 4, kWord, 16);
  EXPECT_EQ(h.store(2, 7, 4, kLocal, 4), "7.3 at 0 mine");
  EXPECT_EQ(h.store(3, 7, 4, kLocal + 64, 4), "7.3 at 0 other");
  h.load(4, 7, 5, kWord + 8);
  EXPECT_EQ(h.store(5, 7, 5, kLocal + 64, 4), "7.3 at 0 other");
  h.load(4, 7, 6, kWord);
  EXPECT_EQ(h.store(5, 7, 6, kLocal, 4), "7.3 at 0 mine");
}

// Shared memory is each cluster's, local memory each thread's, global memory everybody's.
TEST(HandedOver, WordsAreOfTheMemoryThatTheyStandIn) {
  const auto found = [](uint64_t at, UnitId by, uint32_t lane, uint32_t cluster) {
    Handed h(kThrough);
    h.store(0, 7, 3, at, 8, 1);
    h.load(1, by, lane, at, 8, cluster);
    return h.store(2, by, lane, kLocal, 4, cluster);
  };
  EXPECT_NE(found(kWord, 9, 0, 2), "");
  EXPECT_NE(found(kShared + 64, 9, 0, 1), "");
  EXPECT_EQ(found(kShared + 64, 9, 0, 2), "");
  EXPECT_EQ(found(kShared + 64, 9, 0, 0), "");
  EXPECT_EQ(found(kLocal + 32, 7, 4, 1), "");
  EXPECT_EQ(found(kLocal + 32, 9, 3, 1), "");
  // Just behind a window it is none of that memory.
  EXPECT_NE(found(kShared + machine::kWindowSize, 9, 0, 2), "");
  EXPECT_NE(found(kLocal + machine::kWindowSize, 9, 0, 2), "");
  Handed h(kThrough);
  h.store(0, 7, 3, kWord);
  h.load(1, 7, 4, kWord);
  EXPECT_EQ(h.store(2, 7, 4, kLocal + machine::kWindowSize, 4), "");
}

// What a thread got it may hand on: it is still its maker's.
TEST(HandedOver, AnAddressThatIsHandedOnStaysItsMakers) {
  Handed h(
      "st.global.u64 [%a2], %a0;\nld.global.u64 %a3, [%a2];\nst.global.u64 [%a2+8], %a3;\nld.global.u64 %a4, "
      "[%a2+8];\nst.u32 [%a4], 1;");
  h.store(0, 7, 3, kWord);
  h.load(1, 7, 4, kWord);
  h.store(2, 7, 4, kWord + 8);
  h.load(3, 7, 5, kWord + 8);
  EXPECT_EQ(h.store(4, 7, 5, kLocal, 4), "7.3 at 0 mine");
  h.load(3, 7, 3, kWord + 8);
  EXPECT_EQ(h.store(4, 7, 3, kLocal, 4), "");
}

// Of an address that is made of two words that were got: one of others', unless one of both is its own.
TEST(HandedOver, OfTwoWordsNeitherMayBeItsOwn) {
  const std::string two =
      "st.global.u64 [%a2], %a0;\nld.global.u64 %a3, [%a2];\nld.global.u64 %a4, [%a2+8];\nselp.b64 %a5, %a3, "
      "%a4, "
      "%q0;\nst.u32 [%a5], 1;";
  const auto found = [&](UnitId second, uint32_t lane, bool first = true) {
    Handed h(".reg .pred %q<2>; " + two);
    if (first) h.store(0, 7, 3, kWord);
    if (second != 0) h.store(0, second, lane, kWord + 8);
    h.load(1, 7, 9, kWord);
    h.load(2, 7, 9, kWord + 8);
    return h.store(4, 7, 9, kLocal, 4);
  };
  EXPECT_EQ(found(7, 3), "7.3 at 0 mine");
  EXPECT_NE(found(7, 4), "");
  EXPECT_NE(found(8, 3), "");
  EXPECT_EQ(found(7, 9), "");
  EXPECT_EQ(found(8, 3, false), "8.3 at 0 mine");
  EXPECT_EQ(found(7, 9, false), "");
  EXPECT_EQ(found(0, 0), "7.3 at 0 mine");  // the other word is no address
}

// A shuffle hands on what is the source lane's own; of what that lane itself has got nothing is known.
TEST(HandedOver, AShuffleGivesTheOtherLanesOwn) {
  const std::string shuffle =
      "shfl.sync.idx.b32 %r4, %r2, 5, 31, -1;\nshfl.sync.idx.b32 %r5, %r3, 5, 31, -1;\nmov.b64 %a5, {%r4, "
      "%r5};\nst.u32 [%a5], 1;";
  Handed own("mov.b64 {%r2, %r3}, %a0;\n" + shuffle);
  EXPECT_EQ(own.store(4, 7, 9, kLocal, 4), "7.5 at 2 mine");
  EXPECT_EQ(own.store(4, 7, 5, kLocal, 4), "");
  Handed got("st.global.u64 [%a2], %a0;\nld.global.u64 %a3, [%a2];\nmov.b64 {%r2, %r3}, %a3;\n" + shuffle);
  got.store(0, 7, 3, kWord);
  got.load(1, 7, 5, kWord);
  EXPECT_EQ(got.store(6, 7, 9, kLocal, 4), "");
  Handed either(
      ".reg .pred %q<2>; st.global.u64 [%a2], %a0;\nld.global.u64 %a3, [%a2];\nselp.b64 %a4, %a3, %a0, "
      "%q0; mov.b64 {%r2, %r3}, %a4;\n" +
      shuffle);
  either.store(0, 7, 3, kWord);
  either.load(1, 7, 5, kWord);
  EXPECT_EQ(either.store(6, 7, 9, kLocal, 4), "");
}

}  // namespace
}  // namespace bitwell::hazard
