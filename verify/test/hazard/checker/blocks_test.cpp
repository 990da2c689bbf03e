// Pieces that operations reach in the same shape again and again, which the shadow keeps as one.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "trace.h"

namespace bitwell::hazard {
namespace {

struct Pieces {
  std::vector<uint64_t> at;
  uint64_t bytes;
};

// Told at once or by turns, what comes of them is what comes of one after the other: how often, in which
// order and where, whatever else comes to some of their bytes in between.
TEST(PiecesOfAShape, ComeToWhatOneAfterTheOtherDoes) {
  size_t found = 0;
  for (uint64_t seed = 0; seed < 800; ++seed) {
    std::mt19937_64 random(seed);
    const auto draw = [&](uint64_t below) { return random() % below; };
    const Triple ctas = seed % 7 == 0 ? Triple{2, 1, 1} : Triple{1, 1, 1};
    std::array<Trace, 2> both{Trace(ctas, ctas), Trace(ctas, ctas)};
    for (Trace& t : both) t.checker.keep(seed % 3 == 0 ? 1000 : seed % 3 == 1 ? 100 : 0, seed % 2 == 0);
    std::vector<Pieces> shapes;
    for (uint64_t i = 0; i < 3; ++i) {
      const bool again = i != 0 && draw(2) == 0;  // of as many bytes, and as many, as the last one
      const uint64_t bytes = again ? shapes.back().bytes : uint64_t{16} << draw(5);
      const uint64_t count = again ? shapes.back().at.size() : 7 + draw(26);
      const uint64_t apart = draw(3) == 0 ? bytes : draw(8) == 0 ? bytes / 2 : 64 * (1 + draw(9));
      const uint64_t first = (draw(2) == 0 ? shared(0, 256 * draw(4)) : global(256 * draw(4))) + 64 * draw(4);
      Pieces& shape = shapes.emplace_back(Pieces{{}, bytes});
      for (uint64_t n = 0; n < count; ++n) shape.at.push_back(first + n * apart);
    }
    if (draw(3) == 0) {  // of the last one what is beside the one before it
      shapes[2] = shapes[1];
      for (uint64_t& at : shapes[2].at) at += shapes[2].bytes;
    }
    if (draw(6) == 0) std::swap(shapes[0].at[2], shapes[0].at[4]);
    uint64_t number = 0;
    for (uint64_t steps = 10 + draw(60); steps != 0; --steps) {
      const Who who{{}, static_cast<int>(draw(3)), kAll}, issuer{{}, who.warp, 1};
      const int line = 1 + static_cast<int>(draw(4));
      const uint64_t what = draw(20);
      const auto between = static_cast<uint32_t>(draw(3));
      const bool waits = draw(2) == 0, turns = draw(3) != 0, twice = draw(3) == 0;
      const Pieces& some = shapes[draw(3)];
      const uint64_t piece = some.at[draw(some.at.size())], place = piece + 4 * draw(some.bytes / 4);
      // What is reached by turns has as many pieces, of as many bytes.
      std::vector<const Pieces*> pieces{&some};
      std::vector<AccessKind> kinds;
      for (const Pieces& other : shapes)
        if (turns && other.bytes == some.bytes && other.at.size() == some.at.size() && draw(2) == 0)
          pieces.push_back(&other);
      for (size_t i = 0; i < pieces.size(); ++i)
        kinds.push_back(draw(2) == 0    ? AccessKind::read
                        : draw(12) == 0 ? AccessKind::update
                                        : AccessKind::write);
      if (what >= 4) ++number;
      for (Trace& t : both) {
        if (what == 0)
          t.access(line, who, waits ? AccessKind::write : AccessKind::read, place / 128 * 128, {}, 4, 4);
        if (what == 1) t.read(line, issuer, place);
        if (what == 2) t.meets(20, who, Sync::fence, 3, {Semantics::weak, Scope::cta, Proxy::async});
        if (what == 3) t.bar(21, {{{}, 0, kAll}, {{}, 1, kAll}, {{}, 2, kAll}});
        if (what < 4) continue;
        t.issues(10 + line, issuer, number,
                 what == 5 ? machine::Ending::mbarrier : machine::Ending::bulk_group);
        if (what == 4)  // one of the pieces alone
          t.operation(10 + line, issuer, number, kinds[0], piece, some.bytes, Proxy::async, 0);
        const auto access = [&](size_t i, size_t first, size_t count) {
          machine::Access a{
              kinds[i],  {Semantics::weak, Scope::cta, Proxy::async}, {},        who.warp, 0, number, 1,
              10 + line, {pieces[i]->at.data() + first, count},       some.bytes};
          a.issuer = 0;
          return a;
        };
        const auto all_pieces = [&] {
          std::vector<machine::Access> all;
          for (size_t i = 0; i < pieces.size(); ++i) all.push_back(access(i, 0, some.at.size()));
          if (turns)
            t.tell(issuer, machine::ByTurns{all, between});
          else
            t.tell(issuer, all[0]);
        };
        const auto one_by_one = [&] {
          for (size_t n = 0; n < some.at.size(); ++n) {
            // Of bytes that nobody else reaches.
            const uint64_t far = shared(0, 1 << 16);
            machine::Access passed = access(0, 0, 1);
            passed.kind = AccessKind::read;
            passed.addresses = {&far, 1};
            for (uint32_t i = 0; turns && n != 0 && i < between; ++i) t.tell(issuer, passed);
            for (size_t i = 0; i < pieces.size(); ++i) t.tell(issuer, access(i, n, 1));
          }
        };
        for (int i = 0; what > 4 && i < (twice ? 2 : 1); ++i) {
          if (&t == &both[0])
            all_pieces();
          else
            one_by_one();
          if (turns && pieces.size() == 2) std::swap(pieces[0], pieces[1]);
        }
        if (turns && !twice && what > 4 && pieces.size() == 2) std::swap(pieces[0], pieces[1]);
        if (what == 5) continue;
        t.meets(22, issuer, Sync::bulk_committed);
        t.meets(23, issuer, waits ? Sync::bulk_waited : Sync::bulk_read, 0);
      }
      ASSERT_EQ(both[0].found(), both[1].found()) << "seed " << seed << ", " << steps;
    }
    ASSERT_EQ(both[0].kept(), both[1].kept()) << "seed " << seed;
    found += both[0].found().size();
  }
  EXPECT_GT(found, 1500u);
}

}  // namespace
}  // namespace bitwell::hazard
