// What a warp reaches side by side is looked at a row at a time where it can be: nothing else is found then
// than of its lanes one by one.
#include <gtest/gtest.h>

#include <random>

#include "trace.h"

namespace bitwell::hazard {
namespace {

// The same run told twice: rows whole, and lane by lane.
class Twice {
 public:
  Twice(uint64_t seed, bool once)
      : random_(seed), rows_({2, 1, 1}, {1, 1, 1}, once), lanes_({2, 1, 1}, {1, 1, 1}, once) {}

  void step(int line) {
    const Triple cta{draw(2), 0, 0};
    if (draw(4) == 0) {
      for (Trace* t : {&rows_, &lanes_}) t->bar(line, {{cta, 0, kAll}, {cta, 1, kAll}, {cta, 2, kAll}});
      return;
    }
    const Who who{cta, static_cast<int>(draw(3)), kAll};
    const bool global_memory = draw(2) == 0;
    const AccessKind kind = draw(2) == 0 ? AccessKind::read : AccessKind::write;
    const uint64_t bytes = uint64_t{1} << (draw(3) == 0 ? draw(5) : 2);
    const uint64_t offset = 96 * draw(4) + bytes * (draw(3) == 0 ? draw(3) : 0);
    const uint64_t address = (global_memory ? global(offset) : shared(0, offset)) / bytes * bytes;
    Order order{};
    if (draw(8) == 0) order = {Semantics::relaxed, draw(2) == 0 ? Scope::cta : Scope::gpu};
    if (global_memory && kind == AccessKind::read && draw(8) == 0)
      order = {Semantics::weak, Scope::cta, Proxy::non_coherent};
    const uint64_t apart = draw(8) == 0 ? 2 * bytes : bytes;
    rows_.access(line, who, kind, address, order, bytes, apart);
    if (order.semantics != Semantics::weak)
      return lanes_.access(line, who, kind, address, order, bytes, apart);
    for (uint32_t lane = 0; lane < machine::kLanes; ++lane)
      lanes_.access(line, {cta, who.warp, 1u << lane}, kind, address, order, bytes, apart);
  }
  // How often something is found is counted by accesses.
  static Lines without_counts(Lines all) {
    for (std::string& s : all) s = s.substr(0, s.find(", x"));
    return all;
  }
  Lines of_rows() const { return without_counts(rows_.found()); }
  Lines of_lanes() const { return without_counts(lanes_.found()); }

 private:
  uint32_t draw(uint32_t below) { return static_cast<uint32_t>(random_() % below); }

  std::mt19937_64 random_;
  Trace rows_, lanes_;
};

TEST(Rows, AreWhatTheirLanesAreOneByOne) {
  size_t found = 0, quiet = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    Twice run(seed, seed % 8 == 7);
    const int steps = 2 + static_cast<int>(seed % 24);
    for (int line = 1; line <= steps; ++line) run.step(line);
    ASSERT_EQ(run.of_rows(), run.of_lanes()) << "seed " << seed;
    found += run.of_lanes().size();
    quiet += run.of_lanes().empty() ? 1 : 0;
  }
  EXPECT_GT(found, 1000u);
  EXPECT_GT(quiet, 30u);
}

}  // namespace
}  // namespace bitwell::hazard
