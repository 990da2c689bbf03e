// What is asked of a launch in turn, and the line that sums it up.
#include "verify/session/judgement.h"

#include <gtest/gtest.h>

namespace bitwell::session {
namespace {

using Part = Judgement::Part;
using End = Tally::End;

TEST(Judgement, AsksFourThingsInTurn) {
  Judgement j(true, 8);
  EXPECT_EQ(j.next(), Part::check);
  j.take(true);
  EXPECT_EQ(j.next(), Part::run);
  j.take(true, {.races = 0, .wrong = 0});
  EXPECT_EQ(j.next(), Part::at_random);
  j.take(true, {.races = 0, .wrong = 0});
  EXPECT_EQ(j.next(), Part::schedules);
  EXPECT_FALSE(j.left_out());
  j.take(true);
  EXPECT_EQ(j.next(), std::nullopt);
  EXPECT_TRUE(j.held());
  EXPECT_EQ(j.words(), "held: 0 races, 0 wrong elements, 8 schedules agree");
}

TEST(Judgement, RunsNothingThatIsNotSupported) {
  Judgement j(true, 8);
  j.take(false);
  EXPECT_EQ(j.next(), std::nullopt);
  EXPECT_FALSE(j.held());
  EXPECT_EQ(j.words(), "FAILED: the PTX cannot be run, see above");
}

// The first of the schedules is the one that was run.
TEST(Judgement, DoesNotRunAgainWhatEndedInAFault) {
  for (const End end : {End::fault, End::deadlock}) {
    Judgement j(true, 8);
    j.take(true);
    j.take(false, {.end = end, .races = end == End::fault ? 0 : 2});
    EXPECT_EQ(j.next(), std::nullopt);
    EXPECT_EQ(j.words(), end == End::fault ? "FAILED: a fault" : "FAILED: a deadlock, 2 races");
  }
}

// What the run at random finds counts, and is said to be of it; a fault there is looked for under no more
// schedules.
TEST(Judgement, TheRunAtRandomCounts) {
  Judgement j(true, 2);
  j.take(true);
  j.take(true, {.races = 0});
  j.take(false, {.races = 2});
  EXPECT_EQ(j.next(), Part::schedules);
  j.take(true);
  EXPECT_FALSE(j.held());
  EXPECT_EQ(j.words(), "FAILED: 0 races, 2 races under --schedule random, 2 schedules agree");
  Judgement fault(true, 2);
  fault.take(true);
  fault.take(true, {.races = 0});
  fault.take(false, {.end = End::deadlock});
  EXPECT_EQ(fault.next(), std::nullopt);
  EXPECT_EQ(fault.words(), "FAILED: 0 races, a deadlock under --schedule random");
}

// A launch with races is compared all the same: what they come to is another question.
TEST(Judgement, ComparesWhatHasRaces) {
  Judgement j(true, 1);
  j.take(true);
  j.take(false, {.races = 1});
  EXPECT_EQ(j.next(), Part::schedules);
  j.take(false, {.failed = true});
  EXPECT_FALSE(j.held());
  EXPECT_EQ(j.words(), "FAILED: 1 race, 1 schedules differ");
}

TEST(Judgement, AFaultUnderAnotherScheduleFails) {
  Judgement j(true, 3);
  j.take(true);
  j.take(true, {.races = 0});
  j.take(true, {.races = 0});
  j.take(false, {.end = End::fault});
  EXPECT_EQ(j.words(), "FAILED: 0 races, a fault under another schedule");
}

TEST(Judgement, LeavesOutSchedulesWithoutOutputs) {
  Judgement j(false, 3);
  EXPECT_FALSE(j.left_out());
  j.take(true);
  j.take(true, {.races = 0});
  EXPECT_FALSE(j.left_out());
  j.take(true, {.races = 0});
  EXPECT_TRUE(j.left_out());
  j.take(true);
  EXPECT_FALSE(j.left_out());
  EXPECT_EQ(j.words(), "held: 0 races, schedules not compared");
}

TEST(Tally, SaysWhatSomebodyLookedAt) {
  EXPECT_EQ(Tally{}.line(), "");
  EXPECT_TRUE(Tally{}.holds());
  EXPECT_EQ((Tally{.races = 1234, .notes = 1, .failed = true}.line()), "FAILED: 1,234 races, 1 note");
  EXPECT_EQ((Tally{.notes = 2, .wrong = 1}.line()), "FAILED: 2 notes, 1 wrong element");
  EXPECT_EQ((Tally{.races = 1}.line()), "held: 1 race");  // known, or none of what fails
  EXPECT_EQ(Tally{.end = End::fault}.line(), "FAILED: a fault");
}

TEST(Tally, CountsNotesWhereTheyFail) {
  Findings found;
  found.notes = 2;
  EXPECT_EQ(tally_of(found, "error").line(), "held: 0 races");
  EXPECT_EQ(tally_of(found, "note").line(), "FAILED: 0 races, 2 notes");
  found.errors = 1;
  EXPECT_EQ(tally_of(found, "none").line(), "held: 1 race");
  EXPECT_EQ(tally_of(found, "error").line(), "FAILED: 1 race");
}

TEST(Tally, ADeadlockIsAFaultWithWaiters) {
  machine::Fault fault("it hangs");
  EXPECT_EQ(end_of(fault), End::fault);
  fault.waiters.emplace_back();
  EXPECT_EQ(end_of(fault), End::deadlock);
}

}  // namespace
}  // namespace bitwell::session
