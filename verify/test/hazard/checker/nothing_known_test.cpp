// Of what never began nothing is said: operations that nobody issued, mbarriers that nobody made. The engine
// has faults for them, or they come to nothing.
#include <gtest/gtest.h>

#include "trace.h"

namespace bitwell::hazard {
namespace {

using Found = std::vector<std::string>;

TEST(NothingKnown, OfAnOperationThatNobodyIssued) {
  for (const uint64_t number : {1u, 2u, 77u})
    for (const bool others : {true, false}) {
      Trace t;
      const Who who{{}, 0, 1};
      if (others) t.issues(1, who, 5, machine::Ending::copy_group);
      t.operation(2, who, number, AccessKind::read, global(64), 16, Proxy::async);
      t.operation(3, who, number, AccessKind::write, shared(0, 64), 16, Proxy::async);
      t.cells(4, who, number, AccessKind::write, 8, 4);
      t.write(5, {{}, 1, 1}, global(64));
      t.write(6, {{}, 1, 1}, shared(0, 64));
      EXPECT_EQ(t.kinds(), Found{}) << number;
    }
}

TEST(NothingKnown, OfAnMbarrierThatNobodyMade) {
  for (const bool made : {true, false})
    for (const bool issued : {true, false}) {
      Trace t;
      const Who who{{}, 0, 1};
      if (made) t.mbarrier(1, who, AccessKind::write, shared(0, 8));
      if (issued) t.issues(2, who, 5, machine::Ending::mbarrier);
      // At the one that is there, by an operation that is not; at one that is not.
      if (!issued) t.completes(3, who, 5, shared(0, 8));
      t.completes(4, who, 5, shared(0, 64));
      t.meets(5, who, Sync::mbarrier_passed, 64);
      t.meets(0, {{}, 0, 0}, Sync::mbarrier_over, 64);
      EXPECT_EQ(t.kinds(), Found{}) << made << issued;
    }
}

}  // namespace
}  // namespace bitwell::hazard
