// Values never written are followed bit by bit: only a bit that matters is reported, with where it should
// have come from.
#include "model/run/watch/definedness.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "../../kernel.h"
#include "model/ptx/parse.h"
#include "model/run/cluster.h"

namespace bitwell::isa {
namespace {

// A kernel of one warp: %r0 the lane, %q0 points at `out`, a word a lane; `tile` and `stack` hold nothing.
test::Kernel defined_kernel(const std::string& body) {
  return {
      .parameters = ".param .u64 pout",
      .registers = ".reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %q<8>; .reg .b128 %x<2>;",
      .shared = ".shared .align 16 .b8 tile[256]; .shared .align 8 .b64 bar; .local .align 8 .b8 stack[16];",
      .start =
          "ld.param.u64 %q0, [pout]; mov.u32 %r0, %tid.x; mul.wide.u32 %q1, %r0, 4; "
          "add.u64 %q0, %q0, %q1;",
      .body = body,
      .buffers = {test::output(128)}};
}

std::string outcome_of_defined(const std::string& body) {
  const test::Left left = defined_kernel(body).run();
  return left.fault.empty() ? "held " + std::to_string(left.all<uint32_t>(0)[0]) : left.fault;
}

// Words of which some bytes are written, and of which only those bytes reach the output: no mistake of the
// kernel's.
TEST(Definedness, BytesThatAreMaskedAwayDoNotMatter) {
  const std::string half = "mov.b16 %h0, 300; st.shared.b16 [tile], %h0; ld.shared.b32 %r1, [tile];\n";
  const std::string out = "; st.global.b32 [%q0], %r2;";
  EXPECT_EQ(outcome_of_defined(half + "and.b32 %r2, %r1, 0xFFFF" + out), "held 300");
  EXPECT_EQ(outcome_of_defined(half + "and.b32 %r1, %r1, 0xFFFF; mov.b32 %r2, %r1" + out), "held 300");
  EXPECT_EQ(outcome_of_defined(half + "or.b32 %r2, %r1, 0xFFFF0000" + out),
            "held " + std::to_string(0xFFFF012Cu));
  EXPECT_EQ(outcome_of_defined(half + "shl.b32 %r2, %r1, 16" + out), "held " + std::to_string(300u << 16));
  EXPECT_EQ(outcome_of_defined(half + "shl.b32 %r3, %r1, 16; shr.u32 %r2, %r3, 16" + out), "held 300");
  EXPECT_EQ(outcome_of_defined(half + "bfe.u32 %r2, %r1, 4, 8" + out), "held 18");
  EXPECT_EQ(outcome_of_defined(half + "mov.b32 %r3, 7; bfi.b32 %r2, %r3, %r1, 16, 16" + out),
            "held " + std::to_string(7u << 16 | 300));
  EXPECT_EQ(outcome_of_defined(half + "prmt.b32 %r2, %r1, 0, 0x4410" + out), "held 300");
  EXPECT_EQ(outcome_of_defined(half + "lop3.b32 %r2, %r1, 0xFFFF, 0, 0xC0" + out), "held 300");
  EXPECT_EQ(outcome_of_defined(half + "cvt.u32.u16 %r2, %r1" + out), "held 300");
  EXPECT_EQ(outcome_of_defined(half + "mov.b32 {%h1, %h2}, %r1; cvt.u32.u16 %r2, %h1" + out), "held 300");
  EXPECT_EQ(
      outcome_of_defined(
          half + "mov.b32 %r3, 0; mov.b64 %q2, {%r1, %r3}; cvt.u16.u64 %h1, %q2; cvt.u32.u16 %r2, %h1" + out),
      "held 300");
  EXPECT_EQ(
      outcome_of_defined(half + "shfl.sync.idx.b32 %r3, %r1, 0, 31, -1; and.b32 %r2, %r3, 0xFFFF" + out),
      "held 300");
  EXPECT_EQ(outcome_of_defined(half + "add.u32 %r3, %r1, 1; and.b32 %r2, %r3, 0xFFFF" + out), "held 301");
  // As nvcc makes addresses of products of narrow numbers (QuTLASS).
  EXPECT_EQ(outcome_of_defined(half + "mov.b32 %r3, 0x20003; dp2a.lo.u32.u32 %r2, %r3, %r1, 5" + out),
            "held " + std::to_string(3 * 44 + 2 * 1 + 5));
  EXPECT_EQ(outcome_of_defined(half +
                               "shl.b32 %r1, %r1, 16; prmt.b32 %r1, %r1, %r4, 0x3254; mov.b32 %r3, 0x20003;\n"
                               "dp2a.hi.u32.u32 %r2, %r3, %r1, 5" +
                               out),
            "held " + std::to_string(3 * 44 + 2 * 1 + 5));
  EXPECT_NE(outcome_of_defined(half + "mov.b32 %r3, 1; dp2a.hi.u32.u32 %r2, %r3, %r1, 5" + out).substr(0, 4),
            "held");
  EXPECT_NE(outcome_of_defined(half + "mov.b32 %r3, 1; dp2a.lo.u32.u32 %r2, %r1, %r3, 5" + out).substr(0, 4),
            "held");
  EXPECT_NE(outcome_of_defined(half + "mov.b32 %r3, 1; dp2a.lo.u32.u32 %r2, %r3, 5, %r1" + out).substr(0, 4),
            "held");
  EXPECT_EQ(outcome_of_defined(half + "mov.b32 %r3, 1; st.global.b32 [%q0], %r3; st.global.b8 [%q0], %r1;"),
            "held 44");
}
// Stores of a part of such a word, into memory of which all is known, leave other memory as it is.
TEST(Definedness, APartialWordStoredWhereAllIsKnownChangesNothingElse) {
  const std::string word = "mov.b16 %h0, 300; st.shared.b16 [tile], %h0; ld.shared.b32 %r1, [tile];\n";
  const std::string part = "st.global.b8 [%q0], %r1; st.global.b16 [%q0], %r1;\n";
  const std::string read = "ld.shared.b32 %r2, [tile+4]; st.global.b32 [%q0], %r2;\n";
  EXPECT_EQ(outcome_of_defined(word + part), "held 300");
  EXPECT_NE(outcome_of_defined(word + "st.shared.b16 [tile+4], %h0;\n" + part + read).find("an output"),
            std::string::npos);
  EXPECT_EQ(outcome_of_defined(word + "shfl.sync.idx.b32 %r1, %r1, 0, 31, -1;\n" + part), "held 300");
}
// A workspace may take padding; what is read of it again and matters is reported then.
TEST(Definedness, AWorkspaceMayTakeWhatIsNotWhole) {
  const auto through = [](const std::string& body) {
    test::Kernel k = defined_kernel(body);
    k.parameters += ", .param .u64 pwork";
    k.buffers.push_back({"work", std::vector<std::byte>(128), false, false, false});
    return k.run().end();
  };
  const std::string fill =
      "ld.param.u64 %q3, [pwork]; mov.b16 %h0, 300; st.shared.b16 [tile], %h0;\n"
      "ld.shared.b32 %r1, [tile]; st.global.b32 [%q3], %r1;\n";
  EXPECT_EQ(through(fill + "ld.global.b16 %h1, [%q3]; st.global.b16 [%q0], %h1;"), "held");
  const std::string text = through(fill + "ld.global.b32 %r2, [%q3];\nst.global.b32 [%q0], %r2;");
  EXPECT_NE(text.find("PTX line 11,"), std::string::npos) << text;
  EXPECT_NE(text.find("bytes 2 to 3 of the 4 bytes that PTX line 10 loaded from 'work' were never written"),
            std::string::npos)
      << text;
}
// What a copy or a reduction brings is as known as its source.
TEST(Definedness, CopiesAreFollowedBitByBit) {
  const std::string reduced =
      "setp.ne.u32 %p0, %r0, 0;\nmov.u32 %r5, 1; mul.wide.u32 %q2, %r0, 4; mov.u32 %r6, tile; shl.b32 %r7, "
      "%r0, 2; add.u32 "
      "%r6, %r6, %r7; st.shared.b32 [%r6], %r5;\nbar.sync 0;\n@%p0 bra W;\nmbarrier.init.shared.b64 [bar], "
      "1;\n"
      "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;\n"
      "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [tile], "
      "[tile+128], 64, [bar];\n"
      "L: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra L;\nW:\n";
  EXPECT_NE(outcome_of_defined(reduced).find("reads memory that was never written"), std::string::npos)
      << outcome_of_defined(reduced);
}
// A carry that no choice of the unknown bits can make.
TEST(Definedness, ASumWithZerosBelowKeepsWhatStandsAbove) {
  EXPECT_EQ(outcome_of_defined("mov.b16 %h0, 300; st.shared.b16 [tile+2], %h0; ld.shared.b32 %r1, [tile];\n"
                               "add.u32 %r3, %r1, 0x50000; shr.u32 %r2, %r3, 16; st.global.b32 [%q0], %r2;"),
            "held 305");
}
// A bit field of a stack variable: only its bits are written, and only they are read again.
TEST(Definedness, BitsSurviveTheWayThroughMemory) {
  EXPECT_EQ(
      outcome_of_defined(
          "ld.local.b32 %r1, [stack]; mov.b32 %r3, 5; bfi.b32 %r1, %r3, %r1, 3, 3; st.local.b32 [stack], "
          "%r1;\nld.local.b32 %r4, [stack]; bfe.u32 %r2, %r4, 3, 3; st.global.b32 [%q0], %r2;"),
      "held 5");
}
TEST(Definedness, AValueThatMattersIsReportedWithItsOrigin) {
  const std::string text = outcome_of_defined(
      "mov.b16 %h0, 300; st.shared.b16 [tile+32], %h0; ld.shared.b32 %r1, [tile+32];\n"
      "add.u32 %r2, %r1, 1;\nst.global.b32 [%q0], %r2;");
  EXPECT_NE(text.find("PTX line 10, "), std::string::npos) << text;
  EXPECT_NE(
      text.find("used as an output: bytes 2 to 3 of the 4 bytes that PTX line 8 loaded from 'tile' + 32"),
      std::string::npos)
      << text;
  const std::string none = outcome_of_defined("ld.local.b16 %h1, [stack+4];\nst.global.b16 [%q0], %h1;");
  EXPECT_NE(none.find("none of the 2 bytes that PTX line 8 loaded from local memory at 4 was ever written"),
            std::string::npos)
      << none;
  // The bits that were written are used, and one more.
  const std::string bit = outcome_of_defined(
      "mov.b16 %h0, 300; st.shared.b16 [tile], %h0; ld.shared.b32 %r1, [tile];\nand.b32 %r2, %r1, 0x1FFFF;\n"
      "st.global.b32 [%q0], %r2;");
  EXPECT_NE(bit.find("an output"), std::string::npos) << bit;
}
TEST(Definedness, AMatrixOperandIsReportedWithItsLoad) {
  const std::string text = outcome_of_defined(
      "mov.u32 %r6, tile; and.b32 %r7, %r0, 7; shl.b32 %r7, %r7, 4; add.u32 %r6, %r6, %r7;\n"
      "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r6];\n"
      "movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1;\nst.global.b32 [%q0], %r2;\n");
  EXPECT_NE(text.find("used as an output: none of the 2 bytes that PTX line 9 loaded from 'tile'"),
            std::string::npos)
      << text;
}

TEST(Definedness, AShuffleFromALaneThatIsNotThereIsNamedWhereItsValueMatters) {
  const std::string text = outcome_of_defined(
      "setp.lt.u32 %p0, %r0, 16;\n@%p0 bra L;\nbra E;\nL: shfl.sync.down.b32 %r1, %r0, 8, 31, 0xFFFF;\n"
      "st.global.b32 [%q0], %r1;\nE:");
  EXPECT_NE(text.find("PTX line 11 took it from lane 16, which does not take part"), std::string::npos)
      << text;
  // Nor does a lane of another group that executes the same instruction.
  const std::string other = outcome_of_defined(
      "setp.lt.u32 %p0, %r0, 16;\nselp.b32 %r2, 0xFFFF, 0xFFFF0000, %p0;\n"
      "shfl.sync.idx.b32 %r1, %r0, 0, 31, %r2;\nst.global.b32 [%q0], %r1;");
  EXPECT_NE(other.find("PTX line 10 took it from lane 0, which does not take part"), std::string::npos)
      << other;
}

// One instruction and what it makes of operands that lack bits.
struct Instruction {
  const char* text;    // d is %r1 or %q1 ..., a, b, c, e as the op has them
  const char* result;  // the destination register
  bool exact;          // a bit called unknown can be changed by a choice of the unknown bits
};
constexpr Instruction kInstructions[] = {{"mov.b32 %r1, %r2;", "%r1", true},
                                         {"mov.u64 %q1, %q2;", "%q1", true},
                                         {"not.b32 %r1, %r2;", "%r1", true},
                                         {"and.b32 %r1, %r2, %r3;", "%r1", true},
                                         {"or.b64 %q1, %q2, %q3;", "%q1", true},
                                         {"xor.b16 %h1, %h2, %h3;", "%h1", true},
                                         {"lop3.b32 %r1, %r2, %r3, %r4, 0xE8;", "%r1", true},
                                         {"lop3.b32 %r1, %r2, %r3, %r4, 0x1D;", "%r1", true},
                                         {"shl.b32 %r1, %r2, %r3;", "%r1", true},
                                         {"shr.s32 %r1, %r2, %r3;", "%r1", true},
                                         {"shr.u64 %q1, %q2, %r3;", "%q1", true},
                                         {"shf.l.wrap.b32 %r1, %r2, %r3, %r4;", "%r1", true},
                                         {"prmt.b32 %r1, %r2, %r3, %r4;", "%r1", true},
                                         {"bfe.s32 %r1, %r2, %r3, %r4;", "%r1", true},
                                         {"bfi.b32 %r1, %r2, %r3, %r4, %r5;", "%r1", true},
                                         {"brev.b32 %r1, %r2;", "%r1", true},
                                         {"cvt.u16.u32 %h1, %r2;", "%h1", true},
                                         {"cvt.s32.s8 %r1, %h2;", "%r1", true},
                                         {"cvt.s64.s32 %q1, %r2;", "%q1", true},
                                         {"add.u32 %r1, %r2, %r3;", "%r1", false},
                                         {"sub.s64 %q1, %q2, %q3;", "%q1", false},
                                         {"mad.lo.u32 %r1, %r2, %r3, %r4;", "%r1", false},
                                         {"mul.hi.u32 %r1, %r2, %r3;", "%r1", false},
                                         {"min.s32 %r1, %r2, %r3;", "%r1", false},
                                         {"dp2a.lo.u32.u32 %r1, %r2, %r3, %r4;", "%r1", false},
                                         {"dp2a.hi.s32.u32 %r1, %r2, %r3, %r4;", "%r1", false},
                                         {"popc.b32 %r1, %r2;", "%r1", false}};

// An operand's bytes: the register's, by its letter; 0: the op has no such operand.
struct Widths {
  size_t d, a, b, c, e;
};
Widths widths_of(const std::string& text) {
  std::vector<size_t> out;
  for (size_t at = text.find('%'); at != std::string::npos; at = text.find('%', at + 1))
    out.push_back(text[at + 1] == 'q' ? 8 : text[at + 1] == 'h' ? 2 : 4);
  out.resize(5);
  return {out[0], out[1], out[2], out[3], out[4]};
}

uint64_t kept(uint64_t v, size_t bytes) { return bytes == 8 ? v : v & ((uint64_t{1} << 8 * bytes) - 1); }

RC_GTEST_PROP(Definedness, NoChoiceOfTheUnknownBitsChangesABitThatIsCalledKnown, ()) {
  const Instruction& i =
      kInstructions[*rc::gen::inRange<size_t>(0, std::size(kInstructions)).as("instruction")];
  std::mt19937_64 random(*rc::gen::arbitrary<uint32_t>().as("seed"));
  const std::string text = i.text;
  const char letter = i.result[1];
  const std::string size = letter == 'q' ? "b64" : letter == 'h' ? "b16" : "b32";
  // The operands stay live, so that each has a row of its own.
  std::string after = "st.global." + size + " [%q0], " + i.result + ";";
  for (size_t at = text.find('%', text.find('%') + 1); at != std::string::npos; at = text.find('%', at + 1)) {
    const std::string r = text.substr(at, 3);
    after += " st.global." +
             std::string(r[1] == 'q'   ? "b64"
                         : r[1] == 'h' ? "b16"
                                       : "b32") +
             " [%q0], " + r + ";";
  }
  const Program program = isa::compile(ptx::parse(defined_kernel(text + "\n" + after).text()), "k");
  const Op* op = nullptr;
  for (const Op& o : program.functions[0].code)
    if (o.kind == OpKind::lanes &&
        text.rfind(program.functions[0].lines[static_cast<size_t>(o.line)].text, 0) == 0 &&
        program.functions[0].lines[static_cast<size_t>(o.line)].ptx == 8)
      op = &o;
  RC_ASSERT(op != nullptr);
  machine::Memory memory;
  run::Shape shape;
  shape.block = {32, 1, 1};
  machine::Region constants("constant memory", machine::kConstWindow, 0, true);
  run::Flight flight;
  run::Grid grid{program, shape, {}, memory, constants, {"the parameter block", 0, 8, true}, flight};
  run::Cluster cluster(grid, {0, 0, 0});
  machine::Warp& warp = cluster.ctas[0]->warps[0];  // whose registers it would get at its first turn
  warp.splits[0].activation = cluster.ctas[0]->activate(program.entry, warp, warp.exists, nullptr);
  run::Context context(*cluster.ctas[0], warp, 0, true);
  const Widths widths = widths_of(text);
  struct Operand {
    uint32_t row;
    size_t bytes;
    uint64_t value[32];
    uint64_t unknown[32];
  };
  std::vector<Operand> operands;
  for (const auto& [row, bytes] :
       {std::pair{op->a, widths.a}, {op->b, widths.b}, {op->c, widths.c}, {op->e, widths.e}})
    if (bytes != 0) operands.push_back({row, bytes, {}, {}});
  const auto put = [&](const Operand& o, int lane, uint64_t v) {
    std::memcpy(context.rows() + o.row + o.bytes * static_cast<size_t>(lane), &v, o.bytes);
  };
  for (size_t n = 0; n < operands.size(); ++n)
    for (int lane = 0; lane < 32; ++lane) {
      Operand& o = operands[n];
      // Small values too, as shift counts are; whole bytes unknown, single bits, nothing, everything.
      o.value[lane] = random() % 2 == 0 ? random() % 40 : random();
      const uint64_t unknowns[] = {0,        0,           0xFFFF0000, 0xFF, uint64_t{1} << random() % 64,
                                   random(), ~uint64_t{0}};
      o.unknown[lane] = kept(n == 0 ? unknowns[1 + random() % 6] : unknowns[random() % 7], o.bytes);
      put(o, lane, o.value[lane]);
      run::set_unknown(context, o.row, lane, o.bytes, {o.unknown[lane], 0}, {});
    }
  run::run_unknown(*op, context, ~0u);
  uint64_t said[32];
  for (int lane = 0; lane < 32; ++lane) said[lane] = run::unknown_of(context, op->d, lane, widths.d).low;
  // All choices of ones and zeros an operand, and random ones.
  uint64_t first[32] = {};
  uint64_t changed[32] = {};
  for (uint32_t choice = 0; choice < 16 + 200; ++choice) {
    for (size_t n = 0; n < operands.size(); ++n)
      for (int lane = 0; lane < 32; ++lane) {
        const Operand& o = operands[n];
        const uint64_t fill = choice >= 16 ? random() & (choice % 2 == 0 ? random() : ~uint64_t{0})
                              : (choice >> n & 1) != 0 ? ~uint64_t{0}
                                                       : 0;
        put(o, lane, (o.value[lane] & ~o.unknown[lane]) | (fill & o.unknown[lane]));
      }
    op->lanes(*op, context.rows(), ~0u);
    for (int lane = 0; lane < 32; ++lane) {
      uint64_t d = 0;
      std::memcpy(&d, context.rows() + op->d + widths.d * static_cast<size_t>(lane), widths.d);
      if (choice == 0) first[lane] = d;
      changed[lane] |= d ^ first[lane];
    }
  }
  for (int lane = 0; lane < 32; ++lane) {
    RC_ASSERT((changed[lane] & ~said[lane]) == 0u);
    // Bits are followed only where shift counts and selectors are whole.
    const bool whole_controls = std::all_of(operands.begin() + 1, operands.end(),
                                            [&](const Operand& o) { return o.unknown[lane] == 0; });
    const Tracks tracks = op->tracks;
    const bool logic = tracks >= Tracks::bit_and && tracks <= Tracks::lop3;
    if (i.exact && (whole_controls || logic)) RC_ASSERT(said[lane] == changed[lane]);
  }
}

}  // namespace
}  // namespace bitwell::isa
