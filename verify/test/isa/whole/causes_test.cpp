// Each cause of a hang at an mbarrier, on two warps and four barriers: what the report must say, and what it
// must not, where one thing less is as the cause has it.
#include <gtest/gtest.h>

#include <ostream>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

struct Hang {
  const char* name;
  std::string body;  // %p0: thread 0; %p1: warp 0's first lane or warp 1's
  std::vector<std::string> says, not_says;
};
void PrintTo(const Hang& h, std::ostream* out) { *out << h.name; }

std::string told(const std::string& body) {
  return test::Kernel{.registers = ".reg .pred %p<8>; .reg .b32 %r<8>; .reg .b64 %q<4>;",
                      .shared =
                          ".shared .align 8 .b64 once; .shared .align 8 .b64 other; "
                          ".shared .align 8 .b64 twice; .shared .align 8 .b64 four;",
                      .start = R"(mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; setp.ge.u32 %p2, %r0, 32;
and.b32 %r1, %r0, 31; setp.eq.u32 %p1, %r1, 0;
@%p0 mbarrier.init.shared.b64 [once], 1;
@%p0 mbarrier.init.shared.b64 [other], 1;
@%p0 mbarrier.init.shared.b64 [twice], 2;
@%p0 mbarrier.init.shared.b64 [four], 4;
bar.sync 0;
)",
                      .body = body,
                      .finish = "END:",
                      .shape = {.block = {64, 1, 1}}}
      .run()
      .end();
}

std::string wait(const std::string& barrier, int parity, const std::string& label) {
  return label + ": mbarrier.try_wait.parity.shared.b64 %p3, [" + barrier + "], " + std::to_string(parity) +
         ";\n@!%p3 bra " + label + ";\n";
}
std::string arrive(const std::string& barrier) {
  return "mbarrier.arrive.shared.b64 _, [" + barrier + "];\n";
}
std::string expect(const std::string& barrier, int bytes) {
  return "mbarrier.arrive.expect_tx.shared.b64 _, [" + barrier + "], " + std::to_string(bytes) + ";\n";
}
std::string completed(const std::string& barrier, int bytes) {
  return "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [" + barrier + "], " +
         std::to_string(bytes) + ";\n";
}
// The first lane of each warp alone goes on, warp 1 with `second`.
std::string warps(const std::string& first, const std::string& second) {
  return "@!%p1 bra END;\n@%p2 bra SECOND;\n" + first + "bra END;\nSECOND:\n" + second;
}
// Thread 0 alone.
std::string alone(const std::string& body) { return "@!%p0 bra END;\n" + body; }

class Causes : public testing::TestWithParam<Hang> {};

TEST_P(Causes, AreSaidWhereTheyAre) {
  const std::string text = told(GetParam().body);
  EXPECT_NE(text.find("deadlock"), std::string::npos) << text;
  for (const std::string& part : GetParam().says)
    EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
  for (const std::string& part : GetParam().not_says)
    EXPECT_EQ(text.find(part), std::string::npos) << "'" << part << "' is in: " << text;
}

const std::string kMore = "more than expected", kNever = "of those expected never do",
                  kCount = "count mismatch", kExited = "exited peer", kUnder = "under-arrival",
                  kInitial = "wrong initial phase", kFlip = "parity not flipped", kLapped = "lapped phase";

INSTANTIATE_TEST_SUITE_P(
    Hang, Causes,
    testing::Values(
        Hang{"MoreBytesThanExpected",
             alone(completed("once", 64) + expect("once", 32) + wait("once", 0, "A")),
             {"byte mismatch: every arrival came, and 32 bytes more than expected"},
             {kNever, kCount, kExited, kUnder, kInitial}},
        Hang{"BytesThatDoNotCome",
             alone(expect("once", 64) + completed("once", 16) + wait("once", 0, "A")),
             {"byte mismatch: every arrival came, and 48 bytes of those expected never do"},
             {kMore, kCount, kExited, kUnder, kInitial}},
        Hang{"BytesAndAnArrivalThatDoNotCome",
             alone(expect("twice", 64) + wait("twice", 0, "A")),
             {"count mismatch: initialised for 2 arrivals a phase, and only 1 came",
              "under-arrival: 1 of 2 arrivals never come"},
             {kMore, kNever, kInitial}},
        Hang{"BytesBeforeTheyAreExpectedAndNoArrival",
             alone(completed("once", 16) + wait("once", 0, "A")),
             {"under-arrival: 1 of 1 arrival never come"},
             {kMore, kNever, kCount, kInitial}},
        Hang{"FewerArrivalsThanTheCount",
             alone(arrive("four") + arrive("four") + wait("four", 0, "A")),
             {"count mismatch: initialised for 4 arrivals a phase, and only 2 came",
              "under-arrival: 2 of 4 arrivals never come"},
             {kMore, kNever, kInitial, kFlip, kLapped}},
        Hang{"FewerArrivalsInALaterPhase",
             alone(arrive("twice") + arrive("twice") + wait("twice", 0, "A") + arrive("twice") +
                   wait("twice", 1, "B")),
             {"under-arrival: 1 of 2 arrivals never come"},
             {kCount, kMore, kNever, kInitial, kFlip, kLapped}},
        Hang{"AllOthersHaveEnded",
             alone(wait("once", 0, "A")),
             {"exited peer: 63 threads ended, and nobody is left who could arrive"},
             {kCount, kMore, kNever, kInitial, kFlip, kLapped}},
        Hang{"NobodyHasEndedAndAllWait",
             wait("once", 0, "A"),
             {"under-arrival: 1 of 1 arrival never come"},
             {kExited, kCount, kInitial}},
        Hang{"AnotherIsLeftAtABarrier",
             warps(wait("once", 0, "A"), "barrier.sync 1, 64;\n"),
             {"under-arrival: nobody ever arrived, of 1 arrival a phase"},
             {kExited, kCount, kInitial}},
        Hang{"ParityThatIsNotFlipped",
             warps(wait("once", 0, "A") + "barrier.sync 1, 64;\nbarrier.sync 2, 64;\n" + wait("once", 0, "B"),
                   arrive("once") + "barrier.sync 1, 64;\n" + arrive("once") + "barrier.sync 2, 64;\n"),
             {"parity not flipped: this warp's last wait here, at PTX line 16, was for parity 0 too"},
             {kLapped, kCount, kInitial}},
        Hang{"AnotherParityThanBefore",
             alone(arrive("once") + wait("once", 0, "A") + wait("once", 1, "B")),
             {"under-arrival: 1 of 1 arrival never come"},
             {kFlip, kLapped, kCount, kInitial}},
        Hang{"PhasesThatNobodyWaitedFor",
             alone(arrive("once") + arrive("once") + wait("once", 0, "A")),
             {"lapped phase: the barrier ended 2 phases, of which this warp waited for 0"},
             {kFlip, kCount, kInitial}},
        Hang{"TheFirstWaitOfWhoHasArrivedElsewhere",
             warps(arrive("twice") + wait("once", 0, "A"), wait("twice", 0, "B")),
             {"wrong initial phase: this is the warp's first wait here, nobody ever arrived, and others wait "
              "where this warp has arrived"},
             {kExited}},
        Hang{"TheFirstWaitsOfBoth",
             warps(wait("once", 0, "A"), wait("other", 0, "B")),
             {"wrong initial phase: this is the warp's first wait here, nobody ever arrived, and those who "
              "could arrive are waiting themselves"},
             {kExited, kCount}},
        Hang{"TheFirstWaitWhereBytesAreMissingElsewhere",
             warps(expect("other", 64) + wait("once", 0, "A"), wait("other", 0, "B")),
             {"64 bytes of those expected never do"},
             {kInitial, kExited}},
        Hang{"TheFirstWaitWhereTheOtherHasArrivedItself",
             warps(wait("once", 0, "A"), arrive("twice") + wait("twice", 0, "B")),
             {"count mismatch: initialised for 2"},
             {kInitial, kExited}},
        Hang{"TheFirstWaitWhereThePhaseBeforeElsewhereEnded",
             warps(arrive("other") + wait("once", 0, "A"), wait("other", 0, "B") + wait("other", 1, "C")),
             {"under-arrival: nobody ever arrived, of 1 arrival a phase"},
             {kInitial, kExited, kCount}}),
    [](const auto& hang) { return std::string(hang.param.name); });

}  // namespace
}  // namespace bitwell::isa
