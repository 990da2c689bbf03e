// Collectors of tcgen05.mma: used after they were filled, with the operand that filled them, which stands in
// memory as it did (PTX ISA 9.0, 9.7.16.10). Manual: no B200 was asked.
#include <gtest/gtest.h>

#include <algorithm>

#include "verify/probe/tensor_mma.h"

namespace bitwell::isa {
namespace {

probe::MmaCase weights_that_stay() {
  probe::MmaCase p;
  p.swizzle = &probe::kMmaSwizzles[3];
  p.n = 64;
  p.stationary = true;
  probe::fill(p, 3);
  return p;
}

// What a run says: "" or the message.
std::string refusal_of_collector(const probe::MmaCase& p, const std::string& text = {},
                                 run::Schedule schedule = {}) {
  try {
    probe::run(p, schedule, text);
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}
std::string with_collector(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

// A second MMA behind the first, with another use of a collector.
std::string twice(const probe::MmaCase& p, const std::string& second, const std::string& between = {}) {
  const std::string text = probe::kernel(p);
  const size_t at = text.find("tcgen05.mma");
  const std::string one = text.substr(at, text.find('\n', at) - at);
  std::string other = one;
  if (p.collector.empty())
    other.insert(other.find(" ["), second);
  else
    other.replace(other.find(p.collector), p.collector.size(), second);
  return with_collector(text, one, one + "\n" + between + other);
}

TEST(TensorCollector, ACollectorIsUsedAfterItWasFilled) {
  for (const bool weights : {false, true}) {
    probe::MmaCase p = weights ? weights_that_stay()
                               : probe::draw(probe::kMmaKindsOf[0], probe::kMmaSwizzles[3], 128, 64, 3);
    p.accumulate = false;
    const std::string name = weights ? ".collector::b2" : ".collector::a";
    p.collector = name + "::fill";
    const std::string other = "add.u64 %x0, %x0, 2;\nadd.u64 %x1, %x1, 2;\n";  // 32 bytes on
    EXPECT_EQ(refusal_of_collector(p, twice(p, name + "::use")), "");
    EXPECT_EQ(refusal_of_collector(p, twice(p, name + "::lastuse")), "");
    EXPECT_EQ(probe::difference(p, probe::run(p, {}, twice(p, name + "::use"))), "");
    std::string what = refusal_of_collector(p, twice(p, name + "::use", other));
    EXPECT_NE(what.find("has filled with another matrix"), std::string::npos) << what;
    p.collector = name + "::use";
    what = refusal_of_collector(p);
    EXPECT_NE(what.find("may use collector " + name.substr(12) + ", which no MMA before it has filled"),
              std::string::npos)
        << what;
    p.collector = name + "::discard";
    EXPECT_NE(refusal_of_collector(p, twice(p, name + "::use")), "");
    p.collector = name + "::fill";  // in between it may be discarded
    const std::string plain = twice(p, name + "::use");
    const size_t at = plain.find("tcgen05.mma");
    const std::string first = plain.substr(at, plain.find('\n', at) - at);
    for (const char* ends : {"::lastuse", "::discard"}) {
      what = refusal_of_collector(
          p, with_collector(plain, first, first + "\n" + with_collector(first, "::fill", ends) + "\n"));
      EXPECT_NE(what.find("which no MMA before it has filled"), std::string::npos) << ends << ": " << what;
    }
    // Another one keeps what it has.
    if (weights) {
      EXPECT_EQ(
          refusal_of_collector(
              p, with_collector(plain, first,
                                first + "\n" + with_collector(first, "::b2::fill", "::b1::discard") + "\n")),
          "");
    }
  }
}

// Sums that share a collector need no order among themselves.
TEST(TensorCollector, ACollectorServesSeveralSums) {
  probe::MmaCase p = probe::draw(probe::kMmaKindsOf[0], probe::kMmaSwizzles[3], 128, 64, 3);
  p.collector = ".collector::a::fill";
  const std::string text = probe::kernel(p);
  const std::string mma = text.substr(
      text.find("tcgen05.mma"), text.find('\n', text.find("tcgen05.mma")) - text.find("tcgen05.mma") + 1);
  const std::string next =
      "add.u32 %r15, %r4, 128;\nsetp.ne.u32 %p5, %r0, %r0;\n" +
      with_collector(with_collector(with_collector(mma, "::fill", "::lastuse"), "[%r4]", "[%r15]"), "%p3",
                     "%p5");
  for (uint64_t seed = 1; seed <= 24; ++seed)
    EXPECT_EQ(probe::difference(
                  p, probe::run(p, {run::Policy::random, seed}, with_collector(text, mma, mma + next))),
              "")
        << seed;
}

// An MMA that fills, what happens to its operand when it is done, and one that may use the collector.
std::string in_between(const probe::MmaCase& p, const std::string& use, const std::string& what) {
  const std::string group = p.ctas == 2 ? "2" : "1";
  const std::string wait = "tcgen05.commit.cta_group::" + group +
                           ".mbarrier::arrive::one.shared::cluster.b64 [filled];\n"
                           "done: mbarrier.try_wait.parity.shared.b64 %p4, [filled], 0;\n@!%p4 bra done;\n"
                           "tcgen05.fence::after_thread_sync;\n" +
                           what + "fence.proxy.async.shared::cta;\n";
  const std::string text = twice(p, use, wait);
  return with_collector(
      with_collector(text, ".shared .align 8 .b8 bar[8];",
                     ".shared .align 8 .b8 bar[8];\n.shared .align 8 .b8 filled[8];"),
      "@%p1 mbarrier.init.shared.b64 [bar], 1;",
      "@%p1 mbarrier.init.shared.b64 [bar], 1;\n@%p1 mbarrier.init.shared.b64 [filled], 1;");
}
// Other bits, or the same, into the 4 bytes at `offset` of the operands; they start at byte 1024.
std::string written(int offset, bool other = true) {
  const std::string at = "[%r2+" + std::to_string(offset) + "]";
  return "ld.shared.u32 %r15, " + at + ";\nxor.b32 %r15, %r15, " + (other ? "256" : "0") +
         ";\nst.shared.u32 " + at + ", %r15;\n";
}

class Changed : public testing::Test {
 protected:
  Changed() {
    shared.collector = in_tensor.collector = pair.collector = ".collector::a::fill";
    weights.collector = ".collector::b3::fill";
    in_tensor.a_in_tensor = true;
    for (probe::MmaCase* p : {&shared, &in_tensor, &pair, &weights}) p->accumulate = false;
  }
  // Under every schedule: what lies between the two MMAs is ordered.
  static void expect(const probe::MmaCase& p, const std::string& text, const std::string& says) {
    for (const run::Schedule s :
         {run::Schedule{run::Policy::lazy}, run::Schedule{run::Policy::eager},
          run::Schedule{run::Policy::random, 1}, run::Schedule{run::Policy::random, 2}}) {
      const std::string what = refusal_of_collector(p, text, s);
      if (says.empty())
        EXPECT_EQ(what, "");
      else
        EXPECT_NE(what.find(says), std::string::npos) << what;
    }
  }
  probe::MmaCase shared = probe::draw(probe::kMmaKindsOf[0], probe::kMmaSwizzles[0], 128, 64, 3);
  probe::MmaCase in_tensor = probe::draw(probe::kMmaKindsOf[0], probe::kMmaSwizzles[0], 128, 64, 3);
  probe::MmaCase pair = probe::draw(probe::kMmaKindsOf[0], probe::kMmaSwizzles[0], 256, 64, 3, 2);
  probe::MmaCase weights = weights_that_stay();
};

TEST_F(Changed, AInSharedMemory) {
  for (const char* use : {".collector::a::use", ".collector::a::lastuse"}) {
    expect(shared, in_between(shared, use, written(3 * 16)),
           "and row 3 of A in bytes 1072 to 1087 of shared memory was written between the two");
    expect(shared, in_between(shared, use, written(3 * 16, false)), "");
  }
  const std::string text = in_between(shared, ".collector::a::use", written(0));
  const size_t line =
      1 + static_cast<size_t>(std::count(text.begin(), text.begin() + text.find("tcgen05.mma"), '\n'));
  expect(shared, text,
         "tcgen05.mma shares collector a with that of PTX line " + std::to_string(line) + ", and row 0");
}

// B is no concern of A's collector, and what is filled again or discarded is another matrix.
TEST_F(Changed, WhatNoCollectorKeepsMayChange) {
  expect(shared, in_between(shared, ".collector::a::use", written(16384)), "");
  expect(shared, in_between(shared, ".collector::a::fill", written(0)), "");
  expect(shared, in_between(shared, ".collector::a::discard", written(0)), "");
}

TEST_F(Changed, AInTensorMemory) {
  expect(in_tensor, in_between(in_tensor, ".collector::a::use", "tcgen05.shift.cta_group::1.down [%r13];\n"),
         "and lane 0 of A in tensor memory was written between the two");
}

TEST_F(Changed, AOfAPair) {
  expect(pair, in_between(pair, ".collector::a::use", written(0)),
         "and row 0 of A in bytes 1024 to 1039 of shared memory");
}

TEST_F(Changed, WeightsThatStay) {
  const std::string says = "tcgen05.mma shares collector b3 with that of PTX line";
  expect(weights,
         in_between(weights, ".collector::b3::use", written(16384 + 32 * static_cast<int>(weights.step))),
         says);
  expect(weights, in_between(weights, ".collector::b3::use", written(0)), "");
}

// The last write to what changed, by its line and the CUDA line: not another to bytes beside it.
TEST_F(Changed, WhoWroteIsNamed) {
  const auto named = [](const probe::MmaCase& p, const std::string& use, const std::string& what,
                        const std::string& opcode, const std::string& address) {
    std::string text = in_between(p, use, ".loc 1 7 0\n" + what + ".loc 1 9 0\n");
    text = with_collector(text, ".extern .shared", ".file 1 \"k.cu\"\n.extern .shared");
    const size_t at = text.find(opcode + " " + address);
    ASSERT_NE(at, std::string::npos) << text;
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    expect(p, text,
           "was written between the two, last by '" + opcode + "' of PTX line " + std::to_string(line) +
               " (k.cu:7): which of both matrices");
  };
  const std::string use = ".collector::a::use";
  const std::string beside = "ld.shared.u32 %r15, [%r2+52];\nst.shared.b32 [%r2+52], %r15;\n";
  named(shared, use, written(48) + beside, "st.shared.u32", "[%r2+48]");
  named(pair, use, written(0), "st.shared.u32", "[%r2+0]");
  named(weights, ".collector::b3::use", written(16384 + 32 * static_cast<int>(weights.step)), "st.shared.u32",
        "[%r2+");
  // By a generic address, the upper byte of an element.
  named(shared, use,
        "cvt.u64.u32 %a7, %r2;\ncvta.shared.u64 %a7, %a7;\nld.u8 %r15, [%a7+49];\nxor.b32 %r15, %r15, 1;\n"
        "st.u8 [%a7+49], %r15;\n" +
            beside,
        "st.u8", "[%a7+49]");
  // By the asynchronous proxy: a row becomes another's.
  named(shared, use,
        ".shared .align 8 .b8 came[8];\nmbarrier.init.shared.b64 [came], "
        "1;\nfence.mbarrier_init.release.cluster;\n"
        "mbarrier.arrive.expect_tx.shared.b64 _, [came], 16;\nadd.u32 %r15, %r2, 48;\n"
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r15], [%r2], 16, [came];\n"
        "here: mbarrier.try_wait.parity.shared.b64 %p4, [came], 0;\n@!%p4 bra here;\n",
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", "[%r15]");
  named(in_tensor, use, "tcgen05.shift.cta_group::1.down [%r13];\n", "tcgen05.shift.cta_group::1.down",
        "[%r13]");
}

// Of a chunk of 16 bytes the element that changed: not one before it in its row, nor one behind it.
TEST_F(Changed, WhichElementOfARow) {
  const auto writes = [](int offset, const std::string& bits) {
    const std::string at = "[%r2+" + std::to_string(offset) + "]";
    return "ld.shared.u32 %r15, " + at + ";\nxor.b32 %r15, %r15, " + bits + ";\nst.shared.u32 " + at +
           ", %r15;\n";
  };
  const auto last_by = [](const probe::MmaCase& p, const std::string& use, const std::string& what,
                          const std::string& start) {
    const std::string text = in_between(p, use, what);
    const size_t at = text.find(start);
    ASSERT_NE(at, std::string::npos) << text;
    expect(p, text,
           "last by '" + start.substr(0, start.find(' ')) + "' of PTX line " +
               std::to_string(
                   1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')));
  };
  const std::string use = ".collector::a::use";
  // Element 6 of row 3 stands in bytes 60 and 61: byte 62, and what lies before and behind, come later.
  const auto later = [](int byte) {
    const std::string at = "[%r2+" + std::to_string(byte) + "]";
    return "ld.shared.u8 %r15, " + at + ";\nst.shared.b8 " + at + ", %r15;\n";
  };
  last_by(shared, use, writes(60, "256") + later(48) + later(62) + later(63) + later(64) + later(72),
          "st.shared.u32 [%r2+60]");
  // Column 1 of B, element 2 of 32 bytes, in rows of 128 bytes whose units are exchanged.
  const int second = 16384 + ((128 + 32 * static_cast<int>(weights.step) + 4) ^ 16);
  last_by(weights, ".collector::b3::use", writes(second, "256") + later(second - 2) + later(second + 2),
          "st.shared.u32 [%r2+" + std::to_string(second) + "]");
  expect(weights, in_between(weights, ".collector::b3::use", writes(second, "256")),
         "and column 1 of B in bytes ");
  // 16 elements of six bits in 16 bytes: element 15 of row 3 ends in byte 11, element 16 starts the next 16,
  // which are 128 bytes on.
  probe::MmaCase six = probe::draw(probe::kMmaKindsOf[5], probe::kMmaSwizzles[0], 128, 64, 3);
  six.collector = ".collector::a::fill";
  six.accumulate = false;
  expect(six, in_between(six, use, writes(56, "0x10000000")),
         "and row 3 of A in bytes 1072 to 1087 of shared");
  expect(six, in_between(six, use, writes(176, "1")), "and row 3 of A in bytes 1200 to 1215 of shared");
  // Of eight columns of A in tensor memory the upper four.
  last_by(in_tensor, use, "add.u32 %r15, %r13, 4;\ntcgen05.cp.cta_group::1.128x128b [%r15], %x1;\n",
          "tcgen05.cp.cta_group::1.128x128b [%r15]");
}

}  // namespace
}  // namespace bitwell::isa
